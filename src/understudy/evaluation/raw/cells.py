"""Raw cells of a table, column by column: read in blocks, counted whole, kept in part.

Privacy: raw cells of real rows are as private as the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.facts.codec import Codec
from understudy.facts.codec.bins import BinnedCodec
from understudy.facts.codec.fates import CellFates, EncodesCells, fates_of
from understudy.facts.codec.missing import either
from understudy.facts.codec.ordinates import read
from understudy.facts.codes import Mask
from understudy.facts.column import BooleanColumn, CategoricalColumn, LearnedColumn
from understudy.system.arrays import Floats

# Of a longer column every second value is kept, of a column twice as long every fourth.
MOST_VALUES = 500_000


@dataclass(repr=False)
class RawCells:
    """All cells of one column that were read so far.

    Attributes:
        rows: how many cells there are.
        missing, clipped, undeclared, unreadable: how many the schema reads so.
        dropped: how many send their row away.
        texts: how often each listed value occurs.
        strange: how often each value occurs that the schema does not list. Only how many there are
            is ever shown: what was not declared is quoted nowhere.
        numbers: values of numbers and dates, beyond the bounds too; some of them where they are
            many.
    """

    column: LearnedColumn
    rows: int = 0
    missing: int = 0
    clipped: int = 0
    undeclared: int = 0
    unreadable: int = 0
    dropped: int = 0
    texts: Counter[str] = field(default_factory=Counter)
    strange: Counter[str] = field(default_factory=Counter)
    numbers: Floats = field(default_factory=lambda: np.empty(0))
    _every: int = 1
    _pieces: list[Floats] = field(default_factory=list)

    @property
    def known(self) -> int:
        """How many cells hold a value."""
        return self.rows - self.missing - self.unreadable

    @property
    def changed(self) -> float:
        """The share of cells with a value that the schema cannot keep as it is."""
        altered = self.clipped + self.undeclared + self.unreadable
        return altered / max(self.rows - self.missing, 1)

    def add(self, codec: EncodesCells, name: str, cells: pa.ChunkedArray) -> None:
        """Count and keep the cells of one block."""
        fates = fates_of(codec, cells)
        self._count(fates, len(cells))
        if isinstance(codec, BinnedCodec):
            self._keep_numbers(_values(codec, name, cells, fates))
        elif isinstance(self.column, CategoricalColumn | BooleanColumn):
            self._keep_texts(codec, cells, fates)

    def _count(self, fates: CellFates, rows: int) -> None:
        self.rows += rows
        self.missing += _flags(fates.missing)
        self.clipped += _flags(fates.outside)
        self.undeclared += _flags(fates.undeclared)
        self.unreadable += _flags(fates.unreadable)
        self.dropped += _flags(fates.dropped)

    def _keep_texts(self, codec: EncodesCells, cells: pa.ChunkedArray, fates: CellFates) -> None:
        """Listed values by their declared text, so that two spellings of one are one value."""
        assert isinstance(self.column, CategoricalColumn | BooleanColumn)
        stray = either(fates.undeclared, fates.missing)
        listed = np.ones(len(cells), bool) if stray is None else ~stray
        codes = codec.encode(cells).codes[listed]
        held = np.bincount(codes.astype(np.int64), minlength=self.column.size)
        for text, count in zip(self.column.texts, held.tolist(), strict=False):
            self.texts[text] += count
        if fates.undeclared is not None and fates.undeclared.any():
            strange = pc.filter(cells, pa.array(fates.undeclared)).cast(pa.string())
            for found in pc.value_counts(strange).to_pylist():
                self.strange[str(found["values"])] += found["counts"]

    def _keep_numbers(self, values: Floats) -> None:
        self._pieces.append(values[:: self._every])
        while sum(piece.size for piece in self._pieces) > 2 * MOST_VALUES:
            self._pieces = [np.concatenate(self._pieces)[::2]]
            self._every *= 2

    def finished(self) -> RawCells:
        """The cells, with all numbers that were kept in one array."""
        known = np.concatenate([np.empty(0), *self._pieces])
        self.numbers = np.sort(known[np.isfinite(known)])
        return self

    def __repr__(self) -> str:
        return "RawCells(private)"


def raw_cells(blocks: Iterable[pa.Table], codec: Codec) -> dict[str, RawCells]:
    """Read all columns of a table as they are.

    Privacy: raw cells, for the owner's eyes alone.
    """
    columns = codec.schema.learned
    found = {name: RawCells(columns[name]) for name in codec.columns if name in columns}
    for block in blocks:
        for name, cells in found.items():
            cells.add(codec.columns[name], name, block.column(name))
    return {name: cells.finished() for name, cells in found.items()}


def _flags(mask: Mask | None) -> int:
    return 0 if mask is None else int(np.count_nonzero(mask))


def _values(codec: BinnedCodec, name: str, cells: pa.ChunkedArray, fates: CellFates) -> Floats:
    """Places on the line, also beyond the bounds; NaN where there is no value."""
    values = read(name, codec.column, cells).ordinates.astype(np.float64)
    stray = either(fates.missing, fates.unreadable)
    return values if stray is None else np.where(stray, np.nan, values)
