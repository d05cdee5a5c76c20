"""Answers that a holder has given, kept so that asking again costs nothing and reveals nothing new.

A folder with a subfolder for each run: the proposal it began with and, for every question, the
digest of the request beside the reply. A file is there whole or not at all, and on the disk before
the reply is sent. One process uses a folder at a time.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from understudy.errors import OutputError, UsageError
from understudy.system.files.descriptors import flush, flush_folder
from understudy.system.files.locking import is_at, open_locked

_DIGEST = 32
_PROPOSAL = "proposal"


class Store(Protocol):
    """Where answers are kept."""

    @property
    def identity(self) -> str:
        """Names this store, for ever and among all others."""

    def find(self, run: str, name: str) -> bytes | None:
        """Return the bytes that were kept under a name of a run."""

    def keep(self, run: str, name: str, data: bytes) -> None:
        """Keep something for good; it is safe when this returns."""

    def close(self) -> None:
        """Let another process use it."""


@dataclass
class MemoryStore:
    """A store for simulations; it ends with its process."""

    identity: str = field(default_factory=lambda: uuid.uuid4().hex)
    _kept: dict[tuple[str, str], bytes] = field(default_factory=dict)

    def find(self, run: str, name: str) -> bytes | None:
        """Return the bytes that were kept under a name of a run."""
        return self._kept.get((run, name))

    def keep(self, run: str, name: str, data: bytes) -> None:
        """Remember it."""
        self._kept[run, name] = data

    def close(self) -> None:
        """Nothing to let go of."""


class FolderStore:
    """A store in a folder, held by one process at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = open_locked(folder / "lock", os.O_RDWR | os.O_CREAT)
        except BlockingIOError:
            raise UsageError(
                f"{folder}: another holder uses this folder; stop it, or choose another"
            ) from None
        except OSError as error:
            raise OutputError(f"{folder}: {error.strerror}; choose another folder") from None
        self.identity = self._own_identity()

    def find(self, run: str, name: str) -> bytes | None:
        """Return the bytes that were kept under a name of a run."""
        self._check_held()
        try:
            return (self.folder / run / name).read_bytes()
        except FileNotFoundError:
            return None

    def keep(self, run: str, name: str, data: bytes) -> None:
        """Write it and wait until the disk has it."""
        self._check_held()
        path = self.folder / run / name
        if not path.parent.exists():
            path.parent.mkdir()
            flush_folder(self.folder)
        write_durably(path, data)

    def close(self) -> None:
        """Let another process use the folder."""
        os.close(self._lock)

    def _check_held(self) -> None:
        """Refuse a folder that is not the one that is held: it knows other answers."""
        if not is_at(self.folder / "lock", self._lock):
            raise OutputError(
                f"{self.folder}: was moved or replaced while a holder used it; put it back"
            )

    def _own_identity(self) -> str:
        path = self.folder / "identity"
        if not path.exists():
            write_durably(path, uuid.uuid4().hex.encode())
        return path.read_text(encoding="ascii")


@dataclass(frozen=True)
class Answers:
    """The proposals and answers of a holder, in a store."""

    store: Store

    def proposal(self, run: str) -> bytes | None:
        """The request that a run began with, if it was agreed to."""
        return self.store.find(run, _PROPOSAL)

    def keep_proposal(self, run: str, request: bytes) -> None:
        """Remember on which terms a run began."""
        self.store.keep(run, _PROPOSAL, request)

    def find(self, run: str, question: str) -> tuple[bytes, bytes] | None:
        """The digest of the request that was answered, and the reply."""
        kept = self.store.find(run, question)
        return None if kept is None else (kept[:_DIGEST], kept[_DIGEST:])

    def keep(self, run: str, question: str, request: bytes, reply: bytes) -> None:
        """Keep a reply beside the digest of its request."""
        self.store.keep(run, question, digest(request) + reply)


def digest(request: bytes) -> bytes:
    """By which a request is known again."""
    return hashlib.sha256(request).digest()


def write_durably(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole, also after a power cut, or not at all."""
    part = path.with_name(f"{path.name}.part")
    with open(part, "wb") as file:
        file.write(data)
        file.flush()
        flush(file.fileno())
    part.replace(path)
    flush_folder(path.parent)
