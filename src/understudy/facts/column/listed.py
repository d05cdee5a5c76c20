"""Columns whose values are listed: categories and booleans."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from understudy.facts.column.base import LearnedBase, Scalar, text_of
from understudy.facts.column.dtypes import WHOLE_TYPES, whole_bounds
from understudy.facts.taxonomy import Branch, paths_of

# What a cell of a boolean column may say, cases aside: English, German, French, Spanish, Italian.
TRUE_WORDS = (
    *("true", "t", "yes", "y", "1", "1.0", "on", "ja", "j", "wahr", "oui", "vrai"),
    *("si", "sí", "sì", "vero"),
)
FALSE_WORDS = ("false", "f", "no", "n", "0", "0.0", "off", "nein", "falsch", "non", "faux", "falso")


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
        if text in self._markers:
            return self.missing_code
        return self.texts.index(self.respelled(text))

    @property
    def substitute(self) -> str | None:
        """The listed value that undeclared ones become; None where they are missing or dropped."""
        code = self.outside_code
        return None if code is None or code == self.missing_code else self.texts[code]

    @property
    def _markers(self) -> tuple[str, ...]:
        """The texts by which `outside` names the level for missing cells."""
        return () if self.missing is None else ("", *self.missing)

    def respelled(self, text: str) -> str:
        """Return a text's other meaning, where the kind of column has one."""
        return text

    def _check_listed(self, outside: Scalar) -> None:
        both = sorted(set(self.texts) & set(self.missing or ()))
        if both:
            raise ValueError(f"{both[0]!r} is both a value and a missing marker; keep one of them")
        if outside == "clip":
            raise ValueError('outside = "clip" needs numbers; use "drop" or one of the values')
        declared = {*self.texts, *self._markers}
        text = text_of(outside)
        if outside != "drop" and not declared & {text, self.respelled(text)}:
            raise ValueError(
                f'outside is {outside!r}, which is not a declared value; declare it or use "drop"'
            )


class CategoricalColumn(ListedBase):
    """A column holding one of a list of values, matched by their text."""

    kind: Literal["categorical"] = "categorical"
    values: Annotated[tuple[Scalar, ...], Field(strict=False)]
    ordered: bool = False
    taxonomy: dict[str, Any] | None = None
    prefixes: bool = False
    outside: Scalar = "drop"

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The declared values as the texts they are matched by."""
        return tuple(text_of(value) for value in self.values)

    @cached_property
    def beginnings(self) -> tuple[tuple[str, int], ...]:
        """With `prefixes`, the beginnings that values such as `42*` stand for, longest first."""
        codes = enumerate(self.texts if self.prefixes else ())
        found = [(text[:-1], code) for code, text in codes if text.endswith("*")]
        return tuple(sorted(found, key=lambda pair: -len(pair[0])))

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
        if self.missing_as == "mean" or (self.missing_as == "median" and not self.ordered):
            raise ValueError(
                f'missing_as is {self.missing_as!r}, which needs an order or numbers; use "model", '
                '"level" or "drop"'
            )
        return self

    @model_validator(mode="after")
    def _check_type(self) -> Self:
        if self.dtype is None or self.dtype in ("category", "string", "object"):
            return self
        kinds = {type(value) for value in self.values}
        if self.dtype in WHOLE_TYPES:
            least, most = whole_bounds(self.dtype)
            fits = kinds == {int} and all(least <= int(v) <= most for v in self.values)
        else:
            numbers = kinds <= {int, float} and all(abs(float(v)) <= 2**53 for v in self.values)
            fits = kinds == {bool} if self.dtype.startswith("bool") else numbers
        if not fits:
            raise ValueError(
                f"dtype is {self.dtype}, which does not hold every declared value; "
                "use another type, or list other values"
            )
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
    """A column that is true or false; its labels are the words for true and for false."""

    kind: Literal["boolean"] = "boolean"
    labels: Annotated[tuple[str, str] | None, Field(strict=False)] = None
    outside: Scalar = "drop"

    @property
    def texts(self) -> tuple[str, ...]:
        """False, then true."""
        return ("false", "true")

    @property
    def words(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words for true and for false, in small letters: labels, and those known to all."""
        true, false = [(label.lower(),) for label in self.labels] if self.labels else ((), ())
        return (*true, *TRUE_WORDS), (*false, *FALSE_WORDS)

    def respelled(self, text: str) -> str:
        """Return `true` or `false` where a text says so, else the text."""
        true, false = self.words
        lower = text.lower()
        return "true" if lower in true else "false" if lower in false else text

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_labels()
        self._check_listed(self.outside)
        if self.missing_as in ("mean", "median"):
            raise ValueError(
                f'missing_as is {self.missing_as!r}, which needs numbers; use "model", "level" '
                'or "drop"'
            )
        return self

    def _check_labels(self) -> None:
        if self.labels is None:
            return
        true, false = (label.strip().lower() for label in self.labels)
        if not true or not false or true == false:
            raise ValueError(
                "labels need two different words: the one for true, then the one for false"
            )
        for label, others in ((true, FALSE_WORDS), (false, TRUE_WORDS)):
            if label in others:
                raise ValueError(
                    f"label {label!r} is a word for the opposite; labels are the word for true, "
                    "then the word for false"
                )
        marked = {marker.lower() for marker in self.missing or ()} & {true, false}
        if marked:
            raise ValueError(f"{min(marked)!r} is both a label and a missing marker; keep one")
