"""Tie a statement to the file it speaks of, and to the ledger entry of its run.

A bound statement carries the SHA-256 digest of its file, or of everything else in its model. Of
the ledger it carries a commitment: HMAC-SHA256 of the check of the run's last entry, under a
secret that is kept beside the ledger and never leaves. A receiver learns nothing from it about
other runs, and the owner can find the entry it stands for. While the process that paid for a
run still lives, it also seals what it writes by a key of that entry; nobody without the secret
can make such a seal.

Nothing here is computed from private rows.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from understudy.errors import LedgerError
from understudy.system.files.descriptors import flush
from understudy.system.files.locking import lock
from understudy.system.version import __version__

BINDING = "binding"
BESIDE = "beside_sha256"
FILE, MODEL = "file", "model"

_SECRET_BYTES = 32
_SECRET = re.compile(rb"[0-9a-f]{64}\n")
_OWNER_ONLY = 0o600
_BLOCK = 2**20


class Signer(Protocol):
    """A signer of statements is a key, named by its fingerprint."""

    def signed(self, message: bytes) -> dict[str, str]:
        """A signature of the message, for JSON."""


def canonical(document: Any) -> bytes:
    """A JSON value as bytes that depend on nothing but the value."""
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def digest(data: bytes) -> str:
    """The SHA-256 digest of some bytes, all 64 digits of it."""
    return hashlib.sha256(data).hexdigest()


def digest_of_document(document: Any) -> str:
    """The SHA-256 digest of a JSON value, in whatever order and spaces it is written."""
    return digest(canonical(document))


def digest_of(path: str | os.PathLike[str]) -> str:
    """Compute the SHA-256 digest of a file."""
    with open(path, "rb") as file:
        return digest_of_stream(file)


def digest_of_stream(stream: IO[bytes]) -> str:
    """The SHA-256 digest of all that is left of a stream."""
    found = hashlib.sha256()
    while block := stream.read(_BLOCK):
        found.update(block)
    return found.hexdigest()


@dataclass(frozen=True)
class Secret:
    """The secret of a ledger: it makes commitments to entries, and keys for seals."""

    key: bytes = field(repr=False)

    @classmethod
    def place(cls, ledger: Path) -> Path:
        """The file beside a ledger that holds its secret."""
        return ledger.with_name(f"{ledger.name}.secret")

    @classmethod
    def beside(cls, ledger: Path) -> Secret:
        """The secret of a ledger, made on first use, for its owner's eyes alone."""
        place = cls.place(ledger)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(place, os.O_RDWR | os.O_CREAT, _OWNER_ONLY)
            with open(descriptor, "r+b") as file:
                return cls(_key(place, _made_or_read(file)))
        except OSError as error:
            raise LedgerError(
                f"{place}: the ledger's secret can be neither read nor made: {error.strerror}; "
                "choose another ledger with --ledger"
            ) from None

    @classmethod
    def found(cls, ledger: Path) -> Secret | None:
        """The secret of a ledger, where it has one."""
        place = cls.place(ledger)
        try:
            return cls(_key(place, place.read_bytes()))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerError(f"{place}: cannot be read: {error.strerror}") from None

    def write_beside(self, ledger: Path) -> None:
        """Keep this secret beside a ledger that has none yet.

        Raises:
            LedgerError: it has another one, or none can be written there.
        """
        known = Secret.found(ledger)
        if known not in (None, self):
            raise LedgerError(
                f"{Secret.place(ledger)}: is the secret of another ledger; choose another place"
            )
        try:
            descriptor = os.open(Secret.place(ledger), os.O_WRONLY | os.O_CREAT, _OWNER_ONLY)
            with open(descriptor, "wb") as file:
                file.write(self.key)
                file.flush()
                flush(descriptor)
        except OSError as error:
            raise LedgerError(
                f"{Secret.place(ledger)}: cannot be written: {error.strerror}; choose another place"
            ) from None

    @classmethod
    def of_text(cls, text: str, *, place: str) -> Secret:
        """The secret that a database keeps."""
        return cls(_key(place, text.encode() + b"\n"))

    @property
    def text(self) -> str:
        """The digits of the secret, for a database that keeps it."""
        return self.key.decode().strip()

    @property
    def name(self) -> str:
        """The name of the secret in the ledger; it reveals nothing about the secret."""
        return hmac.digest(self.key, b"name", "sha256").hex()[:32]

    def commitment(self, head: str) -> str:
        """Commit to an entry; without the secret the commitment reveals nothing."""
        return hmac.digest(self.key, b"commitment" + head.encode(), "sha256").hex()

    def seal_key(self, head: str) -> bytes:
        """The key that seals what the run of an entry wrote."""
        return hmac.digest(self.key, b"seal" + head.encode(), "sha256")


def _made_or_read(file: IO[bytes]) -> bytes:
    """Read the secret of a file, or make it, one process at a time."""
    lock(file.fileno())
    if not os.fstat(file.fileno()).st_size:
        file.write(secrets.token_hex(_SECRET_BYTES).encode() + b"\n")
        file.flush()
        flush(file.fileno())
        file.seek(0)
    return file.read(_BLOCK)


def _key(place: Path | str, content: bytes) -> bytes:
    if not _SECRET.fullmatch(content):
        raise LedgerError(f"{place}: is damaged; restore it from a copy")
    return content


def bound(
    statement: Mapping[str, Any],
    *,
    kind: str,
    found: str,
    beside: Mapping[str, Any] | None = None,
    seal_key: bytes | None = None,
    signer: Signer | None = None,
) -> dict[str, Any]:
    """A statement's document with the digest of what it speaks of, sealed and signed.

    Args:
        statement: the document; a binding that it had is replaced.
        kind: whether it speaks of a file or of the model that it is part of.
        found: the digest.
        beside: what else is in the statement's own file, where it has one.
        seal_key: of the run, where this process paid for it.
        signer: the key to sign with, if any.
    """
    binding: dict[str, Any] = {
        "of": kind,
        "sha256": found,
        "version": __version__,
        "seal": None,
        "signature": None,
    }
    if beside is not None:
        binding[BESIDE] = digest_of_document(beside)
    document = {**statement, BINDING: binding}
    if seal_key is not None:
        binding["seal"] = seal(seal_key, document)
    if signer is not None:
        binding["signature"] = signer.signed(signed_bytes(document))
    return document


def sealed_bytes(document: Mapping[str, Any]) -> bytes:
    """Return the bytes that a seal covers: all of a statement but seal and signature."""
    binding = {**document[BINDING], "seal": None, "signature": None}
    return canonical({**document, BINDING: binding})


def signed_bytes(document: Mapping[str, Any]) -> bytes:
    """Return the bytes that a signature covers: all of a statement but the signature."""
    return canonical({**document, BINDING: {**document[BINDING], "signature": None}})


def seal(key: bytes, document: Mapping[str, Any]) -> str:
    """The seal of a bound statement under the key of its run."""
    return hmac.digest(key, sealed_bytes(document), "sha256").hex()


def same(claimed: object, found: str) -> bool:
    """Whether a digest is the one that was found; it takes as long where it is not."""
    if not isinstance(claimed, str):
        return False
    # JSON may hold halves of letters, which have no bytes of their own.
    return hmac.compare_digest(claimed.encode(errors="surrogatepass"), found.encode())
