"""The numbers of a study: one cell for each setting, written down as soon as it is measured."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

SettingValue = str | int | float
Setting = Mapping[str, SettingValue]
CellValues = Mapping[str, Any]

_Picked = TypeVar("_Picked")


class Size(StrEnum):
    """How much work a study is: seconds, a minute, or what the paper did as far as time allows."""

    SMOKE = "smoke"
    QUICK = "quick"
    FULL = "full"

    def pick(self, *, smoke: _Picked, quick: _Picked, full: _Picked) -> _Picked:
        """The choice that belongs to this size."""
        return {Size.SMOKE: smoke, Size.QUICK: quick, Size.FULL: full}[self]


@dataclass(frozen=True)
class Cell:
    """The results of one setting.

    Attributes:
        setting: all that the numbers depend on, the seed included.
        version: of understudy, when it was measured.
        laws: the numbers of the study's own law and of its methods' when it was measured; a
            record from before there were such numbers has none.
    """

    setting: Setting
    numbers: CellValues
    seconds: float
    version: str
    laws: Mapping[str, int] = field(default_factory=dict)

    @property
    def check(self) -> str:
        """Says whether a cell on disk is the one that was written."""
        parts: list[Any] = [self.setting, self.numbers, self.version]
        text = json.dumps([*parts, self.laws] if self.laws else parts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def document(self) -> dict[str, Any]:
        """Return the cell for JSON."""
        return {
            "setting": dict(self.setting),
            "numbers": dict(self.numbers),
            "seconds": round(self.seconds, 3),
            "version": self.version,
            **({"laws": dict(self.laws)} if self.laws else {}),
            "check": self.check,
        }

    @classmethod
    def of(cls, document: Any) -> Cell:
        """A cell from JSON; ValueError where it is damaged."""
        try:
            names = ("setting", "numbers", "seconds", "version")
            found = {name: document[name] for name in names}
            cell = cls(**found, laws=document.get("laws", {}))
            if cell.check != document["check"]:
                raise ValueError("the check differs")
        except (TypeError, KeyError) as error:
            raise ValueError("no cell") from error
        return cell

    def outdated(self, laws: Mapping[str, int]) -> list[str]:
        """Return the names whose law has changed since; a cell without numbers has law 1 of all."""
        return [name for name, law in laws.items() if self.laws.get(name, 1) != law]

    def fits(self, **wanted: SettingValue) -> bool:
        """Whether the setting has all these values."""
        return all(self.setting.get(name) == value for name, value in wanted.items())


@dataclass(frozen=True)
class Results:
    """The cells of a study, in the order of its plan."""

    cells: tuple[Cell, ...]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def where(self, **wanted: SettingValue) -> Results:
        """Return the cells of some settings."""
        return Results(tuple(cell for cell in self.cells if cell.fits(**wanted)))

    def values(self, name: str) -> list[Any]:
        """The different values of a setting, in the order in which they come."""
        return list(dict.fromkeys(c.setting[name] for c in self.cells if name in c.setting))

    def numbers(self, *path: str) -> list[Any]:
        """One number of every cell, found by the names that lead to it."""
        found = []
        for cell in self.cells:
            number: Any = cell.numbers
            for name in path:
                number = number[name]
            found.append(number)
        return found

    def parameters(self) -> dict[str, list[SettingValue]]:
        """Every setting with the values it took."""
        names = dict.fromkeys(name for cell in self.cells for name in cell.setting)
        return {name: self.values(name) for name in names}


@dataclass(frozen=True)
class Spread:
    """The mean of some numbers, and how far they scatter about it."""

    mean: float
    deviation: float
    count: int

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Spread:
        """The mean and the standard deviation, 0 of a single number."""
        mean = math.fsum(numbers) / len(numbers)
        squares = math.fsum((number - mean) ** 2 for number in numbers)
        return cls(mean, math.sqrt(squares / max(len(numbers) - 1, 1)), len(numbers))

    @property
    def error(self) -> float:
        """Return the standard error of the mean."""
        return self.deviation / math.sqrt(self.count)

    @property
    def low(self) -> float:
        """One standard deviation below the mean."""
        return self.mean - self.deviation

    @property
    def high(self) -> float:
        """One standard deviation above the mean."""
        return self.mean + self.deviation


def settings(*, repeats: int | None = None, **choices: Sequence[SettingValue]) -> list[Setting]:
    """All combinations of choices, the last changing fastest, each with a seed of its own.

    Example:
        >>> settings(epsilon=["1", "2"], runs=[5])[1]
        {'epsilon': '2', 'runs': 5, 'seed': 1}
    """
    plan: list[dict[str, SettingValue]] = [{}]
    if repeats is not None:
        choices["repeat"] = range(repeats)
    for name, values in choices.items():
        plan = [{**setting, name: value} for setting in plan for value in values]
    return [{**setting, "seed": seed} for seed, setting in enumerate(plan)]
