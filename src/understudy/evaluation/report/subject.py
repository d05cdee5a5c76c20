"""The subject of a page: the two tables by name, the promise that came with the rows, the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import DataError, UnderstudyError
from understudy.evaluation.evaluation import Evaluation
from understudy.evaluation.verdict.privacy import NOTHING_PROMISED, OTHER_ROWS
from understudy.evaluation.verdict.verdict import Verdict
from understudy.models.model import Model
from understudy.privacy.statements.binding import BINDING, FILE, digest_of, same
from understudy.privacy.statements.statement import Statement
from understudy.system.files.members import parsed_document, read_file

# A statement names every answer; one of this size would name a million.
_MOST_BYTES = 2**28
# What a parser raises when it is fed something else than it expects.
_MISFITS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The tables, promise and model that a page is about.

    Attributes:
        real, synthetic: what the tables are called.
        statement: what is promised about the synthetic rows; None where nothing is.
        model: what the rows were drawn from, where it was given.
        rows: how many synthetic rows the statement speaks of, where it came with them.
        foreign: whether the statement beside the rows speaks of other rows; it is left out then.
    """

    real: str
    synthetic: str
    statement: Statement | None = None
    model: Model | None = None
    rows: int | None = None
    foreign: bool = False

    @classmethod
    def of(cls, real: Path, synthetic: Path, model: Path | None = None) -> Subject:
        """The statement beside the rows, else that of the model they were drawn from."""
        loaded = None if model is None else Model.load(model)
        beside = Path(f"{synthetic}.privacy.json")
        if beside.is_file():
            statement, rows, bound_to = _read(beside)
            if bound_to is not None and not _is_digest_of(bound_to, synthetic):
                return cls(
                    real=real.name,
                    synthetic=synthetic.name,
                    statement=None,
                    model=loaded,
                    rows=rows,
                    foreign=True,
                )
            return cls(
                real=real.name,
                synthetic=synthetic.name,
                statement=statement,
                model=loaded,
                rows=rows,
            )
        statement_of_model = None if loaded is None else loaded.statement
        return cls(
            real=real.name, synthetic=synthetic.name, statement=statement_of_model, model=loaded
        )

    @property
    def unpromised(self) -> str:
        """Say why nothing is promised, for rows without a statement of their own."""
        return OTHER_ROWS if self.foreign else NOTHING_PROMISED

    def verdict(self, found: Evaluation) -> Verdict:
        """Judge the synthetic rows by an evaluation and by what is promised about them."""
        return found.verdict(self.statement, unpromised=self.unpromised)

    def remarks(self, rows_read: int) -> list[str]:
        """List the disagreements between rows, statement and model."""
        said = []
        if self.foreign:
            said.append(
                f"The statement beside {self.synthetic} speaks of another file: the rows were "
                "changed after it was written, or it belongs to others. Put the rows back as they "
                "were written, or make them again."
            )
        if self.rows is not None and self.rows != rows_read and not self.foreign:
            said.append(
                f"The statement speaks of {self.rows:,} rows, and {self.synthetic} has "
                f"{rows_read:,}: it may belong to other rows."
            )
        known = self.statement is not None or not self.foreign
        if self.model is not None and known and self.model.statement != self.statement:
            said.append("The model promises something else than the statement beside the rows.")
        if self.statement is not None and not self.statement.document()["private"]:
            said.append("The statement itself says that these rows are not private.")
        return said


def _is_digest_of(binding: Mapping[str, Any], path: Path) -> bool:
    """Whether a binding speaks of the file there."""
    try:
        return binding["of"] == FILE and same(binding["sha256"], digest_of(path))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def _read(path: Path) -> tuple[Statement, int | None, Mapping[str, Any] | None]:
    """A statement file of `understudy synth`, the rows it speaks of, and what it is bound to."""
    try:
        document = parsed_document(read_file(path, _MOST_BYTES))
        written = document["statement"]
        bound_to = written.get(BINDING)
        if bound_to is not None:
            _ = bound_to["of"], bound_to["sha256"]
        return Statement.parse(written), int(document["rows"]), bound_to
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
        raise DataError(f"{path}: cannot be read: {reason}") from None
    except (*_MISFITS, UnderstudyError):
        raise DataError(
            f"{path}: is not a statement of synthetic rows; make them again, or remove it if "
            "nothing "
            "is promised"
        ) from None
