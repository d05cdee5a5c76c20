"""The seam below a ledger: a store keeps its chain of entries, and lets one process in at a time.

Each store keeps the same promises. What `write` was given is on disk when `locked` is left without
an error, in an order that all processes see alike. Nothing that was written can be changed without
being found. An error says that nothing was written, or that nobody knows (`FateUnknown`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from understudy.privacy.spending.stores.chain import Chain
from understudy.privacy.statements.binding import Secret

LedgerPlace = str | os.PathLike[str]
"""A file, or an address that begins with sqlite:///, postgresql:// or postgres://."""


class LedgerBook(Protocol):
    """The chain of entries while one process holds it."""

    @property
    def chain(self) -> Chain:
        """Return all entries as they were when the lock was taken."""

    def write(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Append entries, each stamped with the time."""

    def copy(self, chain: Chain) -> None:
        """Write the entries of another store, with their own times and checks, into an empty one.

        Raises:
            LedgerError: there are entries already.
        """


class LedgerStore(Protocol):
    """A place that keeps a ledger."""

    @property
    def shown(self) -> str:
        """The place as messages and documents name it: never with a password."""

    @property
    def path(self) -> Path:
        """The ledger's file; of a server, the name that files on this machine are beside."""

    @property
    def adds_up(self) -> bool:
        """Whether the store refuses a close below what the run's charges add up to."""

    def exists(self) -> bool:
        """Whether anything was ever written there."""

    def locked(self) -> AbstractContextManager[LedgerBook]:
        """Hold the whole ledger for this process; on leaving, what was written is on disk."""

    @property
    def secret_place(self) -> str:
        """Where the secret is, as messages name it."""

    def secret(self) -> Secret | None:
        """The secret that statements are committed to with; None where it is not made yet."""

    def make_secret(self) -> Secret:
        """Return the secret, which is made on first use."""

    def take_secret(self, secret: Secret) -> None:
        """Keep the secret of a ledger that is copied here.

        Raises:
            LedgerError: there is another one.
        """

    def hold(self, name: str) -> bool:
        """Whether what goes by a name is now held, and refused to other processes."""

    def let_go(self, name: str) -> None:
        """Allow others what goes by a name."""
