"""Job of `verify`: check that a statement, its file and a ledger belong together."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import DataError
from understudy.jobs.request import JobRequest
from understudy.jobs.signing import check_ledger

if TYPE_CHECKING:
    from understudy.privacy.statements.claim import Check, Claim

_BESIDE = ".privacy.json"


@dataclass(frozen=True, kw_only=True)
class VerifyRequest(JobRequest):
    """A file or model, and who must confirm what its statement says.

    Attributes:
        file: synthetic rows with their statement beside them, or a model.
        ledger: the ledger that is asked whether it holds the run.
        key: the public key that must have signed the statement.
    """

    file: Path
    ledger: str | PathLike[str] | None = None
    key: Path | None = None


@dataclass(frozen=True)
class Verification:
    """A claim about a file, and how every check of it ended."""

    file: Path
    claim: Claim
    checks: list[Check]

    @property
    def fails(self) -> bool:
        """Whether something does not belong together, or cannot be shown to."""
        return any(check.fails for check in self.checks)

    def document(self) -> dict[str, Any]:
        """Describe the verification for machines."""
        return {
            "file": str(self.file),
            "belongs_together": not self.fails,
            "checks": [check.document() for check in self.checks],
            "sentence": self.claim.statement.sentence,
        }


def verify(request: VerifyRequest) -> Verification:
    """Check a statement against its file and, where they are named, a ledger and a key."""
    from understudy.privacy.statements.verification import verified

    if request.ledger is not None:
        check_ledger(request.ledger)
    public = None if request.key is None else _public_key(request.key)
    claim = claim_of(request.file)
    return Verification(request.file, claim, verified(claim, ledger=request.ledger, key=public))


def _public_key(key: Path) -> Any:
    from understudy.federated.wire.keys import public_key
    from understudy.system.extras import require

    require("cryptography", extra="federated")
    return public_key(key)


def claim_of(path: Path) -> Claim:
    """The statement that a file came with, and the digest of the file as it is now."""
    from understudy.models.archive import bound_content, is_model

    if path.name.endswith(_BESIDE) and not path.is_dir():
        path = path.with_name(path.name.removesuffix(_BESIDE))
    if not path.exists():
        raise DataError(f"{path}: does not exist; check the path")
    if not path.is_dir() and not path.is_file():
        raise DataError(f"{path}: is a device or a pipe; give a file or a folder")
    return _claim_of_model(bound_content(path), path) if is_model(path) else _claim_of_rows(path)


def _claim_of_model(found: tuple[dict[str, Any], str], path: Path) -> Claim:
    from understudy.privacy.statements.binding import MODEL
    from understudy.privacy.statements.claim import Claim

    written, digest = found
    return Claim.of(written, MODEL, digest, path=path)


def _claim_of_rows(path: Path) -> Claim:
    from understudy.privacy.statements.binding import FILE, digest_of
    from understudy.privacy.statements.claim import Claim, read_statement

    beside = Path(f"{path}{_BESIDE}")
    written, others = read_statement(beside)
    try:
        return Claim.of(written, FILE, digest_of(path), path=beside, beside=others)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; check the path") from None
