"""`understudy evaluate`: the page, its JSON, what may leave, and what is refused."""

from __future__ import annotations

import contextlib
import csv
import json
import sqlite3
from pathlib import Path

import pytest

from support.commands import SECRET, Desk, Result

PRIVATE = "This page itself is not for release: it was computed from private rows"
RELEASED = "Releasable: drawn under differential privacy"


_TOWNS = """
[columns.town]
kind = "categorical"
values = ["Köln", "Paris"]

[columns.ill]
kind = "boolean"
"""


def _page(desk: Desk) -> Path:
    return desk.folder / "report.html"


def _evaluate(desk: Desk, *more: object, synthetic: Path | None = None) -> Result:
    return desk.run(
        *("evaluate", desk.data, synthetic or desk.output, "--schema", desk.schema),
        *("-o", _page(desk), *more),
    )


def _restate(desk: Desk, changes: dict[str, object]) -> None:
    """Change the statement beside the synthetic rows."""
    beside = Path(f"{desk.output}.privacy.json")
    document = json.loads(beside.read_text())
    document["statement"] |= changes
    beside.write_text(json.dumps(document))


@pytest.fixture
def made(desk: Desk) -> Desk:
    """A working folder in which a stand-in has been made."""
    assert 0 == desk.synth("--rows", 100, "--seed", 1).code
    return desk


def test_a_page_for_the_owner(made: Desk) -> None:
    """It begins with the mark and the promise; the ledger hears nothing of it."""
    spent = made.spent
    result = _evaluate(made)
    assert 0 == result.code, result.err
    assert "not for release" in result.err
    page = _page(made).read_text(encoding="utf-8")
    assert (
        page.index(PRIVATE)
        < page.index("What is promised")
        < page.index("Distance from the real rows")
    )
    assert "at most e<sup>1</sup> times" in page
    assert spent == made.spent


def test_json_says_that_it_is_private(made: Desk) -> None:
    """One object with the keys that the contract names."""
    document = _evaluate(made, "--json").document
    assert True is document["private"]
    assert "private" in document["notice"]
    assert str(_page(made)) == document["report"]
    assert {"mean", "max", "floor", "ceiling"} <= document["tvd"]["1"].keys()
    assert {"1", "2", "3"} == document["tvd"].keys()
    assert document["prediction"]["reason"].startswith("no target is named")
    assert 1 == document["statement"]["epsilon"]
    assert [] == document["remarks"]
    assert ["name", "age"] == [column["name"] for column in document["columns"]]


@pytest.mark.slow
def test_attacks_are_asked_for_by_name(made: Desk) -> None:
    """The page gets their section, JSON their numbers, and the ledger hears nothing of it."""
    spent = made.spent
    attack = ("--sensitive", "name", "--known", "age", "--classifiers", "logistic-regression")
    document = _evaluate(made, *attack, "--json").document
    names = [table["name"] for table in document["disclosure"]["tables"]]
    assert ["original", "synthetic", "leaky"] == names
    assert 'id="disclosure"' in _page(made).read_text(encoding="utf-8")
    assert spent == made.spent
    assert None is _evaluate(made, "--json").document["disclosure"]


def test_nothing_is_promised_without_a_statement(made: Desk) -> None:
    """Rows alone promise nothing; a model speaks for its rows, and its network is drawn."""
    Path(f"{made.output}.privacy.json").unlink()
    assert 0 == _evaluate(made).code
    page = _page(made).read_text(encoding="utf-8")
    assert "no statement came with them" in page
    assert "understudy-network" not in page
    fitted = ("fit", made.data, "--schema", made.schema, "--epsilon", 1)
    made.run(*fitted, "-o", made.folder / "model.zip")
    assert 0 == _evaluate(made, "--model", made.folder / "model.zip").code
    page = _page(made).read_text(encoding="utf-8")
    assert "at most e<sup>1</sup> times" in page
    assert "understudy-network" in page


def test_a_statement_of_other_rows_is_remarked_upon(made: Desk) -> None:
    """A statement whose digest is not that of the rows promises nothing about them."""
    lines = made.output.read_text().splitlines(keepends=True)
    made.output.write_text("".join(lines[:50]))
    document = _evaluate(made, "--json").document
    [remark] = document["remarks"]
    assert "speaks of another file" in remark
    said = document["verdict"]["lights"]["privacy"]["sentence"]
    assert "the statement beside them belongs to other rows" in said
    assert "no statement came" not in _page(made).read_text(encoding="utf-8")
    assert "speaks of another file" in _page(made).read_text(encoding="utf-8")


def test_an_unbound_statement_is_held_against_the_number_of_rows(made: Desk) -> None:
    """Version 0.1.0 wrote no digest; rows that it does not count may be others."""
    beside = Path(f"{made.output}.privacy.json")
    document = json.loads(beside.read_text())
    del document["statement"]["binding"]
    beside.write_text(json.dumps(document))
    lines = made.output.read_text().splitlines(keepends=True)
    made.output.write_text("".join(lines[:50]))
    [remark] = _evaluate(made, "--json").document["remarks"]
    assert "speaks of 100 rows, and out.csv has 49" in remark


@pytest.mark.slow
def test_predictions_are_printed(made: Desk) -> None:
    """A line for each learner and table, and the baseline, on the terminal."""
    asked = ("--target", "name", "--classifiers", "decision-tree", "--holdout", made.data)
    shown = _evaluate(made, *asked).out
    assert "predicting name" in shown
    lines = [line.split() for line in shown.splitlines() if "decision-tree" in line]
    assert {"real", "synthetic"} == {line[1] for line in lines}
    assert all(0 <= float(score) <= 1 for line in lines for score in line[2:])
    assert any(line.split()[:2] == ["baseline", "real"] for line in shown.splitlines())


@pytest.mark.slow
def test_predictions_have_reasons_instead_of_faults(made: Desk) -> None:
    """Sentences name a target of one class, classes never generated, and real rows held out."""
    one = made.folder / "one.csv"
    one.write_text("name,age\n" + "Ann,41\nAnn,12\n" * 30)
    result = _evaluate(
        made,
        *("--target", "name", "--classifiers", "decision-tree", "--holdout", made.data, "--json"),
        synthetic=one,
    )
    assert 0 == result.code, result.err
    prediction = result.document["prediction"]
    assert "same 'name'" in prediction["models"][0]["synthetic"]["reason"]
    assert ["Bob"] == prediction["never_generated"]
    assert prediction["overlap"]["is_more"]
    page = _page(made).read_text(encoding="utf-8")
    assert "never generated and cannot be learnt: Bob" in page
    assert "are in the real table too" in page


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (("--target", "shoe"), 2, "'shoe'"),
        (("--classifiers", "oracle"), 2, "classifier 'oracle' is unknown"),
        (("--model", "none.zip"), 4, "none.zip"),
        (("--holdout", "none.csv"), 4, "none.csv"),
        (("--seed", "-1"), 2, "seed"),
        (("--delta", "1e-6"), 2, "--delta is for released distances"),
        (("--sensitive", "name"), 2, "--known is not given"),
        (("--known", "name"), 2, "--sensitive is not given"),
        (("--sensitive", "shoe", "--known", "age"), 2, "'shoe'"),
        (("--sensitive", "name", "--known", "age, name"), 2, "'name'"),
        (("--release-epsilon", "1", "--known", "age"), 2, "--known is for the owner's page"),
        (("--release-epsilon", "0"), 2, "epsilon is 0"),
        (("--release-epsilon", "much"), 2, "epsilon is 'much'"),
        (("--release-epsilon", "1e-9"), 2, "would drown any table"),
        (("--release-epsilon", "1", "--target", "name"), 2, "--target is for the owner's page"),
        (("--release-epsilon", "1", "--neighbours", "kin"), 2, "neighbours is 'kin'"),
        (("--release-epsilon", "1", "--rows-per-person", "2"), 2, "person"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    made: Desk, more: tuple[str, ...], code: int, words: str
) -> None:
    """A sentence and an exit code; no page, and nothing is spent."""
    spent = made.spent
    result = _evaluate(made, *more)
    assert (code, "") == (result.code, result.out)
    assert words in result.err
    assert "Traceback" not in result.err
    assert not _page(made).exists()
    assert spent == made.spent


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("", "cannot be compared"),
        ("name,age\n", "it has no rows"),
        ("name,age\nEve,200\n", "none of its rows fits the schema"),
        ("name\nAnn\n", "'age'"),
        ("name,age\nAnn,4,5\n", "cannot be compared"),
        ("\x00\x01\x02", "cannot be compared"),
    ],
)
@pytest.mark.parametrize("side", ["real", "synthetic"])
def test_tables_that_cannot_be_compared(made: Desk, side: str, rows: str, words: str) -> None:
    """Whatever is wrong with a table is said of that table, with exit code 4."""
    (made.data if side == "real" else made.output).write_text(rows)
    result = _evaluate(made)
    assert 4 == result.code, result.err
    assert f"the {side} data cannot be compared" in result.err
    assert words in result.err
    assert not _page(made).exists()


@pytest.mark.parametrize("rows", ["", "name\nAnn\n", "name,age\nAnn,4,5\n", "\x00\x01\x02"])
def test_what_cannot_be_read_is_not_paid_for(made: Desk, rows: str) -> None:
    """A table that cannot be read is found out before the ledger hears of it."""
    made.data.write_text(rows)
    assert 4 == _evaluate(made, "--release-epsilon", 1).code
    assert {"people": 1.0} == made.spent


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"statement": {}}', "\x00", '{"statement": 3}'])
def test_a_damaged_statement_is_refused(made: Desk, text: str) -> None:
    """A file beside the rows that is not a statement is not passed over."""
    Path(f"{made.output}.privacy.json").write_text(text)
    result = _evaluate(made)
    assert 4 == result.code
    assert "is not a statement of synthetic rows" in result.err


def test_pages_end_in_html_and_replace_no_input(made: Desk) -> None:
    """Another suffix, an input, and a folder that is not there are refused."""
    for output, words in (
        (made.folder / "report.pdf", "must end in .html"),
        (made.folder / "nowhere" / "report.html", "cannot be written"),
    ):
        result = made.run(
            *("evaluate", made.data, made.output, "--schema", made.schema, "-o", output)
        )
        assert (2, True) == (result.code, words in result.err)


def test_no_cell_stands_in_messages(made: Desk) -> None:
    """Cells that the schema does not declare are in neither page nor JSON nor messages."""
    result = _evaluate(made, "--json")
    page = _page(made).read_text(encoding="utf-8")
    assert SECRET not in result.out + result.err + page


def test_real_tables_in_another_encoding(desk: Desk) -> None:
    """The owner's files are read in their encoding, the stand-in as UTF-8: as if all were UTF-8."""
    text = "town,ill\n" + "Köln,yes\n" * 30 + "Paris,no\n" * 20
    desk.schema.write_text(_TOWNS)
    desk.output.write_text("town,ill\nKöln,no\nParis,no\n", encoding="utf-8")
    desk.data.write_text(text, encoding="utf-8")
    attack = ("--sensitive", "ill", "--known", "town", "--classifiers", "none", "--json")
    expected = _evaluate(desk, *attack, "--holdout", desk.data).document
    desk.data.write_text(text, encoding="latin-1")
    refused = _evaluate(desk)
    assert (4, True) == (refused.code, "name it, for example --encoding cp1252" in refused.err)
    latin = ("--encoding", "latin-1", "--json")
    found = _evaluate(desk, *latin, *attack, "--holdout", desk.data).document
    for part in ("rows", "tvd", "disclosure"):
        assert expected[part] == found[part]
    assert 50 == found["rows"]["held-out"]["fitting"]
    released = _evaluate(desk, *latin, "--release-epsilon", 100_000, "--already-released").document
    assert expected["tvd"]["1"]["mean"] == pytest.approx(released["tvd"]["1"]["mean"], abs=1e-3)


# --- what may leave -----------------------------------------------------------------------------


def test_distances_that_may_leave(made: Desk) -> None:
    """The page has another mark, JSON says not private, and the ledger has the charges."""
    result = _evaluate(made, "--release-epsilon", "0.5", "--json")
    assert 0 == result.code, result.err
    document = result.document
    assert False is document["private"]
    assert {"1", "2"} == document["tvd"].keys()
    assert {"mean", "low", "high"} <= document["tvd"]["1"].keys()
    assert 0.5 == document["statement"]["epsilon"]
    assert 1 == document["synthetic"]["epsilon"]
    page = _page(made).read_text(encoding="utf-8")
    assert RELEASED in page
    assert PRIVATE not in page
    assert "ε = 1.5" in page
    assert {"people": 1.5} == made.spent


def test_what_is_released_is_all_that_a_page_holds(made: Desk) -> None:
    """Two tables with the same answers give the same page, whatever else is in them."""
    _evaluate(made, "--release-epsilon", "0.5")
    page = _page(made).read_text(encoding="utf-8")
    for word in ("floor: a resample of the real rows", "Learn from synthetic", "distributions"):
        assert word not in page


def test_rows_of_which_nothing_is_promised(made: Desk) -> None:
    """Nothing is released about them, unless someone says that they may leave."""
    Path(f"{made.output}.privacy.json").unlink()
    refused = _evaluate(made, "--release-epsilon", "0.5")
    assert 2 == refused.code
    assert "--already-released" in refused.err
    assert {"people": 1.0} == made.spent
    allowed = _evaluate(made, "--release-epsilon", "0.5", "--already-released", "--json")
    assert (0, None) == (allowed.code, allowed.document["synthetic"])


def test_the_promise_is_for_whom_the_rows_promise(made: Desk) -> None:
    """Neighbours are those of the synthetic rows' statement by default; persons must be given."""
    document = _evaluate(made, "--release-epsilon", "0.5", "--json").document
    assert "add-remove" == document["statement"]["neighbours"]
    assert "add-remove" == document["synthetic"]["neighbours"]
    again = ("--neighbours", "replace", "--json", "--force")
    other = _evaluate(made, "--release-epsilon", "1", *again)
    assert "replace" == other.document["statement"]["neighbours"]
    assert "Together they promise" not in _page(made).read_text(encoding="utf-8")
    persons = {"unit": "person with at most 2 rows", "rows_per_person": 2}
    _restate(made, persons | {"neighbours": "add-remove"})
    refused = _evaluate(made, "--release-epsilon", "0.5", "--force")
    assert (2, True) == (refused.code, "person with at most 2 rows" in refused.err)


def test_a_statement_that_promises_nothing_is_not_enough(made: Desk) -> None:
    """A study's rows are not private, and their statement says so."""
    _restate(made, {"private": False})
    refused = _evaluate(made, "--release-epsilon", "0.5")
    assert (2, True) == (refused.code, "their statement says so" in refused.err)


def test_a_limit_holds_for_what_is_released(made: Desk) -> None:
    """Beyond it: exit code 3, and no page."""
    made.run("ledger", "limit", "people", "--epsilon", "1.2")
    assert 3 == _evaluate(made, "--release-epsilon", "0.5").code
    assert not _page(made).exists()


def test_a_data_sheet_travels_with_its_own_statement(made: Desk) -> None:
    """It is written beside the page, bound to the same statement, and needs a paid summary."""
    sheet = made.folder / "sheet.md"
    refused = _evaluate(made, "--markdown", sheet)
    assert 2 == refused.code
    assert "--markdown is for released distances" in refused.err
    for name, words in (("sheet.txt", "must end in .md"), (str(made.data.name), "must end in .md")):
        spent = made.spent
        result = _evaluate(made, "--release-epsilon", 1, "--markdown", made.folder / name)
        assert (2, True) == (result.code, words in result.err), result.err
        assert spent == made.spent
    document = _evaluate(made, "--private", 1, "--markdown", sheet, "--json").document
    assert str(sheet) == document["markdown"]
    assert "## Verdict" in sheet.read_text(encoding="utf-8")
    assert 0 == made.run("verify", sheet).code
    assert {"privacy", "fidelity", "usefulness"} == document["verdict"]["lights"].keys()


def test_the_verdict_is_first_for_people_and_machines(made: Desk) -> None:
    """Its sentence begins the terminal's text and its key the JSON; predictions follow."""
    document = _evaluate(made, "--json").document
    assert "verdict" == next(iter(document))
    sentence = document["verdict"]["sentence"]
    shown = _evaluate(made)
    assert shown.out.replace("\n", " ").startswith(sentence)
    assert "no ε covers" in shown.err
    page = _page(made).read_text(encoding="utf-8")
    assert page.index('id="verdict"') < page.index('id="promise"')


def test_aggregates_are_read_before_any_row(made: Desk) -> None:
    """Answers of both tables in JSON; a line that cannot be read is refused with exit code 2."""
    listed = made.folder / "asked.txt"
    listed.write_text("# asked\ncount()\nmean(age)\n", encoding="utf-8")
    found = json.loads(_evaluate(made, "--aggregates", listed, "--json").out)["aggregates"]
    assert ["count()", "mean(age)"] == [each["aggregate"] for each in found]
    assert found[0]["real"] == pytest.approx(found[0]["synthetic"])
    shown = _evaluate(made, "--aggregates", listed)
    assert "within sampling error" in shown.out
    assert "mean(age)" in shown.out
    listed.write_text("mean(nobody)\n", encoding="utf-8")
    result = _evaluate(made, "--aggregates", listed)
    assert (2, True) == (result.code, "line 1: 'nobody' is not a column" in result.err)


def test_tables_of_databases_are_compared(made: Desk) -> None:
    """A table of an SQLite file is read as the same rows in text are, and paid for by its name."""
    database = _as_sqlite(made.data, made.folder / "private.db")
    tables = (made.output, "--schema", made.schema, "-o", _page(made))
    by_file, by_table = (
        json.loads(made.run("evaluate", *real, *tables, "--json").out)
        for real in ((made.data,), (database, "--table", "people"))
    )
    for part in ("rows", "columns", "tvd", "raw", "outliers"):
        assert by_file[part] == by_table[part]
    assert "a stand-in for people" in _page(made).read_text(encoding="utf-8")
    unnamed = made.run("evaluate", database, *tables)
    assert (2, True) == (unnamed.code, "--table" in unnamed.err)
    paid = made.run("evaluate", database, "--table", "people", *tables, "--release-epsilon", "1")
    assert 0 == paid.code, paid.err
    assert "spent on people" in paid.err


def _as_sqlite(rows: Path, database: Path) -> Path:
    """The rows of a CSV file as a table of texts."""
    with rows.open(encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    names = ", ".join(f'"{name}" text' for name in head)
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute(f"create table people ({names})")
        marks = ", ".join("?" * len(head))
        connection.executemany(f"insert into people values ({marks})", lines)
        connection.commit()
    return database
