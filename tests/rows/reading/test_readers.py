"""The parts of the readers: cells, packed bytes, workbooks, databases, and proposals."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import sqlite3
from pathlib import Path

import openpyxl
import polars
import pyarrow as pa
import pyarrow.feather
import pyreadstat
import pytest

from understudy.cli.standard_output import STANDARD_OUTPUT
from understudy.errors import DataError, OutputError, SchemaError
from understudy.facts.codec import Codec
from understudy.facts.file_format import FileFormat, TextDialect
from understudy.facts.schema import Schema
from understudy.models.sheet_writing import check_statistics_names, write_json_lines
from understudy.rows.reading.cells import spelled
from understudy.rows.reading.csv import TextFile, wrong_separator
from understudy.rows.reading.excel import excel_header
from understudy.rows.reading.feather import feather_bytes, feather_types
from understudy.rows.reading.files import declared_types
from understudy.rows.reading.json_lines import first_keys
from understudy.rows.reading.numbers import numeric_columns
from understudy.rows.reading.packed import read_some, unpacked_bytes
from understudy.rows.reading.proposals import SeenNotation, first_look, text_format
from understudy.rows.reading.sqlite import sqlite_columns
from understudy.rows.reading.statistics import statistics_columns, statistics_rows
from understudy.rows.reading.workbook_check import announced_bytes, check_workbook
from understudy.system.files.piped import PipedFile
from understudy.system.files.suffixes import packing_of, stem_of, suffix_of

CODEC = Codec(
    Schema.parse(
        {
            "columns": {
                "a": {"kind": "integer", "min": 0, "max": 9, "missing": [-1]},
                "b": {"kind": "categorical", "values": ["x", "y"]},
                "c": {"kind": "categorical", "values": [1, 2]},
                "d": {"kind": "date", "min": "2020-01-01", "max": "2020-12-31"},
            }
        }
    )
)


def test_cells_are_spelled_one_by_one() -> None:
    """A cell's text is the same whatever else its column has."""
    cells = [1, 2.5, 3.0, True, None, float("nan"), "x", b"\xff", "\ud800"]
    days = [dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4), dt.date(2020, 1, 2)]
    together = spelled([*cells, *days]).to_pylist()
    assert [text for cell in [*cells, *days] for text in spelled([cell]).to_pylist()] == together
    assert ["1", "2.5", "3", "true", None, None, "x"] == together[:7]
    assert ["2020-01-02", "2020-01-02T03:04:00", "2020-01-02"] == together[-3:]


def test_suffixes_are_told_by_their_ends() -> None:
    """Capitals do not count, and two suffixes may be one format."""
    names = ("A.CSV", "a.tsv.GZ", "a.csv.zip", "a.gz", ".csv", "a")
    assert [".csv", ".tsv.gz", ".csv.zip", "", "", ""] == [suffix_of(Path(n)) for n in names]
    assert ["", ".gz", ".zip", "", "", ""] == [packing_of(Path(n)) for n in names]
    assert ["A", "a", "a", "a.gz", ".csv", "a"] == [stem_of(Path(n)) for n in names]
    assert "-" == str(STANDARD_OUTPUT)


def test_numbers_are_those_of_numeric_columns() -> None:
    """Lists of numbers count, texts and dates do not; markers come along."""
    assert {"a": ("-1",), "c": ()} == numeric_columns(CODEC)


def test_what_a_packed_file_unpacks_to_is_counted_no_further_than_asked(tmp_path: Path) -> None:
    """Counting stops soon after the bound."""
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"abc\n" * 10**6))
    assert 4 * 10**6 == unpacked_bytes(path, most=10**9)
    assert 100 < unpacked_bytes(path, most=100) < 3 * 10**6
    assert b"ab" == read_some(pa.BufferReader(b"ab"), 9)


def test_a_header_shows_its_separator() -> None:
    """Names in quotes may hold the separator; a header of one name has none."""
    made = {text: TextFile(PipedFile(text.encode(), ".csv"), TextDialect()) for text in HEADERS}
    assert HEADERS == {text: file.other_separator() for text, file in made.items()}
    assert "give --separator 'tab'" in wrong_separator(made["a\tb\n"])
    assert "" == wrong_separator(made["a,b;c\n"])


HEADERS = {"a;b\n1;2\n": ";", "a,b;c\n": None, "a\tb\n": "\t", "a|b|c\n": "|", '"a;b"\n': None}


def test_a_format_is_checked_and_kept() -> None:
    """All faults are named at once, and what is sound is written as it was read."""
    with pytest.raises(SchemaError) as caught:
        FileFormat.parse({"colour": "red", "version": 2, "decimal": 3})
    assert 3 == len(caught.value.problems)
    with pytest.raises(SchemaError, match="separator is 'x'"):
        FileFormat(separator="x")
    grouped = FileFormat(thousands=".").over(FileFormat(decimal=","))
    assert (",", ".") == (grouped.dialect(".csv").decimal, grouped.dialect(".csv").thousands)
    with pytest.raises(SchemaError, match=r"both '\.'; give the other decimal mark"):
        FileFormat(thousands=".").dialect(".csv")
    given = FileFormat(separator="tab", decimal=",")
    assert given == FileFormat.parse(given.document())
    assert "\t" == given.dialect(".csv").separator
    assert FileFormat(separator=";", decimal=",") == FileFormat(separator=";").over(given)
    assert [",", "\t"] == [FileFormat().dialect(s).separator for s in (".csv.gz", ".txt.gz")]


def test_a_schema_keeps_its_format_and_free_keys() -> None:
    """A free key of that name that is not a table is someone else's; hashes stay as they were."""
    columns = {"a": {"kind": "boolean"}}
    plain = Schema.parse({"columns": columns})
    office = Schema.parse({"format": {"decimal": ","}, "columns": columns})
    other = Schema.parse({"format": "csv", "columns": columns})
    assert ["", ",", ""] == [s.format.decimal or "" for s in (plain, office, other)]
    assert plain.fingerprint == office.fingerprint
    assert "csv" == Schema.from_json(other.to_json()).extras["format"]
    assert "," == Schema.from_json(office.to_json()).format.decimal
    with pytest.raises(SchemaError, match="format: quotes is not a key"):
        Schema.parse({"format": {"quotes": "x"}, "columns": columns})


def test_a_workbook_is_looked_through_before_it_is_opened(tmp_path: Path) -> None:
    """Its bytes are as many as announced, and a sheet says where cells are merged."""
    path = tmp_path / "x.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.merge_cells("A4:B5")
    book.save(path)
    found = check_workbook(path)
    assert announced_bytes(path) == found.unpacked
    facts = found.members["xl/worksheets/sheet1.xml"]
    assert (False, 5) == (facts.unstored, facts.merged_until)
    with pytest.raises(DataError, match="merged cells"):
        excel_header(path, FileFormat())
    assert [] == [n for n in tmp_path.iterdir() if n != path]


def test_declared_types_are_read_without_rows(tmp_path: Path) -> None:
    """Feather, SQLite and SPSS say what their columns are."""
    table = pa.table({"a": [1], "b": ["x"], "d": [dt.date(2020, 1, 1)]})
    feather, database, spss = (tmp_path / f"x.{s}" for s in ("feather", "db", "sav"))
    pyarrow.feather.write_feather(table, feather)
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")
    connection.close()
    pyreadstat.write_sav(polars.from_arrow(table), str(spss))
    assert table.schema == feather_types(feather)
    assert {"a": pa.int64(), "b": pa.string(), "d": pa.date32()} == declared_types(feather)
    assert 0 < feather_bytes(feather, CODEC) < 1000
    assert {"a": "INTEGER", "b": "TEXT"} == sqlite_columns(database, "t")
    assert {"a": "number", "b": "string", "d": "date"} == statistics_columns(spss)
    assert 1 == statistics_rows(spss)


def test_first_rows_propose_a_format() -> None:
    """The header gives the separator; rows give marks that a person has to confirm."""
    text = "name;pay;born\nA;1.234,5;1.2.2020\nB;7,25;31.12.2019\n"
    place = PipedFile(text.encode(), ".csv")
    names, known = text_format(place, FileFormat())
    assert (["name", "pay", "born"], FileFormat(separator=";")) == (names, known)
    seen = first_look(place, FileFormat())
    expected = FileFormat(separator=";", decimal=",", thousands=".", unreviewed=True)
    assert expected == seen.format
    assert 1 == len(seen.remarks)


@pytest.mark.parametrize(
    ("cells", "kind", "keys"),
    [
        (["18.04.2021", "NA", "1.2.2020"], "date", {"format": "%d.%m.%Y", "missing": []}),
        (["18.04.2021", "?", ""], "date", {"format": "%d.%m.%Y", "missing": ["?"]}),
        (["70 kg", "--", "None"], "float", {"unit": "# kg", "missing": ["--", "None"]}),
        (["18-04-2021"], "date", {"format": "%d-%m-%Y"}),
        (["13/02/2021", "01/02/2021"], "date", {"format": "%d/%m/%Y"}),
        (["02/13/2021", "01/02/2021"], "date", {"format": "%m/%d/%Y"}),
        (["61.1%", "7%"], "float", {"percent": True}),
        (["-$257.36", "$3", "$1,234.50"], "float", {"unit": "$#"}),
        (["12,50 €", "-3 €"], "float", {"unit": "# €"}),
        (["70 kg", "65.5 kg"], "float", {"unit": "# kg"}),
    ],
)
def test_first_cells_propose_a_notation(
    cells: list[str], kind: str, keys: dict[str, str | bool | list[str]]
) -> None:
    """Formats of dates, percent signs and units, which the column can then be declared with."""
    text = "x;y\n" + "".join(f"{cell};1\n" for cell in cells)
    seen = first_look(PipedFile(text.encode(), ".csv"), FileFormat()).columns
    assert {"x": SeenNotation(kind, keys)} == seen
    low, high = ("2019-01-01", "2022-01-01") if kind == "date" else (0.0, 1.0)
    Schema.parse({"columns": {"x": {"kind": kind, "min": low, "max": high, **keys}}})


@pytest.mark.parametrize(
    ("cells", "decimal", "columns"),
    [
        (["12,5", "?", "3,0"], ",", {"x": SeenNotation("", {"missing": ["?"]})}),
        (["12,5", "NA", "", "3"], ",", {"x": SeenNotation("", {"missing": []})}),
        (["12,5 kg", "7,25 kg"], ",", {"x": SeenNotation("float", {"unit": "# kg"})}),
        (["€ 12,5", "€ 7,25"], ",", {"x": SeenNotation("float", {"unit": "€ #"})}),
        (["€12,5", "€7,25"], ",", {"x": SeenNotation("float", {"unit": "€#"})}),
        (["1.5", "?"], None, {"x": SeenNotation("", {"missing": ["?"]})}),
        (["asthma", "none"], None, {}),
        (["asthma", "?", "none"], None, {"x": SeenNotation("", {"missing": ["?"]})}),
        (["?", "?"], None, {}),
    ],
)
def test_markers_hide_no_decimal_comma_and_are_proposed(
    cells: list[str], decimal: str | None, columns: dict[str, SeenNotation]
) -> None:
    """Markers of missing cells are not numbers; words such as none may be values."""
    text = "x;y\n" + "".join(f"{cell};1\n" for cell in cells)
    seen = first_look(PipedFile(text.encode(), ".csv"), FileFormat())
    assert (decimal, columns) == (seen.format.decimal, seen.columns)


@pytest.mark.parametrize(
    "cells",
    [
        *(["01/02/2021"], ["20210418"], ["31.13.2021"], ["1.5"], ["70 kg", "65 g"], ["$3", "€3"]),
        *(["NA"], ["abc"], ["12:30"], ["7%", "8"], ["P1", "P2"]),
    ],
)
def test_cells_of_several_notations_propose_none(cells: list[str]) -> None:
    """What could be read in two ways is for the owner to say; a remark names the formats."""
    text = "x;y\n" + "".join(f"{cell};1\n" for cell in cells)
    assert {} == first_look(PipedFile(text.encode(), ".csv"), FileFormat()).columns


@pytest.mark.parametrize("text", ["a;b\n1,234;x\n", "a;b\n1.5;2,5\n", "a;b\n1;2\n", "a;b\n"])
def test_rows_that_leave_it_open_propose_nothing(text: str) -> None:
    """1,234 may be a thousand or one and a bit, and files with both marks are nobody's dialect."""
    seen = first_look(PipedFile(text.encode(), ".csv"), FileFormat(decimal="."))
    assert (None, False) == (seen.format.thousands, seen.format.unreviewed)


def test_keys_come_from_the_first_row() -> None:
    """A file of JSON lines has no other header."""
    assert ["b", "a"] == first_keys(PipedFile(b'\n{"b": 1, "a": 2}\n{"c": 3}\n', ".jsonl"))
    with pytest.raises(DataError, match="has no rows"):
        first_keys(PipedFile(b"\n", ".jsonl"))


def test_rows_become_json_lines() -> None:
    """Dates are texts, and missing cells are null."""
    sink = io.BytesIO()
    rows = pa.table({"d": [dt.date(2020, 1, 2), None], "n": ["é", '"']})
    assert 2 == write_json_lines([rows], sink)
    assert '{"d": "2020-01-02", "n": "é"}\n{"d": null, "n": "\\""}\n' == sink.getvalue().decode()


def test_names_that_a_format_cannot_hold_are_refused_early() -> None:
    """Statistics packages take letters, digits and underscores."""
    check_statistics_names(Path("x.sav"), ["age", "pay_2"])
    for name in ("two words", "1st", "a" * 65):
        with pytest.raises(OutputError, match="cannot be named in such a file"):
            check_statistics_names(Path("x.sav"), [name])
