"""The fate of each cell of a column: for the owner who checks a file before paying.

A column's codec says it by `fates`. A codec that has no such method is asked to encode the cells,
which shows at least the rows that it drops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pyarrow as pa

from understudy.facts.codec.missing import Encoded
from understudy.facts.codes import Mask


@dataclass(frozen=True, kw_only=True, repr=False)
class CellFates:
    """Flags for each cell of a column; None where no cell has one. A cell has at most one cause.

    Attributes:
        missing: empty, or a declared missing marker.
        outside: a value beyond the bounds of a column on a line.
        undeclared: a value that a column of listed values does not list.
        unreadable: a text that is not a value of the column's kind.
        dropped: the cell sends its row away, for one of these causes.
    """

    missing: Mask | None = None
    outside: Mask | None = None
    undeclared: Mask | None = None
    unreadable: Mask | None = None
    dropped: Mask | None = None

    def __repr__(self) -> str:
        return "CellFates(private)"


@runtime_checkable
class ShowsFates(Protocol):
    """A column's codec that can say what becomes of each cell."""

    def fates(self, cells: pa.ChunkedArray) -> CellFates:
        """The fate of every cell; as private as the cells."""


class EncodesCells(Protocol):
    """A column's codec, whatever its kind."""

    def encode(self, cells: pa.ChunkedArray) -> Encoded:
        """The codes of every cell, and which rows are dropped."""


def fates_of(codec: EncodesCells, cells: pa.ChunkedArray) -> CellFates:
    """The fate of every cell of a column, by any codec.

    Privacy: exact facts about single cells; for the owner's eyes alone.
    """
    if isinstance(codec, ShowsFates):
        return codec.fates(cells)
    return CellFates(dropped=codec.encode(cells).dropped)


def without(cells: Mask | None, others: Mask | None) -> Mask | None:
    """The flags of one kind that have none of the other; None where no flag is left."""
    if cells is None or others is None:
        return cells
    left: Mask = cells & ~others
    return left
