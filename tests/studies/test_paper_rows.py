"""The table of what the papers describe: no row is forgotten, and what it names exists."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from pages import papers
from pages.papers import (
    VERDICTS,
    PaperRow,
    outdated_cells,
    outdated_studies,
    paper_rows,
    rows_table,
)
from understudy_studies import STUDIES

ROWS = paper_rows()
# Of what is left to do, verdicts may only become better: lower these numbers when they do.
MOST = {"wrong": 0, "missing": 0, "partly": 5}


def test_every_row_is_there_once() -> None:
    """AAU has 37 rows, NIST 38, SBA 31, two are across papers, and the theses have 125."""
    expected = [f"A{i}" for i in range(1, 38)] + [f"N{i}" for i in range(1, 39)]
    expected += [f"S{i}" for i in range(1, 32)] + ["X1", "X2"] + [str(i) for i in range(1, 126)]
    assert expected == [row.name for row in ROWS]
    assert 233 == len({row.name for row in ROWS})


def test_verdicts_are_of_the_list_and_only_improve() -> None:
    """A verdict is one of eight; what is not simply done has a reason."""
    assert {row.verdict for row in ROWS} <= set(VERDICTS)
    done = ("works", "reproduced")
    assert [] == [row.name for row in ROWS if row.verdict not in done and not row.why]
    counts = Counter(row.verdict for row in ROWS)
    assert {verdict: counts[verdict] for verdict in MOST if counts[verdict] > MOST[verdict]} == {}


def test_what_is_left_has_a_measured_reason() -> None:
    """A command and numbers; ten rows at the most."""
    left = [row for row in ROWS if row.verdict in MOST]
    assert len(left) <= 10
    measured = re.compile(r"`understudy [^`]+`.*\d")
    assert [] == [row.name for row in left if not measured.search(row.why)]


# Rows that stay although their reason states a cost below two hours, and why; may only shrink.
CHEAP = {
    "43": "figures 3.4 and 3.5 have the paper's 100 runs; those on Diabetes were not run 20 times",
    **dict.fromkeys(("116", "120"), "gan-mnist was not run again at the other budgets"),
}


def test_what_could_be_measured_within_two_hours_is_not_left() -> None:
    """A reason whose stated cost is below two hours is not one, but for those that are listed."""
    left = [row for row in ROWS if row.verdict in MOST]
    cheap = [row.name for row in left if 0 < stated_seconds(row.why) < 2 * 3600]
    assert list(CHEAP) == cheap


def test_costs_are_read_from_reasons() -> None:
    """The largest of all times that are stated counts, in whatever unit."""
    assert 42 * 60 == stated_seconds("382 seconds for its settings, and 42 minutes for 20")
    assert 3 * 3600 == stated_seconds("about 3 hours of a processor, 20 minutes of another")
    assert 0 == stated_seconds("the rows are not public")


def stated_seconds(reason: str) -> float:
    """The largest time that a reason states, 0 where it states none."""
    units = {"second": 1, "minute": 60, "hour": 3600}
    found = re.findall(r"(\d[\d,.]*) (?:processor )?(second|minute|hour)", reason)
    return max((float(n.replace(",", "")) * units[unit] for n, unit in found), default=0.0)


def _faults(row: PaperRow) -> list[str]:
    """List what a row names and is not there."""
    named = [*row.files, *([row.test_file] if row.test_file else [])]
    faults = [f"{path.name} is not a file" for path in named if not path.is_file()]
    if row.verdict != "missing" and not (row.where and row.test):
        faults.append("names no place or no test")
    function = row.test.partition("::")[2]
    if row.test_file is not None and row.test_file.is_file() and function:
        text = row.test_file.read_text(encoding="utf-8")
        if not re.search(rf"^def {function}\(", text, re.MULTILINE):
            faults.append(f"{function} is not a test of its file")
    return [f"{row.name}: {fault}" for fault in faults]


def test_what_rows_name_exists() -> None:
    """Files and tests are there; only what is missing names none."""
    assert [] == [fault for row in ROWS for fault in _faults(row)]


def test_a_row_that_names_what_is_not_there_is_found() -> None:
    """A wrong file, a wrong function and an empty place are each listed with the row."""
    row = next(row for row in ROWS if "::" in row.test)
    assert [f"{row.name}: names no place or no test"] == _faults(replace(row, where=()))
    gone = replace(row, where=("methods/gone.py",), test=f"{row.test}_gone")
    assert 2 == len(_faults(gone))
    assert [f"{row.name}: gone.py is not a file"] == _faults(replace(row, test="gone.py"))


def test_verdicts_of_outdated_records_are_marked() -> None:
    """A finding of a study whose cells are out of date says so; what is merely built does not."""
    outdated = {name for name, (count, _) in outdated_cells().items() if count}
    assert {name for row in ROWS for name in outdated_studies(row)} <= outdated
    for row in ROWS:
        assert bool(outdated_studies(row)) == ("are out of date)*" in row.line)
        assert row.verdict != "works" or not outdated_studies(row)


def test_a_table_without_outdated_records_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all records are of the present laws, nothing is marked and a sentence says it."""
    monkeypatch.setattr(papers, "outdated_cells", lambda: dict.fromkeys(STUDIES, (0, 5)))
    table = rows_table()
    assert "\nNo verdict rests on measurements made before a method" in table
    assert "out of date)*" not in table


def test_the_table_counts_every_row() -> None:
    """The last line of the counts has 233 rows, and each row has a line."""
    table = rows_table().splitlines()
    total = next(line for line in table if line.startswith("| together |"))
    assert "233" == total.split("|")[2].strip()
    assert len(ROWS) == sum(bool(re.match(r"\| [ANSX]?\d+ \|", line)) for line in table)
