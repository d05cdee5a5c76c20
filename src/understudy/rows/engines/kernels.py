"""Counting loops. Small tables of pairs by bitmaps, all others by histograms.

A bitmap for each value of an attribute says which rows hold it; a cell of a pair's table is the
number of bits that two bitmaps share. That costs a few picoseconds for each row and cell, an
increment half a nanosecond for each row: below a hundred cells or two the bitmaps win. The last
row and column cost nothing: the rows that hold each value are known.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from understudy.facts.codes import Cells, Codes
from understudy.rows.counting import Counts
from understudy.system.arrays import Words
from understudy.system.jit import kernel

Pairs = npt.NDArray[np.int64]

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
def count_inner(bitmaps: Words, pairs: Pairs, counts: Counts) -> None:
    """Add to the tables of many pairs how many bits each two of their bitmaps share.

    Every row of `pairs` gives the first bitmap and the number of values of either attribute, and
    where in `counts` the table begins. The last value of either is left out: `fill_last` has it
    from the others. Four bitmaps are met by the same one at a time, which is then loaded once.
    """

    def ones(x: np.uint64) -> np.uint64:
        x -= (x >> np.uint64(1)) & _ODD
        x = (x & _PAIRS) + ((x >> np.uint64(2)) & _PAIRS)
        x = (x + (x >> np.uint64(4))) & _NIBBLES
        return (x * _BYTES) >> np.uint64(56)

    for p in range(pairs.shape[0]):
        first, first_size, second, second_size, start = pairs[p]
        fours = (second_size - 1) // 4 * 4
        for a in range(first_size - 1):
            left, cell = bitmaps[first + a], start + a * second_size
            for b in range(0, fours, 4):
                one, two = bitmaps[second + b], bitmaps[second + b + 1]
                three, four = bitmaps[second + b + 2], bitmaps[second + b + 3]
                with_one = with_two = with_three = with_four = np.uint64(0)
                for w in range(left.size):
                    with_one += ones(left[w] & one[w])
                    with_two += ones(left[w] & two[w])
                    with_three += ones(left[w] & three[w])
                    with_four += ones(left[w] & four[w])
                counts[cell + b] += with_one
                counts[cell + b + 1] += with_two
                counts[cell + b + 2] += with_three
                counts[cell + b + 3] += with_four
            for b in range(fours, second_size - 1):
                right, shared = bitmaps[second + b], np.uint64(0)
                for w in range(left.size):
                    shared += ones(left[w] & right[w])
                counts[cell + b] += shared


@kernel
def fill_last(held: Counts, pairs: Pairs, counts: Counts) -> None:
    """The last row and column of every pair's table: what its other cells leave of the rows.

    `held` has the rows that hold each value, in the order of the bitmaps.
    """
    for p in range(pairs.shape[0]):
        first, first_size, second, second_size, start = pairs[p]
        for a in range(first_size - 1):
            row = start + a * second_size
            left = held[first + a]
            for b in range(second_size - 1):
                left -= counts[row + b]
            counts[row + second_size - 1] = left
        last = start + (first_size - 1) * second_size
        for b in range(second_size):
            left = held[second + b]
            for a in range(first_size - 1):
                left -= counts[start + a * second_size + b]
            counts[last + b] = left


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
def tally(cells: Cells, codes: Codes, size: int, counts: Counts) -> None:
    """Count rows by cell · size + code: the cells of all attributes but the last, and its codes."""
    for i in range(codes.size):
        counts[cells[i] * np.uint32(size) + np.uint32(codes[i])] += 1


def tally_in_vectors(cells: Cells, codes: Codes, size: int, counts: Counts) -> None:
    """Count as `tally` does, without the start of a compiler."""
    places = cells[: codes.size] * np.uint32(size) + codes
    counts += np.bincount(places, minlength=counts.size)
