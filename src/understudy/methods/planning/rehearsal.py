"""A method tried on made-up rows: the real stages, with noise of the real size."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.facts.domain import Attributes, Domain
from understudy.facts.workload import distances
from understudy.methods import Learned, Synthesizer
from understudy.methods.planning.watching import Stage, WatchedCurator, stages
from understudy.models.model import Model
from understudy.privacy.accounting.composition import NONE, Bound
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Instruments
from understudy.privacy.noise.system import Noise
from understudy.privacy.spending.grant import Grant
from understudy.privacy.statements.statement import Statement
from understudy.rows.counting import CountSource, Scores
from understudy.rows.made_up import AllAlike, MadeUp, ScaledSource
from understudy.system.arrays import Integers
from understudy.testing import SeededNoise

# A noisy number of rows may come out far too large; more synthetic rows would tell nothing new.
_MOST_TO_DEAL = 2


@dataclass
class Clock:
    """Seconds of the processor in what grows with the rows, counting and sampling, and in all else.

    Wall time on a busy machine would be that of other programs too, and the time of the whole
    process that of other rehearsals.
    """

    counting: float = 0.0
    learning: float = 0.0
    sampling: float = 0.0


@dataclass(frozen=True, repr=False)
class ReferenceTables:
    """The tables by which made-up rows and synthetic ones are compared, counted once.

    Fewer rows that stand for several scatter more than all rows would, made-up and synthetic ones
    alike. A table that the method did not see shows the scatter of both as distance, and the
    surplus of it is taken off, as squares.

    Attributes:
        sets: the attributes of each table.
        shares: of the made-up rows, in its cells.
        scatter: how far two tables of this size are expected to be apart by chance.
        times: how many rows each row represents.
    """

    sets: Sequence[Attributes]
    shares: Sequence[Scores]
    scatter: Scores
    times: int

    @classmethod
    def of(cls, source: ScaledSource, sets: Sequence[Attributes]) -> ReferenceTables:
        """The yardstick that a made-up table is."""
        found = source.once.shares(sets)
        scatter = np.array([chance_distance(each, source.once.rows) for each in found])
        return cls(sets, found, scatter, source.times)

    def distance(self, made: MadeUp) -> float | None:
        """The mean total variation distance; None without tables to compare."""
        if not self.sets:
            return None
        if made.rows == 0:
            return 1.0
        found = distances(self.shares, made.shares(self.sets))
        surplus = np.minimum(found, self.scatter) ** 2 * (1 - 1 / self.times)
        # Tables that the method measured, or that follow from such, are nearer than chance.
        unseen = found > self.scatter / 2
        return float(np.sqrt(found**2 - np.where(unseen, surplus, 0.0)).mean())


def chance_distance(share: Scores, rows: int) -> float:
    """The expected distance of two tables of n rows from one distribution: ½ Σ E|p̂ − q̂|.

    Binomial counts are taken as normal, so that E|p̂ − q̂| = √(4 p (1 − p) / πn).
    """
    return 0.5 * float(np.sqrt(4 * share * (1 - share) / (np.pi * rows)).sum())


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
        """Return the place of the best score."""
        return int(scores.argmax())

    def exponential(self, scores: Integers, scale: Fraction) -> int:
        """Return the place of the best score."""
        return int(scores.argmax())

    def uniform(self, below: int, size: int) -> Integers:
        """Nothing."""
        return np.zeros(size, np.int64)


@dataclass(frozen=True)
class Agenda:
    """The questions that a method asks before its answers matter.

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
    """The result of one rehearsal.

    Attributes:
        stages: the questions.
        distances: mean total variation of 1-, 2- and 3-way tables; None where all are too large.
        clock: the seconds it took.
    """

    stages: tuple[Stage, ...]
    distances: tuple[float | None, ...]
    clock: Clock


def grant_of(synthesizer: Synthesizer) -> Grant:
    """A grant as a fit would have it, of which nothing is written down."""
    return Grant(synthesizer.budget, pricing=synthesizer.pricing)


def read_through(synthesizer: Synthesizer, domain: Domain, rows: int) -> Agenda:
    """Ask everything once, silently, of rows that are all alike."""
    source, grant = AllAlike(domain, rows), grant_of(synthesizer)
    notes = _asked(synthesizer.outlined, source, grant, Silence())[1]
    return Agenda(stages(notes), grant.spendable, len(source.scored))


def rehearse(
    synthesizer: Synthesizer,
    source: ScaledSource,
    spendable: Budget,
    yardsticks: Sequence[ReferenceTables],
    *,
    seed: int,
) -> Rehearsal:
    """Learn a model of made-up rows, make rows from it, and see how near they come."""
    source, started = source.timed_afresh(), time.thread_time()
    learned, notes = _asked(synthesizer, source, Grant(spendable), SeededNoise(seed))
    fitted = time.thread_time()
    made = _dealt(synthesizer, source, learned, seed)
    spent = Clock(source.seconds, sampling=time.thread_time() - fitted)
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
    return Model(synthesizer.schema, learned.distribution, learned.rows, statement)


def _dealt(synthesizer: Synthesizer, source: ScaledSource, learned: Learned, seed: int) -> MadeUp:
    """Synthetic rows, as many for each made-up row as the method would make."""
    rows = min(round(learned.rows / source.times), _MOST_TO_DEAL * source.once.rows)
    model, generator = unpromised(synthesizer, learned), np.random.default_rng(seed)
    return MadeUp.of_codes(source.domain, model.law.draw(rows, generator), rows)
