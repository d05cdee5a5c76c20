"""`understudy plan`: what a budget can support, from a schema and a number of rows."""

from __future__ import annotations

import inspect
import re

import pytest

from support.commands import Desk
from understudy.cli.commands.plan import plan
from understudy.methods import registry


def test_a_plan_needs_no_data(desk: Desk) -> None:
    """It is made where there is no table, writes nothing, and leaves the ledger alone."""
    desk.data.unlink()
    result = desk.run("plan", "--schema", desk.schema, "--rows", 900, "--epsilon", 1)
    assert 0 == result.code, result.err
    assert "adaptive on 900 rows × 2 columns, epsilon = 1, add-remove neighbours" in result.out
    assert "Nothing was read and nothing was spent." in result.out
    assert {desk.schema.name} == desk.files


def test_there_is_no_argument_for_data() -> None:
    """The command has no way to name a table or a ledger."""
    assert not {"data", "table", "ledger", "dataset"} & set(inspect.signature(plan).parameters)


def test_help_lists_what_can_be_planned(desk: Desk) -> None:
    """`--method` lists the methods that a plan takes, and no others."""
    shown = " ".join(desk.run("plan", "--help").out.replace("│", " ").split())
    listed = shown.partition("Plan for this method: ")[2].partition(". ")[0]
    able = {name for name in registry.names() if registry.abilities(name).has_probabilities}
    words = set(re.findall(r"[a-z-]+", re.sub(r"\(.*?\)", "", listed)))
    assert {"auto", "or", *able} == words


@pytest.mark.slow
def test_a_plan_for_machines(desk: Desk) -> None:
    """`--json` prints one object with the keys that the contract names."""
    asked = ("--rows", 900, "--epsilon", "0.5", "--delta", "1e-6", "--method", "independent")
    result = desk.run("plan", "--schema", desk.schema, *asked, "--json")
    document = result.document
    assert {
        *("method", "rows", "columns", "epsilon", "epsilon_exact", "delta", "delta_exact"),
        *("unit", "neighbours", "stages", "families", "error", "outlook", "cost", "basis"),
        "privacy",
    } == set(document)
    assert ("independent", 900, 2, 0.5, None) == tuple(
        document[key] for key in ("method", "rows", "columns", "epsilon", "families")
    )
    assert [0.1, 0.3, 0.5, 1, 3, 10] == [line["epsilon"] for line in document["outlook"]]
    assert document["error"] == document["outlook"][2]
    band = document["error"]["2-way"]
    assert {"expected", "low", "high", "lowest", "highest"} == set(band)
    assert band["lowest"] <= band["low"] <= band["expected"] <= band["high"] <= band["highest"]
    # Two columns have no three-way table.
    assert document["error"]["3-way"] is None
    seconds, held = {"fit_seconds", "sample_seconds"}, {"row_bytes", "table_bytes", "pool_bytes"}
    assert seconds | held == set(document["cost"])
    assert {"noise", "error", "cost"} == set(document["basis"])
    [stage] = document["stages"]
    assert (2, 20, False) == tuple(stage[key] for key in ("questions", "cells", "rehearsed"))
    assert 0 < stage["noise"]["least"] <= stage["noise"]["most"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rows", 0, "--epsilon", 1), "rows is 0; a plan is for 1 to"),
        (("--rows", 10**15, "--epsilon", 1), "rows is 1,000,000,000,000,000; a plan is for"),
        (("--rows", 10), "epsilon is not given"),
        (("--rows", 10, "--epsilon", "much"), "epsilon is 'much'"),
        (("--rows", 10, "--epsilon", 0), "epsilon is 0"),
        (("--rows", 10, "--epsilon", 1, "--method", "nist"), "nist needs a delta"),
        (("--rows", 10, "--epsilon", 1, "--method", "guess"), "method 'guess' is unknown"),
        (("--rows", 10, "--epsilon", 1, "--structure", "star"), "structure 'star' is unknown"),
        (("--rows", 10, "--epsilon", 1, "--neighbours", "kin"), "neighbours is 'kin'"),
        (("--rows", 10, "--epsilon", 1, "--error", 2), "error is 2; a distance is above 0"),
        (("--rows", 10, "--epsilon", 1, "--way", "2-way"), "give --error too"),
        (("--rows", 10, "--epsilon", 1, "--error", "0.1", "--way", "9-way"), "way is '9-way'"),
    ],
)
def test_what_cannot_be_planned_is_refused(
    desk: Desk, arguments: tuple[object, ...], words: str
) -> None:
    """A clear sentence, exit code 2, nothing on stdout."""
    result = desk.run("plan", "--schema", desk.schema, *arguments)
    assert (2, "") == (result.code, result.out)
    assert words in result.err
    assert result.err.startswith("error: ")


def test_a_plan_says_which_epsilon_an_error_needs(desk: Desk) -> None:
    """In words beside the curve, and in JSON."""
    asked = ("--rows", 900, "--epsilon", 1, "--method", "independent", "--error", 1)
    result = desk.run("plan", "--schema", desk.schema, *asked)
    assert "To expect a 2-way distance of at most 1, take epsilon = 0.1 or more" in result.out
    need = desk.run("plan", "--schema", desk.schema, *asked, "--json").document["need"]
    assert {"way": "2-way", "error": 1, "expected_epsilon": 0.1, "likely_epsilon": 0.1} == need


def test_an_error_alone_needs_no_epsilon(desk: Desk) -> None:
    """The question is which ε it takes; the plan is made around 1."""
    asked = ("plan", "--schema", desk.schema, "--rows", 900, "--method", "independent")
    result = desk.run(*asked, "--error", "0.5", "--way", "1-way")
    assert (0, True) == (result.code, "take epsilon = " in result.out)
    assert "epsilon = 1, " in result.out
    assert "epsilon is not given" in desk.run(*asked).err
