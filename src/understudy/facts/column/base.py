"""The base of all columns, and the text by which values are matched."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from understudy.facts.column.dtypes import check_dtype

Scalar = bool | int | float | str

# Codes are held in 16 bits.
MOST_LEVELS = 2**16 - 1

# What files write for a missing cell, beside nothing at all; public, and the same for everybody.
MISSING_TEXTS = (
    *("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "-", ".", "k.A.", "k. A."),
)

Treatment = Literal["level", "drop", "mean", "median", "model"]


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
    """The base of all columns: a kind, a note for people, and whether someone vouches for it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    note: str | None = None
    unreviewed: bool = False
    dtype: str | None = None

    @model_validator(mode="after")
    def _check_dtype(self) -> Self:
        if self.dtype is not None:
            check_dtype(self.dtype, self.named_kind)
        return self

    @property
    def named_kind(self) -> str:
        """The name of the kind, as a schema file has it."""
        return str(getattr(self, "kind"))  # noqa: B009 - every kind of column declares it

    def document(self) -> dict[str, Any]:
        """Return the column as a schema file has it."""
        given = self.model_dump(exclude_defaults=True).items()
        return {"kind": self.named_kind} | {
            k: list(v) if isinstance(v, tuple) else v for k, v in given
        }


class LearnedBase(ColumnBase):
    """A column that becomes an attribute: declared levels, and perhaps one for missing cells."""

    missing: Annotated[tuple[str, ...] | None, Field(strict=False)] = None
    missing_as: Treatment = "level"
    groups_of: Annotated[int | None, Field(ge=2, le=256)] = None

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

    @model_validator(mode="after")
    def _check_treatment(self) -> Self:
        if self.missing_as != "level" and self.missing is None:
            raise ValueError(
                f"missing_as is {self.missing_as!r}, and no cell counts as missing; "
                "add missing = [], or a list of markers"
            )
        return self

    @cached_property
    def missing_texts(self) -> tuple[str, ...]:
        """The texts that say that a cell is missing: the declared ones, and those known to all."""
        if self.missing is None:
            return ("",)
        return tuple(dict.fromkeys(("", *self.missing, *MISSING_TEXTS)))

    @property
    def fills_missing(self) -> bool:
        """Whether missing cells of synthetic rows are filled from what was released."""
        return self.missing_as in ("mean", "median", "model")

    @property
    def has_nulls(self) -> bool:
        """Whether a synthetic row may have no value here."""
        return self.missing is not None and self.missing_as == "level"

    @property
    def levels(self) -> int:
        """How many declared values or bins the column has, the missing level not counted."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many codes the attribute has: levels, and one more if cells may be missing."""
        return self.levels + (self.missing_code is not None)

    @property
    def missing_code(self) -> int | None:
        """The code of a missing cell, the last one; None where such cells have no level."""
        return None if self.missing is None or self.missing_as == "drop" else self.levels
