"""The state's entries: fixed in number, drawn from the operating system's randomness.

Entries of two levels are bits, eight to a byte; entries of more take a byte each. Nothing else is
kept about anybody, not even how many events there were. A bit is read off a random number of 64
bits, of which the first eight decide nearly always; the other 56 are drawn where they do not. So
the chance is met to the last of its 64 places, at little more than a byte of randomness an event.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import accumulate
from typing import Protocol

import numpy as np
import numpy.typing as npt

from understudy.stream.response import Response
from understudy.system.arrays import Bytes, Words
from understudy.system.jit import kernel

Places = npt.NDArray[np.int64]


Source = Callable[[int], bytes]

# A batch's random bytes stay in the processor's cache; they are read, used and forgotten.
_EVENTS = 1 << 16
# One event in 256 needs a second number.
_SECONDS = _EVENTS // 128
_BITS_IN_BYTE = 8


class Entries(Protocol):
    """The entries of a state, one for each user."""

    @property
    def bytes(self) -> Bytes:
        """The entries as they lie in memory or in a file."""

    def restart(self) -> None:
        """Draw every entry from the initial law."""

    def redraw(self, places: Places, deletions: Bytes | None = None) -> None:
        """Draw the entries at these places again, in order; places out of range are passed over.

        Args:
            places: entries, by number.
            deletions: for each, 1 where the user goes away; all are seen unless given.
        """

    def levels(self, start: int, end: int) -> Bytes:
        """The levels of some entries in a row."""

    @property
    def total(self) -> int:
        """Return the sum of all entries."""


def bytes_for(count: int, response: Response) -> int:
    """Return how many bytes n entries take; bits fill whole words."""
    return -(-count // 64) * 8 if response.levels == 2 else count


def entries_in(
    store: Bytes, count: int, response: Response, source: Source = os.urandom
) -> Entries:
    """Entries of a response over some bytes, which hold them from now on."""
    kind = Bits if response.levels == 2 else Levels
    return kind(store, count, response, source)


class Bits:
    """Entries of two levels."""

    def __init__(self, store: Bytes, count: int, response: Response, source: Source) -> None:
        self.bytes = store
        self._count = count
        # Rows: chances of a one for a user who comes by, and for one who goes away.
        chances = [response.updated[1], response.initial[1]]
        self._first = np.array([chance >> 56 for chance in chances], np.int64)
        self._rest = np.array([chance & ((1 << 56) - 1) for chance in chances], np.uint64)
        self._source = source

    def restart(self) -> None:
        """Draw every bit from the initial law."""
        self.bytes[:] = 0
        for start in range(0, self._count, _EVENTS):
            places = np.arange(start, min(start + _EVENTS, self._count), dtype=np.int64)
            self.redraw(places, np.ones(places.size, np.uint8))

    def redraw(self, places: Places, deletions: Bytes | None = None) -> None:
        """Draw the bits at these places again, in order."""
        done = 0
        while done < places.size:
            batch = places[done : done + _EVENTS]
            if deletions is None:
                done += self._insert(batch)
            else:
                done += self._replace(batch, deletions[done : done + _EVENTS])

    def _insert(self, places: Places) -> int:
        first, rest = self._random(places.size)
        high, low = self._first[0], self._rest[0]
        return insert_bits(self.bytes, self._count, places, first, rest, high, low)

    def _replace(self, places: Places, deletions: Bytes) -> int:
        first, rest = self._random(places.size)
        chances = (self._first, self._rest)
        return replace_bits(self.bytes, self._count, places, deletions, first, rest, *chances)

    def _random(self, events: int) -> tuple[Bytes, Words]:
        first = np.frombuffer(self._source(events), np.uint8)
        seconds = min(events, _SECONDS)
        return first, np.frombuffer(self._source(8 * seconds), np.uint64)

    def levels(self, start: int, end: int) -> Bytes:
        """Bits of a stretch that begins at a byte."""
        part = self.bytes[start // _BITS_IN_BYTE : -(-end // _BITS_IN_BYTE)]
        return np.unpackbits(part, count=end - start, bitorder="little")

    @property
    def total(self) -> int:
        """How many bits are set."""
        return int(np.bitwise_count(self.bytes.view(np.uint64)).sum(dtype=np.int64))


class Levels:
    """Entries of more than two levels."""

    def __init__(self, store: Bytes, count: int, response: Response, source: Source) -> None:
        self.bytes = store
        self._count = count
        self._laws = [_ends(law) for law in (response.updated, response.initial)]
        self._source = source

    def restart(self) -> None:
        """Draw every entry from the initial law."""
        for start in range(0, self._count, _EVENTS):
            end = min(start + _EVENTS, self._count)
            self.bytes[start:end] = self._drawn(1, end - start)

    def redraw(self, places: Places, deletions: Bytes | None = None) -> None:
        """Draw the entries at these places again; of several for one place the last stays."""
        for start in range(0, places.size, _EVENTS):
            batch = places[start : start + _EVENTS]
            drawn = self._drawn(0, batch.size)
            if deletions is not None:
                going = deletions[start : start + _EVENTS] != 0
                drawn = np.where(going, self._drawn(1, batch.size), drawn)
            inside = (batch >= 0) & (batch < self._count)
            self.bytes[batch[inside]] = drawn[inside]

    def _drawn(self, law: int, size: int) -> Bytes:
        words = np.frombuffer(self._source(8 * size), np.uint64)
        return np.searchsorted(self._laws[law], words, side="right").astype(np.uint8)

    def levels(self, start: int, end: int) -> Bytes:
        """Return the levels unchanged."""
        return self.bytes[start:end]

    @property
    def total(self) -> int:
        """Return the sum of all levels."""
        return int(self.bytes.sum(dtype=np.int64))


def _ends(law: tuple[int, ...]) -> Words:
    """Where the levels of a law end on the line of 64-bit numbers, the last one left out."""
    return np.array([*accumulate(law[:-1])], np.uint64)


@kernel
def insert_bits(
    bits: Bytes, count: int, places: Places, first: Bytes, rest: Words, high: int, low: int
) -> int:
    """Draw bits again with one chance; stop where `rest` is used up, and say how far it came."""
    used, size = 0, np.uint64(count)
    for i in range(places.size):
        place = np.uint64(places[i])
        if place >= size:
            continue
        lead = np.int64(first[i])
        bit = np.uint8(lead < high)
        if lead == high:
            if used == rest.size:
                return i
            bit = np.uint8((rest[used] >> np.uint64(8)) < np.uint64(low))
            used += 1
        at, shift = place >> np.uint64(3), np.uint8(place & np.uint64(7))
        bits[at] = (bits[at] & ~(np.uint8(1) << shift)) | (bit << shift)
    return places.size


@kernel
def replace_bits(
    bits: Bytes,
    count: int,
    places: Places,
    laws: Bytes,
    first: Bytes,
    rest: Words,
    high: Places,
    low: Words,
) -> int:
    """Draw new bits where every event says which of two chances it takes."""
    used, size = 0, np.uint64(count)
    for i in range(places.size):
        place = np.uint64(places[i])
        if place >= size:
            continue
        law, lead = laws[i], np.int64(first[i])
        bit = np.uint8(lead < high[law])
        if lead == high[law]:
            if used == rest.size:
                return i
            bit = np.uint8((rest[used] >> np.uint64(8)) < low[law])
            used += 1
        at, shift = place >> np.uint64(3), np.uint8(place & np.uint64(7))
        bits[at] = (bits[at] & ~(np.uint8(1) << shift)) | (bit << shift)
    return places.size
