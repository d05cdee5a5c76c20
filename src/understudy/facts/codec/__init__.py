"""Rows to codes and back, from a Schema alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np
import pyarrow as pa

from understudy.errors import DataError, UsageError
from understudy.facts.codec.bins import BinnedCodec
from understudy.facts.codec.categories import ListedCodec
from understudy.facts.codec.made_texts import MadeTexts
from understudy.facts.codec.missing import Encoded, either
from understudy.facts.codec.persons import Persons
from understudy.facts.codec.presenting import described, noted, presented, spelled
from understudy.facts.codec.regions import ANYWHERE, Region
from understudy.facts.codes import Codes, Mask
from understudy.facts.column import (
    BooleanColumn,
    CategoricalColumn,
    Column,
    IdColumn,
    LearnedColumn,
    Ordinate,
    TextColumn,
)
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema

__all__ = ["Codec", "Encoding"]

ColumnCodec = ListedCodec | BinnedCodec


def _codec_of(
    name: str, column: LearnedColumn, within: Region, fill: Ordinate | None
) -> ColumnCodec:
    if isinstance(column, CategoricalColumn | BooleanColumn):
        return ListedCodec(name, column, None if fill is None else int(fill))
    return BinnedCodec(name, column, within, fill)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Encoding:
    """The codes of some rows. They are as private as the rows.

    Attributes:
        domain: the attributes and their sizes.
        codes: of the rows that were kept, in the order in which they were read.
        rows_read: how many rows there were, dropped ones included.
        rows_per_person: set when no person was left with more rows than that.
        dropped: a flag for each row read, set where it was not kept; None where all were.
        person_misfits: how many rows did not fit the schema, of each person at most what is left
            of the allowance; None where persons are not known.
    """

    domain: Domain
    codes: Mapping[str, Codes]
    rows_read: int
    rows_per_person: int | None
    dropped: Mask | None
    person_misfits: int | None = None

    def __repr__(self) -> str:
        return f"Encoding({', '.join(self.domain)}; rows private)"


@dataclass(frozen=True)
class Codec:
    """Encodes rows by a schema and decodes codes to legal, typed values.

    `encode(decode(t)) == t` for every table. Each row is encoded, or dropped, by its own cells
    alone, so neighbouring inputs become neighbouring tables. Where persons may have several rows,
    surplus ones are dropped by the rows of that person alone, and rows without a name are dropped.

    Attributes:
        schema: the declared values of each column.
        persons: who has several rows, and how many are kept.
        within: for some columns, the part of the line that values are decoded to.
        fills: for some columns, what missing cells are decoded to: a place on the line or a code.

    Example:
        >>> schema = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
        >>> encoded = Codec(schema).encode(pa.table({"smoker": ["yes", "no", "unknown"]}))
        >>> encoded.codes["smoker"].tolist()
        [1, 0]
    """

    schema: Schema
    persons: Persons | None = None
    within: Mapping[str, Region] = field(default_factory=dict)
    fills: Mapping[str, Ordinate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.persons and self.persons.column in self.schema.learned:
            raise UsageError(
                f"column {self.persons.column!r} names persons and is learned as well; "
                'declare it as kind = "id", or leave it out of the schema'
            )

    @cached_property
    def domain(self) -> Domain:
        """The attributes that rows are encoded into."""
        return Domain.of(self.schema)

    @cached_property
    def columns(self) -> Mapping[str, ColumnCodec]:
        """One codec for every attribute."""
        return {
            name: _codec_of(name, column, self.within.get(name, ANYWHERE), self.fills.get(name))
            for name, column in self.schema.learned.items()
        }

    @property
    def read_types(self) -> dict[str, pa.DataType]:
        """The columns that are read, and the types to read their texts as."""
        types = {name: column.read_type for name, column in self.columns.items()}
        return types | ({self.persons.column: pa.string()} if self.persons else {})

    def encode(self, rows: pa.Table) -> Encoding:
        """Encode rows as codes.

        Privacy: the result is as private as the rows; no message depends on a cell's value.
        """
        self.check_columns(rows.column_names)
        encoded = self._encoded(rows)
        dropped = reduce(either, (e.dropped for e in encoded.values()))
        most = misfits = None
        if self.persons is not None:
            names, most = rows.column(self.persons.column), self.persons.most
            codes = {name: e.codes for name, e in encoded.items()}
            unfit, dropped = dropped, self.persons.left_out(names, codes, dropped)
            misfits = self.persons.misfits(names, unfit)
        kept = {name: _kept(e, dropped) for name, e in encoded.items()}
        return Encoding(
            domain=self.domain,
            codes=kept,
            rows_read=rows.num_rows,
            rows_per_person=most,
            dropped=dropped,
            person_misfits=misfits,
        )

    def without_surplus(self, rows: pa.Table) -> pa.Table:
        """The rows themselves, of every person as many as are kept, dropped ones counted.

        Rows without a name are nobody's and left out.
        """
        if self.persons is None:
            return rows
        codes = {name: e.codes for name, e in self._encoded(rows).items()}
        gone = self.persons.left_out(rows.column(self.persons.column), codes)
        return rows.filter(pa.array(~gone))

    def _encoded(self, rows: pa.Table) -> dict[str, Encoded]:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            tasks = {n: pool.submit(c.encode, rows.column(n)) for n, c in self.columns.items()}
        return {name: task.result() for name, task in tasks.items()}

    def check_columns(self, names: list[str]) -> None:
        """Refuse data whose header does not hold every declared column exactly once."""
        absent = [name for name in self.read_types if name not in names]
        if len(absent) == len(self.read_types):
            # The first line may be a row: its cells are not ours to quote.
            raise DataError("the data has none of the schema's columns; is its header missing?")
        if self.persons and absent == [self.persons.column]:
            raise DataError(
                f"the data has no column {self.persons.column!r}, which was named to identify "
                "persons; correct --person-id (in Python: person_id)"
            )
        if absent:
            listed = ", ".join(map(repr, absent))
            raise DataError(
                f"the data has no column {listed}; add it, or remove it from the schema"
            )
        needed = dict.fromkeys((*self.schema.columns, *self.read_types))
        twice = [name for name in needed if names.count(name) > 1]
        if twice:
            raise DataError(f"the data has column {twice[0]!r} more than once; keep one")

    def check_nothing_extra(self, names: list[str]) -> None:
        """Refuse data with columns that the schema does not speak of."""
        known = {*self.schema.columns, *self.read_types}
        extra = [name for name in names if name not in known]
        if extra:
            listed = ", ".join(map(repr, extra))
            raise DataError(
                f"column {listed} is not in the schema; declare it, or pass over it by "
                "--ignore-extra (in Python: access=Access(ignore_extra=True))"
            )

    def decode(
        self, codes: Mapping[str, Codes], *, generator: np.random.Generator, first_row: int = 1
    ) -> pa.Table:
        """Codes as rows of typed values in the schema's order, ids counted from `first_row`."""
        natural = {n: c.decode(codes[n], generator) for n, c in self.columns.items()}
        return self.present(natural, generator=generator, first_row=first_row)

    def present(
        self,
        natural: Mapping[str, pa.Array],
        *,
        generator: np.random.Generator,
        first_row: int = 1,
    ) -> pa.Table:
        """Decoded values in the declared types and order, with the columns that are made up."""
        columns = self.schema.columns
        found = {n: presented(columns[n], cells) for n, cells in natural.items()}
        rows = len(next(iter(found.values())))
        for name, column in columns.items():
            if isinstance(column, IdColumn):
                found[name] = presented(column, _ids(column, first_row, rows))
        texts = {n: c for n, c in columns.items() if isinstance(c, TextColumn) and not c.drop}
        # Columns that follow others come after them.
        for name, text in sorted(texts.items(), key=lambda item: item[1].same_as is not None):
            made = MadeTexts.seeded(generator, first_row)
            if text.same_as is None:
                found[name] = made.column(name, text, rows)
            else:
                found[name] = made.following(name, text, found[text.same_as])
        return described(pa.table({n: found[n] for n in self.schema.written}), columns)

    def spell(self, rows: pa.Table) -> pa.Table:
        """The rows for a text file: every value in the notation of its column."""
        cells = {n: spelled(self._original(n), rows.column(n)) for n in rows.column_names}
        return pa.table(cells)

    def note(self, rows: pa.Table) -> pa.Table:
        """The rows for JSON: texts in columns with a notation, and typed values in all others."""
        return pa.table({n: noted(self._original(n), rows.column(n)) for n in rows.column_names})

    def _original(self, name: str) -> Column:
        """The column itself or, where it is a copy, the one that it repeats."""
        column = self.schema.columns[name]
        if isinstance(column, TextColumn) and column.is_copy:
            return self.schema.columns[str(column.same_as)]
        return column


def _kept(encoded: Encoded, dropped: Mask | None) -> Codes:
    return encoded.codes if dropped is None else encoded.codes[~dropped]


def _ids(column: IdColumn, first: int, rows: int) -> pa.Array:
    numbers = pa.array(np.arange(first, first + rows, dtype=np.int64))
    if not column.prefix:
        return numbers
    return pa.array(
        [f"{column.prefix}{number}" for number in range(first, first + rows)], pa.string()
    )
