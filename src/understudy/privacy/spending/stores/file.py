"""A ledger that is a file of JSON lines, locked by one process at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from understudy.errors import LedgerError
from understudy.privacy.spending import steps
from understudy.privacy.spending.lines import KnownLines, LedgerLines
from understudy.privacy.statements.binding import Secret
from understudy.system.files.descriptors import BINARY
from understudy.system.files.locking import open_locked

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY


class Beside:
    """Files beside a ledger on this machine: its secret, and what is held by running processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._holds: dict[str, int] = {}

    @property
    def secret_place(self) -> str:
        """The name of the file that has the secret."""
        return Secret.place(self.path).name

    def secret(self) -> Secret | None:
        """The secret beside the ledger, where there is one."""
        return Secret.found(self.path)

    def make_secret(self) -> Secret:
        """The secret beside the ledger, made on first use."""
        return Secret.beside(self.path)

    def take_secret(self, secret: Secret) -> None:
        """Keep the secret of a ledger that is copied here."""
        secret.write_beside(self.path)

    def hold(self, name: str) -> bool:
        """Whether a file that says so is now locked."""
        path = steps.hold_path(self.path, name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = steps.hold(path)
        except OSError as error:
            raise LedgerError(
                f"ledger {self.path}: no file can be made beside it: {error.strerror}; "
                "choose another with --ledger"
            ) from None
        if descriptor is not None:
            self._holds[name] = descriptor
        return descriptor is not None

    def let_go(self, name: str) -> None:
        """Remove the file that says so."""
        steps.let_go(steps.hold_path(self.path, name), self._holds.pop(name))


class FileStore(Beside):
    """A file that one process locks at a time; every line is flushed before it continues."""

    adds_up = False

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._known = KnownLines()

    @property
    def shown(self) -> str:
        """Return the path of the file."""
        return str(self.path)

    def exists(self) -> bool:
        """Whether there is a file."""
        return self.path.exists()

    @contextmanager
    def locked(self) -> Iterator[LedgerLines]:
        """Hold the file of this name, and read on in it."""
        descriptor = self._held()
        try:
            self._known = self._known.updated(self.path, descriptor)
            yield LedgerLines(self.path, descriptor, self._known)
        finally:
            os.close(descriptor)

    def _held(self) -> int:
        """Open the file of the ledger's name, and lock it for this process.

        Whoever waits for the lock may get that of a file which another has taken the place of.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return open_locked(self.path, _FLAGS, 0o644, wait=True)
        except BlockingIOError:
            raise LedgerError(
                f"ledger {self.path}: is replaced again and again while it is being locked; "
                "stop whatever replaces it"
            ) from None
        except OSError as error:
            raise LedgerError(
                f"ledger {self.path}: cannot be opened: {error.strerror}; "
                "choose another with --ledger"
            ) from None
