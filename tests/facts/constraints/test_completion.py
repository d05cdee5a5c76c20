"""Contradictions are found exactly where there are some, and named."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import assume, given

from support.constraints import Rule, allowed_cells, document_of, ruled_columns
from understudy.errors import CapacityError, SchemaError
from understudy.facts.constraints import completion
from understudy.facts.schema import Schema


def clash_in(columns: tuple[str, ...], rules: tuple[Rule, ...]) -> str | None:
    """What is said of a contradiction; None if there is none."""
    try:
        Schema.parse(document_of(columns, rules))
    except SchemaError as error:
        [problem] = error.problems
        return problem
    return None


@given(ruled_columns(most=4))
def test_a_contradiction_is_found_iff_no_row_is_left(
    ruled: tuple[tuple[str, ...], tuple[Rule, ...]],
) -> None:
    """Against the enumeration of all rows; and those named contradict each other."""
    columns, rules = ruled
    clash = clash_in(columns, rules)
    assert (clash is None) == allowed_cells(columns, rules).any()
    if clash is not None:
        assert "no row can satisfy" in clash
        named = tuple(rule for rule in rules if repr(rule.text) in clash)
        assert not allowed_cells(columns, named).any()


@given(ruled_columns(most=3))
def test_completable_is_what_enumeration_says(
    ruled: tuple[tuple[str, ...], tuple[Rule, ...]],
) -> None:
    """For the first attribute in any order: which codes some allowed row has."""
    columns, rules = ruled
    allowed = allowed_cells(columns, rules)
    assume(allowed.any())
    completions = completion.Completions(Schema.parse(document_of(columns, rules)).constraints)
    for part in completions.parts:
        for attribute in completion.attributes_of(part):
            axis = columns.index(attribute)
            others = tuple(i for i in range(allowed.ndim) if i != axis)
            possible = np.atleast_1d(allowed.any(axis=others))
            steps = completions.steps(part, attribute)
            for codes, left in zip(completions.classes(attribute), steps, strict=True):
                held = [code for code in range(allowed.shape[axis]) if codes >> code & 1]
                assert [left is not None] * len(held) == [bool(possible[code]) for code in held]


def test_only_those_that_clash_are_named() -> None:
    """A least set: bystanders are not accused."""
    columns = {"kids": {"kind": "integer", "min": 0, "max": 2}, "alive": {"kind": "boolean"}}
    constraints = [
        "if kids = 0 then alive = yes",
        "not (alive = yes)",
        "if alive = no then kids = 1",
        "not (kids = 1)",
    ]
    with pytest.raises(SchemaError) as caught:
        Schema.parse({"constraints": constraints, "columns": columns})
    assert (
        "constraints 'not (alive = yes)', 'if alive = no then kids = 1', 'not (kids = 1)': "
        "no row can satisfy all of this; change or remove one of them",
    ) == caught.value.problems


@pytest.mark.parametrize("name", "abcdef")
def test_one_impossible_part_makes_all_impossible(name: str) -> None:
    """Its place among parts that have nothing to do with it, or with each other, is irrelevant."""
    columns = {n + i: {"kind": "boolean"} for n in "abcdef" for i in "12"}
    bystanders = [f"if {n}1 = yes then {n}2 = yes" for n in "abcdef"]
    constraints = [*bystanders, f"if {name}1 = no then {name}2 = yes", f"not ({name}2 = yes)"]
    with pytest.raises(SchemaError) as caught:
        Schema.parse({"constraints": constraints, "columns": columns})
    [problem] = caught.value.problems
    assert 3 == problem.count(f"{name}2 =")
    assert all(f"{n}1 =" not in problem for n in "abcdef" if n != name)


def test_a_constraint_may_contradict_itself() -> None:
    """It forbids every row on its own."""
    with pytest.raises(SchemaError, match="change or remove it"):
        Schema.parse(
            {
                "constraints": ["not (alive in {yes, no})"],
                "columns": {"alive": {"kind": "boolean"}},
            }
        )


@pytest.mark.slow
def test_long_chains_and_wide_gates_are_quick() -> None:
    """Two hundred columns that follow each other, and as many that hang on one."""
    names = [f"c{i}" for i in range(200)]
    columns = {name: {"kind": "boolean", "missing": []} for name in names}
    chain = [f"if {a} missing then {b} missing" for a, b in itertools.pairwise(names)]
    gate = [f"if c0 = no then {name} missing" for name in names[1:]]
    start = time.process_time()
    for constraints in (chain, gate, [*chain, *gate, "not (c199 missing)"]):
        schema = Schema.parse({"constraints": constraints, "columns": columns})
        assert len(constraints) == len(schema.constraints)
    ends = ["not (c0 not missing)", "not (c199 missing)"]
    with pytest.raises(SchemaError, match="no row"):
        Schema.parse({"constraints": [*gate, *chain, *ends], "columns": columns})
    assert time.process_time() - start < 20


def test_what_is_too_entangled_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search is bounded, and the message says what to do."""
    monkeypatch.setattr(completion, "_MOST_SETS", 20)
    pigeons, holes = range(6), range(5)
    columns = {
        f"p{p}": {"kind": "categorical", "values": [str(hole) for hole in holes]} for p in pigeons
    }
    constraints = [
        f"not (p{a} = {hole} and p{b} = {hole})"
        for a, b in itertools.combinations(pigeons, 2)
        for hole in holes
    ]
    with pytest.raises(CapacityError, match=r"p0, p1, .* in more than 20 ways; declare fewer"):
        Schema.parse({"constraints": constraints, "columns": columns})
