"""A skeleton: a schema in which some columns do not say what they hold.

Kinds are declared. A categorical column without values asks for them; a column of numbers or dates
asks for its range and bins when a bound is not given, or when it says `edges = []`. What is given
of `min` and `max` then is the public range to search, and defaults stand in for the rest. A column
that does not say `missing` is asked whether cells are missing, a boolean one too. `share = 3` gives
a column three times the budget of another. `prefix_lengths = [2, 1]` groups values too rare to be
found by their first two letters, and then by the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from understudy.errors import SchemaError, UsageError
from understudy.facts.column import (
    BinnedColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    DatetimeColumn,
    FloatColumn,
    IntegerColumn,
    Ordinate,
    Scalar,
    text_of,
)
from understudy.facts.column.moment_notation import MomentNotation
from understudy.facts.column.steps import Steps
from understudy.facts.documents import read_document
from understudy.facts.schema import Schema
from understudy.facts.unlisted import CATCH_ALL
from understudy.methods.discover.skeleton_checks import (
    STEP_KEYS,
    check_steps_of,
    checked_lengths,
    checked_shares,
    refuse_constraints_on,
    refuse_forms_of,
    types_apart,
    without_key,
)
from understudy.methods.discover.tails import Declared

_BINNED: dict[str, type[BinnedColumn]] = {
    "integer": IntegerColumn,
    "float": FloatColumn,
    "date": DateColumn,
    "datetime": DatetimeColumn,
}
_WIDE: dict[str, tuple[Any, Any]] = {
    "integer": (-(10**12), 10**12),
    "float": (-1e12, 1e12),
    "date": (date(1900, 1, 1), date(2099, 12, 31)),
    "datetime": (datetime(1900, 1, 1), datetime(2099, 12, 31, 23, 59, 59)),
}
_FOUND = ("values", "min", "max", "edges", "bins")


@dataclass(frozen=True)
class Skeleton:
    """A skeleton: the declared columns, and those whose values are to be learned.

    Attributes:
        bodies: the columns as they are written.
        provisional: a whole schema, with public stand-ins for what is to be found.
        keyed: the categorical columns that list no values.
        ranged: the columns of numbers and dates without range or bins.
        flagged: the booleans that do not say whether cells are missing.
        shares: how much of the budget a column gets beside others of its kind, where not 1.
        prefix_lengths: by how many first letters rare values are grouped, where they are.
        types: declared types of columns to be learned, kept where they hold what is found.
    """

    bodies: Mapping[str, Mapping[str, Any]]
    provisional: Schema
    keyed: tuple[str, ...]
    ranged: tuple[str, ...]
    flagged: tuple[str, ...] = ()
    shares: Mapping[str, Fraction] = field(default_factory=dict)
    prefix_lengths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path) -> Skeleton:
        """A skeleton from a TOML or JSON file."""
        return cls.parse(read_document(Path(path)))

    @classmethod
    def parse(cls, document: object) -> Skeleton:
        """A skeleton from the structure of its file; all problems are raised at once."""
        if not isinstance(document, Mapping) or not isinstance(document.get("columns"), Mapping):
            raise SchemaError(["the schema has no table 'columns'; add [columns.NAME] for each"])
        shares, bodies = without_key("share", document["columns"])
        lengths, bodies = without_key("prefix_lengths", bodies)
        keyed = tuple(name for name, body in bodies.items() if _lists_nothing(body))
        ranged = tuple(name for name, body in bodies.items() if _lacks_a_range(body))
        flagged = tuple(name for name, body in bodies.items() if _may_lack_cells(body))
        types, bodies = types_apart(bodies, {*keyed, *ranged})
        whole = dict(bodies)
        whole |= {name: _with_catch_all(bodies[name]) for name in keyed}
        whole |= {name: _with_wide_range(bodies[name]) for name in ranged}
        whole |= {name: {**bodies[name], "missing": []} for name in flagged}
        provisional = Schema.parse({**document, "columns": whole})
        refuse_constraints_on(provisional, {*keyed, *ranged})
        refuse_forms_of(bodies, {*keyed, *ranged})
        check_steps_of({name: bodies[name] for name in ranged})
        if not keyed and not ranged:
            raise UsageError(
                "every column declares its values, so nothing is left to find out; "
                "leave values, or min and max, away where they are to be learned"
            )
        return cls(
            bodies=bodies,
            provisional=provisional,
            keyed=keyed,
            ranged=ranged,
            flagged=flagged,
            shares=checked_shares(shares, keyed, ranged),
            prefix_lengths=checked_lengths(lengths, keyed),
            types=types,
        )

    def weights(self, names: Iterable[str]) -> dict[str, Fraction]:
        """How much of the budget some columns get, in parts of what one without a share gets."""
        return {name: self.shares.get(name, Fraction(1)) for name in names}

    def binned(self, name: str) -> BinnedColumn:
        """A column of numbers or dates over its public range, all its markers with it."""
        column = self.provisional.columns[name]
        assert isinstance(column, IntegerColumn | FloatColumn | DateColumn | DatetimeColumn)
        markers = self.bodies[name].get("missing")
        if markers is None:
            return _rebuilt(column, missing=())
        return _rebuilt(column, missing=tuple(text_of(marker).strip() for marker in markers))

    def probing(
        self,
        cells: Mapping[str, Sequence[Ordinate]],
        listed: Mapping[str, CategoricalColumn] | None = None,
    ) -> Schema:
        """The provisional schema with some columns cut into given cells, and others listed."""
        columns: dict[str, Column] = {**self.provisional.columns, **(listed or {})}
        columns |= {name: recut(self.binned(name), edges) for name, edges in cells.items()}
        return Schema(columns, self.provisional.extras)

    def asks_missing(self, name: str) -> bool:
        """Whether a column leaves it open that cells are missing."""
        return self.bodies[name].get("missing") is None

    def has_missing_level(self, name: str) -> bool:
        """Whether a column declares missing cells, and keeps their rows."""
        body = self.bodies[name]
        return body.get("missing") is not None and body.get("missing_as") != "drop"

    def asks_others(self, name: str) -> bool:
        """Whether a categorical column leaves it open where undeclared values go."""
        return self.bodies[name].get("outside") is None

    def steps(self, name: str) -> Steps | None:
        """The values that a column writes, where it says so: reals from zero, or from `min` on.

        Moments are whole minutes, hours or days where their format has nothing finer.
        """
        body = self.bodies[name]
        if implied := self.implied_step(name):
            return Steps(stride=implied["step"])
        if body.get("kind") != "float" or all(body.get(key) is None for key in STEP_KEYS):
            return None
        if body.get("decimals") is not None:
            return Steps.of_decimals(body["decimals"])
        return Steps.of_reals(float(body["step"]), float(body.get("min") or 0.0))

    def implied_step(self, name: str) -> dict[str, int]:
        """The step that the format of a column of moments implies, as the key of a schema."""
        return _implied_step(self.bodies[name])

    def declared(self, name: str) -> Declared:
        """Which bounds of a column of numbers or dates are declared."""
        body = self.bodies[name]
        return Declared(body.get("min") is not None, body.get("max") is not None)

    def listing(self, name: str, values: Sequence[Scalar]) -> CategoricalColumn:
        """A categorical column with some values, and a last one for all others."""
        taken = {text_of(value) for value in values} | set(self._markers(name))
        rest = free_name(taken)
        markers = tuple(self._markers(name))
        return CategoricalColumn(
            values=(*values, rest),
            missing=markers,
            outside=rest,
            prefixes=name in self.prefix_lengths,
        )

    def _markers(self, name: str) -> list[str]:
        return [text_of(marker).strip() for marker in self.bodies[name].get("missing") or ()]

    def filled(
        self, found: Mapping[str, Mapping[str, Any]], inference: Mapping[str, Any]
    ) -> Schema:
        """The schema in which columns hold what was found, and which says what that cost."""
        columns = {
            name: self._typed(name, _without_nothing(_without_stand_ins(body) | dict(found[name])))
            if name in found
            else body
            for name, body in self.bodies.items()
        }
        constraints = [constraint.text for constraint in self.provisional.constraints]
        extras = {**self.provisional.extras, "inference": dict(inference)}
        return Schema.parse({**extras, "constraints": constraints, "columns": columns})

    def _typed(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """A column with its declared type, unless that does not hold what was found.

        Privacy: decided by what is released.
        """
        if name not in self.types:
            return body
        typed = {**body, "dtype": self.types[name]}
        try:
            Schema.parse({"columns": {name: typed}})
        except SchemaError:
            return body
        return typed

    def stand_in(self, name: str) -> tuple[Scalar, ...]:
        """The one value that a categorical column has while its values are not known."""
        column = self.provisional.columns[name]
        assert isinstance(column, CategoricalColumn)
        return column.values

    def catch_all(self, name: str) -> tuple[tuple[Scalar, ...], Scalar]:
        """The values a categorical column has in any case, and where undeclared ones go."""
        stand_in, outside = self.stand_in(name), self.bodies[name].get("outside")
        if outside is None:
            return stand_in, stand_in[0]
        return stand_in if outside == stand_in[0] else (), outside


def recut(column: BinnedColumn, edges: Sequence[Ordinate]) -> BinnedColumn:
    """The column with other bins, from the first edge to its old upper bound.

    It is not checked again: a marker may lie within the bounds while they are public and wide.
    """
    cut = tuple(column.value_at(edge) for edge in edges)
    return _rebuilt(column, min=None, bins=None, edges=cut)


def _without_stand_ins(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in _FOUND}


def _without_nothing(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if value is not None}


def _rebuilt(column: BinnedColumn, **changes: Any) -> BinnedColumn:
    fields = {name: getattr(column, name) for name in type(column).model_fields}
    return type(column).model_construct(**{**fields, **changes})


def is_open(body: object) -> bool:
    """Whether a column of a schema leaves its values or its range to be learned."""
    return _lists_nothing(body) or _lacks_a_range(body)


def _lists_nothing(body: object) -> bool:
    if not isinstance(body, Mapping) or body.get("kind") != "categorical":
        return False
    return bool(body.get("values", []) == [])


def _may_lack_cells(body: object) -> bool:
    if not isinstance(body, Mapping) or body.get("kind") != "boolean":
        return False
    return body.get("missing") is None and body.get("outside") is None


def _lacks_a_range(body: object) -> bool:
    if not isinstance(body, Mapping) or body.get("kind") not in _BINNED:
        return False
    edges = body.get("edges")
    if edges:
        return False
    return edges == [] or body.get("min") is None or body.get("max") is None


def _with_catch_all(body: Mapping[str, Any]) -> dict[str, Any]:
    """The column with one value, which all cells take; a marker given as `outside` stays one."""
    markers = body.get("missing")
    known = {text_of(m).strip() for m in markers} if isinstance(markers, list) else set()
    outside = body.get("outside", "drop")
    if outside != "drop" and text_of(outside) in known:
        return {**body, "values": [free_name(known)], "outside": outside}
    value = free_name(known) if outside == "drop" else outside
    return {**body, "values": [value], "outside": value}


def free_name(taken: Iterable[str]) -> str:
    """The name of the catch-all, lengthened until nothing else has it."""
    name = CATCH_ALL
    while name in taken:
        name += "_"
    return name


def _with_wide_range(body: Mapping[str, Any]) -> dict[str, Any]:
    """The column over its public range; markers that are numbers or dates may lie in it."""
    low, high = _WIDE[body["kind"]]
    left_out = ("edges", *STEP_KEYS) if body["kind"] == "float" else ("edges",)
    given = {key: value for key, value in body.items() if key not in left_out}
    given = {"min": low, "max": high} | {k: v for k, v in given.items() if v is not None}
    given |= _implied_step(body)
    if isinstance(given.get("missing"), list):
        kind = _BINNED[body["kind"]]
        given["missing"] = [m for m in given["missing"] if not _is_placed(kind, m)]
    return given


def _implied_step(body: Mapping[str, Any]) -> dict[str, int]:
    """The step of moments whose format leaves out seconds, minutes or hours."""
    written = body.get("format")
    if body["kind"] != "datetime" or not isinstance(written, str):
        return {}
    finest = MomentNotation(written, days=False).resolution or 1
    return {"step": finest} if finest > 1 else {}


def _is_placed(kind: type[BinnedColumn], marker: object) -> bool:
    try:
        kind.place(text_of(marker).strip())
    except (ValueError, OverflowError):
        return False
    return True
