"""Columns that are made up for each row and never learned."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from understudy.facts.column.base import ColumnBase
from understudy.facts.column.dtypes import WHOLE_TYPES
from understudy.facts.column.patterns import UnsafePattern, read_pattern

TextGenerator = Literal["name", "email", "phone", "address", "iban", "company", "sentence"]


class IdColumn(ColumnBase):
    """A column that names rows: generated afresh, never learned."""

    kind: Literal["id"] = "id"
    prefix: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.prefix and self.dtype in WHOLE_TYPES:
            raise ValueError(f"dtype is {self.dtype}, and the prefix makes texts; keep one of them")
        return self


class TextColumn(ColumnBase):
    """A column that is not a statistic: made up by a generator or pattern, copied, or dropped."""

    kind: Literal["text"] = "text"
    generator: TextGenerator | None = None
    pattern: str | None = None
    locale: str | None = None
    same_as: str | None = None
    drop: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.generator is not None and self.pattern is not None:
            raise ValueError("both generator and pattern are given; keep one of them")
        made = self.generator or self.pattern or self.same_as
        if self.drop and made:
            raise ValueError("drop is true, and the column says how it is made; keep one of them")
        if not self.drop and not made:
            raise ValueError(
                "nothing says how the texts are made; add generator, pattern, same_as, "
                "or drop = true"
            )
        if self.locale is not None and self.generator is None:
            raise ValueError("locale is given without a generator; add one, or remove it")
        self._check_pattern()
        return self

    @property
    def is_copy(self) -> bool:
        """Whether the column repeats another one as it is."""
        return self.same_as is not None and self.generator is None and self.pattern is None

    def _check_pattern(self) -> None:
        if self.pattern is None:
            return
        try:
            read_pattern(self.pattern)
        except UnsafePattern as error:
            raise ValueError(f"pattern {self.pattern[:40]!r}: {error}") from None
