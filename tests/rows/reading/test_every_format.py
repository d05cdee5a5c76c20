"""Files of every format hold the same rows, read whole and in blocks, and written again."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyreadstat
import pytest

from support.sas import write_sas
from understudy.errors import CapacityError, DataError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.file_format import FileFormat
from understudy.facts.schema import Schema
from understudy.models.row_writing import write_rows
from understudy.rows.reading import column_names, read_blocks, read_rows
from understudy.rows.sources import Access, dataset_name, open_source
from understudy.rows.table import Table
from understudy.system.files.piped import PipedFile, read_piped

COLUMNS: dict[str, Any] = {
    "age": {"kind": "integer", "min": 0, "max": 99, "missing": []},
    "sex": {"kind": "categorical", "values": ["f", "m", "=x"], "missing": []},
    "pay": {"kind": "float", "min": 0.0, "max": 4000.0, "bins": 8, "missing": ["n.a."]},
    "born": {"kind": "date", "min": "2020-01-01", "max": "2020-12-31"},
    "alive": {"kind": "boolean"},
    "score": {"kind": "categorical", "values": [0.5, 1, 2], "missing": []},
}
SCHEMA = Schema.parse({"columns": COLUMNS})
CODEC = Codec(SCHEMA)
ROWS: list[tuple[Any, ...]] = [
    (41, "f", 1234.5, dt.date(2020, 3, 1), True, 0.5),
    (7, "m", None, dt.date(2020, 12, 31), False, 1),
    (None, "=x", 3999.25, dt.date(2020, 1, 1), True, 2),
    (99, None, 0.0, dt.date(2020, 7, 4), False, None),
]


def _table() -> pa.Table:
    columns = zip(*ROWS, strict=True)
    return pa.table({name: list(cells) for name, cells in zip(COLUMNS, columns, strict=True)})


def _text(separator: str = ",", decimal: str = ".") -> str:
    def cell(value: object) -> str:
        if value is None:
            return ""
        if isinstance(value, bool):
            return str(value).lower()
        return str(value).replace(".", decimal) if isinstance(value, float) else str(value)

    lines = [list(COLUMNS), *([cell(value) for value in row] for row in ROWS)]
    return "".join(separator.join(line) + "\n" for line in lines)


def _csv(path: Path) -> None:
    path.write_text(_text())


def _tabs(path: Path) -> None:
    path.write_text(_text("\t"))


def _gz(path: Path) -> None:
    path.write_bytes(gzip.compress(_text().encode()))


def _zst(path: Path) -> None:
    path.write_bytes(pa.compress(_text().encode(), "zstd", asbytes=True))


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", _text())
        archive.writestr("__MACOSX/._rows.csv", b"notes")


def _json(path: Path) -> None:
    rows = _table().to_pylist()
    path.write_text("".join(f"{json.dumps(row, default=str)}\n\n" for row in rows))


def _feather(path: Path) -> None:
    pyarrow.feather.write_feather(_table(), path, chunksize=2)


def _sqlite(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE people ({', '.join(COLUMNS)})")
        rows = [tuple(str(v) if isinstance(v, dt.date) else v for v in row) for row in ROWS]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.close()


def _excel(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(list(COLUMNS))
    for number, row in enumerate(ROWS):
        for place, value in enumerate(row):
            cell = sheet.cell(number + 2, place + 1, value)
            cell.data_type = "s" if value == "=x" else cell.data_type
    book.save(path)


def _sav(path: Path) -> None:
    pyreadstat.write_sav(pl.from_arrow(_table()), str(path))


def _dta(path: Path) -> None:
    pyreadstat.write_dta(pl.from_arrow(_table()), str(path))


def _sas(path: Path) -> None:
    cells = {name: column.to_pylist() for name, column in zip(COLUMNS, _table(), strict=True)}
    # SAS knows numbers and texts, and nothing else.
    write_sas({**cells, "alive": [str(cell).lower() for cell in cells["alive"]]}, path)


WRITERS: dict[str, Callable[[Path], None]] = {
    "rows.CSV": _csv,
    "rows.tsv": _tabs,
    "rows.txt": _tabs,
    "rows.csv.gz": _gz,
    "rows.csv.zst": _zst,
    "rows.csv.zip": _zip,
    "rows.jsonl": _json,
    "rows.ndjson": _json,
    "rows.feather": _feather,
    "rows.arrow": _feather,
    "rows.db": _sqlite,
    "rows.xlsx": _excel,
    "rows.sav": _sav,
    "rows.dta": _dta,
    "rows.sas7bdat": _sas,
}


def codes_of(rows: pa.Table, codec: Codec = CODEC) -> dict[str, list[int]]:
    """The codes of some rows."""
    return {name: codes.tolist() for name, codes in Table.of(codec.encode(rows)).codes.items()}


@pytest.fixture
def expected() -> dict[str, list[int]]:
    """The codes of the rows as a data frame has them."""
    return codes_of(read_rows(_table(), CODEC))


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_holds_the_same_rows(
    tmp_path: Path, name: str, expected: dict[str, list[int]]
) -> None:
    """Codes are those of a data frame with the same cells, whole and in blocks."""
    path = tmp_path / name
    WRITERS[name](path)
    table = "people" if name.endswith(".db") else None
    assert expected == codes_of(read_rows(path, CODEC, table=table))
    if table is None:
        blocks = [codes_of(block) for block in read_blocks(path, CODEC, memory=1 << 20)]
        assert expected == {n: [c for block in blocks for c in block[n]] for n in COLUMNS}
    assert "rows" == dataset_name(path)


def test_a_file_of_sas_is_what_another_reader_finds_in_it(tmp_path: Path) -> None:
    """The reader of pandas, which shares no code with ours, finds the same cells."""
    path = tmp_path / "rows.sas7bdat"
    _sas(path)
    found = pd.read_sas(path, encoding="utf-8")
    assert found["alive"].tolist() == ["true", "false", "true", "false"]
    assert found["born"].dt.date.tolist() == [row[3] for row in ROWS]
    numbers = read_rows(path, CODEC).select(["age", "pay"]).to_pandas()
    pd.testing.assert_frame_equal(found[["age", "pay"]], numbers)


WRITTEN = ["o.csv", "o.tsv", "o.txt", "o.csv.gz", "o.tsv.zst", "o.jsonl", "o.feather", "o.arrow"]


@pytest.mark.parametrize("name", [*WRITTEN, "o.parquet", "o.xlsx", "o.sav", "o.dta"])
def test_what_is_written_is_read_again(
    tmp_path: Path, name: str, expected: dict[str, list[int]]
) -> None:
    """Decoded rows come back as the same codes from every format that is written."""
    codes = {n: np.array(c, np.uint8) for n, c in expected.items()}
    rows = CODEC.decode(codes, generator=np.random.default_rng(0))
    path = tmp_path / name
    assert 4 == write_rows([rows.slice(0, 1), rows.slice(1)], path, CODEC)
    assert expected == codes_of(read_rows(path, CODEC))
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "spelling",
    [
        {"separator": ";", "decimal": ","},
        {"separator": "semicolon", "decimal": ",", "encoding": "utf-16"},
        {"separator": "|", "quote": "'", "encoding": "latin-1"},
        {"decimal": ",", "encoding": "utf-8-sig"},
        {"separator": "tab", "header_line": 3},
    ],
    ids=lambda spelling: "-".join(map(str, spelling.values())),
)
def test_output_is_spelled_as_the_schema_says(
    tmp_path: Path, spelling: dict[str, Any], expected: dict[str, list[int]]
) -> None:
    """What a schema with a format writes, the same schema reads."""
    codec = Codec(Schema.parse({"format": spelling, "columns": COLUMNS}))
    codes = {n: np.array(c, np.uint8) for n, c in expected.items()}
    rows = codec.decode(codes, generator=np.random.default_rng(0))
    write_rows([rows], tmp_path / "o.csv", codec)
    assert expected == codes_of(read_rows(tmp_path / "o.csv", codec), codec)


def test_a_byte_order_mark_is_written_once(tmp_path: Path) -> None:
    """A file that begins with a mark has none in its rows."""
    for encoding, mark in (("utf-8-sig", b"\xef\xbb\xbf"), ("utf-16", b"\xff\xfe")):
        codec = Codec(Schema.parse({"format": {"encoding": encoding}, "columns": COLUMNS}))
        codes = {name: np.zeros(2, np.uint8) for name in COLUMNS}
        rows = codec.decode(codes, generator=np.random.default_rng(0))
        write_rows([rows, rows], tmp_path / "o.csv", codec)
        data = (tmp_path / "o.csv").read_bytes()
        assert (True, 1) == (data.startswith(mark), data.count(mark))


NUMBERS = Codec(
    Schema.parse(
        {
            "columns": {
                "x": {"kind": "float", "edges": [0.0, 2.0, 13.0, 2000.0], "max": 1e7,
                      "missing": ["n.a.", -1], "outside": "drop"}
            }
        }
    )
)  # fmt: skip


def read_numbers(tmp_path: Path, cells: list[str], **spelling: str) -> list[int]:
    """The codes of single cells, each in a file by itself and all in one file."""
    given = FileFormat(separator=";", **spelling)  # type: ignore[arg-type]
    path = tmp_path / "x.csv"
    alone = []
    for cell in cells:
        path.write_text(f"x;y\n{cell};1\n", encoding="utf-8")
        alone += codes_of(read_rows(path, NUMBERS, ignore_extra=True, given=given), NUMBERS)["x"]
    path.write_text("x;y\n" + "".join(f"{c};1\n" for c in cells), encoding="utf-8")
    assert alone == codes_of(read_rows(path, NUMBERS, ignore_extra=True, given=given), NUMBERS)["x"]
    return alone


def test_decimal_commas(tmp_path: Path) -> None:
    """A comma is the decimal mark, and a number with a dot is not one, whatever else is there."""
    cells = ["1,5", "12", "1e3", "n.a.", "-1", "", "1.5", "12.5", "x", "€ 1,5"]
    assert [0, 1, 2, 4, 4, 4] == read_numbers(tmp_path, cells[:9], decimal=",")
    assert [0, 1] == read_numbers(tmp_path, ["1,5", "12"], decimal=",")


@pytest.mark.parametrize(
    ("cells", "spelling", "codes"),
    [
        (["1.234,5", "1.5", "12,5", "1234", "n.a."], {"decimal": ",", "thousands": "."}, "2124"),
        (["1,234.5", "1,5", "12.5", "1,234,567"], {"thousands": ","}, "213"),
        (["1 234", "1\u00a0234,5", "1\u202f234.567"], {"decimal": ",", "thousands": " "}, "22"),
        (["1'234.5", "1\u2019234", "12'34"], {"thousands": "'"}, "22"),
    ],
)
def test_thousands(tmp_path: Path, cells: list[str], spelling: dict[str, str], codes: str) -> None:
    """Marks count between groups of three digits alone; anything else is not a number."""
    assert [int(code) for code in codes] == read_numbers(tmp_path, cells, **spelling)


def test_listed_numbers_have_decimal_commas_too(tmp_path: Path) -> None:
    """A list of numbers is matched by their values."""
    path = tmp_path / "x.csv"
    path.write_text("score;y\n0,5;1\n1;1\n2,0;1\n0.5;1\n")
    codec = Codec(Schema.parse({"columns": {"score": COLUMNS["score"]}}))
    given = FileFormat(separator=";", decimal=",")
    assert [0, 1, 2] == codes_of(read_rows(path, codec, ignore_extra=True, given=given), codec)[
        "score"
    ]


def test_a_wrong_separator_is_named(tmp_path: Path) -> None:
    """A header of one name that holds another separator says which option to give."""
    path = tmp_path / "x.csv"
    path.write_text(_text(";"))
    with pytest.raises(DataError, match="give --separator ';', or declare it in"):
        read_rows(path, CODEC)


def test_cells_of_json_lines_are_read_one_by_one(tmp_path: Path) -> None:
    """A cell of another type than its column's moves no other row."""
    path = tmp_path / "x.jsonl"
    usual = '{"age": 41, "sex": "f", "pay": 1.5, "born": "2020-02-02", "alive": true, "score": 1}\n'
    odd = '{"age": "7", "sex": 3, "pay": [1], "born": null, "alive": "yes", "score": 2.0}\n'
    path.write_text(usual * 3)
    alone = codes_of(read_rows(path, CODEC))
    path.write_text(usual * 2 + odd + usual)
    assert alone == codes_of(read_rows(path, CODEC))


@pytest.mark.parametrize("text", ["[1, 2]\n", '{"age": 1\n', "age\n1\n", '{"age": 1} x\n'])
def test_lines_that_are_not_objects_are_refused(tmp_path: Path, text: str) -> None:
    """The message does not quote the line."""
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match="a line is not a JSON object; write one"):
        read_rows(path, CODEC)
    with pytest.raises(UsageError, match="has no header"):
        column_names(path)


def test_a_file_that_has_no_blocks_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """Workbooks, SQLite and statistics files that would not fit say so."""
    for name in ("rows.xlsx", "rows.db", "rows.sav"):
        WRITERS[name](tmp_path / name)
        access = Access(memory=100, table="people" if name == "rows.db" else None)
        with (
            pytest.raises(CapacityError, match=r"more than there is memory for.*--memory"),
            open_source(tmp_path / name, SCHEMA, access),
        ):
            pass


def test_a_batch_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """A Feather file is read by batches, and one that is too large is not unpacked."""
    _feather(tmp_path / "rows.feather")
    with pytest.raises(DataError, match="one batch of its rows takes"):
        list(read_blocks(tmp_path / "rows.feather", CODEC, memory=10))


def test_rows_through_a_pipe(expected: dict[str, list[int]]) -> None:
    """A file in memory is read as one on a disk, and one without end is refused."""
    piped = PipedFile(_text(";", ",").encode(), ".csv")
    given = FileFormat(separator=";", decimal=",")
    assert expected == codes_of(read_rows(piped, CODEC, given=given))
    assert "bytes private" in repr(piped)
    with open("/dev/zero", "rb") as endless, pytest.raises(DataError, match="--memory"):
        read_piped(endless, ".csv", most=1000)


def test_the_sheet_is_chosen_by_name(tmp_path: Path) -> None:
    """A workbook of several sheets asks which one, and counts lines from the header on."""
    path = tmp_path / "x.xlsx"
    _excel(path)
    book = openpyxl.load_workbook(path)
    book.active.insert_rows(1, 2)
    book.active.title = "people"
    book.create_sheet("notes").append(["nothing"])
    book.save(path)
    with pytest.raises(UsageError, match="2 sheets; say which one by --sheet"):
        column_names(path)
    with pytest.raises(UsageError, match="no sheet 'pets'"):
        column_names(path, given=FileFormat(sheet="pets"))
    with pytest.raises(DataError, match="the line of the header is empty"):
        column_names(path, given=FileFormat(sheet="people"))
    given = FileFormat(sheet="people", header_line=3)
    assert list(COLUMNS) == column_names(path, given=given)


def test_a_table_of_a_database_is_named(tmp_path: Path) -> None:
    """SQLite needs the name of a table that holds rows of its own."""
    path = tmp_path / "x.db"
    _sqlite(path)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE VIEW seen AS SELECT * FROM people")
    connection.close()
    with pytest.raises(UsageError, match="say which one, as --table NAME; the database has people"):
        read_rows(path, CODEC)
    with pytest.raises(DataError, match="has no table 'pets'"):
        read_rows(path, CODEC, table="pets")
    with pytest.raises(DataError, match="is a view or a virtual table"):
        read_rows(path, CODEC, table="seen")
