"""The one door between private rows and everything else.

Every verb pays first, looks second, and hands out what a mechanism made of the exact answer. There
is one place where that happens, `Curator.release_all`; the verbs only say what is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from understudy.errors import UsageError
from understudy.facts.capacity import ensure_tables_fit
from understudy.facts.domain import Attributes, Domain
from understudy.facts.grouping import Grouping
from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.accounting.events import Charge
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.additive import Additive, additive
from understudy.privacy.mechanisms.mechanism import Mechanism
from understudy.privacy.mechanisms.released import table_question
from understudy.privacy.mechanisms.selection import Selection, choice
from understudy.privacy.noise.system import Noise, SystemNoise
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.privacy.spending.grant import Grant
from understudy.rows.counting import CountSource, NumbersRows, Score, Scores
from understudy.rows.grouping import GroupedSource
from understudy.system.arrays import Integers, Numbers

T = TypeVar("T")
E = TypeVar("E")
R = TypeVar("R")

# Scores are put on a grid this much finer than their sensitivity before integer noise.
_GRID_PER_SENSITIVITY = 2**16
_WIDEST = 2.0**52
# Scores that are kept between questions, about 200 bytes each.
_MOST_REMEMBERED = 2**19


class Tape(Protocol):
    """A tape lies between an exact answer and its release: it draws, records, or replays."""

    def looking(self) -> AbstractContextManager[None]:
        """The only time during which rows may be read."""

    def answer(
        self, charge: Charge, mechanism: Mechanism[E, R], exact: E, draw: Callable[[], R]
    ) -> R:
        """Return the release for one question."""


class Live:
    """No tape: answers are drawn."""

    def looking(self) -> AbstractContextManager[None]:
        """Nothing to guard."""
        return nullcontext()

    def answer(
        self, charge: Charge, mechanism: Mechanism[E, R], exact: E, draw: Callable[[], R]
    ) -> R:
        """Draw afresh."""
        return draw()


class SelectionRule(Protocol):
    """Says by which mechanism a choice is made that may cost a budget."""

    def __call__(self, budget: Budget, *, sensitivity: Fraction) -> Selection:
        """Return the mechanism for scores of this sensitivity."""
        ...


def _unwatched(done: int, total: int) -> None:
    """Show nothing: a fit is watched in notebooks only."""
    del done, total


@dataclass(frozen=True)
class Instruments:
    """A Curator draws with this noise, records on this tape, and is watched in this way."""

    noise: Noise = field(default_factory=SystemNoise)
    tape: Tape = field(default_factory=Live)
    watch: Callable[[int, int], None] = field(default=_unwatched, compare=False)


@dataclass(frozen=True)
class Measurement(Generic[E, R]):
    """Something to be released: its name in the statement, and how it is answered."""

    name: str
    mechanism: Mechanism[E, R]

    @property
    def charge(self) -> Charge:
        """The charge that it is paid by."""
        return Charge(self.name, self.mechanism.event)


@dataclass(frozen=True, repr=False)
class Curator:
    """Answers questions about private rows, each charged to a grant before it is looked at.

    Privacy: the sensitivity of counts follows `unit`. The caller chooses questions by public
    facts and earlier answers alone; the rows themselves cannot be reached through this object.
    """

    _source: CountSource
    unit: Unit
    _grant: Grant
    _instruments: Instruments = field(default_factory=Instruments)
    _memory: dict[Score, dict[Attributes, float]] = field(default_factory=dict)

    @property
    def domain(self) -> Domain:
        """The attributes that can be asked about; public."""
        return self._source.domain

    @property
    def budget(self) -> Budget:
        """The whole budget, in the measure that mechanisms are paid in."""
        return self._grant.spendable

    @property
    def left_for_list(self) -> Budget:
        """Return what a list may cost that the run commits to, after all that was paid for."""
        return self._grant.left_for_list

    @property
    def public_rows(self) -> int | None:
        """The number of rows, where the neighbouring relation makes it public."""
        if self.unit.neighbours is Neighbours.REPLACE:
            with self._instruments.tape.looking():
                return self._source.rows_read
        return None

    @property
    def can_number_rows(self) -> bool:
        """Whether the rows' engine can say into which cell a row falls; some only count. Public."""
        return isinstance(self._source, NumbersRows)

    def watched(self, stages: Sequence[E]) -> Iterator[E]:
        """Yield the stages of a fit, and show before each of them how far the fit is.

        One stage is left at the end: what is learned from all answers together.
        """
        for done, stage in enumerate(stages, 1):
            self._instruments.watch(done, len(stages) + 2)
            yield stage
        self._instruments.watch(len(stages) + 1, len(stages) + 2)

    def in_groups(self, grouping: Grouping) -> Curator:
        """The same rows and the same grant; tables may have axes in these groups too.

        Privacy: the groups must come from public facts and earlier answers alone.
        """
        # Scores are remembered by names, which stand for other groups elsewhere.
        return replace(self, _source=GroupedSource(self._source, grouping), _memory={})

    def announce(self, sets: Sequence[Attributes], weights: Sequence[int]) -> Budget:
        """Promise that one `measure` of these tables is all there will be.

        Returns:
            The budget to measure them with: larger than `budget` where a list of events that is
            known in advance allows a tighter bound.
        """
        return self._grant.announce(lambda b: [q.charge for q in self._about(sets, b, weights)])

    def commit(self, questions: Sequence[Measurement[Any, Any]]) -> None:
        """Pay for a whole list of questions that will be asked by `release`, and nothing else.

        Privacy: the list may depend on public facts and on answers already paid for.
        """
        self._grant.commit([question.charge for question in questions])

    def measure(
        self, sets: Sequence[Attributes], budget: Budget, *, weights: Sequence[int] | None = None
    ) -> list[NoisyMarginal]:
        """Noisy contingency tables, noise on every cell, empty ones too.

        Args:
            sets: the attributes of each table; () is the number of rows.
            budget: what all tables together may cost.
            weights: how the budget is shared among them; equally unless given.
        """
        ensure_tables_fit(self.domain, sets)
        asked = list(self._about(sets, budget, weights or [1] * len(sets)))
        answers = self.release_all(
            asked, lambda source: [marginal.counts for marginal in source.count(sets)]
        )
        return [
            NoisyMarginal(attributes, counts, question.mechanism.variance)
            for attributes, counts, question in zip(sets, answers, asked, strict=True)
        ]

    def _about(
        self, sets: Sequence[Attributes], budget: Budget, weights: Sequence[int]
    ) -> Iterator[_TableMeasurement]:
        l1, l2_squared = self.unit.count_l1, self.unit.count_l2_squared
        for attributes, share in zip(sets, budget.split(weights), strict=True):
            name = table_question(attributes)
            yield _TableMeasurement(name, additive(share, l1=l1, l2_squared=l2_squared))

    def select(
        self,
        candidates: Sequence[T],
        score: Score,
        budget: Budget,
        *,
        of: Callable[[T], Attributes],
        penalty: Callable[[T], float] | None = None,
        by: SelectionRule = choice,
    ) -> T:
        """A private choice of a candidate with a high score.

        Args:
            candidates: what to choose from.
            score: the quality, with its sensitivity.
            budget: what the choice may cost.
            of: the attributes whose table a candidate is scored by.
            penalty: taken off a candidate's score; must depend on public facts alone.
            by: the mechanism that chooses; the better one for the measure by default.
        """
        sets = [of(candidate) for candidate in candidates]
        ensure_tables_fit(self.domain, sets, kept=False)
        grid = self._grid(score)
        less = np.array([penalty(c) if penalty else 0.0 for c in candidates])
        chosen = self.release(
            by(budget, sensitivity=grid.sensitivity),
            lambda source: grid.onto(self._scored(source, sets, score) - less),
            name=f"choice among {len(candidates)} by {score.name}",
        )
        return candidates[int(chosen)]

    def score(
        self, sets: Sequence[Attributes], score: Score, budget: Budget
    ) -> tuple[Scores, float]:
        """Noisy scores of several tables, and the variance of each."""
        ensure_tables_fit(self.domain, sets, kept=False)
        grid = self._grid(score)
        l1, l2_squared = grid.sensitivity * len(sets), grid.sensitivity**2 * len(sets)
        mechanism = additive(budget, l1=l1, l2_squared=l2_squared, moved=len(sets))
        noisy = self.release(
            mechanism,
            lambda source: grid.onto(self._scored(source, sets, score)),
            name=f"{score.name} of {len(sets)} sets of attributes",
        )
        return np.asarray(noisy * float(grid.step)), mechanism.variance * float(grid.step) ** 2

    def _scored(self, source: CountSource, sets: Sequence[Attributes], score: Score) -> Scores:
        """Exact scores, each table looked at once while there is room to remember it. Private."""
        if sum(map(len, self._memory.values())) > _MOST_REMEMBERED:
            # Others choose the questions of a process that lives for months.
            self._memory.clear()
        known = self._memory.setdefault(score, {})
        new = [attributes for attributes in dict.fromkeys(sets) if attributes not in known]
        if new:
            known.update(zip(new, source.score(new, score.kernel).tolist(), strict=True))
        return np.array([known[attributes] for attributes in sets])

    def _grid(self, score: Score) -> _Grid:
        if score.neighbours != self.unit.neighbours:
            raise UsageError(
                f"score {score.name} is calibrated for {score.neighbours}; "
                f"this run promises {self.unit.label} under {self.unit.neighbours}"
            )
        # A person's rows come one by one, and each moves the score by no more than the sensitivity.
        return _Grid(score.sensitivity * self.unit.rows)

    def release(
        self, mechanism: Mechanism[E, R], query: Callable[[CountSource], E], *, name: str
    ) -> R:
        """Whatever fits no other verb: the mechanism carries cost and sensitivity."""
        return self.release_all([Measurement(name, mechanism)], lambda source: [query(source)])[0]

    def release_all(
        self,
        asked: Sequence[Measurement[E, R]],
        look: Callable[[CountSource], Sequence[E]],
    ) -> list[R]:
        """Pay for every question, look once, and release the answers.

        Privacy: nothing computed from rows leaves this package's private side except through here.
        """
        self._grant.charge([question.charge for question in asked])
        return self._released(asked, look)

    def release_first(
        self, mechanism: Mechanism[E, R], query: Callable[[CountSource], E], *, name: str
    ) -> R:
        """A pure question before all others; its cost is taken off the budget of the rest.

        Privacy: as `release_all`; whether the run continues may depend on the answer.
        """
        asked = Measurement(name, mechanism)
        self._grant.charge_first([asked.charge])
        return self._released([asked], lambda source: [query(source)])[0]

    def _released(
        self,
        asked: Sequence[Measurement[E, R]],
        look: Callable[[CountSource], Sequence[E]],
    ) -> list[R]:
        """Look once at what was paid for, and release the answers."""
        noise, tape = self._instruments.noise, self._instruments.tape
        with tape.looking():
            exact = look(self._source)
        return [
            tape.answer(q.charge, q.mechanism, answer, _draw(q.mechanism, answer, noise))
            for q, answer in zip(asked, exact, strict=True)
        ]

    def __repr__(self) -> str:
        return f"Curator({', '.join(self.domain)}; {self.unit.label}, {self.unit.neighbours})"


@dataclass(frozen=True)
class _TableMeasurement(Measurement[Integers, Numbers]):
    mechanism: Additive


@dataclass(frozen=True)
class _Grid:
    """A public grid for scores, fine against their sensitivity.

    Two scores Δ apart, computed with a rounding error below half a step each and put on the grid,
    are at most Δ + 2 steps apart.
    """

    of: Fraction

    @property
    def step(self) -> Fraction:
        return self.of / _GRID_PER_SENSITIVITY

    @property
    def sensitivity(self) -> Fraction:
        """In steps."""
        return Fraction(_GRID_PER_SENSITIVITY + 2)

    def onto(self, scores: Scores) -> Integers:
        """The nearest grid points; no score, however wild, leaves the integers."""
        steps = np.nan_to_num(scores / float(self.step), nan=0.0)
        return np.rint(np.clip(steps, -_WIDEST, _WIDEST)).astype(np.int64)


def _draw(mechanism: Mechanism[E, R], exact: E, noise: Noise) -> Callable[[], R]:
    return lambda: mechanism.release(exact, noise)
