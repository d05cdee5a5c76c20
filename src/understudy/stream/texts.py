"""Texts of many events in one block of bytes: lines, numbers in them, keyed hashes of them.

Texts are never made into Python objects: they stay in the block they were read into, which the
next block overwrites.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.system.arrays import Bytes, Integers, Words
from understudy.system.jit import kernel

# Where a number should stand and none does, or one of more than 18 digits.
NONE = -1
_MOST_DIGITS = 18


@dataclass(frozen=True)
class Texts:
    """Stretches of a block of bytes, one for each event; its repr shows none of them."""

    data: Bytes
    starts: Integers
    ends: Integers

    @classmethod
    def lines(cls, data: Bytes) -> Texts:
        """The lines of a block without the white space around them; empty ones are not events."""
        starts, ends = np.empty((2, int((data == ord("\n")).sum()) + 1), np.int64)
        found = find_lines(data, starts, ends)
        return cls(data, starts[:found], ends[:found])

    @classmethod
    def of_arrow(cls, column: Any) -> Texts:
        """The texts of an Arrow array of strings; missing ones are empty."""
        import pyarrow as pa

        column = column.cast(pa.large_string())
        _, offsets, data = column.buffers()
        ends = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
        block = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        return cls(block, ends[:-1], ends[1:])

    def __len__(self) -> int:
        return self.starts.size

    def __repr__(self) -> str:
        return f"Texts({len(self)})"

    def signed(self) -> tuple[Texts, Bytes]:
        """The texts without a plus or minus in front, and 1 where there was a minus."""
        # A text may be empty, and the last one may end where the block does.
        leads = np.take(self.data, self.starts, mode="clip") if self.data.size else self.data
        leads = np.where(self.starts < self.ends, leads, 0)
        begins = self.starts + ((leads == ord("-")) | (leads == ord("+")))
        return Texts(self.data, begins, self.ends), (leads == ord("-")).astype(np.uint8)

    def numbers(self, columns: int = 1) -> Integers:
        """The whole numbers of each text; NONE where there are not exactly `columns` of them.

        Args:
            columns: how many numbers a text has, with blanks, tabs or commas between them.
        """
        numbers = np.empty((len(self), columns), np.int64)
        read_numbers(self.data, self.starts, self.ends, numbers)
        return numbers

    def hashes(self, key: Words) -> Words:
        """SipHash-2-4 of each text under a key of two words."""
        found = np.empty(len(self), np.uint64)
        hash_texts(self.data, self.starts, self.ends, key, found)
        return found


def decimal(numbers: Integers) -> Texts:
    """Whole numbers as the texts that people write for them, so that both hash alike."""
    data = np.empty(20 * numbers.size, np.uint8)
    starts = np.empty(numbers.size, np.int64)
    write_numbers(numbers, data, starts)
    return Texts(data, starts, np.arange(20, 20 * numbers.size + 1, 20, dtype=np.int64))


@kernel
def find_lines(data: Bytes, starts: Integers, ends: Integers) -> int:
    """Bounds of the lines, white space trimmed; returns how many are not empty."""
    found, begin, size = 0, 0, data.size
    while begin < size:
        end = begin
        while end < size and data[end] != 10:
            end += 1
        first, last = begin, end
        while first < last and (data[first] == 32 or data[first] == 9 or data[first] == 13):
            first += 1
        while last > first and (data[last - 1] <= 32):
            last -= 1
        if first < last:
            starts[found], ends[found] = first, last
            found += 1
        begin = end + 1
    return found


@kernel
def read_numbers(data: Bytes, starts: Integers, ends: Integers, numbers: Integers) -> None:
    """Digits of each text as numbers; NONE for all of them where anything else is found."""
    columns = numbers.shape[1]
    for i in range(starts.size):
        at, end, column = starts[i], ends[i], 0
        while at < end and (data[at] == 32 or data[at] == 9):
            at += 1
        while column < columns:
            value, digits = np.int64(0), 0
            while at < end and 48 <= data[at] <= 57 and digits <= _MOST_DIGITS:
                value = value * 10 + np.int64(data[at] - 48)
                digits += 1
                at += 1
            if digits == 0 or digits > _MOST_DIGITS:
                break
            numbers[i, column] = value
            column += 1
            while at < end and (data[at] == 32 or data[at] == 9 or data[at] == 44):
                at += 1
        if column < columns or at < end:
            numbers[i, :] = NONE


@kernel
def write_numbers(numbers: Integers, data: Bytes, starts: Integers) -> None:
    """Decimal digits of each number, with its sign, at the end of twenty bytes of its own."""
    for i in range(numbers.size):
        at = 20 * i + 20
        value = np.uint64(numbers[i]) if numbers[i] >= 0 else np.uint64(-numbers[i])
        while True:
            at -= 1
            data[at] = np.uint8(48 + value % np.uint64(10))
            value //= np.uint64(10)
            if value == 0:
                break
        if numbers[i] < 0:
            at -= 1
            data[at] = 45
        starts[i] = at


@kernel
def hash_texts(data: Bytes, starts: Integers, ends: Integers, key: Words, found: Words) -> None:
    """SipHash-2-4 of each text.

    Source: Aumasson, Bernstein, SipHash: a fast short-input PRF, 2012.
    """
    for i in range(starts.size):
        begin, size = starts[i], ends[i] - starts[i]
        v0 = key[0] ^ np.uint64(0x736F6D6570736575)
        v1 = key[1] ^ np.uint64(0x646F72616E646F6D)
        v2 = key[0] ^ np.uint64(0x6C7967656E657261)
        v3 = key[1] ^ np.uint64(0x7465646279746573)
        words = size // 8 + 1
        for word in range(words + 1):
            block, rounds = np.uint64(0), 2
            if word < words:
                for byte in range(min(8, size - 8 * word)):
                    block |= np.uint64(data[begin + 8 * word + byte]) << np.uint64(8 * byte)
                if word == words - 1:
                    block |= np.uint64(size & 255) << np.uint64(56)
                v3 ^= block
            else:
                v2 ^= np.uint64(255)
                rounds = 4
            for _ in range(rounds):
                v0 += v1
                v2 += v3
                v1 = (v1 << np.uint64(13)) | (v1 >> np.uint64(51))
                v3 = (v3 << np.uint64(16)) | (v3 >> np.uint64(48))
                v1 ^= v0
                v3 ^= v2
                v0 = (v0 << np.uint64(32)) | (v0 >> np.uint64(32))
                v2 += v1
                v0 += v3
                v1 = (v1 << np.uint64(17)) | (v1 >> np.uint64(47))
                v3 = (v3 << np.uint64(21)) | (v3 >> np.uint64(43))
                v1 ^= v2
                v3 ^= v0
                v2 = (v2 << np.uint64(32)) | (v2 >> np.uint64(32))
            v0 ^= block
        found[i] = v0 ^ v1 ^ v2 ^ v3
