"""What may stand in each column: the public knowledge everything else is computed from.

A schema is written by people, in TOML or JSON of the same structure. What was learned from private
rows was paid for, and a table `inference` says so; nothing else is ever read off them. A schema
says which values a column may hold, how numbers and dates are cut into bins, what stands for
"missing", what becomes of a value that is none of these, and what cannot stand together.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    Field,
    TypeAdapter,
    ValidationError,
)

from understudy.column import (
    KINDS,
    MOST_LEVELS,
    Column,
    IdColumn,
    LearnedColumn,
    text_of,
)
from understudy.constraints import Constraint, check_satisfiable, read_constraint
from understudy.errors import SchemaError
from understudy.inference import Inference

_COLUMN: TypeAdapter[Column] = TypeAdapter(Annotated[Column, Field(discriminator="kind")])


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
        declared = {name: columns.get(name) for name in document["columns"]}
        constraints, more = _read_constraints(document.get("constraints", []), declared)
        problems += [*more, *_problems_of_the_inference(document)]
        if problems:
            raise SchemaError(problems)
        check_satisfiable(constraints)
        extras = {k: v for k, v in document.items() if k not in ("columns", "constraints")}
        return cls(columns, extras, constraints)

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """A schema from a TOML or JSON file, told apart by the suffix."""
        return cls.parse(read_document(path))

    def document(self) -> dict[str, Any]:
        """The schema as it would stand in a file."""
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

        try:
            return tomli_w.dumps(self.document())
        except TypeError:
            raise SchemaError(
                ["a free key holds null, which TOML cannot write; use JSON"]
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
        """What learning the schema from private rows cost; None where people wrote it."""
        return Inference.parse(self.extras["inference"]) if "inference" in self.extras else None

    @cached_property
    def learned(self) -> Mapping[str, LearnedColumn]:
        """The columns that become attributes: all but the ids."""
        return {n: c for n, c in self.columns.items() if not isinstance(c, IdColumn)}

    @property
    def attributes(self) -> dict[str, int]:
        """The size of every attribute, in order."""
        return {name: column.size for name, column in self.learned.items()}


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
    if complete and all(isinstance(column, IdColumn) for column in columns.values()):
        yield "the schema has no column to learn; declare at least one that is not an id"
    for name, column in columns.items():
        if not name.strip():
            yield f"column {name!r}: the name is blank; name it as in the data"
        if not isinstance(column, IdColumn) and column.size > MOST_LEVELS:
            yield f"column {name!r}: {column.size} values are more than {MOST_LEVELS}; group them"


def _problems_of_the_inference(document: Mapping[str, Any]) -> Iterator[str]:
    if "inference" in document:
        try:
            Inference.parse(document["inference"])
        except ValueError as error:
            yield str(error)


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
                yield "constraints is no key of a column; write it above the first [columns.NAME]"
            case "extra_forbidden":
                yield f"{key} is not a key of this kind of column; remove it or correct the name"
            case "value_error":
                yield str(finding["ctx"]["error"])
            case "model_attributes_type" | "model_type" | "dict_type":
                yield "the column is not a table of keys; write kind = ... and what goes with it"
            case _:
                yield f"{key} is {finding['input']!r}: {finding['msg'].lower()}; correct it"


def read_document(path: str | Path) -> object:
    """The structure of a schema file, before anything in it is checked."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SchemaError([f"schema {path}: cannot be read: {reason}; check the path"]) from None
    try:
        return _from_json(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SchemaError([f"schema {path}: {error}; correct the file"]) from None


def _from_json(text: str) -> object:
    document = json.loads(text, object_pairs_hook=_without_repeats)
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise SchemaError(["the schema holds a text that is no Unicode; spell it out"]) from None
    return document


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise SchemaError([f"{repeated!r} stands twice in one table of the schema; keep one"])
    return document
