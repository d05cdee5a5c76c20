"""The lines of a ledger file: each carries a checksum over itself and the line before it.

A line that is damaged or out of place is found when the file is read. A line that an earlier
process left unfinished is marked as torn by the next one that writes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from understudy.errors import LedgerError

_TORN = "torn"

# Version 0.1.0 wrote so many digits of a checksum; all of them are written now.
_OLD_CHECK = 16


@dataclass(frozen=True, kw_only=True)
class KnownLines:
    """The lines of a file that were read and found whole, so that only new ones are read again."""

    inode: int = 0
    offset: int = 0
    entries: tuple[dict[str, Any], ...] = ()
    check: str = ""
    fragment: str = ""

    def updated(self, path: Path, descriptor: int) -> KnownLines:
        """Read on to the end of the file."""
        status = os.fstat(descriptor)
        same = status.st_ino == self.inode and status.st_size >= self.offset
        old = self if same else KnownLines(inode=status.st_ino)
        data = _read_from(descriptor, old.offset, status.st_size)
        *lines, rest = data.decode("utf-8", errors="replace").split("\n")
        entries, check = _verified(path, lines, after=old)
        offset = old.offset + data.rfind(b"\n") + 1
        known = KnownLines(
            inode=status.st_ino, offset=offset, entries=entries, check=check, fragment=rest
        )
        return known._finished(path, descriptor) if _is_whole(rest, check) else known

    def _finished(self, path: Path, descriptor: int) -> KnownLines:
        """The last line lacks its line break alone: give it one, and count it."""
        os.write(descriptor, b"\n")
        return self.updated(path, descriptor)


class LedgerLines:
    """The ledger file while this process holds its lock."""

    def __init__(self, path: Path, descriptor: int, known: KnownLines) -> None:
        self._path = path
        self._descriptor = descriptor
        self._known = known
        self.entries: Sequence[Mapping[str, Any]] = known.entries

    def write(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Append entries, first marking a line that an earlier process left unfinished."""
        torn: list[Mapping[str, Any]] = [{"entry": _TORN}] if self._known.fragment else []
        text = "\n" if self._known.fragment else ""
        check = self._known.check
        time = datetime.now(UTC).isoformat(timespec="seconds")
        for entry in [*torn, *entries]:
            stamped = {"time": time, **entry}
            check = _checksum(check, stamped)
            text += json.dumps({**stamped, "check": check}, ensure_ascii=False) + "\n"
        self._flush(text.encode())

    def _flush(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
            os.fsync(self._descriptor)
            _flush_folder(self._path.parent)
        except OSError as error:
            raise LedgerError(
                f"ledger {self._path}: cannot be written: {error.strerror}; nothing was drawn"
            ) from None


def _read_from(descriptor: int, start: int, end: int) -> bytes:
    data = b""
    while start + len(data) < end:
        more = os.pread(descriptor, end - start - len(data), start + len(data))
        if not more:
            break
        data += more
    return data


def _flush_folder(folder: Path) -> None:
    """Make a newly created name survive a power cut too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _checksum(previous: str, entry: Mapping[str, Any]) -> str:
    text = previous + json.dumps(entry, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _verified(
    path: Path, lines: Sequence[str], *, after: KnownLines
) -> tuple[tuple[dict[str, Any], ...], str]:
    """The entries in order, each checked against its line and the one before.

    An unfinished line is passed over only where the next one says that it was found unfinished:
    its process died before the line was flushed, and so before anything was drawn.
    """
    entries, check, unfinished = [*after.entries], after.check, ""
    for number, line in enumerate(lines, len(entries) + 1):
        entry = parsed_line(line) or {}
        claimed = entry.pop("check", None)
        if _is_right(claimed, check, entry) and _follows(entry, unfinished):
            check, unfinished = str(claimed), ""
            entries.append(entry)
        elif unfinished:
            break
        else:
            unfinished = f"line {number}"
    if not unfinished:
        return tuple(entries), check
    raise LedgerError(
        f"ledger {path}: {unfinished} is damaged or out of place; "
        "restore the file from a copy before spending more"
    )


def _follows(entry: Mapping[str, Any], unfinished: str) -> bool:
    """Only the word that a line was found torn may follow such a line."""
    return bool(entry["entry"] == _TORN) == bool(unfinished)


def _is_whole(line: str, check: str) -> bool:
    entry = parsed_line(line) or {}
    return _is_right(entry.pop("check", None), check, entry)


def _is_right(claimed: object, previous: str, entry: Mapping[str, Any]) -> bool:
    """Whether a line's checksum is its own; one of version 0.1.0 may follow none but such ones."""
    try:
        whole = _checksum(previous, entry)
    except RecursionError:
        # Python reads lists in lists a little deeper than it writes them.
        return False
    return claimed == whole or (len(previous) <= _OLD_CHECK and claimed == whole[:_OLD_CHECK])


def parsed_line(line: str) -> dict[str, Any] | None:
    """The entry that a line holds; None where it does not hold one."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("entry"), str) else None
