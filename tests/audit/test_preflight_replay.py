"""Replay from raw rows: a preflight tells neighbouring tables apart no further than it pays for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from support.databases import fill_postgres
from support.raw_neighbours import (
    PERSONS,
    REPLACED,
    ROW,
    SCHEMA,
    STRANGE,
    RawPair,
    Row,
    crowd,
    pairs_for,
    people,
)
from support.raw_replay import Fit, leaks
from support.tiers import in_turns, slow_but
from support.ways_in import WAYS, Way, typed
from understudy.facts.unit import Neighbours, Unit
from understudy.methods import Independent, Nist, PrivBayes, Synthesizer
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.additive import DiscreteLaplace
from understudy.privacy.preflight import Preflight
from understudy.rows.sources import Access

UNITS = {"row": ROW, "replaced": REPLACED, **{f"person {c}": unit for c, unit in PERSONS.items()}}
# Some tables are refused by the first and not by the second.
STRICT, LENIENT = Preflight(), Preflight(least=Fraction(1, 2))
# Little noise, so that runs are refused, and all answers are near the exact ones.
PLENTY = 200


def _who(unit: Unit) -> dict[str, Any]:
    if unit.rows_per_person:
        return {"person_id": "who", "rows_per_person": unit.rows_per_person}
    return {"neighbours": unit.neighbours}


METHODS: dict[str, Callable[[Unit], Synthesizer]] = {
    "pure": lambda unit: Independent(SCHEMA, epsilon=PLENTY, **_who(unit)),
    "gaussian": lambda unit: Independent(SCHEMA, epsilon=PLENTY, delta="1e-6", **_who(unit)),
    "zcdp": lambda unit: Nist(
        SCHEMA, epsilon=PLENTY, delta="1e-6", structure="greedy", **_who(unit)
    ),
    "choices": lambda unit: PrivBayes(SCHEMA, epsilon=PLENTY, **_who(unit)),
}


def _misfits(unit: Unit) -> list[RawPair]:
    """Pairs in which a row that fits becomes one that does not, or a person's rows do."""
    dropped = [row for name, row in STRANGE.items() if name.endswith("dropped")]
    if unit.rows_per_person:
        rows, most = people(30), unit.rows_per_person
        persons = {
            "that do not fit": (dropped[0],) * (most + 2),
            "that fit": (Row(),) * (most + 2),
            "of both kinds": (Row(), *(dropped[0],) * (most + 2)),
        }
        return [RawPair(f"rows {kind}", unit, rows, (*rows, *own)) for kind, own in persons.items()]
    rows = crowd(30, strange=False)
    if unit.neighbours is Neighbours.REPLACE:
        changed = ((*rows[:7], row._replace(who=rows[7].who), *rows[8:]) for row in dropped)
        return [RawPair(f"misfit {i}", unit, rows, other) for i, other in enumerate(changed)]
    return [RawPair(f"misfit {i}", unit, rows, (*rows, row)) for i, row in enumerate(dropped)]


PREFLIGHTS = {"strict": STRICT, "lenient": LENIENT}
OF_UNITS = [(method, unit) for method in METHODS for unit in UNITS]
NOW = [pair for pair in OF_UNITS if pair[0] == "pure"]


@pytest.mark.parametrize(("method_unit", "preflight"), in_turns(NOW, OF_UNITS, [*PREFLIGHTS]))
def test_no_preflight_tells_neighbouring_files_apart(
    method_unit: tuple[str, str], preflight: str, tmp_path: Path
) -> None:
    """Refused or not, what leaves is the same on all neighbours once the releases are."""
    method, unit = method_unit
    job = Fit(METHODS[method](UNITS[unit]), PREFLIGHTS[preflight])
    pairs = [*pairs_for(UNITS[unit])[::4], *_misfits(UNITS[unit])]
    assert {} == leaks(job, [*pairs, *(pair.turned for pair in _misfits(UNITS[unit]))], tmp_path)


@pytest.mark.parametrize(
    "way", slow_but(("csv in blocks", "duckdb"), [way for way in WAYS if way != "csv"])
)
def test_no_way_in_tells_neighbours_apart(way: str, tmp_path: Path) -> None:
    """Rows that do not fit are counted alike, wherever the rows are."""
    for unit in (ROW, REPLACED, *([PERSONS[2]] if WAYS[way].persons else [])):
        job = Fit(METHODS["pure"](unit), LENIENT)
        assert {} == leaks(job, _misfits(unit), tmp_path, WAYS[way])


@pytest.mark.slow
@pytest.mark.parametrize("place", ["postgres", "cluster"])
def test_no_server_tells_neighbours_apart(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """PostgreSQL counts misfits of rows and persons, and a cluster those of rows."""
    if place == "postgres":
        address = request.getfixturevalue("postgres_server")
        way = Way(lambda rows, _: fill_postgres(address, typed(rows)), Access(table="people"))
    else:
        scheduler = request.getfixturevalue("dask_scheduler")
        way = replace(WAYS["partitions"], access=Access(cluster=scheduler.scheduler_address))
    for unit in (ROW, REPLACED, *([PERSONS[2]] if place == "postgres" else [])):
        job = Fit(METHODS["pure"](unit), LENIENT)
        assert {} == leaks(job, _misfits(unit), tmp_path, way)


@dataclass(frozen=True)
class _Understated(Preflight):
    """A preflight that claims half the sensitivity."""

    def mechanism(self, budget: Budget, unit: Unit) -> DiscreteLaplace:
        full = super().mechanism(budget, unit)
        return DiscreteLaplace(full.scale / 2, full.sensitivity / 2)


@pytest.mark.parametrize("unit", UNITS)
def test_an_understated_sensitivity_is_found(unit: str, tmp_path: Path) -> None:
    """The neighbours reach the sensitivity: a preflight that claims half of it is caught."""
    job = Fit(METHODS["pure"](UNITS[unit]), _Understated(least=Fraction(1, 2)))
    assert {} != leaks(job, _misfits(UNITS[unit]), tmp_path)
