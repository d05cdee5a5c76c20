"""The universe of users who could be seen, and the place of each one's entry.

A universe is public. Ids become places by arithmetic alone, under a key drawn once, so that no
list of the users who visited, or who were sampled, exists anywhere. Places are 0 to size − 1 in
an order that the key makes random; a sample of m users is those at places below m.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from understudy.errors import DataError, UsageError
from understudy.stream.texts import NONE, Texts, decimal
from understudy.system.arrays import Integers, Words
from understudy.system.jit import kernel

Ids = Integers | Texts

LARGEST = 2**60
# Levels of a sketch: enough for 16 million users in each of its buckets.
LEVELS = 24
_LOW_BITS = np.uint64((1 << (LEVELS - 1)) - 1)
_KEY_WORDS = 4


def new_key() -> str:
    """A fresh key of 256 bits, as hexadecimal digits."""
    return secrets.token_hex(8 * _KEY_WORDS)


class Universe(Protocol):
    """Everybody who could be seen."""

    @property
    def kind(self) -> str:
        """How ids become places, in one word."""

    @property
    def size(self) -> int:
        """How many places there are."""

    @property
    def key(self) -> str:
        """Return the key that makes the order of places random."""

    @property
    def collides(self) -> bool:
        """Whether two users can share a place."""

    def places(self, ids: Ids) -> Integers:
        """The place of each id; below zero, or from `size` on, where it is nobody's."""


@dataclass(frozen=True)
class Range:
    """Users numbered from `first` on.

    Attributes:
        size: how many users there are.
        first: the first one's number.
        sampled: whether a part of them is kept, so that their order must be random.

    Example:
        >>> Range(10, first=1).places(np.array([1, 10, 11])).tolist()
        [0, 9, 10]
    """

    size: int
    first: int = 0
    sampled: bool = False
    key: str = field(default_factory=new_key, repr=False)
    kind = "range"
    collides = False

    def __post_init__(self) -> None:
        _check_size(self.size)
        if not 0 <= self.first <= LARGEST:
            raise UsageError(f"the first id is {self.first}; it must be from 0 to 2⁶⁰; change it")

    def places(self, ids: Ids) -> Integers:
        """The number itself, or, where users are sampled, its place in a keyed permutation."""
        numbers = ids.numbers()[:, 0] if isinstance(ids, Texts) else ids
        if self.first:
            numbers = numbers - self.first
        return self._permuted(numbers) if self.sampled else numbers

    def _permuted(self, numbers: Integers) -> Integers:
        places = np.empty(numbers.size, np.int64)
        half = max((self.size - 1).bit_length() + 1, 2) // 2
        permute(numbers, self.size, half, _words(self.key), places)
        return places


@dataclass(frozen=True)
class Keys:
    """Users whose names a public file lists; a user's place is the rank of a keyed hash.

    Attributes:
        names: the texts of the file.
    """

    names: Texts = field(repr=False)
    key: str = field(default_factory=new_key, repr=False)
    kind = "keys"
    collides = False

    def __post_init__(self) -> None:
        _check_size(len(self.names))
        if (self._ranked[1:] == self._ranked[:-1]).any():
            raise DataError("a key occurs twice in the file of keys; list everybody once")

    @property
    def size(self) -> int:
        """How many names there are."""
        return len(self.names)

    @cached_property
    def _ranked(self) -> Words:
        return np.sort(self.names.hashes(_words(self.key)))

    def places(self, ids: Ids) -> Integers:
        """The rank of each id's hash; NONE for a name that is not listed."""
        texts = ids if isinstance(ids, Texts) else decimal(ids)
        hashes = texts.hashes(_words(self.key))
        ranks = np.searchsorted(self._ranked, hashes)
        listed = self._ranked[np.minimum(ranks, self.size - 1)] == hashes
        return np.where(listed, ranks, NONE).astype(np.int64)


@dataclass(frozen=True)
class Hashed:
    """Users that nobody can list; each hashes to one of the places, maybe with others."""

    size: int
    key: str = field(default_factory=new_key, repr=False)
    kind = "hash"
    collides = True

    def __post_init__(self) -> None:
        _check_size(self.size)

    def places(self, ids: Ids) -> Integers:
        """A keyed hash of each id's text."""
        texts = ids if isinstance(ids, Texts) else decimal(ids)
        return (texts.hashes(_words(self.key)) % np.uint64(self.size)).astype(np.int64)


@dataclass(frozen=True)
class Sketch:
    """Users that nobody can list, in the sketch of Flajolet and Martin: buckets of 24 levels.

    Each user has one place. A level is half as likely as the one before it, so that however many
    users are seen, some level is neither empty nor full. Places of one level are side by side.

    Source: Flajolet, Martin, Probabilistic counting algorithms for data base applications, 1985;
    TUC-1 section 5.2 asks for it in place of sampled users.

    Attributes:
        buckets: how many places a level has.

    Example:
        >>> Sketch(100).size
        2400
    """

    buckets: int
    key: str = field(default_factory=new_key, repr=False)
    kind = "sketch"
    collides = True

    def __post_init__(self) -> None:
        if self.buckets < 1:
            raise UsageError(f"a sketch of {self.buckets} buckets; give it at least 1")
        _check_size(self.size)

    @property
    def size(self) -> int:
        """How many places there are, of all levels together."""
        return LEVELS * self.buckets

    def places(self, ids: Ids) -> Integers:
        """The place of each id's text: a level by the low bits of its hash, a bucket by others."""
        texts = ids if isinstance(ids, Texts) else decimal(ids)
        return sketch_places(texts.hashes(_words(self.key)), self.buckets)


@dataclass(frozen=True)
class Edges:
    """The possible edges of an undirected graph: users are pairs of different vertices."""

    vertices: int
    sampled: bool = False
    key: str = field(default_factory=new_key, repr=False)
    kind = "edges"
    collides = False

    def __post_init__(self) -> None:
        if self.vertices < 2:
            raise UsageError(f"a graph of {self.vertices} vertices has no edges; give at least 2")
        _check_size(self.size)

    @property
    def size(self) -> int:
        """How many edges there could be."""
        return self.vertices * (self.vertices - 1) // 2

    def places(self, ids: Ids) -> Integers:
        """The place of each edge, given by its number or by the texts of its two ends."""
        numbers = self.numbers(*ids.numbers(2).T) if isinstance(ids, Texts) else ids
        return Range(self.size, sampled=self.sampled, key=self.key).places(numbers)

    def numbers(self, one: Any, other: Any) -> Integers:
        """The number of each edge between two vertices, which may come in either order.

        Example:
            >>> Edges(4).numbers([0, 3, 2], [1, 2, 2]).tolist()
            [0, 5, -1]
        """
        low, high = np.minimum(one, other), np.maximum(one, other)
        inside = (low >= 0) & (low < high) & (high < self.vertices)
        # Out of range, the product could leave 64 bits.
        high = np.where(inside, high, 0)
        return np.where(inside, high * (high - 1) // 2 + low, NONE).astype(np.int64)


def sketch_places(hashes: Words, buckets: int) -> Integers:
    """A level by the lowest of 23 bits that is set, the last one where none is; a bucket by others.

    Example:
        >>> sketch_places(np.array([1, 2, 3, 4, 0], np.uint64), 10).tolist()
        [0, 10, 0, 20, 230]
    """
    low = (hashes & _LOW_BITS) | np.uint64(1 << (LEVELS - 1))
    levels = np.bitwise_count((low & (~low + np.uint64(1))) - np.uint64(1)).astype(np.int64)
    found = (hashes >> np.uint64(LEVELS)) % np.uint64(buckets)
    return levels * buckets + found.astype(np.int64)


def ids_of(values: Any) -> Ids:
    """Ids from an iterator, a numpy or an Arrow array, by its type alone.

    Example:
        >>> ids_of(iter([3, 1])).tolist()
        [3, 1]
    """
    if isinstance(values, Texts):
        return values
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return _of_arrow(values)
    array = values if isinstance(values, np.ndarray) else _array(values)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.ndim == 1 and array.dtype.kind in "iu":
        return _signed(array)
    if array.ndim == 1 and array.dtype.kind in "USO":
        return _of_arrow(_arrow_array(array))
    raise DataError(f"ids are of type {array.dtype}; give whole numbers or texts, in one row")


def _array(values: Any) -> np.ndarray[Any, Any]:
    held = values if isinstance(values, Sequence) else list(values)
    return np.asarray(held)


def _signed(array: np.ndarray[Any, Any]) -> Integers:
    """64 bits with a sign; numbers that do not fit are nobody's."""
    if array.dtype == np.uint64:
        array = np.where(array > np.uint64(LARGEST), np.uint64(2**63), array)
    return np.ascontiguousarray(array.astype(np.int64, copy=False))


def _arrow_array(array: np.ndarray[Any, Any]) -> Any:
    """Python's own values; the message of a failure might quote one of them."""
    import pyarrow as pa

    try:
        return pa.array(array.tolist())
    except (TypeError, ValueError, OverflowError, UnicodeError):
        raise DataError("ids are of several types; give only whole numbers or only texts") from None


def _of_arrow(values: Any) -> Ids:
    import pyarrow as pa

    chunks = pa.chunked_array(values) if not isinstance(values, pa.Array) else values
    column = chunks.combine_chunks() if isinstance(chunks, pa.ChunkedArray) else chunks
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_integer(column.type):
        held = column.fill_null(0).to_numpy(zero_copy_only=False)
        return np.where(column.is_valid().to_numpy(zero_copy_only=False), _signed(held), NONE)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return Texts.of_arrow(column)
    raise DataError(f"ids are of type {column.type}; give whole numbers or texts")


def _check_size(size: int) -> None:
    if not 1 <= size <= LARGEST:
        raise UsageError(f"a universe of {size} users; it must have from 1 to 2⁶⁰; change it")


def _words(key: str) -> Words:
    return np.frombuffer(bytes.fromhex(key), np.uint64)


@kernel
def permute(numbers: Integers, size: int, half: int, key: Words, places: Integers) -> None:
    """Places of numbers below `size` in a keyed permutation; NONE for others.

    Four rounds of a Feistel network permute the numbers of 2·half bits; what falls outside goes
    through again until it does not, which makes a permutation of the numbers inside.
    """
    bits, mask = np.uint64(half), (np.uint64(1) << np.uint64(half)) - np.uint64(1)
    for i in range(numbers.size):
        if numbers[i] < 0 or numbers[i] >= size:
            places[i] = NONE
            continue
        value = np.uint64(numbers[i])
        while True:
            left, right = value >> bits, value & mask
            for turn in range(4):
                mixed = (right ^ key[turn]) * np.uint64(0x9E3779B97F4A7C15)
                mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
                left, right = right, left ^ ((mixed ^ (mixed >> np.uint64(32))) & mask)
            value = (left << bits) | right
            if value < np.uint64(size):
                break
        places[i] = np.int64(value)
