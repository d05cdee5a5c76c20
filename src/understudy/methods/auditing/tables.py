"""Neighbouring tables that are hard on a method, made as raw rows and encoded like any others.

Every case is a pair of tables of texts, as a file would hold them, that differ in one row or one
person. They pass the codec, so that a fault in reading, dropping or bounding rows shows as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pyarrow as pa

from understudy.facts.codec import Codec
from understudy.facts.codec.ordinates import to_arrow
from understudy.facts.codec.presenting import written
from understudy.facts.column import BinnedColumn, Ordinate
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours
from understudy.methods import Synthesizer
from understudy.methods.abilities import Abilities
from understudy.rows.made_up import MadeUp

# Two attributes of two codes are the fewest that have a structure, and leave the most budget for
# each answer. Between them they have a missing level, bins with an edge, and both kinds of outside.
SCHEMA = Schema.parse(
    {
        "columns": {
            "first": {"kind": "categorical", "values": ["usual"], "missing": []},
            "second": {"kind": "integer", "min": 0, "max": 3, "bins": 2},
        }
    }
)
# Of three attributes there are pairs to choose among, and a table of all of them.
_THIRD = {"third": {"kind": "categorical", "values": ["left", "right"]}}
# The column that names the persons of made-up tables.
PERSON = "person"

# A pair score moves by 2n / (n + 1) of its sensitivity's 2: from here on nearly by all of it.
_ROWS = 20
# Rows of two kinds: the score of their dependence is 73, and one more of the few moves it by 1.7.
_MANY, _FEW = 400, 40
# Rows of each of four kinds that depend on each other enough to be worth every round.
_KINDS = (1_000, 500, 250, 250)
_UNDECLARED = "not a declared value"

Row = Mapping[str, str | None]


@dataclass(frozen=True)
class Pair:
    """Neighbouring tables, with and without the person that an attacker looks for."""

    present: MadeUp
    absent: MadeUp


@dataclass(frozen=True)
class Case:
    """Two neighbouring tables of raw rows, and how the person looked for differs from others."""

    name: str
    present: Sequence[Row]
    absent: Sequence[Row]

    def encoded(self, codec: Codec) -> Pair:
        """The two tables as a method counts them."""
        names = list(self.present[0])
        tables = (raw(rows, names) for rows in (self.present, self.absent))
        return Pair(*(MadeUp.of_rows(table, codec) for table in tables))


def schema_for(abilities: Abilities) -> Schema:
    """The schema of tables that are hard on a method: one that goes in rounds has to have some."""
    if not abilities.in_rounds:
        return SCHEMA
    document = SCHEMA.document()
    return Schema.parse({**document, "columns": {**document["columns"], **_THIRD}})


def raw(rows: Sequence[Row], names: Sequence[str]) -> pa.Table:
    """Rows as a file of texts with these columns would hold them."""
    return pa.table({n: pa.array([row[n] for row in rows], pa.string()) for n in names})


def codec_for(synthesizer: Synthesizer) -> Codec:
    """Make the codec that encodes the rows of a method."""
    return Codec(synthesizer.schema, synthesizer.persons)


def neighbours_for(synthesizer: Synthesizer) -> Pair:
    """The first case: tables of equal rows, and one unlike them in every column."""
    return cases_for(synthesizer)[0].encoded(codec_for(synthesizer))


def cases_for(synthesizer: Synthesizer) -> list[Case]:
    """Every case that the schema, the relation and the unit of a method have.

    In the first the person is unlike all others in every column. In a histogram a row weighs the
    more the fewer there are, so that there it is the only one. A method that goes in rounds
    asks nothing of a small crowd, so that there it is one among thousands.
    """
    cells = _Cells(codec_for(synthesizer))
    makers = _Cases(cells, synthesizer.unit.neighbours, synthesizer.rows_per_person)
    rows = 0 if synthesizer.abilities.releases_rows else _ROWS - makers.replaces
    # A network that is trained on hundreds of rows takes a second each time, and asks no scores.
    many = not synthesizer.abilities.is_trained
    return [
        *([makers.among_kinds()] if synthesizer.abilities.in_rounds else []),
        *makers.common(rows),
        *([makers.among_many()] if many else []),
        *makers.special(),
    ]


@dataclass(frozen=True)
class _Cells:
    """Rows of raw cells, made from what a schema declares."""

    codec: Codec

    @property
    def usual(self) -> dict[str, str | None]:
        """A row that has the first code of every column."""
        return {name: self._cell(name, 0) for name in self.codec.columns}

    @property
    def unlike(self) -> dict[str, str | None]:
        """A row that has the last code of every column."""
        return {name: self._cell(name, -1) for name in self.codec.columns}

    def _cell(self, name: str, place: int) -> str | None:
        """A cell of the first code of a column, or of its last."""
        code = place % self.codec.domain[name]
        made = self.codec.columns[name].decode(
            np.array([code], np.uint16), np.random.default_rng(0)
        )
        [text] = written(self.codec.schema.learned[name], made).to_pylist()
        return None if text is None else str(text)

    def with_last(self, row: Row, other: Row) -> Row:
        """A row whose last column is another's."""
        last = list(self.codec.columns)[-1]
        return {**row, last: other[last]}

    def with_first(self, row: Row, other: Row) -> Row:
        """A row whose first column is another's."""
        first = next(iter(self.codec.columns))
        return {**row, first: other[first]}

    def dropped(self) -> Row | None:
        """A row that the codec drops, for one cell that is not declared or is missing."""
        for name, cell in product(self.codec.columns, (_UNDECLARED, None)):
            row = {**self.usual, name: cell}
            if self._codes(row) is None:
                return row
        return None

    def missing(self) -> Row | None:
        """A usual row but for one missing cell, which has a level of its own."""
        for name, column in self.codec.schema.learned.items():
            if column.missing_code is not None:
                return {**self.usual, name: None}
        return None

    def outside(self) -> Row | None:
        """A usual row but for one value beyond the bounds, which is kept."""
        for name, _, beyond in self._on_lines():
            row = {**self.usual, name: beyond}
            if self._codes(row) is not None:
                return row
        return None

    def edge(self) -> tuple[Row, Row] | None:
        """Two usual rows but for one value each: on the edge of a bin, and just below it."""
        for name, (below, on), _ in self._on_lines():
            if below is not None:
                return {**self.usual, name: on}, {**self.usual, name: below}
        return None

    def _on_lines(self) -> Iterator[tuple[str, tuple[str | None, str | None], str]]:
        """Columns cut into bins: values about the second bin's edge, and one beyond all bins."""
        for name, column in self.codec.schema.learned.items():
            if not isinstance(column, BinnedColumn):
                continue
            edges, (low, high) = column.left_edges, column.bounds
            step = 1 if column.whole else (high - low) * 2.0**-40
            places = (edges[1] - step, edges[1]) if len(edges) > 1 else None
            below, on = (_text_at(column, p) for p in places) if places else (None, None)
            yield name, (below, on), _text_at(column, high + 1)

    def _codes(self, row: Row) -> list[int] | None:
        """The codes of a row; None where it is dropped."""
        table = MadeUp.of_rows(raw([row], list(row)), replace(self.codec, persons=None))
        return [int(codes[0]) for codes in table.codes.values()] if table.rows else None


def _text_at(column: BinnedColumn, place: Ordinate) -> str:
    """The text of a value in the notation of its column."""
    kind = np.int64 if column.whole else np.float64
    [text] = written(column, to_arrow(column, np.array([place], kind), None)).to_pylist()
    return str(text)


@dataclass(frozen=True)
class _Cases:
    """Pairs of tables for a relation, and for rows or for persons with several rows."""

    cells: _Cells
    relation: Neighbours
    most: int | None

    @property
    def replaces(self) -> bool:
        """Whether the person takes another's place."""
        return self.relation is Neighbours.REPLACE

    def common(self, rows: int) -> Iterator[Case]:
        """Cases that every schema has; the first on a crowd of a given size."""
        usual, unlike = self.cells.usual, self.cells.unlike
        aside, alike = self.cells.with_last(usual, unlike), [usual] * (_ROWS - 1)
        yield self._case("unlike all others in every column", unlike, usual, [usual] * rows)
        yield self._case("unlike the others in one column", aside, usual, alike)
        yield self._case("the only row", unlike, usual, [])
        yield self._case("a copy of other rows", usual, unlike, alike)

    def among_many(self) -> Case:
        """A case in which scores are large."""
        usual, unlike = self.cells.usual, self.cells.unlike
        many = [*[usual] * _MANY, *[unlike] * _FEW]
        return self._case("one more of a few among hundreds", unlike, usual, many)

    def among_kinds(self) -> Case:
        """A case in which every round has something to learn, and nobody is like the person."""
        usual, unlike, with_last = self.cells.usual, self.cells.unlike, self.cells.with_last
        kinds = (usual, unlike, with_last(usual, unlike), with_last(unlike, usual))
        crowd = [row for kind, rows in zip(kinds, _KINDS, strict=True) for row in [kind] * rows]
        alone = self.cells.with_first(usual, unlike)
        return self._case("of a kind of its own among thousands", alone, usual, crowd)

    def special(self) -> Iterator[Case]:
        """Cases of cells that only some schemas have, and of persons where there are any."""
        usual, unlike = self.cells.usual, self.cells.unlike
        alike, mixed = [usual] * (_ROWS - 1), [usual, unlike] * (_ROWS // 2)
        yield from self._of_cells(alike, mixed)
        if self.most is not None:
            yield from self._of_persons(self.most, mixed)

    def _of_cells(self, alike: Sequence[Row], mixed: Sequence[Row]) -> Iterator[Case]:
        """Cases of cells that are missing, outside, undeclared or on an edge."""
        cells, usual = self.cells, self.cells.usual
        if dropped := cells.dropped():
            # First in a crowd of two kinds in turn, so that lines that move all change.
            if self.replaces:
                yield self._case("kept where it was dropped", cells.unlike, dropped, mixed)
            else:
                yield self._case("dropped", dropped, usual, mixed)
        if missing := cells.missing():
            yield self._case("one cell missing", missing, usual, alike)
        if outside := cells.outside():
            yield self._case("one value outside the bounds", outside, usual, alike)
        if edge := cells.edge():
            on, below = edge
            yield self._case("one value on the edge of a bin", on, below, [below] * (_ROWS - 1))

    def _of_persons(self, most: int, mixed: Sequence[Row]) -> Iterator[Case]:
        """Cases of whole persons: rows of several kinds, and rows without a name."""
        usual, unlike = self.cells.usual, self.cells.unlike
        aside = self.cells.with_last(usual, unlike)
        crowd = _named(mixed)
        several = [usual, unlike, aside] * most
        yield Case("a person with rows of several kinds", [*_of("one", several), *crowd], crowd)
        nameless = [*crowd, *_of(None, [aside] * most)]
        yield Case("rows without a name", [*_of(None, [usual, unlike] * most), *nameless], nameless)
        both = [*_of("one", [unlike] * most), *_of(None, [unlike] * most)]
        yield Case("rows with a name and rows without", [*both, *nameless], nameless)
        spelled = [*_of("one", [unlike] * most), *_of(" one ", [unlike] * most)]
        yield Case("one name in two spellings", [*spelled, *crowd], crowd)

    def _case(self, name: str, one: Row, other: Row, crowd: Sequence[Row]) -> Case:
        """The first row is the one looked for; in its place is another, or nothing."""
        if self.replaces:
            return Case(name, [one, *crowd], [other, *crowd])
        if self.most is None:
            return Case(name, [one, *crowd], crowd)
        # One row more than is kept.
        named = _named(crowd)
        return Case(name, [*_of("one", [one] * (self.most + 1)), *named], named)


def _of(person: str | None, rows: Sequence[Row]) -> list[Row]:
    """Rows of one person."""
    return [{**row, PERSON: person} for row in rows]


def _named(rows: Sequence[Row]) -> list[Row]:
    """Rows of as many persons."""
    return [{**row, PERSON: f"other {place}"} for place, row in enumerate(rows)]
