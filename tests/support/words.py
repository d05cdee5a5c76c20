"""Random bits that a test wrote down beforehand."""

from __future__ import annotations

from collections.abc import Iterable


class Tape:
    """A source of bits that were written before; asking for more than there are is an error."""

    def __init__(self, words: Iterable[tuple[int, int]]) -> None:
        self._bytes = b"".join(word.to_bytes(bits // 8, "little") for word, bits in words)

    def __call__(self, size: int) -> bytes:
        """The next bytes."""
        assert size <= len(self._bytes)
        read, self._bytes = self._bytes[:size], self._bytes[size:]
        return read

    @property
    def empty(self) -> bool:
        """Whether every bit was asked for."""
        return not self._bytes
