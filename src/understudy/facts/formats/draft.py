"""A draft of a schema: what is known of each column, and what a person has yet to write.

Drafts come from headers and from other tools' files. Values that another tool may have computed
from the rows are marked `unreviewed`; nothing is fitted until a person vouches for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from understudy.errors import SchemaError, UsageError
from understudy.facts.column import text_of
from understudy.facts.file_format import DECLARED, FileFormat
from understudy.facts.formats.review import FORMAT_TABLE

HEAD = """\
# The values that each column may have. Write public knowledge only: code books, laws, common sense.
# Never copy values or bounds out of the rows: what this file says is not protected.
#
#   categorical  values = ["a", "b"]            boolean
#   integer      min = 0, max = 120             float  min = 0.0, max = 1.0, bins = 20
#   date         min = 2020-01-01, max = ...    datetime
#   id           generated afresh, never learned
#   text         pattern = "P[0-9]{6}", generator = "name" or drop = true; never learned
#
# What is not public may be omitted (values = [], no min or max) and learned with budget:
#   understudy schema infer DATA --schema THIS --epsilon 1 --delta 1e-6 -o OTHER
# Values too rare to be learned become "other", missing or the most frequent value; see outside.
#
# missing = ["?"] gives a column a level for missing cells; [] means nulls, empty cells and the
# usual words for them, such as NA, NULL, NaN and n/a, alone.
# Out of bounds: numbers are clipped, rows with undeclared categories dropped, unless outside says.
#
# Declare here, above the columns, which values cannot occur together; no synthetic row has them:
# constraints = ["if age < 15 then married = no", "not (sex = male and pregnant = yes)"]
"""

_REVIEW = """\
#
# unreviewed = true: these values come from another tool or a look at rows, and may depend on them.
# Delete the key, or run `understudy schema confirm`, where you know them without looking.
"""

_COST = """\
# Kinds and labels below were learned from private rows. Every fit under this schema adds this cost.
"""
_FORMAT_REMARK = "# How the file is spelled; synthetic rows are written in the same way.\n"

_Table = TypeVar("_Table")

_NEEDED = {
    "categorical": ("values",),
    **dict.fromkeys(("integer", "float", "date", "datetime"), ("min", "max")),
}
_BLANKS = {"values": "values = []\n", "min": "# min = \n", "max": "# max = \n"}


@dataclass(frozen=True)
class DraftColumn:
    """A column as far as it is known.

    Attributes:
        kind: its kind; empty where a person has to choose.
        keys: what goes with the kind.
        remark: a comment of ours, one line.
    """

    kind: str = ""
    keys: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""

    @property
    def blanks(self) -> tuple[str, ...]:
        """The keys that the kind needs and nobody gave."""
        return tuple(key for key in _NEEDED.get(self.kind, ()) if key not in self.keys)

    def document(self) -> dict[str, Any]:
        """Return the column as a schema file has it."""
        return {"kind": self.kind, **self.keys}


@dataclass(frozen=True)
class Draft:
    """The columns of a schema in order, each as far as it is known, and the format of its file.

    Attributes:
        columns: the columns.
        inference: what learning the draft cost, as a schema file has it; empty where it was free.

    Example:
        >>> draft = Draft({"age": DraftColumn("integer", {"min": 0})})
        >>> draft.to_toml().splitlines()[-4:]
        ['[columns.age]', 'kind = "integer"', 'min = 0', '# max = ']
    """

    columns: Mapping[str, DraftColumn]
    inference: Mapping[str, Any] = field(default_factory=dict)
    format: FileFormat = DECLARED

    @property
    def unfinished(self) -> list[str]:
        """The columns in which something is left to write."""
        return [name for name, c in self.columns.items() if c.blanks or not c.kind]

    @property
    def unreviewed(self) -> list[str]:
        """The columns, and perhaps the format, that a person has to vouch for."""
        marked = [name for name, c in self.columns.items() if "unreviewed" in c.keys]
        return [FORMAT_TABLE, *marked] if self.format.unreviewed else marked

    def document(self) -> dict[str, Any]:
        """The structure of the schema file, blanks left out."""
        columns = {name: column.document() for name, column in self.columns.items()}
        return {**self._format_document(), **self._cost, "columns": columns}

    @property
    def _cost(self) -> dict[str, Any]:
        return {"inference": dict(self.inference)} if self.inference else {}

    def _format_document(self) -> dict[str, Any]:
        return {"format": self.format.document()} if self.format.is_declared else {}

    def to_json(self) -> str:
        """The draft as JSON, which has no place for comments."""
        return json.dumps(self.document(), default=text_of, ensure_ascii=False, indent=1) + "\n"

    def to_toml(self) -> str:
        """The draft as TOML, with what is left to write in comments."""
        import tomli_w

        head = HEAD + (_REVIEW if self.unreviewed else "")
        head += _format_text(self._format_document())
        if self.inference:
            head += f"\n{_COST}{tomli_w.dumps(self._cost)}"
        return head + "".join(_table(name, column) for name, column in self.columns.items())


def _format_text(document: Mapping[str, Any]) -> str:
    import tomli_w

    return f"\n{_FORMAT_REMARK}{tomli_w.dumps(document)}" if document else ""


def _table(name: str, column: DraftColumn) -> str:
    import tomli_w

    table = tomli_w.dumps({"columns": {name: column.document()}})
    blanks = "".join(_BLANKS[key] for key in column.blanks)
    remark = f"# {column.remark}\n" if column.remark else ""
    return f"\n{table}{blanks}{remark}"


def drafted(
    bodies: Sequence[tuple[str, object]], make: Callable[[str, Mapping[str, Any]], DraftColumn]
) -> Draft:
    """A draft with each column made from its body; what is wrong with any is raised at once."""
    columns: dict[str, DraftColumn] = {}
    problems: list[str] = []
    for name, body in bodies:
        try:
            if name in columns:
                raise SchemaError(["the name occurs twice; rename one of the columns"])
            if not isinstance(body, Mapping):
                raise SchemaError(["it is not described by a table of keys; correct the file"])
            columns[name] = make(name, body)
        except SchemaError as error:
            problems += [f"column {name!r}: {problem}" for problem in error.problems]
    if not bodies:
        problems = ["the file describes no column; it must name one at least"]
    if problems:
        raise SchemaError(problems)
    return Draft(columns)


def chosen(tables: Mapping[str, _Table], wanted: str | None) -> _Table:
    """The table asked for by name, or the only one."""
    known = ", ".join(tables)
    if wanted is not None:
        if wanted not in tables:
            raise UsageError(f"table {wanted!r} is not in the file; it describes {known or 'none'}")
        return tables[wanted]
    if len(tables) != 1:
        raise UsageError(f"the file describes {len(tables)} tables: {known}; choose with --table")
    return next(iter(tables.values()))


def unreviewed(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Keys taken from another tool, marked so that a person has to vouch for them."""
    return {**keys, "unreviewed": True} if keys else {}
