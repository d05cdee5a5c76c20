"""Check private rows against a schema: cell by cell, for the owner's eyes alone.

Rows come in blocks, so that files of any size are checked in bounded memory.

Privacy: everything here is exact and nothing of it is paid for. It goes to the owner and to nobody
else: no model, statement, ledger or released file may depend on it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.facts.codec import Codec
from understudy.facts.codec.fates import CellFates, fates_of
from understudy.facts.codec.names import UNNAMED, number_names
from understudy.facts.codec.ordinates import undictionary
from understudy.facts.codes import Mask
from understudy.facts.file_format import TextDialect
from understudy.facts.schema import Schema
from understudy.rows.mending import Trouble, remedies
from understudy.rows.reading.numbers import numeric_columns
from understudy.rows.sources import Access, opened_blocks
from understudy.system.arrays import Integers
from understudy.system.files.suffixes import TEXTS, suffix_of
from understudy.system.frames import Rows
from understudy.system.notebooks import Card, notebook_bar

NOTICE = (
    "NOT FOR RELEASE: exact numbers and cells of private rows, for the owner's eyes. "
    "Nothing was spent."
)
_EXAMPLES = 3
# Cells of one cause that are looked at in a block to find different ones, and kept in all.
_LOOKED_AT = 2_000
_KEPT = 50
_LONGEST = 40
_UNSHOWN = "…"


@dataclass(frozen=True, kw_only=True, repr=False)
class ColumnCheck:
    """The fate of the cells of one column. Private.

    Attributes:
        name: the column.
        kind: its declared kind.
        read: cells that hold a declared value.
        missing: cells that are empty or hold a missing marker.
        clipped: cells beyond the bounds; they are clipped, replaced or dropped as declared.
        undeclared: cells with a value that is not listed.
        unreadable: cells whose text is not a value of this kind.
        lost: rows that this column drops, whatever the others hold.
        lost_first: rows that this column drops and no column before it does.
        examples: up to three cells that are not read as they are, for each cause.
        remedies: how to mend it, in sentences.
    """

    name: str
    kind: str
    read: int
    missing: int
    clipped: int
    undeclared: int
    unreadable: int
    lost: int
    lost_first: int
    examples: Mapping[str, tuple[str, ...]]
    remedies: tuple[str, ...]

    @property
    def has_findings(self) -> bool:
        """Whether a cell is lost, or is not read as it is."""
        return bool(self.lost or self.clipped or self.undeclared or self.unreadable)

    def document(self) -> dict[str, Any]:
        """Return the column's numbers, examples and remedies for JSON."""
        return {
            "column": self.name,
            "kind": self.kind,
            "read": self.read,
            "missing": self.missing,
            "clipped": self.clipped,
            "undeclared": self.undeclared,
            "unreadable": self.unreadable,
            "lost": self.lost,
            "lost_first": self.lost_first,
            "examples": {cause: list(cells) for cause, cells in self.examples.items()},
            "remedies": list(self.remedies),
        }

    def __repr__(self) -> str:
        return f"ColumnCheck({self.name}; numbers private)"


@dataclass(frozen=True, kw_only=True, repr=False)
class DataCheck:
    """How private rows fit a schema: exact, for the owner's eyes, not for release.

    Attributes:
        rows: how many there are.
        lost: how many are dropped because a cell has no place in the schema.
        unnamed: how many have no name in the column that names persons.
        columns: the check of each column, in the schema's order.
    """

    rows: int
    lost: int
    unnamed: int
    columns: tuple[ColumnCheck, ...]

    @property
    def fits(self) -> bool:
        """Whether every row is kept."""
        return self.lost == 0

    @property
    def sentence(self) -> str:
        """Say how many rows fit, and which column loses most of the others."""
        if self.fits:
            return f"all {self.rows:,} rows fit the schema"
        share = f"{100 * self.lost / self.rows:.3g} %"
        return f"{self.lost:,} of {self.rows:,} rows ({share}) do not fit the schema and are lost"

    def document(self) -> dict[str, Any]:
        """Return the check for JSON; it is private, and says so."""
        return {
            "private": True,
            "notice": NOTICE,
            "rows": self.rows,
            "lost": self.lost,
            "unnamed": self.unnamed,
            "columns": [column.document() for column in self.columns],
        }

    def __repr__(self) -> str:
        return f"DataCheck({self.sentence}; not for release)"

    def _repr_html_(self) -> str:
        heads = ["column", "missing", "clipped", "undeclared", "unreadable", "rows lost"]
        lines = [
            [
                c.name,
                *(f"{n:,}" for n in (c.missing, c.clipped, c.undeclared, c.unreadable, c.lost)),
            ]
            for c in self.columns
        ]
        said = [[c.name, sentence] for c in self.columns for sentence in c.remedies]
        return Card(
            "Check of the rows", f"{NOTICE} {self.sentence}", [[heads, *lines], said]
        ).html()


def check(data: Rows, schema: Schema, *, access: Access | None = None) -> DataCheck:
    """Check private rows against a schema before anything is spent.

    Args:
        data: a file, a data frame of any brand, or a table of a database.
        schema: what each column may contain.
        access: how the rows are read; its persons add the rows without a name.

    Privacy: exact, and for the owner's eyes alone; nothing is charged, nothing may be released.

    Example:
        >>> schema = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
        >>> check({"smoker": ["yes", "no", "perhaps"]}, schema)
        DataCheck(1 of 3 rows (33.3 %) do not fit the schema and are lost; not for release)
    """
    access = access or Access(watch=notebook_bar("Reading"))
    codec = Codec(schema, access.persons)
    tally = _Tally(codec, _dialect(data, schema, access))
    access.watch(0, None)
    with opened_blocks(data, codec, access) as blocks, ThreadPoolExecutor(os.cpu_count()) as pool:
        for block in blocks:
            tally.add(block, pool)
            access.watch(tally.rows, None)
    return tally.result()


def _dialect(data: Rows, schema: Schema, access: Access) -> TextDialect:
    """How a file of text spells numbers; everything else spells them as programs do."""
    if not isinstance(data, str | os.PathLike) or not suffix_of(Path(data)).startswith(TEXTS):
        return TextDialect()
    return access.format.over(schema.format).dialect(suffix_of(Path(data)))


@dataclass(repr=False)
class _ColumnTally:
    """The running numbers of one column."""

    numbers: dict[str, int] = field(default_factory=dict)
    cells: dict[str, list[str]] = field(default_factory=dict)
    lost: int = 0
    lost_first: int = 0

    def add(self, fates: CellFates, cells: pa.ChunkedArray) -> None:
        for cause in Trouble:
            flags: Mask | None = getattr(fates, cause)
            if flags is None:
                continue
            self.numbers[cause] = self.numbers.get(cause, 0) + int(np.count_nonzero(flags))
            if cause is not Trouble.MISSING:
                _keep(self.cells.setdefault(cause, []), flags, cells)

    def number(self, cause: Trouble) -> int:
        """How many cells have a cause."""
        return self.numbers.get(cause, 0)


@dataclass(repr=False)
class _Tally:
    """The running numbers of a check."""

    codec: Codec
    dialect: TextDialect
    rows: int = 0
    lost: int = 0
    unnamed: int = 0
    columns: dict[str, _ColumnTally] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.columns = {name: _ColumnTally() for name in self.codec.columns}

    def add(self, block: pa.Table, pool: ThreadPoolExecutor) -> None:
        """Count one block of rows."""
        tasks = {
            name: pool.submit(fates_of, column, block.column(name))
            for name, column in self.codec.columns.items()
        }
        gone = self._without_name(block)
        self.unnamed += int(np.count_nonzero(gone))
        for name, task in tasks.items():
            fates, own = task.result(), self.columns[name]
            own.add(fates, block.column(name))
            if fates.dropped is not None:
                own.lost += int(np.count_nonzero(fates.dropped))
                own.lost_first += int(np.count_nonzero(fates.dropped & ~gone))
                gone |= fates.dropped
        self.rows += block.num_rows
        self.lost += int(np.count_nonzero(gone))

    def _without_name(self, block: pa.Table) -> Mask:
        if self.codec.persons is None:
            return np.zeros(block.num_rows, bool)
        column = self.codec.persons.column
        return np.asarray(number_names(column, block.column(column)) == UNNAMED)

    def result(self) -> DataCheck:
        """Return the numbers of all blocks together."""
        return DataCheck(
            rows=self.rows,
            lost=self.lost,
            unnamed=self.unnamed,
            columns=tuple(self._column(name, own) for name, own in self.columns.items()),
        )

    def _column(self, name: str, own: _ColumnTally) -> ColumnCheck:
        numbers = {cause: own.number(cause) for cause in Trouble}
        column = self.codec.schema.learned[name]
        is_spelled = name in numeric_columns(self.codec)
        shown = {
            cause: [self.dialect.as_written(cell) if is_spelled else cell for cell in cells]
            for cause, cells in own.cells.items()
        }
        return ColumnCheck(
            name=name,
            kind=column.kind,
            read=self.rows - sum(numbers.values()),
            missing=numbers[Trouble.MISSING],
            clipped=numbers[Trouble.OUTSIDE],
            undeclared=numbers[Trouble.UNDECLARED],
            unreadable=numbers[Trouble.UNREADABLE],
            lost=own.lost,
            lost_first=own.lost_first,
            examples={
                c: tuple(map(_short, cells[:_EXAMPLES])) for c, cells in shown.items() if cells
            },
            remedies=remedies(column, numbers, shown),
        )


def _keep(kept: list[str], flags: Mask, cells: pa.ChunkedArray) -> None:
    """Keep the texts of some different cells that have a flag."""
    if len(kept) >= _KEPT:
        return
    places = np.flatnonzero(flags)[:_LOOKED_AT]
    if places.size:
        new = dict.fromkeys(text for text in _texts(cells, places) if text not in kept)
        kept += list(new)[: _KEPT - len(kept)]


def _texts(cells: pa.ChunkedArray, places: Integers) -> Iterator[str]:
    """Some cells as texts, whatever their type."""
    if pa.types.is_dictionary(cells.type):
        cells = undictionary(cells)
    elif pa.types.is_string_view(cells.type):
        # Arrow cannot take some of these.
        cells = cells.cast(pa.string())
    for value in cells.take(pa.array(places)).to_pylist():
        yield str(value)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + _UNSHOWN


def findings(found: DataCheck) -> Iterator[ColumnCheck]:
    """The columns with something to mend, those that lose most rows first."""
    yield from sorted(
        (column for column in found.columns if column.has_findings),
        key=lambda column: (-column.lost, found.columns.index(column)),
    )
