"""The base of all columns, and the text by which values are matched."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

Scalar = bool | int | float | str

# Codes are held in 16 bits.
MOST_LEVELS = 2**16 - 1


def text_of(value: object) -> str:
    """The text by which a value is matched: integer 3, 3.0 and "3" are all "3"."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case date():
            return value.isoformat()
        case _:
            return str(value)


class ColumnBase(BaseModel):
    """The base of all columns: a kind, a note for people, and whether somebody vouches for it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    note: str | None = None
    unreviewed: bool = False

    def document(self) -> dict[str, Any]:
        """Return the column as a schema file has it."""
        given = self.model_dump(exclude_defaults=True).items()
        kind = getattr(self, "kind")  # noqa: B009 - every kind of column declares it
        return {"kind": kind} | {k: list(v) if isinstance(v, tuple) else v for k, v in given}


class LearnedBase(ColumnBase):
    """A column that becomes an attribute: declared levels, and perhaps one for missing cells."""

    missing: Annotated[tuple[str, ...] | None, Field(strict=False)] = None

    @field_validator("missing", mode="before")
    @classmethod
    def _markers_are_text(cls, value: object) -> object:
        if isinstance(value, str | int | float):
            raise ValueError(
                f"missing is {value!r}; write a list of markers: missing = [{value!r}]"
            )
        if not isinstance(value, Sequence):
            return value
        if not all(isinstance(marker, str | int | float | date) for marker in value):
            raise ValueError(
                "missing holds a value that is neither text nor number; empty cells need no marker"
            )
        return [text_of(marker).strip() for marker in value]

    @property
    def levels(self) -> int:
        """How many declared values or bins the column has, the missing level not counted."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many codes the attribute has: levels, and one more if cells may be missing."""
        return self.levels + (self.missing is not None)

    @property
    def missing_code(self) -> int | None:
        """The code of a missing cell, the last one; None when the column declares no missing."""
        return self.levels if self.missing is not None else None
