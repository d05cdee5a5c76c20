"""Counting loops. Small tables of pairs by bitmaps, all others by histograms.

A bitmap for each value of an attribute says which rows hold it; a cell of a pair's table is the
number of bits that two bitmaps share. That costs a few picoseconds for each row and cell, an
increment half a nanosecond for each row: below a hundred cells or two the bitmaps win.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from understudy.jit import kernel
from understudy.marginal import Counts
from understudy.table import Codes

Words = npt.NDArray[np.uint64]
Cells = npt.NDArray[np.uint32]

# The compiler knows these steps for what they are and puts the processor's own bit count there.
_ODD = np.uint64(0x5555555555555555)
_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


@kernel
def fill_bitmaps(codes: Codes, bitmaps: Words) -> None:
    """Set bit i of bitmap v where row i holds code v."""
    for i in range(codes.size):
        bitmaps[codes[i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@kernel
def count_pairs(
    bitmaps: Words, start: int, stop: int, pairs: npt.NDArray[np.int64], counts: Counts
) -> None:
    """Add to the tables of many pairs how many bits each two of their bitmaps share.

    Only the words from `start` to `stop` are read; sliced in here, they are known to be
    contiguous. Every row of `pairs` gives the first bitmap and the number of bitmaps of either
    attribute, and where in `counts` the table begins.
    """
    for p in range(pairs.shape[0]):
        first, first_size, second, second_size, cell = pairs[p]
        for a in range(first, first + first_size):
            left = bitmaps[a, start:stop]
            for b in range(second, second + second_size):
                right = bitmaps[b, start:stop]
                shared = np.uint64(0)
                for w in range(left.size):
                    x = left[w] & right[w]
                    x -= (x >> np.uint64(1)) & _ODD
                    x = (x & _PAIRS) + ((x >> np.uint64(2)) & _PAIRS)
                    x = (x + (x >> np.uint64(4))) & _NIBBLES
                    shared += (x * _BYTES) >> np.uint64(56)
                counts[cell] += shared
                cell += 1


@kernel
def count_pair(first: Codes, second: Codes, size: int, counts: npt.NDArray[np.uint32]) -> None:
    """Count one pair of attributes, of at most 2¹⁶ cells, into four histograms in turn.

    Cell numbers are made for a block of rows at a time, and rows go to the histograms in turn,
    so that equal neighbours need not wait for each other.
    """
    keys = np.empty(4096, np.uint16)
    for start in range(0, first.size, 4096):
        rows = min(4096, first.size - start)
        left, right = first[start : start + rows], second[start : start + rows]
        for i in range(rows):
            keys[i] = np.uint16(left[i]) * np.uint16(size) + np.uint16(right[i])
        whole = rows - rows % 4
        for i in range(0, whole, 4):
            counts[0, keys[i]] += np.uint32(1)
            counts[1, keys[i + 1]] += np.uint32(1)
            counts[2, keys[i + 2]] += np.uint32(1)
            counts[3, keys[i + 3]] += np.uint32(1)
        for i in range(whole, rows):
            counts[0, keys[i]] += np.uint32(1)


@kernel
def extend(cells: Cells, codes: Codes, size: int) -> None:
    """Mixed radix: cell ← cell · size + code."""
    for i in range(codes.size):
        cells[i] = cells[i] * np.uint32(size) + np.uint32(codes[i])


@kernel
def tally_once(cells: Cells, counts: Counts) -> None:
    """Count cells of a table too large to hold four times."""
    for i in range(cells.size):
        counts[cells[i]] += 1
