"""Settings that the papers have, on the command line: score, θ, shares, search, sampler."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from support.commands import Desk
from understudy.cli.options.network_learning import NetworkLearningOptions
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.federated.analyst.plan import Form
from understudy.jobs.collaboration import AnalystRequest, ListeningRequest, ProtocolRequest
from understudy.jobs.network_learning import GENETIC, NetworkLearningRequest
from understudy.jobs.network_rules import NetworkRequest

SCHEMA = """
columns.age = {kind = "integer", min = 0, max = 3}
columns.sex = {kind = "categorical", values = ["f", "m"]}
columns.ill = {kind = "boolean"}
columns.income = {kind = "integer", min = 0, max = 2}
"""
ROWS = "age,sex,ill,income\n" + "1,f,true,2\n2,m,false,0\n3,f,true,1\n" * 200
REPLACE = ("--neighbours", "replace")


@pytest.fixture
def clinic(desk: Desk) -> Desk:
    """A working folder with a table of four dependent columns."""
    desk.schema.write_text(SCHEMA)
    desk.data.write_text(ROWS)
    return desk


def _fit(desk: Desk, *arguments: object) -> dict[str, Any]:
    """What a fit of a network says in JSON."""
    where = ("--schema", desk.schema, "-o", desk.folder / "m.zip", "--epsilon", 20)
    result = desk.run("fit", desk.data, *where, *arguments, "--unchecked", "--force", "--json")
    assert 0 == result.code, result.err
    return result.document


def _events(document: dict[str, Any], mechanism: str = "") -> list[tuple[str, float]]:
    """The questions of a kind, and the part of ε = 20 that each cost."""
    return [
        (event["question"], event["epsilon"] * event.get("times", 1) / 20)
        for event in document["statement"]["events"]
        if mechanism in event["mechanism"]
    ]


@pytest.mark.parametrize(("score", "words"), [("R", "R"), ("MI", "mutual information")])
def test_a_score_by_its_name(clinic: Desk, score: str, words: str) -> None:
    """Under replace the statement's choices are by the score that was asked for."""
    document = _fit(clinic, "--method", "privbayes", "--score", score, *REPLACE)
    asked = [question for question, _ in _events(document, "permute and flip")]
    assert asked
    assert all(question.endswith(f"by {words}") for question in asked), asked


@pytest.mark.parametrize("share", ["0.1", "0.5"])
def test_the_structure_share_is_what_the_network_costs(clinic: Desk, share: str) -> None:
    """β of ε is charged for choices, no more and no less, and all of ε is spent."""
    document = _fit(clinic, "--method", "privbayes", "--structure-share", share, *REPLACE)
    chosen = [cost for _, cost in _events(document, "permute and flip")]
    assert float(share) == pytest.approx(sum(chosen))
    assert 1 == pytest.approx(sum(cost for _, cost in _events(document)))


def test_size_and_one_way_shares(clinic: Desk) -> None:
    """The number of rows costs its share, and single columns theirs of what is left."""
    shares = ("--size-share", "0.2", "--one-way-share", "0.5", "--degree", 0)
    costs = [cost for _, cost in _events(_fit(clinic, "--method", "privbayes", *shares))]
    assert [0.2, 0.4, 0.4] == pytest.approx([costs[0], sum(costs[1:5]), sum(costs[5:])])


def test_theta_caps_tables(clinic: Desk) -> None:
    """A very large θ leaves no table of two columns, and a small one leaves some."""
    for theta, edgeless in ((10_000, True), (1, False)):
        _fit(clinic, "--method", "nist", "--delta", "1e-6", "--theta", theta)
        network = clinic.run("inspect", clinic.folder / "m.zip", "--json").document["network"]
        assert edgeless == (not any(network.values())), (theta, network)


@pytest.mark.slow
def test_the_genetic_search_by_p_s_r_e(clinic: Desk) -> None:
    """The search takes the paper's four numbers, and no others are needed."""
    search = ("--population", 20, "--selected", 4, "--mutation", "0.5", "--generations", 5)
    document = _fit(clinic, "--structure", "genetic", *search)
    assert "privbayes" == document["method"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--score", "XX"), "score 'XX' is unknown; use TVD"),
        (("--score", "MI"), "score 'MI' has no sensitivity under add-remove; use TVD"),
        (("--theta", "0"), "theta is 0.0; it must be above 0, such as 4"),
        (("--structure-share", "1"), "structure share is 1; a share lies between 0 and 1"),
        (("--structure-share", "much"), "structure share is 'much'; give a finite number"),
        (("--one-way-share", "0.9"), "the shares add up to 1 or more; leave a part"),
        (("--structure-share", "0.2", "--degree", "0"), "there is no structure to learn"),
        (("--population", "9"), "--population is for the genetic search; add --structure genetic"),
        (("--structure", "genetic", "--selected", "999"), "999 of a population of 200 cannot be"),
        (("--structure", "genetic", "--mutation", "2"), "mutation is 2.0; it is a chance"),
        (("--theta", "4", "--method", "adaptive"), "--theta is for nist and privbayes"),
        (("--ignore", "age"), "no column is protected without a list; add --protect COLUMN"),
        (("--protect", "ill", "--ignore", "pay"), "--ignore: attribute 'pay' is unknown"),
    ],
)
def test_what_cannot_work_is_refused_unpaid(
    clinic: Desk, arguments: tuple[str, ...], words: str
) -> None:
    """Exit 2, a sentence with the way out, nothing spent, nothing written."""
    output = clinic.folder / "out.zip"
    asked = ("fit", clinic.data, "-o", output, "--schema", clinic.schema, "--epsilon", 1)
    result = clinic.run(*asked, *arguments)
    assert (2, "") == (result.code, result.out)
    assert words in result.err
    assert {} == clinic.spent
    assert "out.zip" not in clinic.files


def test_ignored_columns_are_no_parents() -> None:
    """A protected column may depend on all columns but those that are ignored."""
    asked = NetworkRequest(protect=["ill"], ignore="age,sex", target="income")
    protection = asked.restrictions(["age", "sex", "ill", "income", "town"]).protection
    assert {"ill": ("income", "town")} == protection.kept


def test_a_network_as_a_matrix_of_predictors(clinic: Desk) -> None:
    """`inspect -o FILE.csv` writes what `--structure FILE.csv` reads: the same parents."""
    _fit(clinic, "--method", "privbayes")
    model, matrix = clinic.folder / "m.zip", clinic.folder / "predictors.csv"
    network = clinic.run("inspect", model, "-o", matrix, "--json").document["network"]
    header, *lines = csv.reader(matrix.read_text().splitlines())
    marked = {
        line[0]: {name for name, mark in zip(header[1:], line[1:], strict=True) if mark == "1"}
        for line in lines
    }
    assert {child: set(parents) for child, parents in network.items()} == marked
    _fit(clinic, "--method", "privbayes", "--structure", matrix)
    again = clinic.run("inspect", model, "--json").document["network"]
    assert {c: set(p) for c, p in network.items()} == {c: set(p) for c, p in again.items()}


def _drawn(desk: Desk, sampler: str, *, rows: int = 300) -> list[str]:
    output = desk.folder / f"{sampler}.csv"
    asked = ("sample", desk.folder / "m.zip", "-o", output, "-n", rows, "--seed", 1)
    result = desk.run(*asked, "--sampler", sampler)
    assert 0 == result.code, result.err
    return output.read_text().splitlines()


@pytest.mark.slow
def test_samplers_by_name(clinic: Desk) -> None:
    """Three ways of drawing give rows of the schema, and differ from each other."""
    _fit(clinic, "--method", "privbayes")
    names = ("without-replacement", "with-replacement", "inconsistent")
    drawn = {name: _drawn(clinic, name) for name in names}
    assert {301} == {len(lines) for lines in drawn.values()}
    assert 3 == len({"".join(lines) for lines in drawn.values()})
    usual = clinic.folder / "usual.csv"
    clinic.run("sample", clinic.folder / "m.zip", "-o", usual, "-n", 300, "--seed", 1)
    assert usual.read_text().splitlines() == drawn["without-replacement"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--sampler", "dealt"), "sampler 'dealt' is unknown; use one of without-replacement"),
        (("--sampler", "inconsistent", "--where", "sex = f"), "--sampler is inconsistent"),
        (("--sampler", "with-replacement", "--replicates", "2"), "do not go together"),
    ],
)
def test_samplers_that_do_not_fit(clinic: Desk, arguments: tuple[str, ...], words: str) -> None:
    """Unknown names, conditions on inconsistent tables, and replicates are refused."""
    _fit(clinic, "--method", "privbayes")
    output = clinic.folder / "rows.csv"
    result = clinic.run("sample", clinic.folder / "m.zip", "-o", output, *arguments)
    assert (2, True) == (result.code, words in result.err), result.err
    assert not output.exists()


@pytest.mark.slow
def test_a_model_without_its_tables_has_no_inconsistent_rows(clinic: Desk) -> None:
    """`adaptive` has factors and no network of its own to draw released tables along."""
    _fit(clinic, "--method", "adaptive")
    asked = ("sample", clinic.folder / "m.zip", "-o", clinic.folder / "r.csv")
    result = clinic.run(*asked, "--sampler", "inconsistent")
    assert (2, True) == (result.code, "conditionals alone are not its law" in result.err)


def test_neighbours_are_grouped_as_the_schema_says() -> None:
    """`groups_of` is g: 100 values are grouped by tens until at most g² groups are left."""
    column = {"kind": "integer", "min": 0, "max": 99, "bins": 100}
    levels = {
        g: Domain.of(Schema.parse({"columns": {"a": {**column, **g_of}}})).levels("a")
        for g, g_of in ((None, {}), (5, {"groups_of": 5}), (10, {"groups_of": 10}))
    }
    assert {None: ("a", "a / 13"), 5: ("a", "a / 20"), 10: ("a",)} == levels


def _plan(folder: Path, **asked: object) -> object:
    schema = folder / "schema.toml"
    schema.write_text(SCHEMA)
    listening = ListeningRequest(listen="127.0.0.1:1", holders=2, holder_keys=[])
    protocol = ProtocolRequest(epsilon="1", **asked)  # type: ignore[arg-type]
    return AnalystRequest(
        schema=schema, output=folder / "m.zip", listening=listening, protocol=protocol
    ).plan


@pytest.mark.parametrize(
    ("asked", "field", "value"),
    [
        ({"structure_share": "0.4"}, "structure_share", Fraction(2, 5)),
        ({"one_way_share": "0.3"}, "one_way_share", Fraction(3, 10)),
        ({"score": "MI"}, "score", "MI"),
        ({"ballot": "scores"}, "ballot", "scores"),
        ({"protocol": "statistics", "learner": "tree"}, "learner", "tree"),
        ({"protocol": "model", "gathering": "union"}, "gathering", "union"),
        ({"as_printed": True}, "form", Form.plain()),
    ],
)
def test_an_analyst_hands_on_what_is_asked(
    tmp_path: Path, asked: dict[str, object], field: str, value: object
) -> None:
    """Every option of the theses' protocols reaches the plan of the run."""
    assert value == getattr(_plan(tmp_path, **asked), field)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--structure-share", "2"), "structure share is 2; a share lies between 0 and 1"),
        (("--protocol", "model", "--ballot", "scores"), "ballot is given, and it is for"),
        (("--gathering", "union"), "gathering is given, and it is for the protocol model"),
        (("--learner", "genetic"), "learner is given, and it is for statistics"),
        (("--learner", "best"), "learner is 'best'; use greedy, tree, genetic"),
        (("--as-printed", "--one-way-share", "0.2"), "the theses measure no one-way tables"),
    ],
)
def test_settings_of_other_protocols_are_refused(
    clinic: Desk, arguments: tuple[str, ...], words: str
) -> None:
    """Before anybody is asked, with the protocol that has the setting."""
    asked = ("analyst", "--schema", clinic.schema, "-o", clinic.folder / "m.zip", "--epsilon", 1)
    place = ("--listen", "127.0.0.1:1", "--holders", 1, "--holder-keys", clinic.folder)
    result = clinic.run(*asked, *place, *arguments)
    assert (2, True) == (result.code, words in result.err), result.err


@pytest.mark.slow
def test_a_plan_compares_shares(clinic: Desk) -> None:
    """Every β has its distance, the method's own comes first, and one is advised in words."""
    asked = ("plan", "--schema", clinic.schema, "--rows", 500, "--epsilon", 1, "-m", "privbayes")
    found = clinic.run(*asked, "--compare-shares", "--json").document["structure_shares"]
    shares = [each["structure_share"] for each in found["tried"]]
    assert [None, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7] == shares
    assert all(0 < each["3-way"] <= 1 for each in found["tried"])
    shown = clinic.run(*asked, "--compare-shares").out
    assert "structure share" in shown
    assert ("Take --structure-share" in shown) == (found["advised"] is not None)


@pytest.mark.slow
def test_a_plan_advises_a_protocol_for_holders(clinic: Desk) -> None:
    """In words and in JSON, from columns, rows and holders alone."""
    asked = ("plan", "--schema", clinic.schema, "--rows", 500, "--epsilon", 1, "-m", "independent")
    found = clinic.run(*asked, "--holders", 3, "--json").document["protocols"]
    assert (3, 1) == (found["holders"], found["degree"])
    shown = " ".join(clinic.run(*asked, "--holders", 3).out.split())
    least = found["statistics_from_epsilon"]
    assert f"from about epsilon = {least:.2g} on." in shown
    assert 2 == clinic.run(*asked, "--holders", 0).code


def test_shares_are_compared_for_networks_only(clinic: Desk) -> None:
    """A method without a network has no β."""
    asked = ("plan", "--schema", clinic.schema, "--rows", 500, "--epsilon", 1)
    result = clinic.run(*asked, "-m", "independent", "--compare-shares")
    assert (2, True) == (result.code, "learns no network" in result.err)


def test_only_what_is_given_is_changed() -> None:
    """Without P, S, r and e there is no search of one's own; one of them leaves the others."""
    assert None is NetworkLearningRequest().search("genetic")
    search = NetworkLearningOptions(selected=4).search("genetic")
    assert search is not None
    assert (4, 200, None, 2000) == tuple(
        getattr(search, name) for name in ("selected", *(n for n in GENETIC if n != "selected"))
    )
