"""The page as text: order, marks, escaping, and sections that appear when there is something."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from support.pages import CLINIC as SCHEMA
from support.pages import HOSTILE, clinic, clinic_attacked, clinic_rows, hard, little, released
from understudy.evaluation import evaluate
from understudy.evaluation.disclosure.membership import CAPTION
from understudy.evaluation.marginals.variation import Variation
from understudy.evaluation.report import evaluation_page
from understudy.evaluation.report.contents import tiles
from understudy.evaluation.report.released import together


def _sections(page: str) -> list[str]:
    return re.findall(r'<section id="(\w+)"', page)


def test_the_verdict_comes_first_and_limits_last() -> None:
    """Sections are in their order; the network is there because a model is."""
    page = evaluation_page(*clinic())
    order = ["verdict", "promise", "summary", "columns", "raw", "failures", "pairs", "network"]
    order += ["prediction", "analyses", "limits"]
    assert order == _sections(page)
    assert re.findall(r'href="#(\w+)"', page) == order


def test_little_is_told_in_little() -> None:
    """One column has no pairs, and rows without a statement promise nothing."""
    page = evaluation_page(*little())
    order = ["verdict", "promise", "summary", "columns", "raw", "network", "prediction"]
    order += ["analyses", "limits"]
    assert order == _sections(page)
    assert "Nothing is promised about these rows" in page


def test_disclosure_appears_when_there_were_attacks() -> None:
    """Its section has a place of its own before the limits, with the caption that must be there."""
    attacked = clinic_attacked()
    page = evaluation_page(*clinic(), disclosure=attacked)
    assert ["disclosure", "limits"] == _sections(page)[-2:]
    assert CAPTION.split(".")[0] in page
    assert "Attackers know age, grade of 300 real rows" in page
    vote = attacked.exposures[1].attacks[0].accuracy
    assert f"{vote:.3f}" in page[page.index('id="disclosure"') :]
    assert f"zero rule, {attacked.baseline:.3f}" in page


def test_names_and_values_are_escaped() -> None:
    """Texts of the schema and of file names never become markup."""
    page = evaluation_page(*hard(columns=12, rows=30))
    assert "<script" not in page
    assert HOSTILE not in page
    assert "&lt;script&gt;alert" in page


def test_pages_name_no_address() -> None:
    """Nothing to load: no address but the names of XML's own vocabularies, and a policy against."""
    page = evaluation_page(*clinic())
    assert {"http://www.w3.org/2000/svg"} == set(re.findall(r"https?://[^\s\"'<]+", page))
    assert not re.search(r"<(script|link|img|iframe)|url\(|@import", page)
    assert "default-src 'none'" in page


@pytest.mark.slow
def test_the_worst_columns_come_first() -> None:
    """Charts are in the order of distances, and all but twelve are folded."""
    found, subject = hard(columns=20, rows=60)
    page = evaluation_page(found, subject)
    distances = [float(d) for d in re.findall(r"<figcaption>Distance ([\d.]+);", page)]
    assert sorted(distances, reverse=True) == distances
    assert 20 == len(distances)
    assert "8 more columns, all with smaller distances" in page


def _tile_lines(value: float, floor: float, ceiling: float, *, ways: int = 2) -> list[str]:
    found, _ = clinic()
    pairs: Variation = found.variations[ways - 1]
    mean = replace(pairs.mean, value=value, resampled=floor, independent=ceiling)
    found = replace(found, variations=(replace(pairs, mean=mean),))
    return list(tiles(found)[0].lines)


@pytest.mark.parametrize(
    ("value", "floor", "ceiling", "words"),
    [
        (0.03, 0.02, 0.06, "25.0\u00a0% of the way from floor to ceiling"),
        (0.01, 0.02, 0.06, "as near as a resample of the real rows"),
        (0.07, 0.02, 0.06, "no nearer than independent columns"),
    ],
)
def test_where_the_rows_stand_is_told_in_words(
    value: float, floor: float, ceiling: float, words: str
) -> None:
    """Between the references, at the floor, or beyond the ceiling."""
    assert words in _tile_lines(value, floor, ceiling)


def test_no_part_of_the_way_where_there_is_no_way() -> None:
    """References that are all but one have nothing between them, and the page says so."""
    lines = _tile_lines(0.02, 0.02, 0.021)
    assert not any("way" in line for line in lines)
    assert "floor and ceiling are too near each other for rows to show where it is" in lines


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.015, "as near as a resample of the real rows"), (0.03, "1.5 times the floor")],
)
def test_single_columns_have_a_floor_and_no_ceiling(value: float, words: str) -> None:
    """Columns drawn independently keep their own tables."""
    lines = _tile_lines(value, 0.02, 0.02, ways=1)
    assert ["floor 0.020", words] == lines[:2]


def test_a_released_page_holds_what_was_released() -> None:
    """Every number of the real rows on it is one of the summary; the real file is not named."""
    release = released()
    page = release.page()
    assert "Releasable" in page
    assert "not for release" not in page
    assert "real.csv" not in page
    assert set(release.document()["columns"]) == set(SCHEMA.learned)
    for name, found in release.summary.columns.items():
        assert f"<td>{name}</td>" in page
        assert f"{found.value:.3f}" in page


def test_costs_of_rows_and_summary_add_up() -> None:
    """Where both protect the same unit; statements of different units are not added."""
    statement = released().summary.statement
    assert "ε = 2" == together(statement, statement)
    bound = replace(statement.bound, delta=Fraction(1, 10**6))
    assert "ε = 2, δ = 1e-06" == together(replace(statement, bound=bound), statement)
    assert together(replace(statement, private=False), statement) is None


def test_yardsticks_need_synthetic_rows_alone() -> None:
    """A resample of the synthetic rows is nearer to them than independent columns are."""
    held = released().yardsticks
    for floor, ceiling in (held[2], held[3]):
        assert floor is not None
        assert ceiling is not None
        assert 0 < floor < ceiling


def test_columns_of_an_evaluation_are_those_of_the_metrics() -> None:
    """Shares add up, and distances are the one-way distances."""
    real, synthetic = clinic_rows(300, 1), clinic_rows(200, 2)
    found = evaluate(real, synthetic, SCHEMA, classifiers="none")
    worst = {d.columns: d.distance for d in found.variations[0].worst}
    assert list(SCHEMA.learned) == [d.column for d in found.distributions]
    for column in found.distributions:
        assert (1, 1) == pytest.approx((column.real.sum(), column.synthetic.sum()))
        assert worst[(column.column,)] == pytest.approx(column.distance)
        assert column.distance == pytest.approx(abs(column.real - column.synthetic).sum() / 2)


class _Tables(HTMLParser):
    """The cells of every table of a page, and the file behind the link that follows it."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[list[list[str]]] = []
        self.kept: list[list[list[str]]] = []
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        keys = dict(attrs)
        if tag == "table":
            self.shown.append([])
        elif tag == "tr":
            self.shown[-1].append([])
        elif tag in ("td", "th"):
            self._cell = []
        elif tag == "a" and "download" in keys:
            address = keys["href"] or ""
            text = unquote(address.removeprefix("data:text/csv;charset=utf-8,"))
            self.kept.append(list(csv.reader(io.StringIO(text))))
            assert (keys["download"] or "").endswith(".csv")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._cell is not None:
            self.shown[-1][-1].append(" ".join("".join(self._cell).split()))
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)


def test_tables_that_are_kept_hold_what_is_shown() -> None:
    """Each file behind a link is a table of the page, cell by cell, with its head."""
    tables = _Tables()
    tables.feed(evaluation_page(*little()))
    shown = [[tuple(line) for line in table] for table in tables.shown]
    kept = [[tuple(" ".join(c.split()) for c in line) for line in table] for table in tables.kept]
    assert len(kept) > 3
    assert [] == [table for table in kept if table not in shown]
