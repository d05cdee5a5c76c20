"""What a page is about: the two tables by name, the promise that came with the rows, the model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import DataError, UnderstudyError
from understudy.model import Model
from understudy.privacy.statement import Statement

# A statement names every answer; one of this size would name a million.
_MOST_BYTES = 2**28
# What a parser raises when it is fed something else than it expects.
_MISFITS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True)
class Subject:
    """What is evaluated, beside the numbers.

    Attributes:
        real, synthetic: what the tables are called.
        statement: what is promised about the synthetic rows; None where nothing is.
        model: what the rows were drawn from, where it was given.
        rows: how many synthetic rows the statement speaks of, where it came with them.
    """

    real: str
    synthetic: str
    statement: Statement | None = None
    model: Model | None = None
    rows: int | None = None

    @classmethod
    def of(cls, real: Path, synthetic: Path, model: Path | None = None) -> Subject:
        """The statement beside the rows, else that of the model they were drawn from."""
        loaded = None if model is None else Model.load(model)
        beside = Path(f"{synthetic}.privacy.json")
        if beside.is_file():
            statement, rows = _read(beside)
            return cls(real.name, synthetic.name, statement, loaded, rows)
        statement_of_model = None if loaded is None else loaded.statement
        return cls(real.name, synthetic.name, statement_of_model, loaded)

    def remarks(self, rows_read: int) -> list[str]:
        """What does not agree between rows, statement and model."""
        said = []
        if self.rows is not None and self.rows != rows_read:
            said.append(
                f"The statement speaks of {self.rows:,} rows, and {self.synthetic} has "
                f"{rows_read:,}: it may belong to other rows."
            )
        if self.model is not None and self.model.statement != self.statement:
            said.append("The model promises something else than the statement beside the rows.")
        if self.statement is not None and not self.statement.document()["private"]:
            said.append("The statement itself says that these rows are not private.")
        return said


def _read(path: Path) -> tuple[Statement, int | None]:
    """A statement file of `understudy synth`, and the rows it speaks of."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError
        document: Any = json.loads(path.read_bytes())
        return Statement.parse(document["statement"]), int(document["rows"])
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
        raise DataError(f"{path}: cannot be read: {reason}") from None
    except (*_MISFITS, UnderstudyError):
        raise DataError(
            f"{path}: is no statement of synthetic rows; make them again, or remove it if nothing "
            "is promised"
        ) from None
