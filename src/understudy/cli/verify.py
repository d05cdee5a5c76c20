"""`understudy verify`: whether a statement, its file and a ledger belong together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli import options
from understudy.cli.console import print_json, results
from understudy.errors import DataError, UsageError

if TYPE_CHECKING:
    from understudy.privacy.verification import Check, Claim

DOES_NOT_BELONG = 5
_BESIDE = ".privacy.json"


def verify(
    file: Annotated[
        Path, typer.Argument(help="Synthetic rows with FILE.privacy.json beside them, or a model.")
    ],
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="Ask this ledger whether it holds the run.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="The public key that must have signed: NAME.pub.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Tell whether statement, file and ledger belong together; ends with 5 where they do not."""
    from understudy.privacy.verification import verified

    if ledger is not None and not ledger.is_file():
        raise UsageError(f"ledger {ledger}: is not there; name the ledger that paid for the run")
    public = None if key is None else _public(key)
    claim = _claimed(file)
    checks = verified(claim, ledger=ledger, key=public)
    if as_json:
        print_json(_document(file, claim, checks))
    else:
        _tell(claim, checks)
    if any(check.fails for check in checks):
        raise typer.Exit(DOES_NOT_BELONG)


def _public(key: Path) -> Any:
    from understudy.federated.net.keys import public_key
    from understudy.optional import require

    require("cryptography", extra="federated")
    return public_key(key)


def _claimed(path: Path) -> Claim:
    """The statement that a file came with, and the digest of the file as it is."""
    from understudy.gan.archive import is_archive
    from understudy.model import bound_content, is_model
    from understudy.privacy.binding import FILE, digest_of
    from understudy.privacy.verification import Claim, read_statement

    if path.name.endswith(_BESIDE) and not path.is_dir():
        path = path.with_name(path.name.removesuffix(_BESIDE))
    if not path.exists():
        raise DataError(f"{path}: is not there; check the path")
    if not path.is_dir() and not path.is_file():
        raise DataError(f"{path}: is a device or a pipe; give a file or a folder")
    if is_model(path):
        return Claim.of(*_of_model(bound_content(path)), path=path)
    if is_archive(path):
        from understudy.gan import image_model

        return Claim.of(*_of_model(image_model.bound_content(path)), path=path)
    beside = Path(f"{path}{_BESIDE}")
    written, others = read_statement(beside)
    try:
        return Claim.of(written, FILE, digest_of(path), path=beside, beside=others)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; check the path") from None


def _of_model(found: tuple[dict[str, Any], str]) -> tuple[dict[str, Any], str, str]:
    from understudy.privacy.binding import MODEL

    written, digest = found
    return written, MODEL, digest


def _document(file: Path, claim: Claim, checks: list[Check]) -> dict[str, Any]:
    return {
        "file": str(file),
        "belongs_together": not any(check.fails for check in checks),
        "checks": [check.document() for check in checks],
        "sentence": claim.statement.sentence,
    }


def _tell(claim: Claim, checks: list[Check]) -> None:
    say = results()
    for check in checks:
        say.print(f"{check.about:<9}  {check.outcome:<9}  {check.sentence}")
    if any(check.fails for check in checks):
        say.print("they do not belong together, or it cannot be shown that they do", style="bold")
    else:
        say.print("they belong together, as far as was asked", style="bold")
        say.print(claim.statement.sentence)
