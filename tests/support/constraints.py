"""Constraints as plain structures, judged row by row on decoded cells: the twin of the masks."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from understudy.facts.codec import Codec
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.privacy.accounting.composition import PURE, Bound
from understudy.privacy.statements.statement import Statement

STATEMENT = Statement(
    "test", Bound(PURE, Fraction(1), Fraction(0)), Unit(Neighbours.ADD_REMOVE), ()
)

COLUMNS: dict[str, dict[str, Any]] = {
    "colour": {"kind": "categorical", "values": ["red", "it's", "dark blue"], "missing": ["?"]},
    "grade": {"kind": "categorical", "values": [3, 1, 2], "ordered": True},
    "alive": {"kind": "boolean", "missing": []},
    "age in years": {"kind": "integer", "edges": [0, 18, 65], "max": 99, "missing": ["-1"]},
    "kids": {"kind": "integer", "min": 0, "max": 2},
    "score": {"kind": "float", "edges": [0.0, 2.5], "max": 5.0, "missing": []},
    "born": {"kind": "date", "edges": ["2000-01-01", "2010-01-01"], "max": "2019-12-31"},
}

# For each column, what may be said of it without cutting a bin.
_SAYINGS: dict[str, list[tuple[str, list[str]]]] = {
    "colour": [
        ("=", ["red"]),
        ("!=", ["it's"]),
        ("in", ["red", "dark blue"]),
        ("missing", []),
        ("not missing", []),
    ],
    "grade": [
        ("=", ["1"]),
        ("<", ["1"]),
        ("<=", ["1"]),
        (">", ["3"]),
        (">=", ["2"]),
        ("!=", ["3"]),
    ],
    "alive": [("=", ["yes"]), ("!=", ["true"]), ("in", ["no"]), ("missing", [])],
    "age in years": [
        ("<", ["18"]),
        ("<=", ["64"]),
        (">", ["17"]),
        (">=", ["65"]),
        ("in", [str(age) for age in range(18)]),
        ("missing", []),
        ("not missing", []),
    ],
    "kids": [("=", ["0"]), ("!=", ["1"]), (">", ["0"]), ("in", ["0", "2"]), ("<=", ["1"])],
    "score": [("<", ["2.5"]), (">=", ["2.5"]), ("missing", []), ("not missing", [])],
    "born": [("<", ["2010-01-01"]), (">", ["2009-12-31"]), (">=", ["2010-01-01"])],
}
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_KEYWORDS = ("if", "then", "not", "and", "in", "missing")

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Said:
    """One condition: a column, a relation, and texts of values."""

    column: str
    relation: str
    values: tuple[str, ...]

    @property
    def text(self) -> str:
        """As it stands in a constraint."""
        column, values = _quoted(self.column), [_quoted(value) for value in self.values]
        if self.relation == "in":
            return f"{column} in {{{', '.join(values)}}}"
        return " ".join([column, self.relation, *values])

    def holds(self, row: Row) -> bool:
        """Whether it is true of a decoded row."""
        cell, declared = row[self.column], COLUMNS[self.column]
        missing = cell is None or str(cell) in declared.get("missing", [])
        if self.relation in ("missing", "not missing"):
            return missing == (self.relation == "missing")
        if missing:
            return self.relation == "!="
        values = [_cell(self.column, text) for text in self.values]
        if self.relation in ("=", "in", "!="):
            return (cell in values) != (self.relation == "!=")
        if declared["kind"] == "categorical":
            order = declared["values"].index
            return _ORDERS[self.relation](order(cell), order(values[0]))
        return _ORDERS[self.relation](cell, values[0])


@dataclass(frozen=True)
class Rule:
    """Conditions that call for others, or must not hold together."""

    premise: tuple[Said, ...]
    conclusion: tuple[Said, ...] | None

    @property
    def text(self) -> str:
        """As it stands in a schema."""
        premise = " and ".join(said.text for said in self.premise)
        if self.conclusion is None:
            return f"not ({premise})"
        return f"if {premise} then {' and '.join(said.text for said in self.conclusion)}"

    def kept(self, row: Row) -> bool:
        """Whether a decoded row keeps to it."""
        if not all(said.holds(row) for said in self.premise):
            return True
        return self.conclusion is not None and all(said.holds(row) for said in self.conclusion)


def _quoted(text: str) -> str:
    if " " not in text and "'" not in text and text not in _KEYWORDS:
        return text
    return "'" + text.replace("'", "''") + "'"


def _cell(column: str, text: str) -> Any:
    match COLUMNS[column]["kind"]:
        case "boolean":
            return text in ("yes", "true")
        case "integer":
            return int(text)
        case "float":
            return float(text)
        case "date":
            return date.fromisoformat(text)
        case _:
            return int(text) if text.isdigit() else text


@st.composite
def _said(draw: st.DrawFn, columns: tuple[str, ...]) -> Said:
    column = draw(st.sampled_from(columns))
    relation, values = draw(st.sampled_from(_SAYINGS[column]))
    return Said(column, relation, tuple(values))


@st.composite
def _rules(draw: st.DrawFn, columns: tuple[str, ...]) -> Rule:
    conditions = st.lists(_said(columns), min_size=1, max_size=3).map(tuple)
    return Rule(draw(conditions), draw(st.none() | conditions))


@st.composite
def ruled_columns(draw: st.DrawFn, *, most: int = 5) -> tuple[tuple[str, ...], tuple[Rule, ...]]:
    """A few columns in some order, and a few constraints on them, perhaps contradictory."""
    order = draw(st.permutations(list(COLUMNS)))
    columns = tuple(order[: draw(st.integers(1, most))])
    return columns, tuple(draw(st.lists(_rules(columns), min_size=1, max_size=5)))


def document_of(columns: tuple[str, ...], rules: tuple[Rule, ...]) -> dict[str, Any]:
    """A schema of these columns and constraints, as in a file."""
    return {
        "constraints": [rule.text for rule in rules],
        "columns": {name: COLUMNS[name] for name in columns},
    }


def allowed_cells(columns: tuple[str, ...], rules: tuple[Rule, ...]) -> npt.NDArray[np.bool_]:
    """For every combination of codes, whether its decoded row keeps to every constraint."""
    schema = Schema.parse(document_of(columns, ()))
    shape = Domain.of(schema).shape(columns)
    cells = np.array(list(itertools.product(*map(range, shape))), np.uint8)
    codes = {name: np.ascontiguousarray(cells[:, i]) for i, name in enumerate(columns)}
    rows = Codec(schema).decode(codes, generator=np.random.default_rng(0)).to_pylist()
    return np.array([all(rule.kept(row) for rule in rules) for row in rows]).reshape(shape)


def random_model(schema: Schema, order: tuple[str, ...], seed: int) -> Model:
    """A model in this order, at most two parents each, with many zeros in its conditionals."""
    generator, domain = np.random.default_rng(seed), Domain.of(schema)
    conditionals = []
    for place, child in enumerate(order):
        count = int(generator.integers(0, min(place, 2) + 1))
        parents = tuple(str(p) for p in generator.choice(order[:place] or [""], count, False))
        shape = domain.shape((*parents, child))
        weights = generator.random(shape) * (generator.random(shape) < 0.5)
        conditionals.append(Conditional.from_weights(Family(child, parents), weights))
    return Model(schema, BayesNet(domain, tuple(conditionals)), 100, STATEMENT)


def masked_law(model: Model, allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """The chance of every cell by the documented law, axes in the network's order.

    Attribute after attribute: its conditional on the codes with an allowed completion, else its
    mean over configurations on them, else all of them alike.
    """
    order, chances = model.network.order, np.ones(())
    for place, conditional in enumerate(model.conditionals):
        completable = allowed.any(axis=tuple(range(place + 1, allowed.ndim)))
        mean = conditional.probabilities.reshape(-1, completable.shape[-1]).mean(axis=0)
        axes = [order.index(a) for a in conditional.family.attributes]
        lines = conditional.probabilities.transpose(np.argsort(axes))
        lines = lines.reshape([n if i in axes else 1 for i, n in enumerate(completable.shape)])
        law = lines * completable
        for instead in (mean * completable, completable):
            law = np.where(law.sum(axis=-1, keepdims=True) > 0, law, instead)
        sums = law.sum(axis=-1, keepdims=True)
        chances = chances[..., None] * np.divide(law, sums, out=np.zeros(law.shape), where=sums > 0)
    return np.asarray(chances)
