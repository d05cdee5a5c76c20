"""Members of archives and folders from elsewhere, read within the sizes that they announce."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What Python takes for a value of a JSON document at most, beside the bytes of its text.
_BYTES_PER_VALUE = 100
_MOST_BYTES = 2**28


def read_member(path: Path, name: str, most: int) -> bytes:
    """The bytes of a member of a zip archive or a folder, if they are at most `most`.

    Raises:
        ValueError: for a member that is larger, packed in another way, or not as large as it says.
        OSError, KeyError, zipfile.BadZipFile: for one that cannot be read.
    """
    if path.is_dir():
        return read_file(path / name, most)
    with zipfile.ZipFile(path) as archive:
        return unpacked(archive, archive.getinfo(name), most)


def unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    """A member's bytes; no more memory is taken than the archive says that it has."""
    _check_entry(archive, member, most)
    with archive.open(member) as file:
        # Told to read all, zipfile unpacks whatever is there before it cuts it to its length.
        data = file.read(member.file_size)
        if len(data) != member.file_size or file.read(1):
            raise ValueError(member.filename)
        return data


@contextmanager
def opened_member(path: Path, name: str, most: int) -> Iterator[IO[bytes]]:
    """Open a member as a stream of at most this many bytes, for what need not be held whole.

    Raises:
        ValueError: for a member that is larger or packed in another way, or is not a file.
        OSError, KeyError, zipfile.BadZipFile: for one that cannot be read.
    """
    if path.is_dir():
        with _opened_file(path / name, most) as file:
            yield file
        return
    with zipfile.ZipFile(path) as archive:
        member = archive.getinfo(name)
        _check_entry(archive, member, most)
        with archive.open(member) as stream:
            yield stream


def _check_entry(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> None:
    # Room is made for what an entry says it takes, and other packings ask for gigabytes.
    lies = member.compress_size > _size(archive)
    if member.file_size > most or lies or member.compress_type not in _PACKINGS:
        raise ValueError(member.filename)


def stored_bytes(path: Path, name: str) -> int:
    """How many bytes of the disk a member takes."""
    if path.is_dir():
        return (path / name).stat().st_size
    with zipfile.ZipFile(path) as archive:
        return min(archive.getinfo(name).compress_size, path.stat().st_size)


def check_document(data: bytes) -> bytes:
    """The text of a JSON document; a ValueError where parsing it would take too much memory.

    Every value but the first follows a comma, a bracket or a brace, or a name that does.
    """
    values = 1 + data.count(b",") + data.count(b"[") + data.count(b"{")
    if len(data) + _BYTES_PER_VALUE * 2 * values > _MOST_BYTES:
        raise ValueError("document")
    return data


def parsed_document(data: bytes) -> Any:
    """A JSON document in which every name occurs once; a ValueError for any other.

    Of two values under one name a parser takes one and a reader may take the other.
    """
    return json.loads(check_document(data), object_pairs_hook=_named_once)


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


def read_file(path: Path, most: int) -> bytes:
    """Read a file's bytes, at most this many; a ValueError otherwise."""
    with _opened_file(path, most) as file:
        return file.read(most)


@contextmanager
def _opened_file(path: Path, most: int) -> Iterator[IO[bytes]]:
    """A file to read; a device or a pipe has no end, and is not even opened."""
    held = path.stat()
    if not stat.S_ISREG(held.st_mode) or held.st_size > most:
        raise ValueError(path.name)
    with path.open("rb") as file:
        yield file


def _size(archive: zipfile.ZipFile) -> int:
    assert archive.fp is not None, "the archive is open"
    return os.fstat(archive.fp.fileno()).st_size
