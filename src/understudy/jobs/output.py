"""Write results whole or not at all, and lose nothing that was paid for."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import DiskError, OutputError, UnderstudyError

if TYPE_CHECKING:
    from understudy.jobs.progress import JobProgress
    from understudy.models.model import Model
    from understudy.privacy.spending.record import Record
    from understudy.privacy.statements.binding import Signer
    from understudy.privacy.statements.statement import Statement


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """A file that a job has written, described for machines and for people.

    Attributes:
        output: the file or folder that was written.
        headline: what the output holds, in a few words.
        document: the result for machines.
        sentences: what people must know, one sentence each.
        remarks: what else may interest them.
        seconds: how long each stage took; for the owner, never part of a release.
    """

    output: Path
    headline: str
    document: dict[str, Any]
    sentences: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)


def summary(model: Model, rows: int) -> dict[str, Any]:
    """Describe synthetic rows for machines: method, number and sizes of rows, statement."""
    from understudy.facts.unlisted import substitutes

    return {
        "method": model.statement.method,
        "rows": rows,
        **model.decoder.facts,
        **({"missing": treatments} if (treatments := missing_treatments(model)) else {}),
        **({"unlisted": found} if (found := dict(substitutes(model.schema))) else {}),
        "statement": model.statement.document(),
    }


def missing_treatments(model: Model) -> dict[str, str]:
    """Return how missing cells were treated, by column, where they are not a level."""
    from understudy.models.imputation import Imputation

    return Imputation(model).treatments


def statement_file(output: Path) -> Path:
    """The file beside an output that holds its privacy statement."""
    return Path(f"{output}.privacy.json")


def check_stated_output(output: Path) -> None:
    """Refuse a place where the output or its statement cannot be written."""
    from understudy.system.files.writing import check_writable

    check_writable(output)
    check_writable(statement_file(output))


def check_unpaid(output: Path, *, force: bool, drawn_from: Statement | None = None) -> None:
    """Refuse to overwrite what a budget was spent on, unless that is asked for.

    Args:
        output: rows or a page with a statement beside them, or a model, which holds its own.
        force: overwrite it.
        drawn_from: the statement of a model; rows of the same run can be drawn again at any time.
    """
    if force:
        return
    if not (os.path.exists(statement_file(output)) or _holds_model(output)):
        _check_own(output)
        return
    if drawn_from is not None and _is_of(drawn_from, statement_file(output)):
        return
    raise OutputError(
        f"{output}: is there already, and a budget was spent on it; choose another place, or give "
        "--force to overwrite it"
    )


def _check_own(output: Path) -> None:
    """Refuse a file that no statement is beside: nobody knows whose rows it holds."""
    from understudy.system.files.suffixes import suffix_of

    if output.is_file() and output.stat().st_size > 0 and suffix_of(output):
        raise OutputError(
            f"{output}: is there already, and no statement is beside it, so that it may hold data "
            "of yours; choose another place, or give --force to overwrite it"
        )


def _is_of(statement: Statement, place: Path) -> bool:
    """Whether the statement in a file names the run of a model; runs without a ledger have none."""
    from understudy.privacy.spending.record import Kept

    if statement.record is None or statement.record.kept is Kept.NOWHERE:
        return False
    run = statement.document()["ledger"]
    try:
        written = json.loads(place.read_bytes())["statement"]["ledger"]
    except (OSError, ValueError, TypeError, KeyError):
        return False
    return bool(written == run)


def _holds_model(output: Path) -> bool:
    """Whether there is a model; a place that holds something else is refused or empty."""
    if output.is_dir():
        return any(output.iterdir())
    return output.suffix == ".zip" and output.is_file() and output.stat().st_size > 0


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON file, whole or not at all."""
    write_bytes(path, json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n")


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all."""
    from understudy.system.files.writing import atomic

    with atomic(path) as file:
        file.write(data)


def write_statement(
    document: dict[str, Any],
    output: Path,
    *,
    record: Record | None,
    signer: Signer | None = None,
    beside: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Write OUTPUT.privacy.json, whose statement is bound to OUTPUT and to all else in it.

    Args:
        document: the result for machines, with its `statement`.
        output: the file that the statement is about.
        record: the run's record in its ledger, where there is one.
        signer: the key to sign with, if any.
        beside: what the file gets instead of the whole document, without the statement.

    Returns:
        The document with the bound statement.
    """
    from understudy.privacy.statements.binding import FILE, bound, digest_of

    whole = document if beside is None else beside
    others = {name: value for name, value in whole.items() if name != "statement"}
    statement = bound(
        document["statement"],
        kind=FILE,
        found=digest_of(output),
        beside=others,
        seal_key=None if record is None else record.seal_key,
        signer=signer,
    )
    write_json(statement_file(output), {**others, "statement": statement})
    return {**document, "statement": statement}


def write_or_keep(data: bytes, output: Path, *, what: str) -> None:
    """Write a file that has been paid for; where that fails, keep it among temporary files."""
    try:
        write_bytes(output, data)
    except UnderstudyError as error:
        handle, name = tempfile.mkstemp(prefix="understudy-", suffix=output.suffix)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        raise DiskError(f"{error}\nthe {what} is kept: {name}") from None


@contextmanager
def kept_on_failure(model: Model, progress: JobProgress) -> Iterator[None]:
    """Keep a model that has been paid for among temporary files when its rows cannot be written."""
    try:
        yield
    except (UnderstudyError, KeyboardInterrupt) as error:
        kept = _keep(model)
        if kept is None:
            raise
        note = f"the fitted model is kept: understudy sample {kept} -o OUTPUT"
        if isinstance(error, KeyboardInterrupt):
            progress.message(note)
            raise
        raise DiskError(f"{error}\n{note}") from None


def _keep(model: Model) -> Path | None:
    handle, name = tempfile.mkstemp(prefix="understudy-", suffix=".zip")
    os.close(handle)
    try:
        model.save(name)
    except (UnderstudyError, OSError):
        Path(name).unlink(missing_ok=True)
        return None
    return Path(name)
