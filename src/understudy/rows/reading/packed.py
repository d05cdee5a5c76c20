"""Bytes of text files, plain or compressed, as streams that take little memory.

A compressed file of a few bytes can unpack to any amount. It is unpacked in blocks, and refused
when it unpacks to more than tables do. A zip archive has to hold one file, which is not encrypted
and not in a folder.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from understudy.errors import DataError
from understudy.system.files.piped import PipedFile
from understudy.system.files.suffixes import TEXTS, packing_of, suffix_of

_CODECS = {".gz": "gzip", ".zst": "zstd"}
_BLOCK = 1 << 20
# Tables of text shrink to a third or a twentieth; a file of zeros shrinks to a thousandth.
MOST_RATIO = 250
# However small a packed file is, it may unpack to this.
_ALWAYS = 1 << 26
_ZIP_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
UNSOUND = (zipfile.BadZipFile, zlib.error, EOFError)
"""What Python's reader raises for a damaged zip archive."""
# Patched members and strong encryption, and names that are not text.
UNKNOWN_MEMBERS = (NotImplementedError, UnicodeDecodeError)
"""What it raises for members that it does not know."""
_MAC_NOTES = "__MACOSX/"

RowsPlace = Path | PipedFile


@contextmanager
def opened_bytes(place: RowsPlace) -> Iterator[pa.NativeFile]:
    """The bytes of a text file as a stream, unpacked where its suffix says that it is packed."""
    if isinstance(place, PipedFile):
        yield pa.BufferReader(place.data)
        return
    packing = packing_of(place)
    if packing == ".zip":
        with _zip_member(place) as stream:
            yield stream
        return
    with pa.input_stream(str(place), compression=_CODECS.get(packing)) as stream:
        yield stream


@contextmanager
def _zip_member(path: Path) -> Iterator[pa.NativeFile]:
    refusal = DataError(
        f"{path}: is not a sound zip archive; pack the file again, or give it unpacked"
    )
    try:
        with zipfile.ZipFile(path) as archive, _opened_member(archive, path, refusal) as member:
            yield pa.PythonFile(member, mode="r")
    except UNSOUND:
        raise refusal from None


def _opened_member(archive: zipfile.ZipFile, path: Path, refusal: DataError) -> IO[bytes]:
    try:
        return archive.open(_only_member(archive, path))
    except UNKNOWN_MEMBERS:
        raise refusal from None


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    members = [info for info in archive.infolist() if not info.filename.startswith(_MAC_NOTES)]
    if len(members) != 1:
        raise DataError(
            f"{path}: the archive holds {len(members)} files; pack only the table, or unpack it"
        )
    [member] = members
    if any(sign in member.filename for sign in ("/", "\\", "\0")) or member.is_dir():
        raise DataError(
            f"{path}: the file in the archive has a path; pack it without its folder, or unpack it"
        )
    if suffix_of(Path(member.filename)) not in TEXTS:
        raise DataError(
            f"{path}: the file in the archive does not end in .csv, .tsv or .txt; pack such a file"
        )
    if member.flag_bits & 0x1:
        raise DataError(f"{path}: the archive is encrypted; unpack it, and give the plain file")
    if member.compress_type not in _ZIP_PACKINGS:
        raise DataError(f"{path}: is packed in an unusual way; pack it as .csv.gz, or unpack it")
    return member


def read_some(stream: pa.NativeFile, size: int) -> bytes:
    """The next bytes of a stream, at most this many."""
    # Arrow's own `read` loses the memory that it made when unpacking fails.
    room = bytearray(size)
    return bytes(memoryview(room)[: stream.readinto(room)])


def unpacked_bytes(path: Path, *, most: int) -> int:
    """How many bytes a packed file unpacks to, counted no further than `most`.

    Privacy: the number depends on rows; it decides how much memory is taken and nothing else.

    Raises:
        DataError: for a file that unpacks to far more than tables do.
    """
    found, packed = 0, path.stat().st_size
    with opened_bytes(path) as stream:
        while found <= most:
            block = read_some(stream, _BLOCK)
            if not block:
                break
            found += len(block)
            check_ratio(path, packed, found)
    return found


def check_ratio(path: Path, packed: int, unpacked: int) -> None:
    """Refuse a file that unpacks to far more than tables do."""
    if unpacked > max(_ALWAYS, MOST_RATIO * packed):
        raise DataError(
            f"{path}: unpacks to more than {MOST_RATIO} times its size, as no ordinary table "
            "does; if it is one, unpack it and give the plain file"
        )


@contextmanager
def opened_within(place: RowsPlace) -> Iterator[Any]:
    """As `opened_bytes`; a packed file that turns out to be too large ends the reading."""
    if isinstance(place, PipedFile) or not packing_of(place):
        with opened_bytes(place) as stream:
            yield stream
        return
    with opened_bytes(place) as stream:
        yield pa.PythonFile(_Bounded(stream, place), mode="r")


class _Bounded:
    """A stream that counts what it gives, and refuses to give too much."""

    def __init__(self, stream: pa.NativeFile, path: Path) -> None:
        self._stream, self._path = stream, path
        self._packed, self._given = path.stat().st_size, 0
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        data = read_some(self._stream, size if size >= 0 else _BLOCK)
        self._given += len(data)
        check_ratio(self._path, self._packed, self._given)
        return data

    def close(self) -> None:
        """Do nothing: the stream below is closed by whoever opened it."""
        self.closed = True
