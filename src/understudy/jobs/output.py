"""What has been paid for is kept, in another place if its own cannot be written."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from understudy.cli.console import messages
from understudy.errors import DataError, DiskError, UnderstudyError

if TYPE_CHECKING:
    from understudy.privacy.binding import Signer
    from understudy.privacy.record import Record
    from understudy.privacy.statement import Statement


Written = Callable[[Path], tuple[dict[str, Any], str]]


class Savable(Protocol):
    """A model, of rows or of images."""

    def save(self, path: str) -> None:
        """Write it down."""


def write_json(path: Path, document: dict[str, Any]) -> None:
    """A JSON file, whole or not at all."""
    from understudy.files import atomic

    with atomic(path) as file:
        file.write(json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n")


@dataclass(frozen=True)
class Sealing:
    """Who vouches for what is drawn from a model: a ledger that paid for it, a key, or nobody."""

    ledger: Path | None
    signer: Signer | None

    def record(self, statement: Statement, written: Written, *, path: Path) -> Record | None:
        """The record of the model's run; with its key for seals where the ledger sealed the model.

        Args:
            statement: the loaded model's.
            written: reads the statement in a model on disk, and the digest of all else in it.
            path: where the model is.
        """
        from understudy.errors import UsageError
        from understudy.privacy.binding import MODEL
        from understudy.privacy.verification import Claim, recognised

        if self.ledger is None:
            return statement.record
        if not self.ledger.is_file():
            raise UsageError(f"ledger {self.ledger}: is not there; name the one that paid")
        document, found = written(path)
        claim = Claim.of(document, MODEL, found, path=path)
        if claim.statement != statement:
            raise DataError(f"{path}: changed while it was read; sample again")
        return recognised(claim, self.ledger, path=path)


def write_statement(
    document: dict[str, Any],
    output: Path,
    *,
    record: Record | None,
    signer: Signer | None = None,
    beside: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Write OUTPUT.privacy.json, whose statement is bound to OUTPUT and to all else there.

    Args:
        document: what is said about the file for machines, with its `statement`.
        output: the file.
        record: of the run in its ledger, where there is one.
        signer: the key to sign with, if any.
        beside: what the file gets instead of the whole document, without the statement.

    Returns:
        The document with the bound statement.
    """
    from understudy.privacy.binding import FILE, bound, digest_of

    whole = document if beside is None else beside
    told = {name: value for name, value in whole.items() if name != "statement"}
    statement = bound(
        document["statement"],
        kind=FILE,
        found=digest_of(output),
        beside=told,
        seal_key=None if record is None else record.seal_key,
        signer=signer,
    )
    write_json(Path(f"{output}.privacy.json"), {**told, "statement": statement})
    return {**document, "statement": statement}


def write_or_keep(data: bytes, output: Path, *, what: str) -> None:
    """A file whole at its place or, where that fails, among temporary ones."""
    from understudy.files import atomic

    try:
        with atomic(output) as file:
            file.write(data)
    except UnderstudyError as error:
        handle, name = tempfile.mkstemp(prefix="understudy-", suffix=output.suffix)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        raise DiskError(f"{error}\nthe {what} is kept: {name}") from None


@contextmanager
def rescued(model: Savable) -> Iterator[None]:
    """Keep a model that has been paid for when its rows could not be written."""
    try:
        yield
    except (UnderstudyError, KeyboardInterrupt) as error:
        kept = _keep(model)
        if kept is None:
            raise
        note = f"the fitted model is kept: understudy sample {kept} -o OUTPUT"
        if isinstance(error, KeyboardInterrupt):
            messages().print(note)
            raise
        raise DiskError(f"{error}\n{note}") from None


def _keep(model: Savable) -> Path | None:
    handle, name = tempfile.mkstemp(prefix="understudy-", suffix=".zip")
    os.close(handle)
    try:
        model.save(name)
    except (UnderstudyError, OSError):
        Path(name).unlink(missing_ok=True)
        return None
    return Path(name)
