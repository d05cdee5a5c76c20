"""Statistics: numbers that an attacker who trusts no law computes of a run."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from understudy.methods.auditing.seen import Seen, Sides
from understudy.system.arrays import Floats

# So many answers are looked at in pairs, and so many of their cells.
_IN_PAIRS, _CELLS_IN_PAIRS = 8, 8
# The least share of runs in which something comes that is worth a category of its own.
_COMMON = 0.05
_STEPS, _RIDGE, _FARTHEST = 12, 1.0, 5.0


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
        """The name that it has on the page."""
        return f"cell {self.place + 1} of {self.part}"

    def of(self, runs: Sequence[Seen]) -> Floats:
        """Compute the number for each run."""
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
        """The name that it has on the page."""
        return f"{'total of' if self.kind == 'totals' else 'difference along'} {self.part}"

    def of(self, runs: Sequence[Seen]) -> Floats:
        """Compute the number for each run."""
        return np.array([getattr(run, self.kind).get(self.part, -np.inf) for run in runs])


@dataclass(frozen=True)
class _Two(Statistic):
    """The sum or difference of two numbers of a run."""

    one: Statistic
    other: Statistic
    sign: int

    @property
    def name(self) -> str:
        """The name that it has on the page."""
        return f"{self.one.name} {'+' if self.sign > 0 else '−'} {self.other.name}"

    def of(self, runs: Sequence[Seen]) -> Floats:
        """Compute the number for each run."""
        one, other = self.one.of(runs), self.other.of(runs)
        there = np.isfinite(one) & np.isfinite(other)
        return np.where(
            there, np.where(there, one, 0) + self.sign * np.where(there, other, 0), -np.inf
        )


@dataclass(frozen=True, eq=False)
class _CommonLists(Statistic):
    """Which of the common lists of questions a run has; 0 is any other."""

    kind: str
    common: Sequence[str]

    @property
    def name(self) -> str:
        """The name that it has on the page."""
        return "the questions" if self.kind == "asked" else "the questions and their noise"

    def of(self, runs: Sequence[Seen]) -> Floats:
        """Compute the number for each run."""
        places = {text: place + 1 for place, text in enumerate(self.common)}
        return np.array([float(places.get(getattr(run, self.kind), 0)) for run in runs])


@dataclass(frozen=True, eq=False)
class Classifier(Statistic):
    """A linear function of other statistics, fitted by ridged logistic regression."""

    inputs: Sequence[Statistic]
    centre: Floats
    width: Floats
    weights: Floats

    @property
    def name(self) -> str:
        """The name that it has on the page."""
        return "a classifier of all cells"

    @classmethod
    def fitted(cls, inputs: Sequence[Statistic], sides: Sides) -> Classifier:
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
        """Compute the number for each run."""
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


def simple_statistics(chosen: Sides) -> Iterator[Statistic]:
    """Use the values of the runs themselves, where they are common."""
    every = chosen.every
    least = max(1, math.ceil(_COMMON * len(every)))
    for kind in ("asked", "priced"):
        lists = Counter(getattr(run, kind) for run in every)
        yield _CommonLists(kind, [text for text, times in lists.items() if times >= least])
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


def paired_statistics(simple: Sequence[Statistic]) -> Iterator[Statistic]:
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
