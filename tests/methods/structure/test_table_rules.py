"""Rules about tables: which may be asked about, what they count, what a choice of them costs."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from understudy.errors import UsageError
from understudy.facts.domain import Attributes, Domain
from understudy.facts.hierarchy import Level
from understudy.facts.protection import Protection
from understudy.facts.unit import Neighbours, Unit
from understudy.facts.workload import NamedSet, Workload
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.rounds import ModelErrors, tables_of
from understudy.methods.structure.table_rules import (
    TableRules,
    WeightedErrors,
    check_table_rules,
)
from understudy.rows.counting import Marginal
from understudy.system.arrays import Floats

DOMAIN = Domain({"age": 4, "sex": 2, "ill": 3, "income": 2})
EVERY = list(tables_of(DOMAIN, (2, 3), most_cells=1000))


def _crossing(tables: list[Attributes], one: str, others: set[str]) -> list[Attributes]:
    return [t for t in tables if one in t and not {*t} - {one} <= others]


@pytest.mark.parametrize("kept", [None, ("age", "income"), ()])
def test_no_table_crosses_a_protected_attribute(kept: Attributes | None) -> None:
    """It is in no table with attributes that it must not depend on, and in all others."""
    protection = Protection("income", {"ill": kept})
    rules = TableRules(DOMAIN, Workload(), Restrictions(protection=protection))
    allowed, held = rules.among(EVERY), {*protection.kept["ill"]}
    assert [] == _crossing(allowed, "ill", held)
    assert {*EVERY} - {*_crossing(EVERY, "ill", held)} == {*allowed}


@pytest.mark.parametrize("edge", [("age", "sex"), ("sex", "age")])
def test_no_table_holds_both_ends_of_a_forbidden_edge(edge: tuple[str, str]) -> None:
    """In whichever direction the edge was forbidden."""
    rules = TableRules(DOMAIN, Workload(), Restrictions(forbidden=(edge,)))
    assert [t for t in EVERY if not {"age", "sex"} <= {*t}] == rules.among(EVERY)


def test_tables_that_count_more_come_first() -> None:
    """Where only some can be asked about, these are."""
    rules = TableRules(DOMAIN, Workload().towards("income"), NONE)
    found = rules.among(EVERY)
    with_target = [t for t in EVERY if "income" in t]
    assert with_target == found[: len(with_target)] == rules.preferred(found)
    assert [3.0] * len(with_target) + [1.0] * 4 == rules.weights(found).tolist()


def test_weights_are_those_of_attributes() -> None:
    """A coarser copy counts as its attribute does."""
    level = Level("age", np.array([0, 0, 1, 1], np.uint16))
    domain = Domain(DOMAIN.sizes, {"age coarse": level})
    rules = TableRules(domain, Workload((NamedSet(("age",), 7.0),)), NONE)
    assert (7.0, 1.0) == (rules.weight(("age coarse", "sex")), rules.weight(("sex", "ill")))


@pytest.mark.parametrize(
    ("restrictions", "says"),
    [
        (Restrictions(required=(("age", "sex"),)), "required edges"),
        (Restrictions(tiers=(("age",),)), "tiers"),
        (Restrictions(predictors=dict.fromkeys(DOMAIN, ())), "predictors"),
    ],
)
def test_rules_about_directions_are_refused(restrictions: Restrictions, says: str) -> None:
    """A table has no direction."""
    with pytest.raises(UsageError, match=f"adaptive has no edges, and {says} order them"):
        check_table_rules(restrictions, "adaptive")


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_weighted_errors_move_by_their_sensitivity_at_most(neighbours: Neighbours) -> None:
    """For every cell that a row may be in, and reached by the heaviest table."""
    weights: dict[Attributes, float] = {("sex",): 2.5, ("ill",): 0.5}
    expected: dict[Attributes, Floats] = {
        ("sex",): np.array([1.2, 9.5]),
        ("ill",): np.array([0.0, 7.0, 2.0]),
    }
    score = WeightedErrors(ModelErrors(expected), weights).score(Unit(neighbours))
    moved = 2 if neighbours is Neighbours.REPLACE else 1
    assert (moved * Fraction(5, 2), neighbours) == (score.sensitivity, score.neighbours)
    farthest = []
    for name in weights:
        before = Marginal(name, np.arange(DOMAIN.cells(name)) + 4)
        rows = np.eye(DOMAIN.cells(name), dtype=np.int64)
        nearby = [a - b for a, b in itertools.permutations(rows, 2)] if moved == 2 else [*rows]
        scores = [score.kernel(Marginal(name, before.counts + change)) for change in nearby]
        farthest.append(max(abs(after - score.kernel(before)) for after in scores))
    assert farthest[1] <= farthest[0] == pytest.approx(float(score.sensitivity))
