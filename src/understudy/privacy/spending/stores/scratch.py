"""A store in memory, for simulations in which all holders live in one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from understudy.privacy.spending.stores.chain import Chain
from understudy.privacy.statements.binding import Secret


class ScratchStore:
    """A store that keeps nothing beyond this process, and has neither secret nor checks."""

    adds_up = False
    shown = "scratch"
    path = Path("scratch")
    secret_place = "none"

    def __init__(self) -> None:
        self.chain = Chain()

    def exists(self) -> bool:
        """Always: it is in memory."""
        return True

    @contextmanager
    def locked(self) -> Iterator[ScratchStore]:
        """There are no other processes."""
        yield self

    def write(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Remember entries."""
        time = datetime.now(UTC).isoformat(timespec="seconds")
        kept = tuple({"time": time, **entry} for entry in entries)
        self.chain = Chain(self.chain.entries + kept, self.chain.checks + ("",) * len(kept))

    def copy(self, chain: Chain) -> None:
        """Remember the entries of another store."""
        self.chain = chain

    def secret(self) -> Secret | None:
        """Nothing: what is not kept is not committed to."""
        return None

    def make_secret(self) -> Secret:
        """A secret that nobody keeps."""
        return Secret(b"")

    def take_secret(self, secret: Secret) -> None:
        """Forget the secret."""

    def hold(self, name: str) -> bool:
        """Always: there are no other processes."""
        del name
        return True

    def let_go(self, name: str) -> None:
        """Nothing is held."""
