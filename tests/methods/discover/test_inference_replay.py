"""Record and replay of whole inferences on neighbouring tables, and planted bugs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import pytest

from support.discovery import Rows, audit
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.discover import Discovery, Skeleton
from understudy.methods.discover.keys import keys_of
from understudy.methods.discover.shares import (
    CountNoise,
    GaussianShares,
    LaplaceShares,
    QuestionShares,
)
from understudy.privacy.curator import Curator
from understudy.privacy.replay import LeakFound
from understudy.rows.counting import ReleasedKeys

NAMES = ("city", "code", "size", "pay", "day")
SKELETON = Skeleton.parse(
    {
        "columns": {
            "city": {"kind": "categorical", "missing": []},
            "code": {"kind": "categorical", "outside": "drop"},
            "size": {"kind": "integer", "missing": ["999"]},
            "pay": {"kind": "float", "min": 0.0},
            "day": {"kind": "date"},
        }
    }
)
UNLIKE = ("Atlantis", 77, 10**9, 1e9, "1950-05-05")
ODD = (None, None, 999, None, None)
UNITS = [
    Unit(Neighbours.ADD_REMOVE),
    Unit(Neighbours.REPLACE),
    Unit(Neighbours.ADD_REMOVE, 3),
]

# The first of these takes Gaussian noise, the second Laplace noise.
EPSILONS = ["3", "100"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda u: f"{u.neighbours} {u.rows_per_person}")
def test_both_kinds_of_noise_are_replayed(unit: Unit) -> None:
    """The budgets of this file are for one kind each."""
    kinds = [type(Discovery(SKELETON, epsilon, "1e-3", unit).shares) for epsilon in EPSILONS]
    assert [GaussianShares, LaplaceShares] == kinds


def _rows(count: int) -> list[tuple[Any, ...]]:
    return [
        ("ABC"[i % 3], i % 4, i % 50, 10.0 * (i % 30), f"2021-0{1 + i % 9}-1{i % 10}")
        for i in range(count)
    ]


def _neighbours(rows: Rows, unit: Unit) -> Iterator[Rows]:
    if unit.neighbours is Neighbours.REPLACE:
        yield [UNLIKE, *rows[1:]]
        yield [ODD, *rows[1:]]
        yield [rows[-1], *rows[1:]]
        return
    yield [*rows, *[UNLIKE] * unit.rows]
    yield [*rows, ODD]
    yield rows[unit.rows :]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("size", [1, 2, 400])
@pytest.mark.parametrize("unit", UNITS, ids=lambda u: f"{u.neighbours} {u.rows_per_person}")
def test_neighbours_are_asked_the_same(unit: Unit, size: int, epsilon: str) -> None:
    """The same questions, answers within sensitivity, the same schema to the last edge."""
    discovery = Discovery(SKELETON, epsilon, "1e-3", unit)
    for neighbour in _neighbours(_rows(size), unit):
        audit(discovery, NAMES, _rows(size), neighbour)


GROUPED = Skeleton.parse(
    {
        "columns": {
            "city": {"kind": "categorical", "prefix_lengths": [2, 1], "share": 2},
            "code": {"kind": "categorical", "missing": [], "outside": "drop"},
            "size": {"kind": "id"},
            "pay": {"kind": "id"},
            "day": {"kind": "id"},
        }
    }
)


@pytest.mark.parametrize("epsilon", ["3", "100"])
@pytest.mark.parametrize("unit", UNITS, ids=lambda u: f"{u.neighbours} {u.rows_per_person}")
def test_groups_of_values_are_asked_the_same(unit: Unit, epsilon: str) -> None:
    """Groups by prefixes follow from what was released before, and a row is in one of each."""
    rows = [(f"{'ABC'[i % 3]}{i % 7}{i % 40}", i % 4, 0, 0.0, "") for i in range(400)]
    discovery = Discovery(GROUPED, epsilon, "1e-3", unit)
    for neighbour in _neighbours(rows, unit):
        audit(discovery, NAMES, rows, neighbour)


def test_empty_tables_have_neighbours_too() -> None:
    """One row against none."""
    audit(Discovery(SKELETON, 5, "1e-3"), NAMES, [UNLIKE], [])


def _caught(
    discovery: Discovery, far: Callable[[Rows], Rows] = lambda rows: [*rows, UNLIKE]
) -> str:
    rows = _rows(60)
    with pytest.raises(LeakFound) as caught:
        audit(discovery, NAMES, rows, far(rows))
    return str(caught.value)


def test_two_people_are_too_many() -> None:
    """The check can fail: tables two rows apart are told apart."""
    found = _caught(Discovery(SKELETON, 5, "1e-3"), lambda rows: [*rows, UNLIKE, UNLIKE])
    assert "values of city: answers differ by more than the sensitivity" == found


class Peeking(Discovery):
    """Looks which values occur before it asks."""

    def _values(self, curator: Curator, name: str) -> ReleasedKeys:
        keys_of(curator._source, column=name)
        return super()._values(curator, name)


def test_a_look_at_the_keys_is_caught() -> None:
    """Keys may be read while a paid question is answered, and at no other time."""
    assert "outside the Curator" in _caught(Peeking(SKELETON, 5, "1e-3"))


class Halved(Discovery):
    """Calibrates its counts to half of what a row moves."""

    @cached_property
    def shares(self) -> QuestionShares:
        """Those of a unit that moves less."""
        return replace(super().shares, unit=_Half(Neighbours.ADD_REMOVE))


class _Half(Unit):
    """A unit that is said to move half of what it does."""

    @property
    def count_l1(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def count_l2_squared(self) -> Fraction:
        return Fraction(1, 4)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_halved_noise_is_caught(epsilon: str) -> None:
    """A row moves a count by one, not by a half."""
    assert "more than the sensitivity" in _caught(Halved(SKELETON, epsilon, "1e-3"))


class TooCheap(Discovery):
    """Releases keys of a person with three rows as if she had one."""

    def _values(self, curator: Curator, name: str) -> ReleasedKeys:
        cheap = replace(self.shares, unit=UNITS[0])
        return curator.release(
            cheap.values(name), partial(keys_of, column=name), name=f"values of {name}"
        )


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_person_taken_for_a_row_is_caught(epsilon: str) -> None:
    """Three new rows are more than the sensitivity of one."""
    unit = Unit(Neighbours.ADD_REMOVE, 3)
    cheap = TooCheap(SKELETON, epsilon, "1e-3", unit)
    found = _caught(cheap, lambda rows: [*rows, *[UNLIKE] * 3])
    assert "more than the sensitivity" in found


class OneLevel(Discovery):
    """Forgets that a row is counted in a part and in a leaf."""

    @cached_property
    def shares(self) -> QuestionShares:
        """Those with the noise of one level."""
        return _Flat.of(super().shares)


class _Flat(GaussianShares):
    """QuestionShares with the noise of one level for two."""

    @classmethod
    def of(cls, shares: QuestionShares) -> _Flat:
        return cls(**{part.name: getattr(shares, part.name) for part in fields(shares)})

    def parts(self, name: str, levels: int) -> CountNoise:
        del levels
        return super().parts(name, 1)


def test_one_level_of_noise_for_two_is_caught() -> None:
    """Gaussian noise for one level does not cover a row that is counted on two."""
    rows = [*_rows(4000)]
    with pytest.raises(LeakFound, match="more than the sensitivity"):
        audit(OneLevel(SKELETON, 3, "1e-6"), NAMES, rows, rows[:-1])
