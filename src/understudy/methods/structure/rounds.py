"""Rounds: which tables are worth measuring next, by noisy errors of the model so far.

The error of a table is the L1 distance of its counts from those that the model expects. One row
more or less moves it by at most one, whatever the model is, as long as the model was made from
releases alone. Proof: docs/proofs/model_errors.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from understudy.facts.domain import Attributes, Domain
from understudy.facts.unit import Neighbours, Unit
from understudy.rows.counting import Marginal, Score
from understudy.system.arrays import Floats, Integers, Singles

# Estimation removes most of the noise of cells that are nearly empty: of the error that noise
# alone would make, this part is expected to remain.
REMAINING = 0.35
# A table that shares two attributes with a chosen one explains much of the same error.
_OVERLAP = 0.5
# Tables differ from a true law by chance, and from the model by the noise of its one-way tables;
# this part of that is not worth measuring.
_EXPECTED_ANYWAY = 0.5
# Larger tables are taken where they are small, and put their triples right, nearly.
_LARGER, _TRIPLE, _GONE = (4, 5), 3, 0.9
# Their number grows fast with that of the attributes they are made of.
_MOST_NAMES = 18
_MEAN_OF_NORMAL = math.sqrt(2 / math.pi)


@dataclass(frozen=True, eq=False)
class ModelErrors:
    """The L1 distance of a table from what the model expects of it.

    Attributes:
        expected: for every table that is asked about, the model's counts.
    """

    expected: Mapping[Attributes, Floats]

    def __call__(self, marginal: Marginal) -> float:
        """Return the exact distance of one table."""
        return float(np.abs(marginal.counts - self.expected[marginal.attributes]).sum())

    def score(self, unit: Unit) -> Score:
        """The score that carries its sensitivity: one row more or less, or one for another."""
        moved = 2 if unit.neighbours is Neighbours.REPLACE else 1
        return Score("the model's L1 error", self, Fraction(moved), unit.neighbours)

    def largest(self, attributes: Attributes) -> float:
        """Return the error of a pair that were as dependent as its single attributes allow."""
        table = self.expected[attributes]
        total = max(float(table.sum()), 1e-9)
        alone = (table.sum(axis=axis) / total for axis in range(table.ndim))
        return 2 * total * (1 - max(float((shares**2).sum()) for shares in alone))

    def by_chance(self, attributes: Attributes, noise: float) -> float:
        """Return the distance that as many rows of the model itself would have.

        Where a cell's noise is smaller than that, it can be measured, and does not count.
        """
        counts = np.sqrt(np.maximum(self.expected[attributes], 0.0))
        return _MEAN_OF_NORMAL * float(np.minimum(counts, noise).sum())


def tables_of(domain: Domain, sizes: Sequence[int], *, most_cells: int) -> Iterator[Attributes]:
    """All sets of some sizes whose tables are small enough.

    A pair is seen as finely as its table may be, and as coarsely as there are copies of its
    attributes; in larger tables every attribute is as coarse as it can be.
    """
    for size in sizes:
        for attributes in itertools.combinations(domain, size):
            yield from _seen(attributes, domain, most_cells)


def _seen(attributes: Attributes, domain: Domain, most_cells: int) -> Iterator[Attributes]:
    coarsest = tuple(domain.levels(attribute)[-1] for attribute in attributes)
    if domain.cells(coarsest) > most_cells:
        return
    yield coarsest
    if len(attributes) == 2 and domain.coarser:
        levels = itertools.product(*(domain.levels(attribute) for attribute in attributes))
        finest = max((t for t in levels if domain.cells(t) <= most_cells), key=domain.cells)
        if finest != coarsest:
            yield finest


def connected(
    tables: Sequence[Attributes], measured: Sequence[Attributes], domain: Domain, most: int
) -> list[Attributes]:
    """The tables to ask about: pairs, and larger ones of which most pairs were measured.

    Args:
        tables: candidates, smaller ones first.
        measured: the tables that were released so far.
        domain: the attributes.
        most: how many may be asked about, pairs aside.
    """
    held = {
        frozenset(map(domain.base, pair))
        for table in measured
        for pair in itertools.combinations(table, 2)
    }

    def ties(table: Attributes) -> float:
        pairs = [frozenset(map(domain.base, pair)) for pair in itertools.combinations(table, 2)]
        return sum(pair in held for pair in pairs) / len(pairs)

    pairs = [table for table in tables if len(table) == 2]
    larger = [(ties(table), table) for table in tables if len(table) > 2]
    kept = sorted((t for t in larger if t[0] >= 1 / 2), key=lambda t: -t[0])
    return [*pairs, *(table for _, table in kept[: max(most - len(pairs), 0)])]


def shrunk(errors: Floats, variance: float) -> Floats:
    """Noisy errors drawn towards their mean by the part of their spread that is noise."""
    spread = float(errors.var())
    signal = max(0.0, 1 - variance / spread) if spread > 0 else 0.0
    mean = float(errors.mean())
    return np.asarray(mean + (errors - mean) * signal)


@dataclass(frozen=True, eq=False)
class CandidateTables:
    """Tables that may be measured: what each would put right, and the noise that it would have.

    Attributes:
        tables: the candidates.
        errors: of each, in rows.
        cells: the L1 noise of each, in units of the noise of one cell.
        most: the largest error that each could have, in rows; zero where paths explain nothing of it.
    """

    tables: tuple[Attributes, ...]
    errors: Floats
    cells: Floats
    most: Floats

    @classmethod
    def of(
        cls,
        tables: Sequence[Attributes],
        errors: Floats,
        domain: Domain,
        *,
        most: Floats | None = None,
    ) -> CandidateTables:
        """Tables with errors of their own."""
        cells = np.array([domain.cells(table) for table in tables], float)
        largest = np.zeros(len(cells)) if most is None else most
        return cls(tuple(tables), errors, cells, largest)

    def with_larger(
        self,
        domain: Domain,
        *,
        most_cells: int,
        allowed: Callable[[Attributes], bool] = lambda _: True,
    ) -> CandidateTables:
        """Add tables of four and five attributes, where they are small, judged by their triples.

        Such a table puts right all triples that it holds, each with the noise of several cells
        added up. Nothing more is asked for: the errors of triples are known.

        Args:
            domain: the attributes.
            most_cells: larger tables are left out.
            allowed: whether a table may be measured.
        """
        triples = {
            frozenset(t): e for t, e in zip(self.tables, self.errors, strict=True) if len(t) == 3
        }
        names = _most_wrong(triples, domain, most_cells)
        found = []
        for size in _LARGER:
            for table in itertools.combinations(names, size):
                cells = domain.cells(table)
                if cells <= most_cells and allowed(table):
                    inside = [*itertools.combinations(table, 3)]
                    worth = sum(triples.get(frozenset(t), 0.0) for t in inside)
                    noise = sum(math.sqrt(domain.cells(t) * cells) for t in inside)
                    found.append((table, worth, noise))
        if not found:
            return self
        errors, noises = ([each[place] for each in found] for place in (1, 2))
        return CandidateTables(
            (*self.tables, *(table for table, _, _ in found)),
            np.concatenate([self.errors, errors]),
            np.concatenate([self.cells, noises]),
            np.concatenate([self.most, np.zeros(len(found))]),
        )


def _most_wrong(
    triples: Mapping[frozenset[str], float], domain: Domain, most_cells: int
) -> list[str]:
    """The few small attributes whose triples have the largest errors."""
    sums: dict[str, float] = {}
    for table, error in triples.items():
        for name in table:
            if domain[name] <= most_cells // 2 ** (min(_LARGER) - 1):
                sums[name] = sums.get(name, 0.0) + max(error, 0.0)
    return sorted(sorted(sums, key=lambda name: -sums[name])[:_MOST_NAMES])


@dataclass(frozen=True)
class Choice:
    """Chooses tables whose errors outweigh the noise that measuring them all would leave.

    The error expected of noise on tables of s₁, s₂, … cells that share a budget so that it is
    least is c·(Σ sᵢ^⅔)^(3/2) (`least_error_weights`), so that what one more table costs is known in
    closed form. Tables are taken by the error they remove for what they cost, while that pays.

    Attributes:
        noise: the mean absolute noise on a cell of one table that had the whole budget.
        power: of a table's cells in the cost: ⅔ for Gaussian noise, ½ for Laplace noise.
        most: how many tables are taken.
    """

    noise: float
    power: float
    most: int = 400

    def among(self, candidates: CandidateTables, domain: Domain) -> list[Attributes]:
        """Return the tables to measure, best first."""
        parts, held = candidates.cells**self.power, _held(candidates.tables, domain)
        overlaps, paths = Overlaps(held), ChosenPaths.of(held, candidates.most)
        left, open_to = np.maximum(candidates.errors, 0.0), np.ones(len(parts), bool)
        taken, chosen = 0.0, list[int]()
        while len(chosen) < min(self.most, len(parts)):
            # Without noise tables cost nothing, and any error is worth it.
            cost = np.maximum(REMAINING * self.noise * self._growth(taken, parts), 1e-12)
            found = paths.beyond(left)
            worth = np.where(open_to & (found > cost), found / cost, 0.0)
            best = int(worth.argmax())
            if worth[best] <= 0:
                break
            chosen.append(best)
            taken, open_to[best] = taken + parts[best], False
            paths.take(best, float(left[best]))
            left = left * overlaps.remaining(best)
        return [candidates.tables[number] for number in chosen]

    def _growth(self, taken: float, parts: Floats) -> Floats:
        return np.asarray((taken + parts) ** (1 / self.power) - taken ** (1 / self.power))


def _held(tables: Sequence[Attributes], domain: Domain) -> Singles:
    """Which attributes every table holds."""
    place = {attribute: number for number, attribute in enumerate(domain)}
    held = np.zeros((len(tables), len(place)), np.float32)
    for number, table in enumerate(tables):
        held[number, [place[domain.base(name)] for name in table]] = 1
    return held


class Overlaps:
    """How much of each other's errors tables explain, by the attributes that they share."""

    def __init__(self, held: Singles) -> None:
        self._held, self._size = held, held.sum(axis=1)
        size = self._size
        self._triples = np.maximum(size * (size - 1) * (size - 2) / 6, 1.0)

    def remaining(self, chosen: int) -> Floats:
        """The part of every table's error that one chosen table leaves.

        Half of it where two attributes are shared; of larger tables, only the triples that are
        shared are gone.
        """
        shared = self._held[:, self._held[chosen] > 0].sum(axis=1)
        half = np.where(shared >= 2, _OVERLAP, 1.0)
        gone = shared * (shared - 1) * (shared - 2) / 6 / self._triples
        return np.asarray(np.where(self._size > _TRIPLE, 1 - _GONE * gone, half))


@dataclass(eq=False)
class ChosenPaths:
    """How strongly chosen pairs tie attributes through one another.

    Along a chain A – B – C the dependence of the ends is the product of those of its links, each
    in parts of the largest that there could be. Such an error is gone once the links are known, so
    that one dependence is not counted again for every pair that it reaches. What the product does
    not explain stays, and the next round sees the error that is left.

    Attributes:
        ends: of every table the two attributes it ties, or -1 where it is not a pair.
        most: of every table the largest error that there could be.
        ties: for every two attributes, the strongest path.
        apart: the pairs that no chosen table holds.
    """

    ends: Integers
    most: Floats
    ties: Floats
    apart: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, held: Singles, most: Floats) -> ChosenPaths:
        """No paths yet."""
        pairs = held.sum(axis=1) == 2
        ends = np.full((len(held), 2), -1)
        ends[pairs] = np.nonzero(held[pairs])[1].reshape(-1, 2)
        return cls(ends, most, np.eye(held.shape[1]), pairs)

    def beyond(self, errors: Floats) -> Floats:
        """The part of errors that paths do not explain."""
        found = errors.copy()
        one, other = self.ends[self.apart].T
        found[self.apart] -= self.ties[one, other] * self.most[self.apart]
        return found

    def take(self, number: int, error: float) -> None:
        """Add the paths that a chosen pair makes."""
        (one, other), most = self.ends[number], float(self.most[number])
        if one < 0 or most <= 0:
            return
        strength = min(max(error, 0.0) / most, 1.0)
        across = np.multiply.outer(self.ties[one], self.ties[other]) * strength
        self.ties = np.maximum(self.ties, np.maximum(across, across.T))
        self.apart = self.apart & (self.ends != (one, other)).any(axis=1)


def expected_anyway(
    kernel: ModelErrors,
    tables: Sequence[Attributes],
    *,
    alone: Mapping[str, float],
    noise: float,
    domain: Domain,
) -> Floats:
    """The part of errors that is there although nothing needs to be measured.

    Args:
        kernel: knows what the model expects.
        tables: the candidates.
        alone: the L1 noise of every attribute's one-way table.
        noise: the standard deviation on a cell of a table, were it measured.
        domain: the attributes.
    """
    return np.array(
        [
            _EXPECTED_ANYWAY
            * (kernel.by_chance(t, noise) + sum(alone[domain.base(name)] for name in t))
            for t in tables
        ]
    )
