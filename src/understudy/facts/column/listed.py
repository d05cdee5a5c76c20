"""Columns whose values are listed: categories and booleans."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from understudy.facts.column.base import LearnedBase, Scalar, text_of
from understudy.facts.taxonomy import Branch, paths_of

# What a cell of a boolean column may say, cases aside.
TRUE_WORDS = ("true", "t", "yes", "y", "1")
FALSE_WORDS = ("false", "f", "no", "n", "0")


class ListedBase(LearnedBase):
    """A column whose values are listed one by one."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The listed values as the texts they are matched by, in code order."""
        raise NotImplementedError

    @property
    def levels(self) -> int:
        """One level for each listed value."""
        return len(self.texts)

    @property
    def outside_code(self) -> int | None:
        """The code that undeclared values take; None when their rows are dropped."""
        outside = getattr(self, "outside", "drop")
        if outside == "drop":
            return None
        text = text_of(outside)
        return self.texts.index(text) if text in self.texts else self.missing_code

    def _check_listed(self, outside: Scalar) -> None:
        both = sorted(set(self.texts) & set(self.missing or ()))
        if both:
            raise ValueError(f"{both[0]!r} is both a value and a missing marker; keep one of them")
        if outside == "clip":
            raise ValueError('outside = "clip" needs numbers; use "drop" or one of the values')
        declared = {*self.texts, *(self.missing or ())}
        if outside != "drop" and text_of(outside) not in declared:
            raise ValueError(
                f'outside is {outside!r}, which is not a declared value; declare it or use "drop"'
            )


class CategoricalColumn(ListedBase):
    """A column holding one of a list of values, matched by their text."""

    kind: Literal["categorical"] = "categorical"
    values: Annotated[tuple[Scalar, ...], Field(strict=False)]
    ordered: bool = False
    taxonomy: dict[str, Any] | None = None
    outside: Scalar = "drop"

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The declared values as the texts they are matched by."""
        return tuple(text_of(value) for value in self.values)

    @cached_property
    def paths(self) -> Mapping[str, Branch]:
        """For every value, by its text, the groups of the taxonomy that hold it; none without."""
        return {text_of(v): path for v, path in paths_of(self.taxonomy or {})}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.values:
            raise ValueError("values is empty; list the values the column may hold")
        for text, times in Counter(self.texts).items():
            if times > 1:
                raise ValueError(f"value {text!r} is listed more than once; list it once")
        if any(isinstance(value, float) and not math.isfinite(value) for value in self.values):
            raise ValueError("values holds nan or inf; list finite numbers, and use missing = []")
        if self.missing is not None and "" in self.texts:
            raise ValueError(
                "an empty text is listed, and empty cells are missing; keep one of them"
            )
        self._check_listed(self.outside)
        self._check_taxonomy()
        return self

    def _check_taxonomy(self) -> None:
        if self.taxonomy is None:
            return
        grouped = Counter(text_of(value) for value, _ in paths_of(self.taxonomy))
        for text in (*self.texts, *grouped):
            if text not in self.texts:
                raise ValueError(f"taxonomy groups {text!r}, which is not a declared value")
            if grouped[text] != 1:
                times = "in no group" if text not in grouped else f"{grouped[text]} times"
                raise ValueError(f"value {text!r} is {times} in taxonomy; put it into one group")


class BooleanColumn(ListedBase):
    """A column that is true or false."""

    kind: Literal["boolean"] = "boolean"
    outside: Scalar = "drop"

    @property
    def texts(self) -> tuple[str, ...]:
        """False, then true."""
        return ("false", "true")

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_listed(self.outside)
        return self
