"""Checks of skeletons: what findings could contradict is refused before anything is paid for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from understudy.errors import SchemaError, UsageError
from understudy.facts.schema import Schema
from understudy.methods.discover.skeleton_checks import (
    check_steps_of,
    checked_lengths,
    checked_shares,
    refuse_constraints_on,
    refuse_forms_of,
    types_apart,
    without_key,
)


def test_keys_of_skeletons_are_taken_apart() -> None:
    """The key leaves every column that has it; what is not a table stays as it is."""
    columns = {"a": {"kind": "id", "share": 2}, "b": {"kind": "id"}, "c": 3}
    assert ({"a": 2}, {"a": {"kind": "id"}, "b": {"kind": "id"}, "c": 3}) == without_key(
        "share", columns
    )


@pytest.mark.parametrize("lengths", [[2, 1], [4, 3, 2, 1], [7]])
def test_lengths_that_fall_are_kept(lengths: list[int]) -> None:
    """One to four whole numbers that fall are the lengths of prefixes."""
    assert {"town": tuple(lengths)} == checked_lengths({"town": lengths}, ["town"])


@pytest.mark.parametrize("lengths", [[], [1, 2], [2, 2], [5, 4, 3, 2, 1], [0], [1.0], "21"])
def test_other_lengths_are_refused(lengths: object) -> None:
    """The refusal shows what a list of lengths looks like."""
    with pytest.raises(SchemaError, match=r"prefix_lengths is .*such as \[2, 1\]"):
        checked_lengths({"town": lengths}, ["town"])


def test_shares_are_exact() -> None:
    """A share is the fraction that its text says."""
    assert {"age": Fraction(1, 10)} == checked_shares({"age": 0.1}, [], ["age"])


@pytest.mark.parametrize(
    ("share", "asked", "words"),
    [
        (0, ["age"], "it must be a number above 0 and at most 1000"),
        (1001, ["age"], "it must be a number above 0 and at most 1000"),
        ("2", ["age"], "it must be a number above 0 and at most 1000"),
        (2, [], "nothing is learned; remove it"),
    ],
)
def test_other_shares_are_refused(share: object, asked: list[str], words: str) -> None:
    """A share is of something that is learned, and within bounds."""
    with pytest.raises(SchemaError, match=words):
        checked_shares({"age": share}, asked, [])


def test_constraints_on_what_is_learned_are_refused() -> None:
    """What is found could contradict them, once it is paid for."""
    columns = {name: {"kind": "boolean"} for name in ("smokes", "coughs")}
    text = "not (smokes = true and coughs = true)"
    schema = Schema.parse({"columns": columns, "constraints": [text]})
    refuse_constraints_on(schema, {"age"})
    with pytest.raises(UsageError, match="'coughs', which is to be learned"):
        refuse_constraints_on(schema, {"coughs"})


def test_steps_of_whole_numbers_to_be_learned_are_refused() -> None:
    """Bins of real numbers are cut at their steps; those of whole numbers cannot be."""
    refuse_forms_of({"age": {"kind": "float", "step": 0.5}}, {"age"})
    with pytest.raises(UsageError, match="'age' declares step"):
        refuse_forms_of({"age": {"kind": "integer", "step": 5}}, {"age"})


def test_steps_that_no_column_could_have_are_refused() -> None:
    """The range is not known yet, and the steps are checked all the same."""
    check_steps_of({"age": {"kind": "float", "decimals": 2}})
    with pytest.raises(SchemaError, match="decimals"):
        check_steps_of({"age": {"kind": "float", "decimals": -1}})


def test_types_that_depend_on_findings_wait() -> None:
    """Numeric types of columns to be learned are set aside, those of texts stay."""
    bodies = {"age": {"kind": "integer", "dtype": "int8"}, "town": {"kind": "categorical"}}
    assert ({"age": "int8"}, bodies | {"age": {"kind": "integer"}}) == types_apart(bodies, {"age"})
    with pytest.raises(SchemaError, match="column 'age'"):
        types_apart({"age": {"kind": "integer", "dtype": "Oslo"}}, {"age"})
