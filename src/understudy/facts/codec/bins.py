"""Columns on a line: numbers and dates cut into public bins, decoded by a draw inside the bin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.facts.codec.fates import CellFates, without
from understudy.facts.codec.missing import Encoded, assign, either
from understudy.facts.codec.ordinates import (
    ColumnOrdinates,
    Ordinates,
    arrow_type,
    parse,
    read,
    to_arrow,
)
from understudy.facts.codec.regions import ANYWHERE, Pieces, Region
from understudy.facts.codes import Codes, code_type
from understudy.facts.column import MISSING_TEXTS, BinnedColumn, Ordinate, text_of
from understudy.system.jit import MANY, kernel

# Comparing with every edge is a vectorised loop; beyond this many edges halving wins.
_FEW_EDGES = 64


@kernel
def count_edges_below(values: Ordinates, edges: Ordinates, codes: Codes) -> None:
    """The bin of every value, by comparing it with each edge."""
    for i in range(values.size):
        value, code = values[i], 0
        for j in range(1, edges.size):
            code += value >= edges[j]
        codes[i] = code


@kernel
def halve_edges(values: Ordinates, edges: Ordinates, codes: Codes) -> None:
    """The bin of every value, by halving the edges that it may lie between."""
    for i in range(values.size):
        value, base, left = values[i], 0, edges.size
        while left > 1:
            half = left >> 1
            if edges[base + half] <= value:
                base += half
            left -= half
        codes[i] = base


def searched(values: Ordinates, edges: Ordinates) -> npt.NDArray[np.intp]:
    """The bin of every value, as the kernels find it; what is not a number is in the first one."""
    found = np.searchsorted(edges[1:], values, side="right")
    return np.where(np.isnan(values), 0, found) if values.dtype.kind == "f" else found


@dataclass(frozen=True)
class BinnedCodec:
    """One column of numbers, days or moments to bin codes and back.

    Attributes:
        name: the column's name.
        column: what it may hold.
        within: the part of the line that values are decoded to.
        fill: what missing cells are decoded to; the first marker, or null, where it is None.
    """

    name: str
    column: BinnedColumn
    within: Region = ANYWHERE
    fill: Ordinate | None = None

    @property
    def read_type(self) -> pa.DataType:
        """Return the type to read texts as; plain text when a marker is not a number or date."""
        if self.column.notation is not None:
            return pa.string()
        known = ("", *MISSING_TEXTS)
        texts = [m for m in self.column.missing or () if parse(self.column, m) is None]
        return pa.string() if set(texts) - set(known) else arrow_type(self.column)

    @cached_property
    def edges(self) -> Ordinates:
        """Return the left edge of every bin."""
        return np.array(self.column.left_edges, np.int64 if self.column.whole else np.float64)

    @cached_property
    def markers(self) -> Ordinates:
        """The ordinates of those missing markers that are themselves numbers or dates."""
        places = [parse(self.column, marker) for marker in self.column.missing or ()]
        return np.array([place for place in places if place is not None], self.edges.dtype)

    def encode(self, cells: pa.ChunkedArray) -> Encoded:
        """Bin codes of every cell."""
        reading = self._with_markers(read(self.name, self.column, cells))
        codes = self._bin(reading.ordinates)
        dropped = self._place_outside(codes, reading)
        nowhere = self._place_missing(codes, reading)
        return Encoded(codes, either(dropped, nowhere))

    def fates(self, cells: pa.ChunkedArray) -> CellFates:
        """Flag every cell that is missing, beyond the bounds, unreadable or dropped."""
        reading = self._with_markers(read(self.name, self.column, cells))
        low, high = self.column.bounds
        beyond = (reading.ordinates < low) | (reading.ordinates > high)
        unreadable = without(reading.unreadable, reading.missing)
        outside = without(without(beyond, reading.missing), unreadable)
        dropped = None
        if self.outside_code is None:
            strays = unreadable if self.column.outside == "clip" else either(unreadable, outside)
            homeless = reading.missing if self.column.missing_code is None else None
            dropped = either(strays, homeless)
        return CellFates(
            missing=reading.missing, outside=outside, unreadable=unreadable, dropped=dropped
        )

    def _with_markers(self, reading: ColumnOrdinates) -> ColumnOrdinates:
        if not self.markers.size:
            return reading
        marked = np.isin(reading.ordinates, self.markers)
        return ColumnOrdinates(
            reading.ordinates, either(reading.missing, marked), reading.unreadable
        )

    def _bin(self, ordinates: Ordinates) -> Codes:
        kind = code_type(self.column.size)
        if ordinates.size <= MANY:
            return searched(ordinates, self.edges).astype(kind)
        codes = np.empty(ordinates.size, kind)
        search = count_edges_below if self.edges.size <= _FEW_EDGES else halve_edges
        search(ordinates, self.edges, codes)
        return codes

    def _place_outside(
        self, codes: Codes, reading: ColumnOrdinates
    ) -> npt.NDArray[np.bool_] | None:
        """Clipping is what the bins do by themselves; everything else is sent where declared."""
        stray = reading.unreadable
        if self.column.outside != "clip":
            low, high = self.column.bounds
            stray = either(stray, (reading.ordinates < low) | (reading.ordinates > high))
        if stray is not None and reading.missing is not None:
            stray = stray & ~reading.missing
        return assign(codes, stray, self.outside_code)

    def _place_missing(
        self, codes: Codes, reading: ColumnOrdinates
    ) -> npt.NDArray[np.bool_] | None:
        return assign(codes, reading.missing, self.missing_target)

    @property
    def missing_target(self) -> int | None:
        """The code that missing cells take; None when their rows are dropped."""
        if self.column.missing_as == "drop":
            return None
        level = self.column.missing_code
        return self.outside_code if level is None else level

    @cached_property
    def outside_code(self) -> int | None:
        """The code of the declared stand-in for strays; None when their rows are dropped."""
        if self.column.outside in ("clip", "drop"):
            return None
        if text_of(self.column.outside) in (self.column.missing or ()):
            return self.column.missing_code
        return int(self._bin(np.array([self.column.outside_ordinate], self.edges.dtype))[0])

    def decode(self, codes: Codes, generator: np.random.Generator) -> pa.Array:
        """Values drawn inside the bins and `within`; the first marker, else null, where missing."""
        level = self.column.missing_code
        missing = None if level is None else codes == level
        bins = codes if missing is None else np.where(missing, 0, codes)
        ordinates = self._pieces.draw(bins, generator)
        stand_in = self._first_marker if self.fill is None else self.fill
        if missing is not None and stand_in is not None:
            ordinates[missing] = stand_in
            missing = None
        return to_arrow(self.column, ordinates, missing)

    @cached_property
    def _pieces(self) -> Pieces:
        return Pieces(self.column, self.within)

    @cached_property
    def _first_marker(self) -> Ordinate | None:
        """The first missing marker as an ordinate, when it is one."""
        return parse(self.column, self.column.missing[0]) if self.column.missing else None
