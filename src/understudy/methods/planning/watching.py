"""A Curator that keeps note of what a method asks, stage by stage."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from understudy.facts.domain import Attributes
from understudy.privacy.accounting.costs import cost
from understudy.privacy.accounting.events import Event, ExponentialEvent, PermuteAndFlipEvent
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.curator import Curator, SelectionRule
from understudy.privacy.mechanisms.selection import choice
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.rows.counting import Score, Scores

T = TypeVar("T")

ROWS, ONE_WAY, TABLES = "number of rows", "one-way tables", "tables of several columns"
SCORES, CHOICES = "scores of sets", "choices of tables"


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Questions that a method asks together.

    Attributes:
        name: what they are about.
        questions: how many tables, scores or choices.
        cells: of each table that is measured; none where structure is asked for.
        events: what was charged.
        noise: the standard deviations of cells or scores, in rows, one for each charge.
    """

    name: str
    questions: int
    cells: tuple[int, ...]
    events: tuple[Event, ...]
    noise: tuple[float, ...]

    @property
    def asks_structure(self) -> bool:
        """Whether later stages depend on the answers."""
        return self.name in (SCORES, CHOICES)

    def cost(self, measure: Measure) -> Fraction:
        """Add up what the whole stage costs."""
        prices = (cost(event, measure) for event in self.events)
        return sum((price for price in prices if price is not None), Fraction(0))


@dataclass(frozen=True, repr=False)
class WatchedCurator(Curator):
    """Answers as every Curator does, and notes each question's tables, charges and noise."""

    rows: int = 0
    notes: list[Stage] = field(default_factory=list)

    def measure(
        self, sets: Sequence[Attributes], budget: Budget, *, weights: Sequence[int] | None = None
    ) -> list[NoisyMarginal]:
        """Noisy contingency tables, noted."""
        before = len(self._grant.charges)
        found = super().measure(sets, budget, weights=weights)
        cells = tuple(self.domain.cells(attributes) for attributes in sets)
        noise = [math.sqrt(marginal.variance) for marginal in found]
        self._note(_name_of(sets), len(sets), before, noise, cells)
        return found

    def score(
        self, sets: Sequence[Attributes], score: Score, budget: Budget
    ) -> tuple[Scores, float]:
        """Noisy scores, noted."""
        before = len(self._grant.charges)
        found, variance = super().score(sets, score, budget)
        self._note(SCORES, len(sets), before, [math.sqrt(variance) * self._rows_in(score)])
        return found, variance

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
        """Make a private choice, and note it."""
        before = len(self._grant.charges)
        chosen = super().select(candidates, score, budget, of=of, penalty=penalty, by=by)
        spreads = (_spread(charge.event) for charge in self._grant.charges[before:])
        in_rows = float(score.sensitivity) * self._rows_in(score)
        self._note(CHOICES, 1, before, [spread * in_rows for spread in spreads])
        return chosen

    def _rows_in(self, score: Score) -> int:
        """Scores of families are in shares of rows under replace; errors of tables are in rows."""
        in_rows = self.public_rows is None or score.sensitivity >= 1
        return 1 if in_rows else self.rows

    def _note(
        self,
        name: str,
        questions: int,
        before: int,
        noise: Iterable[float],
        cells: tuple[int, ...] = (),
    ) -> None:
        events = tuple(charge.event for charge in self._grant.charges[before:])
        self.notes.append(
            Stage(name=name, questions=questions, cells=cells, events=events, noise=tuple(noise))
        )


def stages(notes: Sequence[Stage]) -> tuple[Stage, ...]:
    """The notes of a run, with choices that follow each other put together.

    Where tables are measured after each choice, they are put together too.
    """
    choices = [stage for stage in notes if stage.name == CHOICES]
    if len(choices) > 1 and _alternate(notes):
        first = notes.index(choices[0])
        tables = [stage for stage in notes[first:] if stage.name == TABLES]
        return (*notes[:first], _together(choices), _together(tables))
    grouped = itertools.groupby(enumerate(notes), key=_kind)
    return tuple(_together([stage for _, stage in group]) for _, group in grouped)


def _alternate(notes: Sequence[Stage]) -> bool:
    """Whether every choice is followed by tables."""
    first = next(place for place, stage in enumerate(notes) if stage.name == CHOICES)
    names = [stage.name for stage in notes[first:]]
    return names == [CHOICES, TABLES] * (len(names) // 2)


def _kind(numbered: tuple[int, Stage]) -> tuple[str, int]:
    """Equal for choices alone."""
    number, stage = numbered
    return stage.name, -1 if stage.name == CHOICES else number


def _together(group: Sequence[Stage]) -> Stage:
    return Stage(
        name=group[0].name,
        questions=sum(stage.questions for stage in group),
        cells=tuple(cells for stage in group for cells in stage.cells),
        events=tuple(event for stage in group for event in stage.events),
        noise=tuple(noise for stage in group for noise in stage.noise),
    )


def _name_of(sets: Sequence[Attributes]) -> str:
    if all(len(attributes) == 1 for attributes in sets):
        return ONE_WAY
    return ROWS if list(sets) == [()] else TABLES


def _spread(event: Event) -> float:
    """The standard deviation of what a choice adds to each score, in sensitivities of the score.

    Permute-and-flip chooses as exponential noise on every score does (Ding et al. 2021), the
    exponential mechanism as Gumbel noise.
    """
    match event:
        case PermuteAndFlipEvent(scale, sensitivity):
            return float(scale / sensitivity)
        case ExponentialEvent(scale, sensitivity):
            return float(scale / sensitivity) * math.pi / math.sqrt(6)
        case _:
            return 0.0
