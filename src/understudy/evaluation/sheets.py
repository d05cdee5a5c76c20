"""Rows as an evaluation sees them: codes, and numbers before they were cut into bins.

Privacy: a sheet of real rows is as private as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa

from understudy.errors import DataError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.codec.bins import BinnedCodec
from understudy.facts.codec.missing import either
from understudy.facts.codec.ordinates import read
from understudy.facts.codes import Codes
from understudy.facts.column import BinnedColumn, BooleanColumn, CategoricalColumn
from understudy.facts.domain import Domain
from understudy.facts.file_format import DECLARED, FileFormat
from understudy.facts.schema import Schema
from understudy.rows.reading import column_names, read_blocks, read_rows
from understudy.rows.table import Table
from understudy.system.arrays import Floats, Indices
from understudy.system.files.piped import PipedFile
from understudy.system.files.suffixes import LINES, suffix_of
from understudy.system.frames import Rows, are_rows, arrow_table

# Metrics of more rows hardly change and would take minutes.
MOST_ROWS = 1_000_000
# Tables that are the owner's own, as they are called in errors.
OWN_SIDES = ("real", "held-out")
# Of a data frame so many rows are encoded at a time.
_BLOCK = 1 << 20


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class EvaluationTable:
    """Encoded rows, and where the cells of numbers and dates lie on their line.

    Attributes:
        numbers: for each column of numbers or dates, a number for each row; NaN where missing.
        read: how many rows the source had.
        fitting: how many of them the schema allows.
        extra: columns of the source that the schema does not speak of.
    """

    table: Table
    numbers: Mapping[str, Floats]
    read: int
    fitting: int
    extra: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows are looked at."""
        return self.table.rows

    @property
    def is_sampled(self) -> bool:
        """Whether some of the rows that fit were left out."""
        return self.rows < self.fitting

    def take(self, places: Indices) -> EvaluationTable:
        """The rows at some places, in that order."""
        return self.gather(dict.fromkeys(self.table.domain, places), places.size)

    def gather(self, places: Mapping[str, Indices], rows: int) -> EvaluationTable:
        """Gather a number of rows, with separate places for each column."""
        codes: dict[str, Codes] = {n: c[places[n]] for n, c in self.table.codes.items()}
        numbers = {name: values[places[name]] for name, values in self.numbers.items()}
        return EvaluationTable(
            table=Table(self.table.domain, codes, rows),
            numbers=numbers,
            read=self.read,
            fitting=self.fitting,
        )

    def remarks(self, side: str, seed: int) -> list[str]:
        """List remarks about rows and columns that were left out."""
        notes = []
        if self.fitting < self.read:
            dropped = self.read - self.fitting
            notes.append(f"{side}: {dropped:,} of {self.read:,} rows do not fit the schema")
        if self.is_sampled:
            chosen = f"{self.rows:,} of {self.fitting:,} rows"
            notes.append(f"{side}: {chosen} are compared, chosen by seed {seed}")
        if self.extra:
            listed = ", ".join(map(repr, self.extra))
            notes.append(f"{side}: column {listed} is not in the schema and is passed over")
        return notes

    def __repr__(self) -> str:
        return f"EvaluationTable({self.table!r})"


def load_all(
    given: Mapping[str, Rows | Table],
    schema: Schema,
    *,
    seed: int,
    most: int,
    file_format: FileFormat,
) -> dict[str, EvaluationTable]:
    """All tables, once all of them were seen to have the columns.

    Args:
        file_format: how the owner's own files are spelled; stand-ins are as the schema says.
    """
    spelled = {side: file_format if side in OWN_SIDES else DECLARED for side in given}
    for side, data in given.items():
        check_columns(data, schema, side=side, given=spelled[side])
    return {
        side: load(data, schema, side=side, seed=seed, most=most, file_format=spelled[side])
        for side, data in given.items()
    }


def load(
    data: Rows | Table,
    schema: Schema,
    *,
    side: str,
    seed: int,
    most: int = MOST_ROWS,
    file_format: FileFormat = DECLARED,
) -> EvaluationTable:
    """The rows of a file, a data frame or a table of codes; a seeded choice where there are more.

    Args:
        side: what the data is called in errors: real, synthetic or held-out.
        file_format: how a file is spelled, in place of what the schema says.

    Privacy: the rows are read as they are; errors speak of columns alone.
    """
    # Each side by itself: rows that stand in the same places need not be chosen together.
    generator = np.random.default_rng([seed, *side.encode()])
    extra = check_columns(data, schema, side=side, given=file_format)
    if isinstance(data, Table):
        return _chosen_codes(data, schema, most, generator)
    codec = Codec(schema)
    with _named(side):
        blocks = (_encoded(block, codec) for block in blocks_of(data, codec, file_format))
        chosen = _choose(blocks, most, generator)
    return EvaluationTable(
        table=chosen.table,
        numbers=chosen.numbers,
        read=chosen.read,
        fitting=chosen.fitting,
        extra=extra,
    )


def check_columns(
    data: Rows | Table, schema: Schema, *, side: str, given: FileFormat = DECLARED
) -> tuple[str, ...]:
    """Refuse data without the columns of a schema, before a row is read; what it has besides."""
    if isinstance(data, Table):
        if data.domain != Domain.of(schema):
            raise DataError(
                f"the {side} data has other attributes or sizes than the schema; encode it by that"
            )
        return ()
    if not are_rows(data):
        raise UsageError(f"the {side} data is not a table; pass a file, a data frame or a mapping")
    with _named(side):
        names = _header(data, schema, given)
        Codec(schema).check_columns(names)
    return tuple(name for name in names if name not in schema.columns)


@contextmanager
def _named(side: str) -> Iterator[None]:
    """Whatever is wrong with the data is said of this side."""
    try:
        yield
    except DataError as error:
        raise DataError(f"the {side} data cannot be compared: {error}") from None


def blocks_of(data: Rows, codec: Codec, given: FileFormat) -> Iterator[pa.Table]:
    """Read rows in blocks: at least one, perhaps without rows.

    Privacy: the rows as they are.
    """
    if isinstance(data, str | os.PathLike):
        yield pa.schema(codec.read_types.items()).empty_table()
        yield from read_blocks(data, codec, ignore_extra=True, given=given)
    else:
        rows = read_rows(data, codec, ignore_extra=True)
        for start in range(0, max(rows.num_rows, 1), _BLOCK):
            yield rows.slice(start, _BLOCK)


def _header(data: Rows, schema: Schema, given: FileFormat) -> list[str]:
    if isinstance(data, str | os.PathLike):
        if suffix_of(Path(data)) in LINES:
            # Such a file has no header: what a row lacks is missing.
            return list(schema.columns)
        return column_names(data, given=given.over(schema.format))
    if isinstance(data, PipedFile):
        raise UsageError("rows from standard input cannot be compared; give a file")
    names: list[str] = arrow_table(data).column_names
    return names


def _encoded(rows: pa.Table, codec: Codec) -> EvaluationTable:
    """One block: the rows that the schema allows, as codes and numbers."""
    encoded = {name: c.encode(rows.column(name)) for name, c in codec.columns.items()}
    dropped = reduce(either, (e.dropped for e in encoded.values()))
    stay = np.ones(rows.num_rows, bool) if dropped is None else ~dropped
    codes: dict[str, Codes] = {name: e.codes[stay] for name, e in encoded.items()}
    numbers = {
        name: _numbers(rows.column(name), column, encoded[name].codes)[stay]
        for name, column in codec.columns.items()
        if isinstance(column, BinnedCodec)
    }
    kept = int(stay.sum())
    return EvaluationTable(
        table=Table(codec.domain, codes, kept), numbers=numbers, read=rows.num_rows, fitting=kept
    )


def _numbers(cells: pa.ChunkedArray, codec: BinnedCodec, codes: Codes) -> Floats:
    """The number itself where it is within bounds, else that of the bin it was sent to."""
    column = codec.column
    reading = read(codec.name, column, cells)
    low, high = column.bounds
    values = reading.ordinates.astype(np.float64)
    if column.outside == "clip":
        values = np.clip(values, low, high)
    stray = either(reading.unreadable, reading.missing)
    own = (values >= low) & (values <= high) & (True if stray is None else ~stray)
    if column.missing_code is not None:
        own &= codes != column.missing_code
    return np.where(own, values, centres(column)[codes])


def centres(column: BinnedColumn) -> Floats:
    """The middle of every bin, and NaN for the missing level."""
    left = np.array(column.left_edges, np.float64)
    high = float(column.bounds[1])
    right = np.append(left[1:] - (1 if column.whole else 0), high)
    missing = [] if column.missing_code is None else [np.nan]
    return np.append((left + right) / 2, missing)


def _chosen_codes(
    table: Table, schema: Schema, most: int, generator: np.random.Generator
) -> EvaluationTable:
    """Codes as they are; their numbers are the middles of the bins."""
    codes: Mapping[str, Codes] = table.codes
    if table.rows > most:
        places = np.sort(generator.choice(table.rows, most, replace=False))
        codes = {name: column[places] for name, column in table.codes.items()}
    numbers = {
        name: centres(column)[codes[name]]
        for name, column in schema.learned.items()
        if not isinstance(column, CategoricalColumn | BooleanColumn)
    }
    kept = Table(table.domain, codes, min(table.rows, most))
    return EvaluationTable(table=kept, numbers=numbers, read=table.rows_read, fitting=table.rows)


def _choose(
    blocks: Iterator[EvaluationTable], most: int, generator: np.random.Generator
) -> EvaluationTable:
    """All rows, or those with the least of random keys: each set of `most` is as likely as another.

    Never many more than `most` are held, however many there are.
    """
    held: EvaluationTable | None = None
    keys = np.empty(0)
    for block in blocks:
        keys = np.concatenate([keys, generator.random(block.rows)])
        held = block if held is None else _joined(held, block)
        if held.rows > 2 * most:
            held, keys = _least(held, keys, most)
    assert held is not None
    return _least(held, keys, most)[0] if held.rows > most else held


def _least(sheet: EvaluationTable, keys: Floats, most: int) -> tuple[EvaluationTable, Floats]:
    places = np.sort(np.argpartition(keys, most - 1)[:most])
    return sheet.take(places), keys[places]


def _joined(first: EvaluationTable, second: EvaluationTable) -> EvaluationTable:
    """The rows of one sheet, then those of another."""
    codes: dict[str, Codes] = {
        name: np.concatenate([first.table.codes[name], second.table.codes[name]])
        for name in first.table.domain
    }
    numbers = {n: np.concatenate([first.numbers[n], second.numbers[n]]) for n in first.numbers}
    table = Table(first.table.domain, codes, first.rows + second.rows)
    return EvaluationTable(
        table=table,
        numbers=numbers,
        read=first.read + second.read,
        fitting=first.fitting + second.fitting,
    )
