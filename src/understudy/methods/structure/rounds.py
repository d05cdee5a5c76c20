"""Rounds: which tables are worth measuring next, by noisy errors of the model so far.

The error of a table is the L1 distance of its counts from those that the model expects. One row
moves it by at most one if the model was made only of releases. Proof: docs/proofs/model_errors.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from understudy.facts.axes import projections
from understudy.facts.domain import Attributes, Domain
from understudy.facts.unit import Neighbours, Unit
from understudy.models.weighted.pool import Pool
from understudy.rows.counting import Marginal, Score
from understudy.system.arrays import Floats, Integers, Singles

# Of the error that noise would make by itself, estimation of nearly empty cells leaves this part.
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
# A cell below this many rows' weight has one row.
_SINGLE = 1.5


@dataclass(frozen=True, eq=False)
class ModelErrors:
    """The L1 distance of a table from what the model expects of it.

    Attributes:
        expected: for every table that is asked about, the model's counts.
        beside: the variance by which expected counts are wrong because few made-up rows show them,
            in parts of the counts and beyond that of as many rows as there are.
    """

    expected: Mapping[Attributes, Floats]
    beside: float = 0.0

    @classmethod
    def of(cls, pool: Pool, tables: Sequence[Attributes]) -> ModelErrors:
        """Errors against a weighted pool of made-up rows."""
        beside = max(pool.total / max(pool.effective, 1.0) - 1, 0.0)
        return cls(projections(pool, tables), beside)

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

    def by_few_rows(self, attributes: Attributes) -> float:
        """Return the distance that comes from a pool of fewer rows than the table has.

        Cells that a single row of the pool fills are as many as those that should have been filled
        and were not (Good 1953).
        """
        if self.beside == 0:
            return 0.0
        counts = np.maximum(self.expected[attributes], 0.0)
        single = counts[counts < _SINGLE * (1 + self.beside)]
        return float(_MEAN_OF_NORMAL * np.sqrt(counts * self.beside).sum() + single.sum())


def tables_of(
    domain: Domain,
    sizes: Sequence[int],
    *,
    most_cells: int,
    measured: Sequence[Attributes] | None = None,
) -> Iterator[Attributes]:
    """All sets of some sizes whose tables are small enough.

    A pair is seen as finely as its table may be, and as coarsely as there are copies of its
    attributes; in larger tables every attribute is as coarse as it can be.

    Args:
        domain: the attributes.
        sizes: how many attributes a table may have.
        most_cells: larger tables are left out.
        measured: the tables that were released so far. With them, triples of which fewer than two
            pairs were measured are not even listed: their number grows with the cube of the
            columns. All sets are listed unless given.
    """
    for size in sizes:
        tied = measured is not None and size == _TRIPLE
        sets = _tied(measured or (), domain) if tied else itertools.combinations(domain, size)
        for attributes in sets:
            yield from _seen(attributes, domain, most_cells)


def _tied(measured: Sequence[Attributes], domain: Domain) -> Iterator[Attributes]:
    """The triples of which at least two pairs were measured, in the order of the attributes."""
    place = {attribute: number for number, attribute in enumerate(domain)}
    near: dict[int, set[int]] = {number: set() for number in place.values()}
    for table in measured:
        for one, other in itertools.permutations({place[domain.base(n)] for n in table}, 2):
            near[one].add(other)
    found = {
        tuple(sorted((middle, *ends)))
        for middle, others in near.items()
        for ends in itertools.combinations(others, 2)
    }
    return (tuple(domain.attributes[number] for number in triple) for triple in sorted(found))


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


def apart(
    tables: Sequence[Attributes], chosen: Sequence[Attributes], domain: Domain
) -> list[Attributes]:
    """The tables that share at most one attribute with each that was chosen."""
    taken = [frozenset(map(domain.base, table)) for table in chosen]
    held = ((table, frozenset(map(domain.base, table))) for table in tables)
    return [table for table, names in held if all(len(names & other) < 2 for other in taken)]


def shrunk(errors: Floats, variance: float) -> Floats:
    """Noisy errors drawn towards their mean by the part of their spread that is noise."""
    mean = float(errors.mean())
    return np.asarray(mean + (errors - mean) * signal_part(errors, variance))


def signal_part(values: Floats, variance: float) -> float:
    """The part of the spread of noisy values that is not noise."""
    spread = float(values.var())
    return max(0.0, 1 - variance / spread) if spread > 0 else 0.0


@dataclass(frozen=True, eq=False)
class CandidateTables:
    """Tables that may be measured: what each would put right, and the noise that it would have.

    Attributes:
        tables: the candidates.
        errors: of each, in rows.
        cells: the L1 noise of each, in units of the noise of one cell.
        most: the largest error that each could have, in rows; zero where it is not known.
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
        beside: of tables that share the budget anyway, the sum of cells to that power.
        may_wait: whether a round follows, in which a table that is not taken now may be.
    """

    noise: float
    power: float
    most: int = 400
    beside: float = 0.0
    may_wait: bool = True

    def among(self, candidates: CandidateTables, domain: Domain) -> list[Attributes]:
        """Return the tables to measure, best first.

        Where more tables pay than may be taken, pairs that a path of chosen ones may explain wait
        for the next round, which sees what is left of their errors, if there is one.
        """
        held = _held(candidates.tables, domain)
        chosen = self._greedy(candidates, held, None)
        if self.may_wait and len(chosen) == self.most:
            chosen = self._greedy(candidates, held, ChosenPaths.of(held, candidates.most))
        return [candidates.tables[number] for number in chosen]

    def _greedy(
        self, candidates: CandidateTables, held: Singles, paths: ChosenPaths | None
    ) -> list[int]:
        parts, overlaps = candidates.cells**self.power, Overlaps(held)
        left, open_to = np.maximum(candidates.errors, 0.0), np.ones(len(parts), bool)
        taken, chosen = self.beside, list[int]()
        while len(chosen) < min(self.most, len(parts)):
            # Without noise tables cost nothing, and any error is worth it.
            cost = np.maximum(REMAINING * self.noise * self._growth(taken, parts), 1e-12)
            pays = open_to & (left > cost)
            worth = np.where(pays, left / cost, 0.0)
            if paths is not None:
                worth[paths.explain(candidates.errors)] = 0.0
            best = int(worth.argmax())
            if worth[best] <= 0:
                break
            chosen.append(best)
            taken, open_to[best] = taken + parts[best], False
            left = left * overlaps.remaining(best)
            if paths is not None:
                paths.take(best, float(candidates.errors[best]))
        return chosen

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

    Along a chain A – B – C the ends depend on each other no more than the links do (the data
    processing inequality). A pair that is tied by a chain of stronger links may thus owe all of its
    error to them, and one dependence would be measured again for every pair that it reaches.

    Attributes:
        ends: of every table the two attributes it ties, or -1 where it is not a pair.
        most: of every table the largest error that there could be.
        ties: for every two attributes the weakest link of the strongest path, in parts of that.
    """

    ends: Integers
    most: Floats
    ties: Floats

    @classmethod
    def of(cls, held: Singles, most: Floats) -> ChosenPaths:
        """No paths yet."""
        pairs = (held.sum(axis=1) == 2) & (most > 0)
        ends = np.full((len(held), 2), -1)
        ends[pairs] = np.nonzero(held[pairs])[1].reshape(-1, 2)
        return cls(ends, most, np.eye(held.shape[1]))

    def explain(self, errors: Floats) -> npt.NDArray[np.bool_]:
        """Which pairs have errors that a path may explain."""
        one, other = self.ends.T
        return np.asarray((one >= 0) & (errors <= self.ties[one, other] * self.most))

    def take(self, number: int, error: float) -> None:
        """Add the paths that a chosen pair makes."""
        one, other = self.ends[number]
        if one < 0:
            return
        link = np.minimum(self.ties[one], min(error / self.most[number], 1.0))
        across = np.minimum.outer(link, self.ties[other])
        self.ties = np.maximum(self.ties, np.maximum(across, across.T))


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
            + kernel.by_few_rows(t)
            for t in tables
        ]
    )
