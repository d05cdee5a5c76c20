"""A file that came through standard input, and is held in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from understudy.errors import DataError


@dataclass(frozen=True, repr=False)
class PipedFile:
    """The bytes of a file without a place; they are as private as a file's.

    Attributes:
        data: all bytes.
        suffix: the suffix that a file of this format has, such as .csv.
    """

    data: bytes
    suffix: str

    @property
    def name(self) -> str:
        """The name of the file in errors."""
        return f"standard input{self.suffix}"

    def __repr__(self) -> str:
        return f"PipedFile({self.suffix}; bytes private)"


def read_piped(stream: BinaryIO, suffix: str, *, most: int) -> PipedFile:
    """Read a stream to its end, if it has at most this many bytes.

    Privacy: rows on their way through a pipe are held in memory, and never written to a disk.
    """
    data = stream.read(most + 1)
    if len(data) > most:
        raise DataError(
            f"standard input: more than {most:,} bytes do not fit in memory; give a file, which "
            "is read in blocks, or more by --memory"
        )
    return PipedFile(data, suffix)
