"""What the rows are for: `--target`, `--workload` and rules without edges, and refusals of them."""

from __future__ import annotations

import json

import pytest

from support.commands import Desk

SCHEMA = """
columns.age = {kind = "integer", min = 0, max = 3}
columns.sex = {kind = "categorical", values = ["f", "m"]}
columns.ill = {kind = "boolean"}
columns.income = {kind = "integer", min = 0, max = 2}
"""
ROWS = "age,sex,ill,income\n" + "1,f,true,2\n2,m,false,0\n3,f,true,1\n" * 200
ADAPTIVE = ("--method", "adaptive")


@pytest.fixture
def clinic(desk: Desk) -> Desk:
    """A folder with a table of four columns, its schema and a workload."""
    desk.schema.write_text(SCHEMA)
    desk.data.write_text(ROWS)
    (desk.folder / "w.json").write_text(json.dumps([["age", "income"]]))
    return desk


@pytest.mark.slow
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_a_target_a_workload_and_a_protected_column(clinic: Desk, delta: str) -> None:
    """The adaptive method takes them, and the statement says what was withheld."""
    rules = ("--target", "income", "--protect", "ill", "--workload", clinic.folder / "w.json")
    result = clinic.synth(*ADAPTIVE, *rules, "--forbid", "age:sex", "--delta", delta, "--json")
    assert {"ill": ["income"]} == result.document["statement"]["protection"]["protected"]


@pytest.mark.parametrize(
    ("text", "says"),
    [("[", "is not JSON"), ('[["town"]]', "names 'town'"), ("[[]]", "does not list columns")],
)
def test_a_bad_workload_is_refused_before_spending(clinic: Desk, text: str, says: str) -> None:
    """The exit code is 2, and nothing is in the ledger."""
    path = clinic.folder / "w.json"
    path.write_text(text)
    result = clinic.synth(*ADAPTIVE, "--workload", path)
    assert (2, True) == (result.code, says in result.err)
    assert {} == clinic.spent


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (("--workload", "w.json", "--method", "nist"), "--workload is for adaptive"),
        (("--require", "age:sex", *ADAPTIVE), "--require is for nist and privbayes"),
        (("--tier", "age", *ADAPTIVE), "--tier is for nist and privbayes"),
        (("--structure", "tree", *ADAPTIVE), "--structure is for nist and privbayes"),
        (("--target", "town", *ADAPTIVE), "target: attribute 'town' is unknown"),
    ],
)
def test_options_of_other_methods_are_refused(
    clinic: Desk, option: tuple[str, ...], says: str
) -> None:
    """By name, before anything is read."""
    result = clinic.synth(*option)
    assert (2, True) == (result.code, says in result.err), result.err
