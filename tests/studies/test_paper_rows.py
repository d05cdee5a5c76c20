"""The table of what the papers describe: no row is forgotten, and what it names exists."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from pages.papers import (
    VERDICTS,
    PaperRow,
    outdated_cells,
    outdated_studies,
    paper_rows,
    rows_table,
)

ROWS = paper_rows()
# Of what is left to do, verdicts may only become better: lower these numbers when they do.
MOST = {"wrong": 1, "missing": 0, "partly": 17}
# Rows on images, which have their own list of what is left.
IMAGES = {str(number) for number in range(110, 126)}


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
    """A command and numbers; ten rows at the most, those on images apart."""
    left = [row for row in ROWS if row.verdict in MOST and row.name not in IMAGES]
    assert len(left) <= 10
    measured = re.compile(r"`understudy [^`]+`.*\d")
    assert [] == [row.name for row in left if not measured.search(row.why)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_a_row_names_exists(row: PaperRow) -> None:
    """Files and tests are there; only what is missing names none."""
    assert row.verdict == "missing" or (row.where and row.test)
    assert [] == [path for path in row.files if not path.is_file()]
    if row.test_file is None:
        return
    text = row.test_file.read_text(encoding="utf-8")
    function = row.test.partition("::")[2]
    assert not function or re.search(rf"^def {function}\(", text, re.MULTILINE)


def test_verdicts_of_outdated_records_are_marked() -> None:
    """A finding of a study whose cells are out of date says so; what is merely built does not."""
    outdated = {name for name, (count, _) in outdated_cells().items() if count}
    assert {name for row in ROWS for name in outdated_studies(row)} <= outdated
    for row in ROWS:
        assert bool(outdated_studies(row)) == ("are out of date)*" in row.line)
        assert row.verdict != "works" or not outdated_studies(row)


def test_the_table_counts_every_row() -> None:
    """The last line of the counts has 233 rows, and each row has a line."""
    table = rows_table().splitlines()
    total = next(line for line in table if line.startswith("| together |"))
    assert "233" == total.split("|")[2].strip()
    assert len(ROWS) == sum(bool(re.match(r"\| [ANSX]?\d+ \|", line)) for line in table)
