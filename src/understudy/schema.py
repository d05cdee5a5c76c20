"""What may stand in each column: the public knowledge everything else is computed from.

A schema is written by people, in TOML or JSON of the same structure, and is never read off the
private rows. It says which values a column may hold, how numbers and dates are cut into bins, what
stands for "missing", and what becomes of a value that is none of these.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from understudy.errors import SchemaError

Scalar = bool | int | float | str
Ordinate = int | float

DEFAULT_BINS = 16
# A range of whole numbers or days no longer than this keeps every value apart.
WHOLE_RANGE = 32
# Codes are held in 16 bits.
MOST_LEVELS = 2**16 - 1

_EPOCH = date(1970, 1, 1)


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


class _Column(BaseModel):
    """What all columns share: a kind, and a note for people."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    note: str | None = None

    def document(self) -> dict[str, Any]:
        """The column as it would stand in a schema file."""
        given = self.model_dump(exclude_defaults=True).items()
        kind = getattr(self, "kind")  # noqa: B009 - every kind of column declares it
        return {"kind": kind} | {k: list(v) if isinstance(v, tuple) else v for k, v in given}


class _Learned(_Column):
    """A column that becomes an attribute: declared levels, and perhaps one for missing cells."""

    missing: Annotated[tuple[str, ...] | None, Field(strict=False)] = None

    @field_validator("missing", mode="before")
    @classmethod
    def _markers_are_text(cls, value: object) -> object:
        if isinstance(value, str | int | float):
            raise ValueError(
                f"missing is {value!r}; write a list of markers: missing = [{value!r}]"
            )
        return [text_of(marker) for marker in value] if isinstance(value, Sequence) else value

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


class _Listed(_Learned):
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

    def _check_outside(self, outside: Scalar) -> None:
        if outside == "clip":
            raise ValueError('outside = "clip" needs numbers; use "drop" or one of the values')
        declared = {*self.texts, *(self.missing or ())}
        if outside != "drop" and text_of(outside) not in declared:
            raise ValueError(
                f'outside is {outside!r}, which is not a declared value; declare it or use "drop"'
            )


class CategoricalColumn(_Listed):
    """A column holding one of a list of values, matched by their text."""

    kind: Literal["categorical"] = "categorical"
    values: Annotated[tuple[Scalar, ...], Field(strict=False)]
    ordered: bool = False
    outside: Scalar = "drop"

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The declared values as the texts they are matched by."""
        return tuple(text_of(value) for value in self.values)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.values:
            raise ValueError("values is empty; list the values the column may hold")
        for text, times in Counter(self.texts).items():
            if times > 1:
                raise ValueError(f"value {text!r} is listed more than once; list it once")
        both = sorted(set(self.texts) & set(self.missing or ()))
        if both:
            raise ValueError(f"{both[0]!r} is both a value and a missing marker; keep one of them")
        if self.missing is not None and "" in self.texts:
            raise ValueError(
                "an empty text is listed, and empty cells are missing; keep one of them"
            )
        self._check_outside(self.outside)
        return self


class BooleanColumn(_Listed):
    """A column that is true or false."""

    kind: Literal["boolean"] = "boolean"
    outside: Scalar = "drop"

    @property
    def texts(self) -> tuple[str, ...]:
        """False, then true."""
        return ("false", "true")

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_outside(self.outside)
        return self


class _Binned(_Learned):
    """A column on a line, cut into bins: left edges, the last bin ending at `max` inclusive."""

    whole: ClassVar[bool] = True

    # The kinds below narrow these three to their own type of value.
    min: Any = None
    max: Any
    edges: Any = None
    bins: int | None = None
    outside: Any = "clip"

    @classmethod
    def ordinate(cls, value: Any) -> Ordinate:
        """Where a value lies on the line; whole numbers for every kind but float."""
        raise NotImplementedError

    @property
    def bounds(self) -> tuple[Ordinate, Ordinate]:
        """The smallest and the largest ordinate the column may hold."""
        low = self.edges[0] if self.edges else self.min
        return self.ordinate(low), self.ordinate(self.max)

    @cached_property
    def left_edges(self) -> tuple[Ordinate, ...]:
        """The left edge of every bin, as ordinates."""
        if self.edges:
            return tuple(self.ordinate(edge) for edge in self.edges)
        low, high = self.bounds
        count = self._bin_count(low, high)
        if self.whole:
            return tuple(int(low) + i * (int(high) - int(low) + 1) // count for i in range(count))
        return tuple(low + i * ((high - low) / count) for i in range(count))

    def _bin_count(self, low: Ordinate, high: Ordinate) -> int:
        if not self.whole:
            return 1 if low == high else self.bins or DEFAULT_BINS
        values = int(high) - int(low) + 1
        default = values if values <= WHOLE_RANGE else DEFAULT_BINS
        return min(self.bins or default, values)

    @property
    def levels(self) -> int:
        """One level for each bin."""
        return len(self.left_edges)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_keys()
        edges = [self.ordinate(edge) for edge in self.edges or ()]
        if any(right <= left for left, right in pairwise(edges)):
            raise ValueError("edges do not increase; sort them and remove repeated ones")
        if edges and self.ordinate(self.max) < edges[-1]:
            raise ValueError(f"max {self.max} is below the last edge {self.edges[-1]}; raise max")
        low, high = self.bounds
        if high < low:
            raise ValueError(f"upper bound {self.max} is below lower bound {self.min}; swap them")
        if self._bin_count(low, high) > MOST_LEVELS:
            raise ValueError(f"more than {MOST_LEVELS} bins; use fewer, for example bins = 16")
        if any(right <= left for left, right in pairwise(self.left_edges)):
            raise ValueError("the bins are narrower than floating point can tell apart; use fewer")
        self._check_outside()
        return self

    def _check_keys(self) -> None:
        if self.min is None and not self.edges:
            raise ValueError("neither min nor edges is given; give one of them beside max")
        if self.min is not None and self.edges:
            raise ValueError(
                "both min and edges are given; the first edge is the minimum, drop min"
            )
        if self.bins is not None and (self.edges or self.bins < 1):
            raise ValueError(f"bins is {self.bins}; use a positive number beside min and max alone")

    def _check_outside(self) -> None:
        if self.outside in ("clip", "drop") or text_of(self.outside) in (self.missing or ()):
            return
        low, high = self.bounds
        if not low <= self.outside_ordinate <= high:
            raise ValueError(
                f"outside is {self.outside!r}, which is itself out of bounds; use a value within"
            )

    @property
    def outside_ordinate(self) -> Ordinate:
        """The declared stand-in for values out of bounds, when `outside` names one."""
        bound = type(self).model_fields["max"].annotation
        adapter: TypeAdapter[Any] = TypeAdapter(bound or object)
        try:
            return self.ordinate(adapter.validate_python(self.outside))
        except ValidationError:
            raise ValueError(
                f'outside is {self.outside!r}; use "clip", "drop" or a value of this column'
            ) from None


Finite = Annotated[float, Field(allow_inf_nan=False)]
Whole = Annotated[int, Field(ge=-(2**62), le=2**62)]
Day = Annotated[date, Field(strict=False)]
Moment = Annotated[datetime, Field(strict=False)]


class IntegerColumn(_Binned):
    """A column of whole numbers."""

    kind: Literal["integer"] = "integer"
    min: Whole | None = None
    max: Whole
    edges: Annotated[tuple[Whole, ...] | None, Field(strict=False)] = None

    @classmethod
    def ordinate(cls, value: Any) -> int:
        """The number itself."""
        return int(value)


class FloatColumn(_Binned):
    """A column of real numbers."""

    kind: Literal["float"] = "float"
    whole: ClassVar[bool] = False
    min: Finite | None = None
    max: Finite
    edges: Annotated[tuple[Finite, ...] | None, Field(strict=False)] = None

    @classmethod
    def ordinate(cls, value: Any) -> float:
        """The number itself."""
        return float(value)


class DateColumn(_Binned):
    """A column of calendar days."""

    kind: Literal["date"] = "date"
    min: Day | None = None
    max: Day
    edges: Annotated[tuple[Day, ...] | None, Field(strict=False)] = None

    @classmethod
    def ordinate(cls, value: Any) -> int:
        """Days since 1970-01-01."""
        return int((value - _EPOCH).days)


class DatetimeColumn(_Binned):
    """A column of moments, to the second; those with an offset are taken to UTC."""

    kind: Literal["datetime"] = "datetime"
    min: Moment | None = None
    max: Moment
    edges: Annotated[tuple[Moment, ...] | None, Field(strict=False)] = None

    @classmethod
    def ordinate(cls, value: Any) -> int:
        """Whole seconds since 1970-01-01."""
        moment = value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
        return int(moment.timestamp() // 1)


class IdColumn(_Column):
    """A column that names rows: generated afresh, never learned."""

    kind: Literal["id"] = "id"
    prefix: str = ""


LearnedColumn = (
    CategoricalColumn | BooleanColumn | IntegerColumn | FloatColumn | DateColumn | DatetimeColumn
)
ListedColumn = CategoricalColumn | BooleanColumn
BinnedColumn = IntegerColumn | FloatColumn | DateColumn | DatetimeColumn
Column = LearnedColumn | IdColumn

KINDS = ("categorical", "boolean", "integer", "float", "date", "datetime", "id")
_COLUMN: TypeAdapter[Column] = TypeAdapter(Annotated[Column, Field(discriminator="kind")])


@dataclass(frozen=True)
class Schema:
    """An ordered set of declared columns, and free keys kept as they are.

    Example:
        >>> Schema.parse({"columns": {"smoker": {"kind": "boolean"}}}).attributes
        {'smoker': 2}
    """

    columns: Mapping[str, Column]
    extras: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, document: object) -> Schema:
        """A schema from the structure of a schema file; all problems are raised at once."""
        if not isinstance(document, Mapping) or not isinstance(document.get("columns"), Mapping):
            raise SchemaError(["the schema has no table 'columns'; add [columns.NAME] for each"])
        columns: dict[str, Column] = {}
        problems: list[str] = []
        for name, body in document["columns"].items():
            try:
                columns[name] = _COLUMN.validate_python(body)
            except ValidationError as error:
                problems += [f"column {name!r}: {text}" for text in _sentences(error)]
        problems += _problems_of_the_whole(columns, complete=not problems)
        if problems:
            raise SchemaError(problems)
        return cls(columns, {k: v for k, v in document.items() if k != "columns"})

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """A schema from a TOML or JSON file, told apart by the suffix."""
        return cls.parse(_read_document(Path(path)))

    def document(self) -> dict[str, Any]:
        """The schema as it would stand in a file."""
        columns = {name: column.document() for name, column in self.columns.items()}
        return {**self.extras, "columns": columns}

    def dump(self, path: str | Path) -> None:
        """Write the schema as TOML or JSON, by the suffix of the path."""
        import tomli_w

        path = Path(path)
        document = self.document()
        text = self.to_json() if path.suffix == ".json" else tomli_w.dumps(document)
        path.write_text(text, encoding="utf-8")

    def to_json(self) -> str:
        """The schema as JSON text, dates written as in ISO 8601."""
        return json.dumps(self.document(), default=text_of, ensure_ascii=False, indent=1)

    @property
    def fingerprint(self) -> str:
        """A hash of the columns, which ledger entries carry to say what was asked about."""
        text = json.dumps(self.document()["columns"], default=text_of, sort_keys=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def learned(self) -> Mapping[str, LearnedColumn]:
        """The columns that become attributes: all but the ids."""
        return {n: c for n, c in self.columns.items() if not isinstance(c, IdColumn)}

    @property
    def attributes(self) -> dict[str, int]:
        """The size of every attribute, in order."""
        return {name: column.size for name, column in self.learned.items()}


def _problems_of_the_whole(columns: Mapping[str, Column], *, complete: bool) -> Iterator[str]:
    if complete and all(isinstance(column, IdColumn) for column in columns.values()):
        yield "the schema has no column to learn; declare at least one that is not an id"
    for name, column in columns.items():
        if not name.strip():
            yield f"column {name!r}: the name is blank; name it as in the data"
        if not isinstance(column, IdColumn) and column.size > MOST_LEVELS:
            yield f"column {name!r}: {column.size} values are more than {MOST_LEVELS}; group them"


def _sentences(error: ValidationError) -> Iterator[str]:
    """Pydantic's findings about one column, in our words."""
    for finding in error.errors():
        path = [str(part) for part in finding["loc"] if part not in KINDS]
        key = path[0] if path else "kind"
        match finding["type"]:
            case "union_tag_not_found" | "union_tag_invalid":
                yield f"the kind is missing or unknown; use one of {', '.join(KINDS)}"
            case "missing":
                yield f"{key} is not given; add it"
            case "extra_forbidden":
                yield f"{key} is not a key of this kind of column; remove it or correct the name"
            case "value_error":
                yield str(finding["ctx"]["error"])
            case "model_attributes_type" | "model_type" | "dict_type":
                yield "the column is not a table of keys; write kind = ... and what goes with it"
            case _:
                yield f"{key} is {finding['input']!r}: {finding['msg'].lower()}; correct it"


def _read_document(path: Path) -> object:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SchemaError([f"schema {path}: cannot be read: {reason}; check the path"]) from None
    try:
        if path.suffix.lower() == ".json":
            return json.loads(text, object_pairs_hook=_without_repeats)
        return tomllib.loads(text)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SchemaError([f"schema {path}: {error}; correct the file"]) from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise SchemaError([f"{repeated!r} stands twice in one table of the schema; keep one"])
    return document
