"""An attack that trusts no law: statistics of what was released, and how often each value comes.

The attacker looks at raw cells, at totals, at sums and differences of two answers of one run, at
the model, at what was asked, and at a linear classifier of all of it. Half of the runs choose one
statistic and one event of it: a threshold, or a single value, which finds noise that cancels. The
other half, which had no part in the choice, count how often the event happens.

Source: the histogram tests follow the stochastic tester of Wilson et al. 2020, section 5.3; the
classifier with a held-out threshold follows DP-Sniper (Bichsel et al. 2021).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.methods.auditing.attack import Observation, Trial
from understudy.methods.auditing.bounds import at_least, at_most, epsilon_of
from understudy.models.model import Model
from understudy.system.arrays import Floats, Integers

# So many cells of an answer are looked at, and so many answers in pairs.
_CELLS, _IN_PAIRS, _CELLS_IN_PAIRS = 12, 8, 8
# The least share of runs in which something comes that is worth a category of its own.
_COMMON = 0.05
_STEPS, _RIDGE, _FARTHEST = 12, 1.0, 5.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Seen:
    """The view of an attacker on one run, as numbers.

    Attributes:
        asked: the questions; `priced` has their noise as well.
        parts: the first cells of each answer and of the model's tables, by name.
        totals: of all cells of each answer.
        along: each answer along the difference that the two tables make to it.
    """

    asked: str
    priced: str
    parts: Mapping[str, Floats]
    totals: Mapping[str, float]
    along: Mapping[str, float]


TrueAnswers = Mapping[str, Floats]


def seen(run: Trial, present: TrueAnswers, absent: TrueAnswers) -> Seen:
    """A run as numbers, beside exact answers of both tables, which the attacker knows."""
    parts: dict[str, Floats] = {}
    totals: dict[str, float] = {}
    along: dict[str, float] = {}
    for name, answer in named(run.answers):
        cells = np.asarray(answer.released, np.float64).reshape(-1)
        parts[name], totals[name] = cells[:_CELLS], float(cells.sum())
        one, other = present.get(name), absent.get(name)
        if one is not None and other is not None and one.size == other.size == cells.size:
            along[name] = float(cells @ (one - other))
    priced = repr([answer.charge for answer in run.answers])
    asked = repr([answer.charge.question for answer in run.answers])
    return Seen(
        asked=asked,
        priced=priced,
        parts=parts | dict(_of_model(run.model)),
        totals=totals,
        along=along,
    )


def named(answers: Sequence[Observation]) -> Iterator[tuple[str, Observation]]:
    """Answers by their questions, those that come again numbered."""
    times: Counter[str] = Counter()
    for answer in answers:
        question = answer.charge.question
        times[question] += 1
        yield question if times[question] == 1 else f"{question} ({times[question]})", answer


def _of_model(model: Model) -> Iterator[tuple[str, Floats]]:
    yield "rows of the model", np.array([model.rows], np.float64)
    for name, numbers in model.distribution.numbers().items():
        yield f"{name} in the model", numbers.reshape(-1)[:_CELLS].astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class EventBound:
    """The result of the attack without laws on one pair of tables.

    Attributes:
        case: how the tables differ.
        runs: how many fits were attacked, half of them on either table.
        statistic: what the attacker looks at.
        relation: "≥", "≤" or "=".
        value: the number that it is compared with.
        calls: whether the event is held for a sign of presence, or of absence.
        likely: the chance of the event where that is right, at least.
        unlikely: the chance of it where that is wrong, at most.
        epsilon: the lower bound; 0 when nothing was shown.
        provable: the bound of an attacker who is always right.
    """

    case: str
    runs: int
    statistic: str
    relation: str
    value: float
    calls: str
    likely: float
    unlikely: float
    epsilon: float
    provable: float

    @property
    def sentence(self) -> str:
        """Say in words which event it is."""
        value = f"{self.value:g}" if math.isfinite(self.value) else "nothing"
        return (
            f"{self.case}: {self.statistic} {self.relation} {value} tells that it is {self.calls}"
        )

    def document(self) -> dict[str, Any]:
        """Make a JSON object of the finding."""
        return {
            "case": self.case,
            "runs": self.runs,
            "lower_bound": self.epsilon,
            "largest_provable": self.provable,
            "statistic": self.statistic,
            "relation": self.relation,
            "value": self.value if math.isfinite(self.value) else None,
            "calls": self.calls,
            "chance_where_right_at_least": self.likely,
            "chance_where_wrong_at_most": self.unlikely,
        }


def attacked(
    case: str, present: Sequence[Seen], absent: Sequence[Seen], *, delta: float, error: float
) -> EventBound:
    """The lower bound on ε that runs on two tables show, each at this chance of error."""
    chosen = _Sides(present[::2], absent[::2])
    counted = _Sides(present[1::2], absent[1::2])
    event = max(_events(chosen, _Aim.of(delta, error)), key=lambda e: e.worth)
    happens = [event.happens(event.statistic.of(side)) for side in counted.both]
    right, wrong = happens if event.calls == "present" else happens[::-1]
    confidence = 1 - error
    likely = at_least(np.array([right.sum()]), np.array([right.size]), confidence)
    unlikely = at_most(np.array([wrong.sum()]), np.array([wrong.size]), confidence)
    sizes = np.array([min(right.size, wrong.size)])
    best = epsilon_of(
        at_least(sizes, sizes, confidence), at_most(0 * sizes, sizes, confidence), delta
    )
    return EventBound(
        case=case,
        runs=len(present) + len(absent),
        statistic=event.statistic.name,
        relation=event.relation,
        value=event.value,
        calls=event.calls,
        likely=float(likely[0]),
        unlikely=float(unlikely[0]),
        epsilon=float(epsilon_of(likely, unlikely, delta)[0]),
        provable=float(best[0]),
    )


@dataclass(frozen=True, eq=False)
class _Sides:
    """Runs on the table with the person, and on the one without."""

    present: Sequence[Seen]
    absent: Sequence[Seen]

    @property
    def both(self) -> tuple[Sequence[Seen], Sequence[Seen]]:
        return self.present, self.absent

    @property
    def every(self) -> list[Seen]:
        return [*self.present, *self.absent]


@dataclass(frozen=True)
class _Aim:
    """The aim of a choice of events: a bound at some δ, by intervals of some width."""

    delta: float
    width: float

    @classmethod
    def of(cls, delta: float, error: float) -> _Aim:
        from scipy.special import ndtri

        return cls(delta, float(-ndtri(error / 2)))


class Statistic(ABC):
    """A number that an attacker computes of a run; minus infinity where there is none."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that it has on the page."""

    @abstractmethod
    def of(self, runs: Sequence[Seen]) -> Floats:
        """Compute the number for each run."""


@dataclass(frozen=True)
class _Cell(Statistic):
    """One cell of an answer or of the model."""

    part: str
    place: int

    @property
    def name(self) -> str:
        return f"cell {self.place + 1} of {self.part}"

    def of(self, runs: Sequence[Seen]) -> Floats:
        cells = (run.parts.get(self.part) for run in runs)
        return np.array(
            [c[self.place] if c is not None and c.size > self.place else -np.inf for c in cells]
        )


@dataclass(frozen=True)
class _Sum(Statistic):
    """The total of an answer, or its place along the difference between the tables."""

    part: str
    kind: str

    @property
    def name(self) -> str:
        return f"{'total of' if self.kind == 'totals' else 'difference along'} {self.part}"

    def of(self, runs: Sequence[Seen]) -> Floats:
        return np.array([getattr(run, self.kind).get(self.part, -np.inf) for run in runs])


@dataclass(frozen=True)
class _Two(Statistic):
    """The sum or difference of two numbers of a run."""

    one: Statistic
    other: Statistic
    sign: int

    @property
    def name(self) -> str:
        return f"{self.one.name} {'+' if self.sign > 0 else '−'} {self.other.name}"

    def of(self, runs: Sequence[Seen]) -> Floats:
        one, other = self.one.of(runs), self.other.of(runs)
        there = np.isfinite(one) & np.isfinite(other)
        return np.where(
            there, np.where(there, one, 0) + self.sign * np.where(there, other, 0), -np.inf
        )


@dataclass(frozen=True, eq=False)
class _Asked(Statistic):
    """Which of the common lists of questions a run has; 0 is any other."""

    kind: str
    common: Sequence[str]

    @property
    def name(self) -> str:
        return "the questions" if self.kind == "asked" else "the questions and their noise"

    def of(self, runs: Sequence[Seen]) -> Floats:
        places = {text: place + 1 for place, text in enumerate(self.common)}
        return np.array([float(places.get(getattr(run, self.kind), 0)) for run in runs])


@dataclass(frozen=True, eq=False)
class _Classifier(Statistic):
    """A linear function of other statistics, fitted by ridged logistic regression."""

    inputs: Sequence[Statistic]
    centre: Floats
    width: Floats
    weights: Floats

    @property
    def name(self) -> str:
        return "a classifier of all cells"

    @classmethod
    def fitted(cls, inputs: Sequence[Statistic], sides: _Sides) -> _Classifier:
        """By Newton's steps, which a handful brings to rest."""
        table = _table(inputs, sides.every)
        there = np.isfinite(table)
        known, times = np.where(there, table, 0.0), np.maximum(there.sum(axis=0), 1)
        centre = known.sum(axis=0) / times
        width = np.sqrt((np.where(there, table - centre, 0.0) ** 2).sum(axis=0) / times)
        width = np.where(width > 0, width, 1.0)
        x = _standard(table, centre, width)
        y = np.repeat([1.0, 0.0], [len(sides.present), len(sides.absent)])
        weights = np.zeros(x.shape[1])
        for _ in range(_STEPS):
            chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
            bend = (x.T * (chance * (1 - chance))) @ x + _RIDGE * np.eye(x.shape[1])
            weights += np.linalg.solve(bend, x.T @ (y - chance) - _RIDGE * weights)
        return cls(inputs, centre, width, weights)

    def of(self, runs: Sequence[Seen]) -> Floats:
        found = _standard(_table(self.inputs, runs), self.centre, self.width) @ self.weights
        return np.asarray(found)


def _table(inputs: Sequence[Statistic], runs: Sequence[Seen]) -> Floats:
    return np.stack([statistic.of(runs) for statistic in inputs], axis=1)


def _standard(table: Floats, centre: Floats, width: Floats) -> Floats:
    """Numbers in standard deviations, none far out, and which of them are there; and a one."""
    there = np.isfinite(table)
    scaled = np.where(there, (np.where(there, table, 0) - centre) / width, 0.0)
    ones = np.ones((len(table), 1))
    return np.hstack([np.clip(scaled, -_FARTHEST, _FARTHEST), there.astype(float), ones])


@dataclass(frozen=True, eq=False, kw_only=True)
class _Event:
    """Something that may be seen of a run, and what it is held for."""

    statistic: Statistic
    relation: str
    value: float
    calls: str
    worth: float

    def happens(self, numbers: Floats) -> npt.NDArray[np.bool_]:
        """For each run whether it does."""
        match self.relation:
            case "≥":
                found = numbers >= self.value
            case "≤":
                found = numbers <= self.value
            case _:
                found = numbers == self.value
        return np.asarray(found)


def _events(chosen: _Sides, aim: _Aim) -> Iterator[_Event]:
    """The best event of every statistic, by the runs that choose."""
    simple = list(_simple(chosen))
    for statistic in [*simple, *_pairs(simple)]:
        yield _best(statistic, chosen, aim)
    if len(chosen.present) > 3 and len(chosen.absent) > 3:
        fitting = _Sides(chosen.present[::2], chosen.absent[::2])
        held_out = _Sides(chosen.present[1::2], chosen.absent[1::2])
        yield _best(_Classifier.fitted(simple, fitting), held_out, aim)


def _simple(chosen: _Sides) -> Iterator[Statistic]:
    """Use the values of the runs themselves, where they are common."""
    every = chosen.every
    least = max(1, math.ceil(_COMMON * len(every)))
    for kind in ("asked", "priced"):
        lists = Counter(getattr(run, kind) for run in every)
        yield _Asked(kind, [text for text, times in lists.items() if times >= least])
    cells: dict[str, int] = {}
    times: Counter[str] = Counter()
    for run in every:
        for part, numbers in run.parts.items():
            times[part] += 1
            cells[part] = max(cells.get(part, 0), numbers.size)
    for part, size in cells.items():
        if times[part] >= least:
            yield from (_Cell(part, place) for place in range(size))
    for kind in ("totals", "along"):
        sums = Counter(part for run in every for part in getattr(run, kind))
        yield from (_Sum(part, kind) for part, count in sums.items() if count >= least)


def _pairs(simple: Sequence[Statistic]) -> Iterator[Statistic]:
    """Sums and differences: of the same cells of two answers, and of their totals."""
    totals = [s for s in simple if isinstance(s, _Sum) and s.kind == "totals"][:_IN_PAIRS]
    measured = [total.part for total in totals]
    cells = [
        s
        for s in simple
        if isinstance(s, _Cell) and s.part in measured and s.place < _CELLS_IN_PAIRS
    ]
    for one, other in combinations(totals, 2):
        yield from (_Two(one, other, sign) for sign in (1, -1))
    for one_cell, other_cell in combinations(cells, 2):
        if one_cell.place == other_cell.place:
            yield from (_Two(one_cell, other_cell, sign) for sign in (1, -1))


def _best(statistic: Statistic, chosen: _Sides, aim: _Aim) -> _Event:
    """The event of a statistic whose chances differ most, after a margin for chance."""
    present, absent = (statistic.of(side) for side in chosen.both)
    values, places = np.unique(np.concatenate([present, absent]), return_inverse=True)
    counts = [
        np.bincount(held, minlength=values.size)
        for held in (places[: present.size], places[present.size :])
    ]
    best = _Event(
        statistic=statistic, relation="≥", value=float(values[0]), calls="present", worth=-math.inf
    )
    for relation, gather in _RELATIONS.items():
        here, there = (gather(count) for count in counts)
        for calls, right, wrong in (("present", here, there), ("absent", there, here)):
            sizes = (
                (present.size, absent.size) if calls == "present" else (absent.size, present.size)
            )
            worths = _worth(right, wrong, sizes, aim)
            place = int(worths.argmax())
            if worths[place] > best.worth:
                value, worth = float(values[place]), float(worths[place])
                best = _Event(
                    statistic=statistic, relation=relation, value=value, calls=calls, worth=worth
                )
    return best


_RELATIONS: dict[str, Callable[[Integers], Integers]] = {
    "≥": lambda counts: counts[::-1].cumsum()[::-1],
    "≤": lambda counts: counts.cumsum(),
    "=": lambda counts: counts,
}


def _worth(right: Integers, wrong: Integers, sizes: tuple[int, int], aim: _Aim) -> Floats:
    """About the bound that an event will show, by Wilson's intervals, which are quick."""
    likely = _wilson(right, sizes[0], -aim.width) - aim.delta
    unlikely = _wilson(wrong, sizes[1], aim.width)
    return np.asarray(np.log(np.maximum(likely, 1e-12)) - np.log(np.maximum(unlikely, 1e-12)))


def _wilson(counts: Integers, size: int, width: float) -> Floats:
    """An end of Wilson's interval for a probability, a number of standard errors above or below."""
    share, square = counts / size, width**2 / size
    half = width * np.sqrt(share * (1 - share) / size + square / (4 * size))
    return np.asarray((share + square / 2 + half) / (1 + square))
