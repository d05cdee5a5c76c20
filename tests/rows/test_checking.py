"""The owner's check: exact numbers of cells and rows, the same for every way in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import understudy
from support.databases import duckdb_file
from understudy.errors import DataError
from understudy.facts.codec import Codec
from understudy.facts.codec.persons import Persons
from understudy.facts.schema import Schema
from understudy.rows.checking import DataCheck, check, findings
from understudy.rows.mending import MARKERS
from understudy.rows.sources import Access

SCHEMA = Schema.parse(
    {
        "columns": {
            "amount": {"kind": "float", "min": 0, "max": 100},
            "code": {"kind": "categorical", "values": ["00123", "00124"]},
            "day": {"kind": "date", "min": "2000-01-01", "max": "2030-01-01", "missing": []},
        }
    }
)
ROWS = {
    "amount": ["-$257.36", "12.5", "170", "NA", "3"],
    "code": ["00123", "00501", "00124", "00123", ""],
    "day": ["18.04.2021", "2021-04-18", "", "2021-04-18", "1999-01-01"],
}


def _numbers(found: DataCheck) -> list[tuple[Any, ...]]:
    return [
        (c.name, c.read, c.missing, c.clipped, c.undeclared, c.unreadable, c.lost, c.lost_first)
        for c in found.columns
    ]


EXPECTED = [
    ("amount", 2, 0, 1, 0, 2, 2, 2),
    ("code", 3, 1, 0, 1, 0, 2, 2),
    ("day", 2, 1, 1, 0, 1, 1, 0),
]


def test_every_cell_and_row_is_counted() -> None:
    """Cells are counted by cause, and rows by the first column that loses them."""
    found = check(ROWS, SCHEMA)
    assert EXPECTED == _numbers(found)
    assert (5, 4, False) == (found.rows, found.lost, found.fits)


def test_lost_rows_are_those_that_a_fit_drops() -> None:
    """The check loses the very rows that encoding drops."""
    encoding = Codec(SCHEMA).encode(pa.table(ROWS))
    assert encoding.dropped is not None
    assert int(encoding.dropped.sum()) == check(ROWS, SCHEMA).lost


def _written(folder: Path, way: str) -> tuple[Any, Access]:
    table = pa.table(ROWS)
    match way:
        case "csv":
            pc.write_csv(table, folder / "rows.csv")
            return folder / "rows.csv", Access()
        case "parquet":
            pq.write_table(table, folder / "rows.parquet")
            return folder / "rows.parquet", Access()
        case "pandas":
            return pd.DataFrame(ROWS), Access()
        case "polars":
            return pl.DataFrame(ROWS), Access()
        case _:
            return duckdb_file(folder / "rows.duckdb", table), Access(table="people")


@pytest.mark.parametrize("way", ["csv", "parquet", "pandas", "polars", "duckdb"])
def test_every_way_in_gives_the_same_numbers(way: str, tmp_path: Path) -> None:
    """Files, frames and databases of texts are checked alike."""
    data, access = _written(tmp_path, way)
    assert EXPECTED == _numbers(check(data, SCHEMA, access=access))


def test_blocks_add_up(tmp_path: Path) -> None:
    """A file that is read in many blocks gives the sums over its blocks."""
    repeated = {name: cells * 40_000 for name, cells in ROWS.items()}
    pc.write_csv(pa.table(repeated), tmp_path / "rows.csv")
    found = check(tmp_path / "rows.csv", SCHEMA, access=Access(memory=1))
    expected = [(name, *(40_000 * number for number in numbers)) for name, *numbers in EXPECTED]
    assert expected == _numbers(found)


def test_rows_without_a_name_are_counted() -> None:
    """Where persons are named, rows without a name are lost, and come first."""
    rows = {**ROWS, "who": ["a", "b", "", "c", None]}
    found = check(rows, SCHEMA, access=Access(persons=Persons("who", 2)))
    assert (2, 5) == (found.unnamed, found.lost)


def test_rows_that_fit_have_no_findings() -> None:
    """A clean table has nothing to mend."""
    found = check({"amount": ["1"], "code": ["00123"], "day": [""]}, SCHEMA)
    assert found.fits
    assert [] == list(findings(found))


def test_a_header_that_does_not_fit_is_refused() -> None:
    """Columns that are absent are named, as a fit would."""
    with pytest.raises(DataError, match="no column 'day'"):
        check({"amount": ["1"], "code": ["00123"]}, SCHEMA)


def test_cells_are_quoted_as_the_file_has_them(tmp_path: Path) -> None:
    """A decimal comma stays one, and a dot that is not read stays a single dot."""
    path = tmp_path / "x.csv"
    path.write_text("a;b\n250,5;1\n1.5;2\n12,5 kg;3\n7,25;4\n")
    columns = {
        "a": {"kind": "float", "min": 0.0, "max": 99.0},
        "b": {"kind": "integer", "min": 0, "max": 9},
    }
    schema = Schema.parse({"format": {"separator": ";", "decimal": ","}, "columns": columns})
    [found, _] = check(path, schema).columns
    assert {"outside": ("250,5",), "unreadable": ("1.5", "12,5 kg")} == found.examples


def test_examples_are_few_and_different() -> None:
    """At most three different cells are shown for each cause."""
    rows = {"amount": ["$1", "$1", "$2", "$3", "$4"], "code": ["00123"] * 5, "day": [""] * 5}
    amount = check(rows, SCHEMA).columns[0]
    assert {"unreadable": ("$1", "$2", "$3")} == amount.examples


REMEDIES = {
    "$3": "currency",
    "3 %": "percent",
    "3,5": "decimal comma",
    "1'200": "thousands",
    "NA": 'missing = ["NA"]',
    "abc": "correct the kind",
}


@pytest.mark.parametrize("cell", REMEDIES)
def test_a_notation_is_recognised(cell: str) -> None:
    """Each usual notation of numbers is called by its name."""
    schema = Schema.parse({"columns": {"x": {"kind": "float", "min": 0, "max": 9}}})
    [column] = check({"x": [cell, "1"]}, schema).columns
    assert REMEDIES[cell] in " ".join(column.remedies)


def test_no_remedy_holds_a_seen_value_or_bound() -> None:
    """Remedies for values and bounds name the code book and `schema infer`, and no cell."""
    rows = {"amount": ["170"] * 3, "code": ["00501", "00777", "00123"], "day": ["1950-06-01"] * 3}
    said = [sentence for column in check(rows, SCHEMA).columns for sentence in column.remedies]
    assert all("code book" in sentence and "schema infer" in sentence for sentence in said)
    assert [] == [s for s in said for seen in ("170", "00501", "00777", "1950") if seen in s]
    assert not any(re.search(r"(values|min|max|edges)\s*=", sentence) for sentence in said)


@pytest.mark.parametrize("marker", MARKERS)
def test_only_markers_of_the_public_list_are_proposed(marker: str) -> None:
    """A proposed missing marker comes from a list that is the same for every file."""
    schema = Schema.parse({"columns": {"x": {"kind": "categorical", "values": ["a"]}}})
    [column] = check({"x": ["a", marker, "Zürich"]}, schema).columns
    proposed = re.findall(r"missing = \[(.*?)\]", " ".join(column.remedies))
    assert [f'"{marker}"'] == proposed


def test_the_result_says_that_it_is_private() -> None:
    """Text, notebook and JSON of a check are marked."""
    found = understudy.check(ROWS, SCHEMA)
    assert "DataCheck(4 of 5 rows (80 %) do not fit the schema and are lost; not for release)" == (
        repr(found)
    )
    assert "NOT FOR RELEASE" in found._repr_html_()
    assert found.document()["private"] is True
    assert "NOT FOR RELEASE" in found.document()["notice"]
