"""Record and replay of whole inferences on neighbouring tables, and planted bugs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from support.discovery import Rows, audit
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.discover import Discovery, Skeleton
from understudy.methods.discover.cells import Intervals, Tree
from understudy.methods.discover.discovery import Coarse
from understudy.methods.discover.discovery import _keys as keys_of
from understudy.methods.discover.values import listing
from understudy.privacy.curator import Curator
from understudy.privacy.mechanisms.additive import DiscreteLaplace
from understudy.privacy.mechanisms.keys import KeyRelease
from understudy.privacy.replay import LeakFound

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


@pytest.mark.parametrize("size", [1, 2, 400])
@pytest.mark.parametrize("unit", UNITS, ids=lambda u: f"{u.neighbours} {u.rows_per_person}")
def test_neighbours_are_asked_the_same(unit: Unit, size: int) -> None:
    """The same questions, answers within sensitivity, the same schema to the last edge."""
    discovery = Discovery(SKELETON, 20, "1e-3", unit)
    for neighbour in _neighbours(_rows(size), unit):
        audit(discovery, NAMES, _rows(size), neighbour)


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

    def _values(self, curator: Curator, name: str) -> dict[str, Any]:
        keys_of(curator._source, column=name)
        return super()._values(curator, name)


def test_a_look_at_the_keys_is_caught() -> None:
    """Keys may be read while a paid question is answered, and at no other time."""
    assert "outside the Curator" in _caught(Peeking(SKELETON, 5, "1e-3"))


class Halved(Discovery):
    """Calibrates the first count to half of what a row moves."""

    def _coarse(self, curator: Curator, name: str, cells: Intervals) -> Coarse:
        mechanism = DiscreteLaplace.costing(self._counts[0], sensitivity=Fraction(1, 2))
        noisy = curator.release(
            mechanism,
            lambda source: source.count([(name,)])[0].counts[: len(cells.edges)],
            name=f"counts of {name} in public cells",
        )
        tree = Tree.over(cells, noisy, float(mechanism.scale))
        return Coarse(noisy[tree.first : tree.last + 1], mechanism.variance, tree)


def test_halved_noise_is_caught() -> None:
    """A row moves a count by one, not by a half."""
    assert "more than the sensitivity" in _caught(Halved(SKELETON, 5, "1e-3"))


class TooCheap(Discovery):
    """Releases keys of a person with three rows as if she had one."""

    def _values(self, curator: Curator, name: str) -> dict[str, Any]:
        mechanism = KeyRelease.costing(self._part, self.budget.delta / 2, UNITS[0])
        released = curator.release(
            mechanism, partial(keys_of, column=name), name=f"values of {name}"
        )
        return listing(self.skeleton, name, released)


def test_a_person_taken_for_a_row_is_caught() -> None:
    """Three new rows are more than the sensitivity of one."""
    unit = Unit(Neighbours.ADD_REMOVE, 3)
    found = _caught(TooCheap(SKELETON, 5, "1e-3", unit), lambda rows: [*rows, *[UNLIKE] * 3])
    assert "more than the sensitivity" in found
