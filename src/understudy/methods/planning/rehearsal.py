"""A method tried on made-up rows: the real stages, with noise of the real size."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from understudy.counting import CountSource, ScoreKernel, Scores
from understudy.domain import Attributes, Domain
from understudy.engines.memory import MemorySource
from understudy.evaluate.fidelity import distances, shares
from understudy.marginal import Marginal
from understudy.model import Model
from understudy.planning.watching import Stage, WatchedCurator, stages
from understudy.privacy.accounting import NONE, Bound
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Instruments
from understudy.privacy.grant import Grant
from understudy.privacy.noise import Integers, Noise
from understudy.privacy.statement import Statement
from understudy.sample import deal_codes
from understudy.synthesizers import Learned, Synthesizer
from understudy.table import Table
from understudy.testing import SeededNoise

# A noisy number of rows may come out far too large; more synthetic rows would tell nothing new.
_MOST_TO_DEAL = 2


@dataclass
class Clock:
    """Seconds spent in what grows with the rows, counting and sampling, and in all else."""

    counting: float = 0.0
    learning: float = 0.0
    sampling: float = 0.0

    @contextmanager
    def counts(self) -> Iterator[None]:
        """Time a count."""
        started = time.perf_counter()
        yield
        self.counting += time.perf_counter() - started


@dataclass(frozen=True, repr=False)
class Stretched:
    """A made-up table as an engine that answers as if every row stood in it so many times.

    It is asked the same for every budget, so tables of two attributes are kept once counted.
    """

    table: Table
    times: int
    clock: Clock = field(default_factory=Clock)
    _kept: dict[Attributes, Marginal] = field(default_factory=dict)

    @property
    def domain(self) -> Domain:
        """The attributes that can be counted."""
        return self.table.domain

    @property
    def rows_read(self) -> int:
        """The rows, each counted so many times."""
        return self.table.rows_read * self.times

    @property
    def rows_per_person(self) -> int | None:
        """As the table says."""
        return self.table.rows_per_person

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Contingency tables."""
        with self.clock.counts():
            return [self._stretched(marginal) for marginal in MemorySource(self.table).count(sets)]

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Scores of contingency tables."""
        wide = [attributes for attributes in sets if len(attributes) > 2]
        with self.clock.counts():
            scores = MemorySource(self.table).score(wide, lambda m: kernel(self._stretched(m)))
            found = dict(zip(wide, scores.tolist(), strict=True))
            self._keep([attributes for attributes in sets if attributes not in found])
            return np.array([found[s] if s in found else kernel(self._kept[s]) for s in sets])

    def _keep(self, sets: Sequence[Attributes]) -> None:
        new = [attributes for attributes in sets if attributes not in self._kept]
        for marginal in MemorySource(self.table).each(new):
            self._kept[marginal.attributes] = self._stretched(marginal)

    def _stretched(self, marginal: Marginal) -> Marginal:
        return Marginal(marginal.attributes, marginal.counts * self.times)


@dataclass(frozen=True, repr=False)
class Yardstick:
    """The tables by which made-up rows and synthetic ones are compared, counted once.

    Fewer rows that stand for several scatter more than all rows would, made-up and synthetic ones
    alike. A table that the method did not see shows the scatter of both as distance, and the
    surplus of it is taken off, as squares.

    Attributes:
        sets: the attributes of each table.
        shares: of the made-up rows, in its cells.
        scatter: how far two tables of so many rows are expected to be apart by chance.
        times: for how many each row stands.
    """

    sets: Sequence[Attributes]
    shares: Sequence[Scores]
    scatter: Scores
    times: int

    @classmethod
    def of(cls, source: Stretched, sets: Sequence[Attributes]) -> Yardstick:
        """The yardstick that a made-up table is."""
        found = shares(source.table, sets)
        scatter = np.array([chance_distance(each, source.table.rows) for each in found])
        return cls(sets, found, scatter, source.times)

    def distance(self, made: Table) -> float | None:
        """The mean total variation distance; None without tables to compare."""
        if not self.sets:
            return None
        if made.rows == 0:
            return 1.0
        found = distances(self.shares, shares(made, self.sets))
        surplus = np.minimum(found, self.scatter) ** 2 * (1 - 1 / self.times)
        # Tables that the method measured, or that follow from such, are nearer than chance.
        unseen = found > self.scatter / 2
        return float(np.sqrt(found**2 - np.where(unseen, surplus, 0.0)).mean())


def chance_distance(share: Scores, rows: int) -> float:
    """The expected distance of two tables of so many rows from one distribution: ½ Σ E|p̂ − q̂|.

    Binomial counts are taken as normal, so that E|p̂ − q̂| = √(4 p (1 − p) / πn).
    """
    return 0.5 * float(np.sqrt(4 * share * (1 - share) / (np.pi * rows)).sum())


@dataclass(frozen=True)
class AllAlike:
    """So many rows that are all the same: for what a method asks before it has learned anything."""

    domain: Domain
    rows_read: int
    rows_per_person: int | None = None
    scored: list[Attributes] = field(default_factory=list)

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Every row in the first cell."""
        return [Marginal(attributes, self._counts(attributes)) for attributes in sets]

    def _counts(self, attributes: Attributes) -> Integers:
        counts = np.zeros(self.domain.shape(attributes), np.int64)
        counts[(0,) * len(attributes)] = self.rows_read
        return counts

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Nothing: attributes that do not vary tell nothing about each other."""
        self.scored.extend(sets)
        return np.zeros(len(sets))


class Silence:
    """No noise at all, for a look at the scales that a method asks for."""

    private = False

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """Nothing."""
        return np.zeros(size, np.int64)

    def gaussian(self, sigma_squared: Fraction, size: int) -> Integers:
        """Nothing."""
        return np.zeros(size, np.int64)

    def permute_and_flip(self, scores: Integers, scale: Fraction) -> int:
        """The best."""
        return int(scores.argmax())

    def exponential(self, scores: Integers, scale: Fraction) -> int:
        """The best."""
        return int(scores.argmax())

    def uniform(self, below: int, size: int) -> Integers:
        """Nothing."""
        return np.zeros(size, np.int64)


@dataclass(frozen=True)
class Reading:
    """What a method asks before its answers matter.

    Attributes:
        stages: the questions; those after a question about structure depend on its answers.
        spendable: the budget in the measure that questions are paid in.
        scored: how many tables are looked at for their structure.
    """

    stages: tuple[Stage, ...]
    spendable: Budget
    scored: int


@dataclass(frozen=True)
class Rehearsal:
    """What came of one rehearsal.

    Attributes:
        stages: the questions.
        distances: mean total variation of 1-, 2- and 3-way tables; None where all are too large.
        clock: the seconds it took.
    """

    stages: tuple[Stage, ...]
    distances: tuple[float | None, ...]
    clock: Clock


def read_through(synthesizer: Synthesizer, domain: Domain, rows: int) -> Reading:
    """Ask everything once, silently, of rows that are all alike."""
    source, grant = AllAlike(domain, rows), Grant(synthesizer.budget)
    notes = _asked(synthesizer, source, grant, Silence())[1]
    return Reading(stages(notes), grant.spendable, len(source.scored))


def rehearse(
    synthesizer: Synthesizer,
    source: Stretched,
    spendable: Budget,
    yardsticks: Sequence[Yardstick],
    *,
    seed: int,
) -> Rehearsal:
    """Learn a model of made-up rows, make rows from it, and see how near they come."""
    clock, started = source.clock, time.perf_counter()
    before = clock.counting
    learned, notes = _asked(synthesizer, source, Grant(spendable), SeededNoise(seed))
    fitted = time.perf_counter()
    made = _dealt(synthesizer, source, learned, seed)
    spent = Clock(clock.counting - before, sampling=time.perf_counter() - fitted)
    spent.learning = fitted - started - spent.counting
    return Rehearsal(stages(notes), tuple(y.distance(made) for y in yardsticks), spent)


def _asked(
    synthesizer: Synthesizer, source: CountSource, grant: Grant, noise: Noise
) -> tuple[Learned, list[Stage]]:
    instruments = Instruments(noise=noise)
    curator = WatchedCurator(source, synthesizer.unit, grant, instruments, rows=source.rows_read)
    return synthesizer.learn(curator), curator.notes


def unpromised(synthesizer: Synthesizer, learned: Learned) -> Model:
    """A model that no private row has any part in, and that promises nothing."""
    nothing = Bound(NONE, None, Fraction(0))
    statement = Statement(synthesizer.method, nothing, synthesizer.unit, (), private=False)
    return Model(synthesizer.schema, learned.conditionals, learned.rows, statement)


def _dealt(synthesizer: Synthesizer, source: Stretched, learned: Learned, seed: int) -> Table:
    """Synthetic rows, as many for each made-up row as the method would make."""
    rows = min(round(learned.rows / source.times), _MOST_TO_DEAL * source.table.rows)
    model, generator = unpromised(synthesizer, learned), np.random.default_rng(seed)
    return Table(source.domain, deal_codes(model, rows, generator), rows)
