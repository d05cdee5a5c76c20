"""A schema: the declared values of each column, from which everything else is computed.

A schema is written by people, in TOML or JSON of the same structure. What was learned from private
rows was paid for, and a table `inference` says so; nothing else is ever read off them. A schema
says which values a column may hold, how numbers and dates are cut into bins, what stands for
"missing", what becomes of a value that is none of these, and which values cannot occur together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    Field,
    TypeAdapter,
    ValidationError,
)

from understudy.errors import SchemaError
from understudy.facts.column import (
    KINDS,
    MOST_LEVELS,
    Column,
    GeneratedColumn,
    LearnedColumn,
    TextColumn,
    text_of,
)
from understudy.facts.column.numbers import NumberBase
from understudy.facts.constraints import Constraint, check_satisfiable, read_constraint
from understudy.facts.documents import parsed_json, read_document
from understudy.facts.file_format import FileFormat
from understudy.facts.schema_cost import Inference
from understudy.system.printable import unseen_in

if TYPE_CHECKING:
    from understudy.facts.formats import Draft

_COLUMN: TypeAdapter[Column] = TypeAdapter(Annotated[Column, Field(discriminator="kind")])

_LONGEST_SHOWN = 200
# Bins of all columns together: a few bytes of text ask for as many numbers as a column may have.
_MOST_CODES = 2**22

_UNREVIEWED = (
    "unreviewed, its values may have been computed from the rows; if you know them without "
    "looking, run `understudy schema confirm`, else replace them and delete the key"
)


@dataclass(frozen=True)
class Schema:
    """An ordered set of declared columns, constraints, and free keys kept as they are.

    Example:
        >>> Schema.parse({"columns": {"smoker": {"kind": "boolean"}}}).attributes
        {'smoker': 2}
    """

    columns: Mapping[str, Column]
    extras: Mapping[str, Any] = field(default_factory=dict)
    constraints: tuple[Constraint, ...] = ()

    def __repr__(self) -> str:
        held = f"{len(self.columns):,} columns, {len(self.attributes):,} attributes"
        rules = f", {len(self.constraints):,} constraints" if self.constraints else ""
        return f"Schema({held}{rules})"

    @classmethod
    def parse(cls, document: object) -> Schema:
        """A schema from the structure of a schema file; all problems are raised at once."""
        if not isinstance(document, Mapping) or not isinstance(document.get("columns"), Mapping):
            raise SchemaError(["the schema has no table 'columns'; add [columns.NAME] for each"])
        columns: dict[str, Column] = {}
        problems: list[str] = []
        _check_size(document["columns"])
        for name, body in document["columns"].items():
            try:
                columns[name] = _COLUMN.validate_python(body)
            except ValidationError as error:
                found = [*_sentences(error), *_crossed(error, body)]
                problems += [f"column {name!r}: {text}" for text in found]
        problems += _problems_of_the_whole(columns, complete=not problems)
        declared = {name: columns.get(name) for name in document["columns"]}
        constraints, more = _read_constraints(document.get("constraints", []), declared)
        problems += [*more, *_problems_of_the_inference(document), *_problems_of_format(document)]
        if problems:
            raise SchemaError(problems)
        check_satisfiable(constraints)
        extras = {k: v for k, v in document.items() if k not in ("columns", "constraints")}
        return cls(_in_marks(columns, document), extras, constraints)

    @classmethod
    def from_json(cls, text: str | bytes) -> Schema:
        """A schema from JSON text, such as `to_json` writes."""
        return cls.parse(parsed_json(text))

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """A schema from a TOML or JSON file, told apart by the suffix."""
        return cls.parse(read_document(Path(path)))

    @staticmethod
    def from_frame(frame: Any) -> Draft:
        """A draft from the dtypes and categories of a pandas, polars or Arrow table.

        Privacy: both depend on the rows, so that every column is unreviewed.
        """
        from understudy.facts.formats.frames import of_frame

        return of_frame(frame)

    @staticmethod
    def from_pydantic(model: Any) -> Draft:
        """A draft from the fields of a Pydantic model; values and bounds are unreviewed."""
        from understudy.facts.formats.python_models import of_pydantic

        return of_pydantic(model)

    @staticmethod
    def from_pandera(schema: Any) -> Draft:
        """A draft from the columns of a pandera schema; values and bounds are unreviewed."""
        from understudy.facts.formats.python_models import of_pandera

        return of_pandera(schema)

    def document(self) -> dict[str, Any]:
        """Return the schema as a file has it."""
        columns = {name: column.document() for name, column in self.columns.items()}
        texts = [constraint.text for constraint in self.constraints]
        return {**self.extras, **({"constraints": texts} if texts else {}), "columns": columns}

    def dump(self, path: str | Path) -> None:
        """Write the schema as TOML or JSON, by the suffix of the path."""
        Path(path).write_text(self.text_for(path), encoding="utf-8")

    def text_for(self, path: str | Path) -> str:
        """The text of a file of this name: JSON or TOML, by the suffix."""
        return self.to_json() if Path(path).suffix == ".json" else self._to_toml()

    def _to_toml(self) -> str:
        import tomli_w

        from understudy.facts.unlisted import comment_on

        try:
            return comment_on(self) + tomli_w.dumps(self.document())
        except (TypeError, RecursionError):
            raise SchemaError(
                ["a free key holds null or endless tables, which TOML cannot write; use JSON"]
            ) from None

    def to_json(self) -> str:
        """The schema as JSON text, dates written as in ISO 8601."""
        return json.dumps(self.document(), default=text_of, ensure_ascii=False, indent=1)

    @property
    def fingerprint(self) -> str:
        """A hash of columns and constraints, by which ledger entries say what was asked about.

        What learning the schema cost is part of it, where it was learned.
        """
        document = self.document()
        parts = [document["columns"], *document.get("constraints", [])]
        text = "".join(json.dumps(part, default=text_of, sort_keys=False) for part in parts)
        if self.inference is not None:
            text += json.dumps(self.inference.document(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def inference(self) -> Inference | None:
        """Return the cost of learning the schema from private rows; None where people wrote it."""
        return Inference.parse(self.extras["inference"]) if "inference" in self.extras else None

    @cached_property
    def format(self) -> FileFormat:
        """How files of these rows are spelled, as far as the schema says it."""
        return FileFormat.parse(_format_table(self.extras) or {})

    @cached_property
    def learned(self) -> Mapping[str, LearnedColumn]:
        """The columns that become attributes: all but ids and texts."""
        return {n: c for n, c in self.columns.items() if not isinstance(c, GeneratedColumn)}

    @property
    def written(self) -> tuple[str, ...]:
        """The columns that synthetic rows have, in order: all that are not dropped."""
        return tuple(n for n, c in self.columns.items() if not getattr(c, "drop", False))

    @property
    def ordered(self) -> tuple[str, ...]:
        """The columns that become attributes whose codes have an order: numbers, dates, scales."""
        scales = ("categorical", "boolean")
        return tuple(
            name
            for name, column in self.learned.items()
            if getattr(column, "ordered", column.kind not in scales)
        )

    @property
    def unreviewed(self) -> tuple[str, ...]:
        """The columns whose values another tool wrote and nobody has vouched for."""
        return tuple(name for name, column in self.columns.items() if column.unreviewed)

    def check_reviewed(self) -> None:
        """Refuse values that may have been computed from the rows: they would not be protected."""
        problems = [f"column {name!r}: {_UNREVIEWED}" for name in self.unreviewed]
        if self.format.unreviewed:
            problems.append(f"format: {_UNREVIEWED}")
        if problems:
            raise SchemaError(problems)

    @property
    def attributes(self) -> dict[str, int]:
        """The size of every attribute, in order."""
        return {name: column.size for name, column in self.learned.items()}


def _check_size(columns: Mapping[str, Any]) -> None:
    """Refuse what would take far more memory than it takes to write it down."""
    codes = sum(map(_announced_codes, columns.values()))
    if codes > _MOST_CODES:
        rule = f"more than {_MOST_CODES:,}; use fewer bins"
        raise SchemaError([f"the schema declares {codes:,} codes in all, {rule}"])


def _announced_codes(body: object) -> int:
    """How many codes a column takes by what is written, which may still be wrong."""
    bins = body.get("bins") if isinstance(body, Mapping) else None
    return min(bins, MOST_LEVELS) if isinstance(bins, int) and bins > 0 else 0


def _read_constraints(
    texts: object, columns: Mapping[str, Column | None]
) -> tuple[tuple[Constraint, ...], list[str]]:
    """The constraints that can be read, and the problems of the others."""
    if not isinstance(texts, list | tuple):
        return (), [f"constraints is {texts!r}; write a list of texts: constraints = ['...']"]
    constraints: list[Constraint] = []
    problems: list[str] = []
    for text in texts:
        try:
            constraints.append(read_constraint(text, columns))
        except SchemaError as error:
            problems += error.problems
    return tuple(constraints), problems


def _problems_of_the_whole(columns: Mapping[str, Column], *, complete: bool) -> Iterator[str]:
    if complete and all(isinstance(column, GeneratedColumn) for column in columns.values()):
        yield "the schema has no column to learn; declare at least one that is not an id or text"
    for name, column in columns.items():
        if not name.strip():
            yield f"column {name!r}: the name is blank; name it as in the data"
        unseen = unseen_in(name)
        if unseen is not None:
            yield f"column {name!r}: the name holds {unseen}, which nobody sees; rename the column"
        if not isinstance(column, GeneratedColumn) and column.size > MOST_LEVELS:
            yield f"column {name!r}: {column.size} values are more than {MOST_LEVELS}; group them"
    if complete:
        yield from _problems_of_copies(columns)


def _problems_of_copies(columns: Mapping[str, Column]) -> Iterator[str]:
    """Say which columns follow one that is not there, is dropped, or follows another itself."""
    for name, column in columns.items():
        key = column.same_as if isinstance(column, TextColumn) else None
        if key is None:
            continue
        followed = columns.get(key)
        if followed is None or (isinstance(followed, TextColumn) and followed.drop):
            yield f"column {name!r}: same_as is {key!r}, which the rows do not have; name one"
        elif isinstance(followed, TextColumn) and followed.same_as is not None:
            yield f"column {name!r}: same_as is {key!r}, which follows another; name that one"


def _problems_of_the_inference(document: Mapping[str, Any]) -> Iterator[str]:
    if "inference" in document:
        try:
            Inference.parse(document["inference"])
        except ValueError as error:
            yield str(error)


def _in_marks(columns: dict[str, Column], document: Mapping[str, Any]) -> dict[str, Column]:
    """The columns with units and signs in the marks of the file, where they have none themselves.

    Their numbers are read and written as texts, so that a mark of the file has to be known there.
    """
    held = FileFormat.parse(_format_table(document) or {})
    decimal, thousands = held.decimal or ".", held.thousands or ""
    return {
        name: column.marked_as(decimal, thousands) if isinstance(column, NumberBase) else column
        for name, column in columns.items()
    }


def _format_table(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The table `format`; a free key of that name that is not a table is someone else's."""
    body = document.get("format")
    return body if isinstance(body, Mapping) else None


def _problems_of_format(document: Mapping[str, Any]) -> Iterator[str]:
    try:
        FileFormat.parse(_format_table(document) or {})
    except SchemaError as error:
        yield from error.problems


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
            case "extra_forbidden" if key == "constraints":
                yield (
                    "constraints is not a key of a column; write it above the first [columns.NAME]"
                )
            case "extra_forbidden":
                yield f"{key} is not a key of this kind of column; remove it or correct the name"
            case "value_error":
                yield str(finding["ctx"]["error"])
            case "model_attributes_type" | "model_type" | "dict_type":
                yield "the column is not a table of keys; write kind = ... and what goes with it"
            case _:
                yield f"{key} is {_shown(finding['input'])}: {finding['msg'].lower()}; correct it"


def _crossed(error: ValidationError, body: object) -> Iterator[str]:
    """Say that bounds are the wrong way round where the kind is unknown, so that nobody looked."""
    if not isinstance(body, Mapping) or not error.errors()[0]["type"].startswith("union_tag"):
        return
    low, high = body.get("min"), body.get("max")
    try:
        is_crossed = bool(low > high)  # type: ignore[operator]  # of whatever somebody wrote
    except TypeError:
        return
    if is_crossed:
        yield f"upper bound {_shown(high)} is below lower bound {_shown(low)}; swap them"


def _shown(value: object) -> str:
    """A value of the schema for people, cut where it would fill the screen."""
    try:
        text = repr(value)
    except ValueError:
        # Python writes no integer of more than 4,300 digits.
        return "a number of too many digits"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
