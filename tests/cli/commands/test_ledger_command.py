"""`understudy ledger`: totals by whom runs protect, and limits that say so."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from support.commands import Desk

OLD = Path(__file__).parents[2] / "data" / "ledger-0.1.0.jsonl"


def test_mixed_runs_are_shown_by_whom_they_protect(desk: Desk) -> None:
    """One under either relation: three under replace, one and a silent run under add-remove."""
    desk.synth("--neighbours", "replace")
    desk.synth("--neighbours", "add-remove")
    shown = desk.run("ledger", "show", "people").out
    assert "rows replaced: spent epsilon = 3, delta = 0" in shown
    assert "1 of other neighbours converted" in shown
    assert "rows added or removed: spent epsilon = 1, delta = 0" in shown
    assert "not included: 1 run, silent about these neighbours" in shown
    [dataset] = desk.run("ledger", "show", "--json").document["datasets"]
    assert [3, 1] == [total["epsilon"] for total in dataset["totals"]]
    assert 3 == dataset["spent"]["epsilon"]
    refused = desk.run("ledger", "limit", "people", "-e", 9)
    assert (2, True) == (refused.code, "promise nothing for rows added or removed" in refused.err)


def test_a_named_ledger_must_exist(desk: Desk) -> None:
    """A name mistyped does not look like a ledger on which nothing was spent; the default may."""
    for asked in (["--ledger", desk.folder / "nope.jsonl"], ["people", "--ledger", "nope.jsonl"]):
        shown = desk.run("ledger", "show", *asked)
        assert (2, "") == (shown.code, shown.out)
        assert "nope.jsonl: does not exist; name one that does" in shown.err
    assert "is empty" in desk.run("ledger", "show").out


def test_a_limit_refuses_by_name_and_spends_nothing(desk: Desk) -> None:
    """A run of the other relation, and one that is too large: exit code 3, no rows, no entry."""
    assert 0 == desk.run("ledger", "limit", "people", "-e", 4, "--delta", "1e-5").code
    book = desk.ledger.path.read_text()
    other = desk.synth("--neighbours", "replace")
    assert 3 == other.code
    assert "rows replaced, which promises nothing for rows added or removed" in other.err
    large = desk.synth("--delta", "1e-5", "--epsilon", 5)
    assert 3 == large.code
    assert "is left of the limit epsilon = 4" in large.err
    assert (book, False) == (desk.ledger.path.read_text(), desk.output.exists())


def test_a_limit_in_zcdp_says_what_still_fits(desk: Desk) -> None:
    """The ρ that is left, and the ε of a run that would take it."""
    told = desk.run("ledger", "limit", "people", "-e", 4, "--delta", "1e-5").err
    assert "counted in zCDP; left of it: rho = 0.3" in told
    assert "enough for one run of epsilon = 3.99 at delta = 1e-05" in told
    [dataset] = desk.run("ledger", "show", "people", "--json").document["datasets"]
    assert ("zCDP", "row", "add-remove") == tuple(
        dataset["limit"][key] for key in ("rule", "unit", "neighbours")
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--unit", "cat"), "use row or person or image or user"),
        (("--neighbours", "swap"), "use row or person"),
        (("--unit", "person"), "needs --person-id"),
        (("--unit", "row", "--person-id", "who"), "needs --person-id"),
        (("--accounting", "magic"), "use one of zcdp, basic"),
        (("--basic-epsilon", "1"), "leave them out, or give a --delta"),
        (("--delta", "1e-5", "--own-delta", "1e-5"), "set aside less"),
        (("--delta", "1e-5", "--basic-epsilon", "1", "--accounting", "basic"), "leave them out"),
    ],
)
def test_limits_that_cannot_be_are_refused(desk: Desk, options: tuple[str, ...], why: str) -> None:
    """By name, with the way out; the ledger stays empty."""
    result = desk.run("ledger", "limit", "people", "-e", 1, *options)
    assert (2, True) == (result.code, why in result.err)
    assert {} == desk.ledger.accounts()


def test_a_ledger_of_the_first_version_is_shown(desk: Desk) -> None:
    """Totals by relation, and a limit that names nobody."""
    shutil.copy(OLD, desk.ledger.path)
    shown = desk.run("ledger", "show", "patients").out
    assert "rows replaced: spent epsilon = 3, delta = 3.71829e-06" in shown
    assert "rows added or removed: spent epsilon = 1, delta = 1e-06" in shown
    refused = desk.synth("--dataset", "patients")
    assert (3, True) == (refused.code, "set it again with `ledger limit`" in refused.err)


def test_runs_fit_a_terminal_of_eighty_columns(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """No time and no amount is cut, and no line of the runs is wider, whatever they protect."""
    given = ("--method", "independent", "--delta", "1e-9", "--unchecked")
    desk.synth(*given, "--neighbours", "replace")
    desk.schema.write_text(desk.schema.read_text() + '\n[columns.who]\nkind = "id"\n')
    desk.synth("--method", "random", "--unchecked", data=_with_names(desk))
    asked = ("--person-id", "who", "--rows-per-person", 2, "--method", "independent", "--unchecked")
    desk.synth(*asked, data=_with_names(desk))
    monkeypatch.setenv("COLUMNS", "80")
    shown = desk.run("ledger", "show").out
    [account] = desk.run("ledger", "show", "--json").document["datasets"]
    table = shown[shown.index(" when ") :].splitlines()
    assert [] == [line for line in table if len(line) > 80]
    assert "…" not in shown
    times = [run["time"][:16].replace("T", " ") for run in account["runs"]]
    assert 3 == len(times)
    assert all(time in shown for time in times)
    assert all(name in shown for name in ("independent", "random", "1e-09"))


def _with_names(desk: Desk) -> Path:
    """The same rows of the same account, with a column that names persons."""
    path = desk.folder / "named" / desk.data.name
    path.parent.mkdir(exist_ok=True)
    path.write_text("name,age,who\n" + "".join(f"Ann,{n},p{n % 9}\n" for n in range(60)))
    return path


def test_a_limit_for_an_unknown_name_says_so(desk: Desk) -> None:
    """It may come before the first run, and it may be mistyped; the exit code is 0 either way."""
    assert "nothing in this ledger" not in desk.run("ledger", "limit", "people", "-e", 4).err
    mistyped = desk.run("ledger", "limit", "peopel", "-e", 4)
    assert (0, True) == (mistyped.code, "did you mean 'people'?" in mistyped.err)
    other = desk.run("ledger", "limit", "zoo", "-e", 4)
    assert "nothing in this ledger has the name 'zoo' yet" in other.err
    assert "nothing in this ledger" not in desk.run("ledger", "limit", "zoo", "-e", 5).err


def test_a_total_above_a_limit_in_zcdp_says_how_the_limit_counts(desk: Desk) -> None:
    """Basic composition may be above the limit; the line below says what the limit counts."""

    def shown() -> str:
        return " ".join(desk.run("ledger", "show", "people").out.split())

    for _ in range(2):
        assert 0 == desk.synth("--method", "independent", "--delta", "1e-6").code
    assert "a limit that is set before the first run can count in zCDP: epsilon = 1." in shown()
    desk.run("ledger", "limit", "people", "-e", "1.9", "--delta", "1e-5")
    assert "spent epsilon = 2, delta = 2e-06 (basic composition of 2 runs)" in shown()
    assert "the limit counts them in zCDP, where epsilon = 1." in shown()
    assert "a limit that is set before" not in shown()


def test_what_is_left_of_a_limit_in_zcdp_is_not_zero(desk: Desk) -> None:
    """The largest run that fits, in numbers that are not above their exact texts."""
    desk.run("ledger", "limit", "people", "-e", 4, "--delta", "1e-5", "--basic-epsilon", 1)
    [dataset] = desk.run("ledger", "show", "people", "--json").document["datasets"]
    left = dataset["remaining"]
    assert 2.99 < left["epsilon"] < 3
    assert (1e-5, 1.0) == (left["delta"], left["purse_epsilon"])
    assert Fraction(left["epsilon"]) <= Fraction(left["epsilon_exact"])
    refused = desk.synth("--delta", "1e-5", "--epsilon", 4)
    assert (3, 0) == (refused.code, desk.synth("--delta", "1e-5", "--epsilon", "2.99").code)


def test_a_name_that_the_ledger_does_not_know_is_refused(desk: Desk) -> None:
    """A typing error does not look like a dataset on which nothing was spent."""
    desk.synth()
    shown = desk.run("ledger", "show", "poeple")
    assert (2, "") == (shown.code, shown.out)
    assert "nothing has the name 'poeple'" in shown.err
    assert "people" in shown.err


def test_a_copy_is_a_copy(desk: Desk) -> None:
    """`export` says where spending continues, `doctor` that the copy is whole; it is not spent."""
    desk.synth()
    copy = desk.folder / "copy.jsonl"
    told = desk.run("ledger", "export", copy).err
    assert "which is only read; spending continues in" in told
    health = desk.run("doctor", "--ledger", copy)
    assert (0, True) == (health.code, "a copy that is only read, of" in health.out)
    refused = desk.run("ledger", "limit", "people", "-e", 9, "--ledger", copy)
    assert (3, True) == (refused.code, "is a copy, and nothing can be spent here" in refused.err)
