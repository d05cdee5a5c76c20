"""A chain of entries: each has a checksum over its own content and the checksum before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from understudy.errors import LedgerError

# Version 0.1.0 wrote so many digits of a checksum; all of them are written now.
_OLD_CHECK = 16


@dataclass(frozen=True)
class ChainLink:
    """One entry as a database keeps it: its number from 1, its text, and its checksum."""

    number: int
    body: str
    check: str


@dataclass(frozen=True)
class Chain:
    """Entries that were read and found whole, with their checksums."""

    entries: tuple[dict[str, Any], ...] = ()
    checks: tuple[str, ...] = ()

    @property
    def check(self) -> str:
        """The checksum of the last entry; empty where there is none."""
        return self.checks[-1] if self.checks else ""

    def links(self, entries: Sequence[Mapping[str, Any]], *, time: str) -> list[ChainLink]:
        """Further entries as links that follow, stamped with a time."""
        check, found = self.check, []
        for number, entry in enumerate(entries, len(self.entries) + 1):
            stamped = {"time": time, **entry}
            check = checksum(check, stamped)
            found.append(ChainLink(number, canonical_text(stamped), check))
        return found

    def all_links(self) -> list[ChainLink]:
        """Return the whole chain as links."""
        pairs = zip(self.entries, self.checks, strict=True)
        return [
            ChainLink(number, canonical_text(entry), check)
            for number, (entry, check) in enumerate(pairs, 1)
        ]

    def extended(self, links: Iterable[ChainLink], *, place: str) -> Chain:
        """The chain with links that follow it.

        Raises:
            LedgerError: one of them is damaged or out of place.
        """
        entries, checks = [*self.entries], [*self.checks]
        for link in links:
            entry = parsed_entry(link.body) or {}
            before = checks[-1] if checks else ""
            if link.number != len(entries) + 1 or not is_right(link.check, before, entry):
                raise LedgerError(
                    f"ledger {place}: entry {len(entries) + 1} is damaged or out of place; restore "
                    "the ledger from a copy before spending more"
                )
            entries.append(entry)
            checks.append(link.check)
        return Chain(tuple(entries), tuple(checks))


def canonical_text(entry: Mapping[str, Any]) -> str:
    """The content of an entry as its checksum covers it."""
    return json.dumps(entry, ensure_ascii=False, sort_keys=True)


def checksum(previous: str, entry: Mapping[str, Any]) -> str:
    """SHA-256 over the checksum before and an entry's content, all digits of it."""
    text = previous + canonical_text(entry)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_right(claimed: object, previous: str, entry: Mapping[str, Any]) -> bool:
    """Whether a checksum is its entry's own; one of version 0.1.0 may follow none but such ones."""
    try:
        whole = checksum(previous, entry)
    except RecursionError:
        # Python reads lists in lists a little deeper than it writes them.
        return False
    return claimed == whole or (len(previous) <= _OLD_CHECK and claimed == whole[:_OLD_CHECK])


def parsed_entry(text: object) -> dict[str, Any] | None:
    """The entry that a text holds; None where it does not hold one.

    A damaged table of SQLite may hold a number, bytes or nothing in the place of a text.
    """
    if not isinstance(text, str | bytes):
        return None
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("entry"), str) else None
