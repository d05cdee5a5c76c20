"""A ledger in memory, for simulations in which all holders live in one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from understudy.privacy.spending.accounts import Account
from understudy.privacy.spending.entries import read_accounts
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.lines import KnownLines, LedgerLines


class ScratchLedger(Ledger):
    """A ledger that keeps nothing: for simulations, where all holders live in one process."""

    def __init__(self) -> None:
        super().__init__("scratch")
        self._book = _ScratchLines()

    def accounts(self) -> dict[str, Account]:
        """Return the account of every dataset."""
        return read_accounts(self.path, self._book.entries)

    def hold(self, name: str, *, what: str = "run") -> None:
        """Hold nothing: there are no other processes."""

    def heads(self) -> dict[str, str]:
        """Nothing: what is not kept has no checks."""
        return {}

    @contextmanager
    def _locked(self) -> Iterator[LedgerLines]:
        yield self._book


class _ScratchLines(LedgerLines):
    """A book of one process."""

    def __init__(self) -> None:
        super().__init__(Path("scratch"), -1, KnownLines())
        self.entries: list[Mapping[str, Any]] = []

    def write(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Remember entries."""
        time = datetime.now(UTC).isoformat(timespec="seconds")
        self.entries += [{"time": time, **entry} for entry in entries]
