"""The lines of a ledger file: each carries a checksum over itself and the line before it.

A line that is damaged or out of place is found when the file is read. A line that an earlier
process left unfinished is marked as torn by the next one that writes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from understudy.errors import LedgerError
from understudy.privacy.spending.stores.chain import Chain, checksum, is_right, parsed_entry
from understudy.system.files.descriptors import flush, flush_folder, read_at

_TORN = "torn"


@dataclass(frozen=True, kw_only=True)
class KnownLines:
    """The lines of a file that were read and found whole, so that only new ones are read again."""

    inode: int = 0
    offset: int = 0
    chain: Chain = field(default_factory=Chain)
    fragment: str = ""

    def updated(self, path: Path, descriptor: int) -> KnownLines:
        """Read on to the end of the file."""
        status = os.fstat(descriptor)
        same = status.st_ino == self.inode and status.st_size >= self.offset
        old = self if same else KnownLines(inode=status.st_ino)
        data = _read_from(descriptor, old.offset, status.st_size)
        *lines, rest = data.decode("utf-8", errors="replace").split("\n")
        chain = _verified(path, lines, after=old.chain)
        offset = old.offset + data.rfind(b"\n") + 1
        known = KnownLines(inode=status.st_ino, offset=offset, chain=chain, fragment=rest)
        return known._finished(path, descriptor) if _is_whole(rest, chain.check) else known

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
        self.chain = known.chain

    def write(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Append entries, first marking a line that an earlier process left unfinished."""
        torn: list[Mapping[str, Any]] = [{"entry": _TORN}] if self._known.fragment else []
        text = "\n" if self._known.fragment else ""
        check = self.chain.check
        time = datetime.now(UTC).isoformat(timespec="seconds")
        for entry in [*torn, *entries]:
            stamped = {"time": time, **entry}
            check = checksum(check, stamped)
            text += _line(stamped, check)
        self._flush(text.encode())

    def copy(self, chain: Chain) -> None:
        """Write the entries of another store into an empty file, as they are there."""
        if self.chain.entries or self._known.fragment:
            raise holds_entries(str(self._path))
        text = ""
        for entry, check in zip(chain.entries, chain.checks, strict=True):
            # Such an entry follows a line that was left unfinished.
            text += "\n" if entry["entry"] == _TORN else ""
            text += _line(entry, check)
        self._flush(text.encode())

    def _flush(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
            flush(self._descriptor)
            flush_folder(self._path.parent)
        except OSError as error:
            raise LedgerError(
                f"ledger {self._path}: cannot be written: {error.strerror}; nothing was drawn"
            ) from None


def holds_entries(place: str) -> LedgerError:
    """The refusal to copy a ledger onto another."""
    return LedgerError(
        f"ledger {place}: holds entries already, and two chains cannot become one; name an empty "
        "ledger"
    )


def _line(entry: Mapping[str, Any], check: str) -> str:
    return json.dumps({**entry, "check": check}, ensure_ascii=False) + "\n"


def _read_from(descriptor: int, start: int, end: int) -> bytes:
    data = b""
    while start + len(data) < end:
        more = read_at(descriptor, end - start - len(data), start + len(data))
        if not more:
            break
        data += more
    return data


def _verified(path: Path, lines: Sequence[str], *, after: Chain) -> Chain:
    """The entries in order, each checked against its line and the one before.

    An unfinished line is passed over only where the next one says that it was found unfinished:
    its process died before the line was flushed, and so before anything was drawn.
    """
    entries, checks, unfinished = [*after.entries], [*after.checks], ""
    for number, line in enumerate(lines, len(entries) + 1):
        entry = parsed_entry(line) or {}
        claimed = entry.pop("check", None)
        before = checks[-1] if checks else ""
        if is_right(claimed, before, entry) and _follows(entry, unfinished):
            entries.append(entry)
            checks.append(str(claimed))
            unfinished = ""
        elif unfinished:
            break
        else:
            unfinished = f"line {number}"
    if not unfinished:
        return Chain(tuple(entries), tuple(checks))
    raise LedgerError(
        f"ledger {path}: {unfinished} is damaged or out of place; "
        "restore the file from a copy before spending more"
    )


def _follows(entry: Mapping[str, Any], unfinished: str) -> bool:
    """Only the word that a line was found torn may follow such a line."""
    return bool(entry["entry"] == _TORN) == bool(unfinished)


def _is_whole(line: str, check: str) -> bool:
    entry = parsed_entry(line) or {}
    return is_right(entry.pop("check", None), check, entry)
