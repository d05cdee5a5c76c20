"""The adaptive method with a target, a workload, forbidden edges and protected attributes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from understudy.errors import UsageError
from understudy.facts.codes import Codes
from understudy.facts.domain import Attributes, Domain
from understudy.facts.protection import Protection
from understudy.facts.schema import Schema
from understudy.facts.workload import NamedSet, Workload
from understudy.methods import AdaptiveMarginals
from understudy.methods.structure.restrict import Restrictions
from understudy.models.log_linear import LogLinear
from understudy.models.model import Model
from understudy.privacy.budget import Budget
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.testing import seeded

COLUMNS = {
    "age": {"kind": "integer", "min": 0, "max": 3},
    "sex": {"kind": "boolean"},
    "ill": {"kind": "integer", "min": 0, "max": 2},
    "income": {"kind": "integer", "min": 0, "max": 2},
    "job": {"kind": "integer", "min": 0, "max": 2},
}
SCHEMA = Schema.parse({"columns": COLUMNS})
DOMAIN = Domain.of(SCHEMA)
KEPT = {"the target": None, "two of them": ("age", "income"), "nothing": ()}


def _source(rows: int = 3000) -> MemorySource:
    """Rows in which everything depends on age."""
    generator = np.random.default_rng(4)
    age = generator.integers(0, 4, rows)
    codes: dict[str, Codes] = {}
    for name, size in DOMAIN.sizes.items():
        fresh = generator.integers(0, size, rows)
        drawn = age if name == "age" else np.where(generator.random(rows) < 0.8, age % size, fresh)
        codes[name] = drawn.astype(np.uint8)
    return MemorySource(Table(DOMAIN, codes, rows))


def _fitted(delta: object = "1e-6", **given: object) -> Model:
    method = AdaptiveMarginals(SCHEMA, epsilon=5, delta=delta, **given)  # type: ignore[arg-type]
    return method.fit(_source(), ledger=None).model_


def _asked(model: Model) -> list[Attributes]:
    """The tables that were measured."""
    return [table.attributes for table in model.tables]


def _protecting(kept: Attributes | None) -> Restrictions:
    return Restrictions(protection=Protection("income", {"ill": kept}))


def _law(model: Model) -> LogLinear:
    assert isinstance(model.distribution, LogLinear)
    return model.distribution


@pytest.mark.slow
@pytest.mark.parametrize("delta", ["0", "1e-6"])
@pytest.mark.parametrize("kept", KEPT)
def test_nothing_crosses_a_protected_attribute(kept: str, delta: str) -> None:
    """No table, factor or family has it with an attribute that it must not depend on."""
    restrictions = _protecting(KEPT[kept])
    model, allowed = _fitted(delta, restrictions=restrictions), restrictions.protection.kept["ill"]
    held = [{*table} for table in _asked(model) if "ill" in table]
    assert all(table <= {"ill", *allowed} for table in held)
    law = _law(model)
    assert ("ill",) == law.last
    assert not any("ill" in aim.attributes for aim in law.aims)
    assert not any("ill" in family.parents for family in law.network)
    [family] = [family for family in law.network if family.child == "ill"]
    assert {*family.parents} <= {*allowed}
    assert "Withheld: ill depends on" in model.statement.sentence


@pytest.mark.slow
@pytest.mark.parametrize("kept", KEPT)
def test_rows_of_a_saved_model_keep_the_independence(tmp_path: Path, kept: str) -> None:
    """Given what it may depend on, a protected column is independent of others in many rows."""
    restrictions = _protecting(KEPT[kept])
    _fitted(restrictions=restrictions).save(tmp_path / "m.zip")
    model = Model.load(tmp_path / "m.zip")
    rows = 60_000
    codes = model.law.draw(rows, np.random.default_rng(1))
    given = restrictions.protection.kept["ill"]
    for other in {*DOMAIN} - {"ill", *given}:
        statistic, freedom = _dependence(codes, "ill", other, given)
        assert statistic < freedom + 5 * np.sqrt(2 * freedom), other


def _rare(rows: int = 20_000) -> MemorySource:
    """Columns in pairs that are tied to each other, and a class of one in a hundred."""
    generator = np.random.default_rng(5)
    rare = generator.random(rows) < 0.01
    codes: dict[str, Codes] = {"class": rare.astype(np.uint8)}
    for number in range(6):
        tied = generator.integers(0, 4, rows)
        codes[f"a{number}"] = np.where(rare, 3, tied).astype(np.uint8)
        codes[f"b{number}"] = tied.astype(np.uint8)
    return MemorySource(Table(Domain.of(_RARE), codes, rows))


_RARE = Schema.parse(
    {
        "columns": {"class": {"kind": "integer", "min": 0, "max": 1}}
        | {f"{n}{i}": {"kind": "integer", "min": 0, "max": 3} for i in range(6) for n in "ab"}
    }
)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.3", "1"])
def test_a_target_gets_more_tables_that_hold_it(epsilon: str) -> None:
    """A rare class moves no error beyond its noise: only a target has all of its pairs measured."""
    found = {}
    for target in (None, "class"):
        method = seeded(AdaptiveMarginals(_RARE, epsilon=epsilon, delta="1e-6", target=target), 1)
        asked = _asked(method.fit(_rare(), ledger=None).model_)
        found[target] = {frozenset(t) for t in asked if len(t) > 1 and "class" in t}
    pairs = {frozenset(("class", name)) for name in _RARE.columns if name != "class"}
    assert pairs <= found["class"]
    assert not pairs <= found[None]
    assert len(found[None]) < len(found["class"])


@pytest.mark.slow
def test_rows_without_protection_are_dependent() -> None:
    """The test of independence sees what protection withholds."""
    codes = _fitted().law.draw(60_000, np.random.default_rng(1))
    statistic, freedom = _dependence(codes, "ill", "age", ("income",))
    assert statistic > 100 * freedom


def _dependence(
    codes: Mapping[str, Codes], one: str, other: str, given: Attributes
) -> tuple[float, int]:
    """Pearson's statistic of two columns within every configuration of others, and its freedom."""
    sizes = [DOMAIN[one], DOMAIN[other]]
    which = np.zeros(len(codes[one]), np.int64)
    for name in given:
        which = which * DOMAIN[name] + codes[name]
    statistic, freedom = 0.0, 0
    for number in np.unique(which):
        held = which == number
        cells = codes[one][held].astype(np.int64) * sizes[1] + codes[other][held]
        counts = np.bincount(cells, minlength=sizes[0] * sizes[1]).reshape(sizes)
        expected = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True) / counts.sum()
        seen = expected > 0
        statistic += float(((counts - expected)[seen] ** 2 / expected[seen]).sum())
        freedom += (sizes[0] - 1) * (sizes[1] - 1)
    return statistic, freedom


@pytest.mark.slow
def test_conditions_keep_the_independence() -> None:
    """Rows under conditions are chosen first too, and a condition on the column itself holds."""
    model = _fitted(restrictions=_protecting(None))
    rows = model.sample(40_000, seed=1, where="age >= 1")
    codes = {n: np.asarray(rows[n].to_pylist(), np.uint8) for n in ("ill", "age", "income")}
    statistic, freedom = _dependence(codes, "ill", "age", ("income",))
    assert statistic < freedom + 5 * np.sqrt(2 * freedom)
    ill = model.sample(100, seed=1, where="age = 2, ill = 1")
    assert ({1}, {2}) == ({*ill["ill"].to_pylist()}, {*ill["age"].to_pylist()})


@pytest.mark.slow
def test_a_constraint_with_the_target_holds_for_rows_drawn_last() -> None:
    """Protected codes are drawn from those that the constraint leaves."""
    constrained = Schema.parse(
        {"columns": COLUMNS, "constraints": ["not (income = 0 and ill = 2)"]}
    )
    method = AdaptiveMarginals(constrained, epsilon=5, restrictions=_protecting(None))
    codes = method.fit(_source(), ledger=None).model_.law.draw(5_000, np.random.default_rng(1))
    assert {0, 1} == {*codes["ill"][codes["income"] == 0].tolist()}


@pytest.mark.slow
def test_every_column_may_be_protected() -> None:
    """Nothing is left to re-weight, and all columns are drawn independently."""
    protection = Protection(protected=dict.fromkeys(DOMAIN, ()))
    model = _fitted(restrictions=Restrictions(protection=protection))
    codes = model.law.draw(60_000, np.random.default_rng(1))
    statistic, freedom = _dependence(codes, "age", "ill", ())
    assert statistic < freedom + 5 * np.sqrt(2 * freedom)


@pytest.mark.slow
def test_forbidden_edges_are_in_no_table() -> None:
    """Neither the pair nor anything larger that holds it is measured."""
    model = _fitted(restrictions=Restrictions(forbidden=(("age", "income"),)))
    assert any({"age", "ill"} <= {*table} for table in _asked(model))
    assert not any({"age", "income"} <= {*table} for table in _asked(model))


@pytest.mark.slow
def test_a_workload_makes_its_tables_better() -> None:
    """Without noise in the way, only the named pair is worth measuring when others count little."""
    others = [NamedSet((name,), 1e-9) for name in DOMAIN]
    workload = Workload((NamedSet(("sex", "job"), 100.0), *others))
    asked = {frozenset(t) for t in _asked(_fitted(workload=workload)) if len(t) > 1}
    assert asked
    assert all({"sex", "job"} <= table for table in asked)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"target": "town"}, "target 'town' is unknown"),
        ({"workload": Workload.of([["age", "town"]])}, "the workload names 'town'"),
        ({"restrictions": Restrictions(tiers=(("age",),))}, "tiers order them"),
        (
            {"target": "age", "restrictions": Restrictions(protection=Protection("income"))},
            "the targets are 'age' and 'income'; name one",
        ),
    ],
)
def test_what_cannot_be_is_refused_before_spending(given: dict[str, object], says: str) -> None:
    """All by the check that a fit begins with."""
    method = AdaptiveMarginals(SCHEMA, epsilon=Budget.unlimited(), **given)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=says):
        method.check()
