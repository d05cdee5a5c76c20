"""What `synth`, `fit` and `plan` are asked to make of a network, and refusals of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import SECRET, Desk
from support.tiers import slow_but
from understudy.facts.protection import Protection
from understudy.jobs.network_rules import NetworkRequest
from understudy.methods.structure.restrict import Restrictions

SCHEMA = """
columns.age = {kind = "integer", min = 0, max = 3}
columns.sex = {kind = "categorical", values = ["f", "m"]}
columns.ill = {kind = "boolean"}
columns.income = {kind = "integer", min = 0, max = 2}
"""
ROWS = "age,sex,ill,income\n" + "1,f,true,2\n2,m,false,0\n3,f,true,1\n" * 200
PROTECTED = ("--structure", "genetic", "--target", "income", "--protect", "ill")


@pytest.fixture
def clinic(desk: Desk) -> Desk:
    """A working folder with a table of four dependent columns."""
    desk.schema.write_text(SCHEMA)
    desk.data.write_text(ROWS + f"1,f,{SECRET},2\n")
    return desk


def _fit(desk: Desk, *arguments: object) -> dict[str, list[str]]:
    """The network that a fit gives: each attribute's parents."""
    model = desk.folder / "m.zip"
    where = ("--schema", desk.schema, "-o", model, "--epsilon", 50)
    result = desk.run("fit", desk.data, *where, *arguments)
    assert 0 == result.code, result.err
    network: dict[str, list[str]] = desk.run("inspect", model, "--json").document["network"]
    return network


@pytest.mark.parametrize("delta", slow_but({0}, [0, "1e-6"]))
def test_a_protected_column(clinic: Desk, delta: object) -> None:
    """It has the target for its only parent and no children, and the statement says so."""
    result = clinic.synth(*PROTECTED, "--delta", delta, "--quasi-identifiers", "age,sex", "--json")
    statement = result.document["statement"]
    assert {"ill": ["income"]} == statement["protection"]["protected"]
    assert ["age", "sex"] == statement["protection"]["quasi_identifiers"]
    assert "Withheld: ill depends on income alone" in statement["sentence"]
    network = _fit(clinic, *PROTECTED, "--delta", delta)
    assert (["income"], []) == (network["ill"], network["income"])
    assert all("ill" not in parents for parents in network.values())


def test_inspect_marks_the_columns(clinic: Desk) -> None:
    """A person sees which column is the target and which are protected."""
    _fit(clinic, *PROTECTED, "--quasi-identifiers", "age")
    lines = clinic.run("inspect", clinic.folder / "m.zip").out.splitlines()
    marks = {line.split()[0]: line.split()[-1] for line in lines if line.startswith(" ")}
    assert ("target", "protected", "quasi-identifier") == (
        *(marks["income"], marks["ill"]),
        marks["age"],
    )


@pytest.mark.parametrize("structure", ["greedy", "pairwise", "tree", "genetic"])
def test_edges_and_tiers(clinic: Desk, structure: str) -> None:
    """Required ones are there, forbidden and backward ones are not."""
    network = _fit(
        clinic,
        *("--structure", structure, "--require", "sex:income", "--forbid", "age:sex"),
        *("--tier", "age,sex", "--tier", "income"),
    )
    assert "sex" in network["income"]
    assert "age" not in network["sex"]
    assert {"ill", "income"}.isdisjoint(network["age"] + network["sex"])
    assert "ill" not in network["income"]


def test_a_matrix_of_predictors(clinic: Desk) -> None:
    """Parents are those that it marks, and no others."""
    matrix = clinic.folder / "matrix.csv"
    matrix.write_text(
        ",age,sex,ill,income\nage,0,0,0,0\nsex,1,0,0,0\nill,0,0,0,0\nincome,0,1,0,0\n"
    )
    assert {"age": [], "sex": ["age"], "ill": [], "income": ["sex"]} == _fit(
        clinic, "--predictors", matrix
    )


@pytest.mark.slow
def test_a_plan_takes_the_same(clinic: Desk) -> None:
    """A rehearsal asks as many scores as the fit would: none that protection rules out."""
    asked = ("plan", "--schema", clinic.schema, "--rows", 500, "--epsilon", 1, "--json")
    scores = [
        stage["questions"]
        for rules in (("--structure", "genetic"), PROTECTED)
        for stage in clinic.run(*asked, *rules).document["stages"]
        if stage["stage"] == "scores of sets"
    ]
    assert [6, 4] == scores


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--target", "income", "--protect", "income"), "target 'income' is protected"),
        (("--protect", "ill"), "protected 'ill': nothing says what it may depend on"),
        (("--target", "pay"), "the target: attribute 'pay' is unknown"),
        (("--require", "age"), "--require 'age': write a parent and a child, such as age:income"),
        (("--forbid", "age-sex"), "--forbid 'age-sex': write a parent and a child"),
        (("--require", "age:pay"), "required edge age:pay: attribute 'pay' is unknown"),
        (("--tier", "sex", "--require", "age:sex"), "'age' is in a later tier"),
        (("--predictors", "none.csv"), "predictors none.csv: cannot be read"),
        (("--target", "income", "--method", "independent"), "--target is for adaptive, "),
        (
            ("--quasi-identifiers", "age", "--method", "random"),
            "--quasi-identifiers is for adaptive, nist",
        ),
    ],
)
@pytest.mark.parametrize("command", ["synth", "fit", "plan"])
def test_what_contradicts_is_refused_unpaid(
    clinic: Desk, command: str, arguments: tuple[str, ...], words: str
) -> None:
    """Exit 2, a sentence that names it, nothing spent, nothing written."""
    output = clinic.output if command == "synth" else clinic.folder / "out.zip"
    where = ("--rows", 9) if command == "plan" else (clinic.data, "-o", output)
    asked = (command, *where, "--schema", clinic.schema, "--epsilon", 1)
    result = clinic.run(*asked, *arguments)
    assert (2, "") == (result.code, result.out)
    assert words in result.err
    assert {} == clinic.spent
    assert not {name for name in clinic.files if "out" in name}


def test_names_may_have_signs() -> None:
    """Colons, equals signs and commas in names are told from those between names."""
    known = ["a:b", "c", "d=e", "f,g"]
    asked = NetworkRequest(
        "c",
        protect=["d=e", "a:b=c"],
        require=["a:b:c"],
        forbid=["c:a:b"],
        tier=['c,"f,g"'],
    )
    assert Restrictions(
        required=(("a:b", "c"),),
        forbidden=(("c", "a:b"),),
        tiers=(("c", "f,g"),),
        protection=Protection("c", {"d=e": None, "a:b": ("c",)}),
    ) == asked.restrictions(known)


def test_nothing_to_depend_on_can_be_said() -> None:
    """An equals sign with nothing after it."""
    assert {"ill": ()} == NetworkRequest(protect=["ill="]).restrictions(
        ["ill"]
    ).protection.protected


def test_no_rules_are_no_restrictions() -> None:
    """A run without these options is as it was."""
    assert not NetworkRequest().restrictions(["ill"])
    assert [] == NetworkRequest().given
    assert ["--protect", "--predictors"] == NetworkRequest(
        protect=["a"], predictors=Path("x")
    ).given
