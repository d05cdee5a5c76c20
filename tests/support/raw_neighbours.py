"""Neighbouring tables of raw rows: texts as a CSV file holds them, before anything has read them.

To add a kind of neighbour, name a row in `STRANGE`, or a person in `strangers`: every method,
holder and job that replays from raw rows meets it. A border inside the code has its pair in
`tests/audit/test_borders.py`.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from understudy.facts.codec.persons import Persons
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit


class Row(NamedTuple):
    """The cells of one line; by default, those of a person like many others."""

    who: str = "new"
    colour: str = "green"
    size: str = "40"
    weight: str = "3.5"
    sold: str = "no"
    one: str = "always"


Texts = tuple[tuple[str, ...], ...]
Rows = tuple[Row, ...]

# Between them the columns drop, clip, replace, and give missing cells a level of their own.
SCHEMA = Schema.parse(
    {
        "columns": {
            "who": {"kind": "id"},
            "colour": {
                "kind": "categorical",
                "values": ["red", "green", "blue"],
                "taxonomy": {"warm": ["red"], "cold": ["green", "blue"]},
                "missing": [],
            },
            "size": {"kind": "integer", "min": 0, "max": 99, "bins": 5},
            "weight": {
                "kind": "float",
                "min": 0.0,
                "max": 10.0,
                "bins": 4,
                "outside": "drop",
                "missing": ["?"],
            },
            "sold": {"kind": "boolean"},
            "one": {"kind": "categorical", "values": ["always"], "outside": "always"},
        }
    }
)

# The same columns, two of them in a notation, and a boolean with labels.
NOTED = Schema.parse(
    {
        "columns": {
            **SCHEMA.document()["columns"],
            "size": {"kind": "integer", "min": 0, "max": 99, "bins": 5, "thousands": ","},
            "weight": {
                "kind": "float",
                "min": 0.0,
                "max": 10.0,
                "bins": 4,
                "outside": "drop",
                "missing": ["?"],
                "unit": "$",
                "accounting": True,
            },
            "sold": {"kind": "boolean", "labels": ["ja", "nein"], "missing": []},
        }
    }
)

# Whom the methods protect, and persons with so many rows.
ROW, REPLACED = Unit(Neighbours.ADD_REMOVE), Unit(Neighbours.REPLACE)
PERSONS = {most: Unit(Neighbours.ADD_REMOVE, most) for most in (1, 2, 3)}

STRANGE: Mapping[str, Row] = {
    "unlike all others": Row(colour="blue", size="99", weight="9.9", sold="yes"),
    "undeclared, so dropped": Row(colour="violet"),
    "missing, so dropped": Row(size=""),
    "missing, with a level": Row(colour=""),
    "missing by a marker": Row(weight="?"),
    "outside and clipped": Row(size="1000"),
    "outside and dropped": Row(weight="10.5"),
    "outside and replaced": Row(one="never"),
    "unreadable number": Row(size="forty"),
    "unreadable in two columns": Row(size="forty", weight="heavy"),
    "codes with leading zeros": Row("new", "00501", "040", "03.5", "00", "0815"),
    "on an edge": Row(size="20", weight="2.5"),
    "below an edge": Row(size="19", weight="2.4999999999999996"),
    "on the last bound": Row(size="99", weight="10"),
    "quoted, over two lines": Row(colour='vio"let,\nor so'),
    "blanks around": Row(colour=" red ", size=" 7", weight="7 "),
    "another alphabet": Row(colour="grün", sold="да"),
    "beyond 64 bits": Row(size="9" * 30, weight="-1e400"),
    "spelled otherwise": Row(size="0x1F", weight="1e0", sold="TRUE"),
    "a fraction where whole numbers are": Row(size="39.5"),
    "missing by a marker that all know": Row(colour="NA", weight="k.A.", size="N/A"),
    "in another language and notation": Row(sold="ja", weight="$3.5"),
    "with signs, brackets and thousands": Row(size="1,000", weight="($3.5)", sold="Nein"),
    "with a decimal comma, a date and a percent sign": Row("new", "18.04.2021", "7.0", "3,5", "1%"),
}


@dataclass(frozen=True)
class RawPair:
    """Two tables that one unit of privacy tells apart, and a name for what differs.

    Attributes:
        name: what one of them has and the other has not.
        unit: whom the two tables differ in.
        rows: the table that a run is recorded on.
        neighbour: the table that it is replayed on.
    """

    name: str
    unit: Unit
    rows: Texts
    neighbour: Texts

    @property
    def relation(self) -> Neighbours:
        """What makes the two tables neighbours."""
        return self.unit.neighbours

    @property
    def turned(self) -> RawPair:
        """The same two tables, recorded and replayed the other way round."""
        return RawPair(f"{self.name}, turned", self.unit, self.neighbour, self.rows)


def persons_of(unit: Unit) -> Persons | None:
    """How the rows are opened for a unit."""
    return Persons("who", unit.rows_per_person) if unit.rows_per_person else None


def pairs_for(unit: Unit, *, count: int = 30) -> tuple[RawPair, ...]:
    """All named pairs of a unit, in tables of no row, of one, and of many."""
    if unit.rows_per_person:
        return tuple(_persons(unit, people(count)))
    make = _replaced if unit.neighbours is Neighbours.REPLACE else _added
    return tuple(make(unit, crowd(count)))


def crowd(count: int, seed: int = 0, *, strange: bool = True) -> Rows:
    """People with a row each, a strange one among every five by default; none is all blue."""
    draw = random.Random(seed)
    seldom = [row for name, row in STRANGE.items() if name != "unlike all others"]
    return tuple(
        draw.choice(seldom)._replace(who=f"p{i}")
        if strange and i % 5 == 1
        else _plain(draw, f"p{i}")
        for i in range(count)
    )


def people(count: int, seed: int = 0) -> Rows:
    """People with several rows each, and four of other people who left out their names."""
    draw = random.Random(seed)
    named = [_plain(draw, f"p{draw.randrange(count // 3 + 1)}") for _ in range(count)]
    nameless = [_plain(draw, name) for name in ("", "", "", " ")]
    rows = [*named, *nameless, Row(who="p1", colour="violet"), Row(who="p2", size="")]
    return tuple(draw.sample(rows, len(rows))) if count else ()


def strangers(most: int) -> Mapping[str, Rows]:
    """Persons who come or go, each with all of their rows."""
    alone = STRANGE["unlike all others"]
    apart = [Row(colour=c, size=s) for c in ("red", "blue", "") for s in ("5", "50", "95")]
    # Were nameless rows one person's, some of these would push out those of others.
    nameless = {
        f"{row.colour or 'no colour'} and {row.size}": (row._replace(who=""),) * most
        for row in (*apart[::3], alone)
    }
    return {
        "rows unlike all others": (alone,) * most,
        "more rows than are kept": (alone,) * (most + 2),
        "rows unlike each other": tuple(apart[: most + 3]),
        "rows apart in one column": (Row(),) * most + (Row(sold="yes"),),
        "rows of which one is dropped": (Row(colour="violet"), *(alone,) * (most + 1)),
        "rows that are all dropped": (Row(colour="violet"),) * (most + 1),
        "every strange row": tuple(STRANGE.values()),
        **{f"no name, {kind}": rows for kind, rows in nameless.items()},
        **{
            f"rows with and without a name, {kind}": (*(alone,) * most, *rows)
            for kind, rows in nameless.items()
        },
        "blanks around the name": tuple(
            alone._replace(who=who) for who in ("new", " new", "new ", "\tnew") for _ in range(most)
        ),
        "a name in two forms": tuple(
            alone._replace(who=who) for who in ("José", "Jose\u0301") for _ in range(most)
        ),
    }


def nested(count: int) -> Iterator[RawPair]:
    """A ladder of tables, each one row above the last: a score grows by a step from pair to pair.

    Whatever changes from some number of rows on, or from some score on, changes between two.
    """
    sides = (("red", "yes"), ("green", "no"))
    rows = tuple(
        Row(who=f"p{i}", colour=sides[i % 2][0], sold=sides[i % 2][1]) for i in range(count)
    )
    for size in range(1, count, 2):
        yield RawPair(f"row {size} is added", ROW, rows[:size], rows[: size + 1])
        yield RawPair(f"row {size - 1} is removed", ROW, rows[:size], rows[: size - 1])


def csv_text(rows: Sequence[Row]) -> str:
    """The rows as a CSV file, quoted where they must be."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([Row._fields, *rows])
    return text.getvalue()


def _plain(draw: random.Random, who: str) -> Row:
    return Row(
        who=who,
        colour=draw.choice(("red", "green")),
        size=str(draw.randrange(80)),
        weight=f"{draw.uniform(0, 7.4):.3f}",
        sold=draw.choice(("yes", "no")),
    )


def _replaced(unit: Unit, rows: Rows) -> Iterator[RawPair]:
    """One row in the place of another; `rows[1]` is strange, and dropped in the third table."""

    def pair(name: str, before: Rows, place: int, after: Row) -> RawPair:
        table = (*before[:place], after, *before[place + 1 :])
        return RawPair(name, unit, before, table)

    alone, dropped = STRANGE["unlike all others"], STRANGE["undeclared, so dropped"]
    for name, row in STRANGE.items():
        yield pair(f"the first becomes {name}", rows, 0, row)
    yield pair("the last becomes dropped", rows, len(rows) - 1, dropped)
    yield pair("one becomes a copy of another", rows, 2, rows[-1])
    other = "no" if rows[2].sold == "yes" else "yes"
    yield pair("one changes in one column alone", rows, 2, rows[2]._replace(sold=other))
    holed = (dropped, dropped, *rows[2:])
    yield pair("a dropped one becomes unlike all others", holed, 0, alone)
    yield pair(
        "a dropped one is dropped for another reason", holed, 1, STRANGE["missing, so dropped"]
    )
    yield pair("the only one becomes dropped", rows[:1], 0, dropped)
    yield pair("the only one becomes unlike", rows[:1], 0, alone)


def _added(unit: Unit, rows: Rows) -> Iterator[RawPair]:
    """One row more or less, at the beginning, between others, and in the end."""

    def pair(name: str, before: Rows, after: Rows) -> RawPair:
        return RawPair(name, unit, before, after)

    alone, dropped = STRANGE["unlike all others"], STRANGE["undeclared, so dropped"]
    for name, row in STRANGE.items():
        yield pair(f"{name} is added", rows, (*rows, row))
    yield pair("dropped is added in front", rows, (dropped, *rows))
    yield pair("a copy of another is added", rows, (*rows, rows[2]))
    other = "no" if rows[2].sold == "yes" else "yes"
    apart = rows[2]._replace(sold=other)
    yield pair("apart from another in one column is added", rows, (*rows[:3], apart, *rows[3:]))
    yield pair("the first is removed", rows, rows[1:])
    yield pair("a strange one is removed", rows, (*rows[:1], *rows[2:]))
    yield pair("the last is removed", rows, rows[:-1])
    yield pair("unlike all others is added to none", (), (alone,))
    yield pair("dropped is added to none", (), (dropped,))
    yield pair("the only one is removed", rows[:1], ())


def _persons(unit: Unit, rows: Rows) -> Iterator[RawPair]:
    """A person with all rows, who comes to a crowd, or leaves it, or was the only one."""
    most = unit.rows
    for name, theirs in strangers(most).items():
        coming = RawPair(f"a person with {name} comes", unit, rows, (*rows, *theirs))
        yield coming
        if "without" in name:
            yield coming.turned
    alone = strangers(most)["more rows than are kept"]
    yield RawPair("a person comes where nobody was", unit, (), alone)
    yield RawPair("nameless rows come where nobody was", unit, (), (Row(who=""),) * (most + 1))
    left = tuple(row for row in rows if row.who != "p1")
    yield RawPair("a person of the crowd leaves", unit, rows, left)
