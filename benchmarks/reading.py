"""Reading and encoding files of rows, against the library that reads each of them alone."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pyarrow
import pyarrow.compute
import pyarrow.csv
import pyarrow.json
import pyreadstat

from benchmarks.measuring import in_turns
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import adult_shaped, write_uniform
from understudy.facts.codec import Codec
from understudy.facts.column import IntegerColumn
from understudy.facts.schema import Schema
from understudy.models.row_writing import write_rows
from understudy.rows.checking import check
from understudy.rows.reading import read_rows
from understudy.rows.table import Table


def run(board: Scoreboard) -> None:
    """Codes in at most twice the wall time that the reader alone takes."""
    schema = adult_shaped()
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "rows.csv"
        write_uniform(schema, board.size.pick(10**6, 20_000), text)
        _compare(board, schema, text, "read_csv", pyarrow.csv.read_csv)
        _preflight(board, schema, text)
        _compare_others(board, schema, text)
        short = Path(folder) / "short.csv"
        write_uniform(schema, board.size.pick(20_000, 1_000), short)
        _compare_libraries(board, schema, short)


def _preflight(board: Scoreboard, schema: Schema, text: Path) -> None:
    """Which rows fit the schema, as `check` finds out."""
    rounds = board.size.pick(3, 1)
    seconds = in_turns(
        {"check": lambda: check(text, schema)}, rounds=rounds, clock=time.perf_counter
    )
    what = f"preflight of {board.size.pick(10**6, 20_000):,} × {len(schema.columns)}, wall"
    board.add(what, seconds["check"], "s", 3)


def _compare_others(board: Scoreboard, schema: Schema, text: Path) -> None:
    """Text with tabs, compressed text and JSON lines, against Arrow's readers."""
    packed = text.with_suffix(".csv.gz")
    with text.open("rb") as plain, gzip.open(packed, "wb", compresslevel=6) as sink:
        shutil.copyfileobj(plain, sink)
    by_zstd = text.with_suffix(".csv.zst")
    with text.open("rb") as plain, pyarrow.output_stream(str(by_zstd), compression="zstd") as sink:
        shutil.copyfileobj(plain, sink)
    codec = Codec(schema)
    tabs, lines = (text.with_suffix(suffix) for suffix in (".tsv", ".jsonl"))
    for path in (tabs, lines):
        write_rows([pyarrow.csv.read_csv(text)], path, codec)
    by_tabs = pyarrow.csv.ParseOptions(delimiter="\t")
    _compare(
        board, schema, tabs, "read_csv", lambda p: pyarrow.csv.read_csv(p, parse_options=by_tabs)
    )
    _compare(board, schema, packed, "read_csv", pyarrow.csv.read_csv)
    _compare(board, schema, by_zstd, "read_csv", _read_zstd)
    _compare_units(board, schema, text)
    _compare(board, schema, lines, "read_json", pyarrow.json.read_json)


def _read_zstd(path: Path) -> object:
    with pyarrow.input_stream(str(path), compression="zstd") as stream:
        return pyarrow.csv.read_csv(stream)


def _compare_units(board: Scoreboard, schema: Schema, text: Path) -> None:
    """Two columns of 15 with a unit behind each number, which Arrow leaves as texts."""
    names = [n for n, c in schema.columns.items() if isinstance(c, IntegerColumn)][:2]
    rows = pyarrow.csv.read_csv(text)
    for name in names:
        numbers = rows.column(name).cast(pyarrow.string())
        noted = pyarrow.compute.binary_join_element_wise(numbers, "kg", " ")
        rows = rows.set_column(rows.schema.get_field_index(name), name, noted)
    noted_text = text.with_suffix(".units.csv")
    pyarrow.csv.write_csv(rows, noted_text, pyarrow.csv.WriteOptions(quoting_style="none"))
    columns = {**schema.document()["columns"]}
    declared = Schema.parse(
        {"columns": {n: {**c, "unit": "kg"} if n in names else c for n, c in columns.items()}}
    )
    _compare(board, declared, noted_text, "read_csv", pyarrow.csv.read_csv)


def _compare_libraries(board: Scoreboard, schema: Schema, text: Path) -> None:
    """A workbook and a file of SPSS, against the packages that read them."""
    codec = Codec(schema)
    book, spss = (text.with_suffix(suffix) for suffix in (".xlsx", ".sav"))
    for path in (book, spss):
        write_rows([pyarrow.csv.read_csv(text)], path, codec)
    _compare(board, schema, book, "openpyxl", _read_book, target=1)
    _compare(board, schema, spss, "pyreadstat", lambda p: pyreadstat.read_sav(str(p)), target=1)


def _read_book(path: Path) -> None:
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    for _ in book.worksheets[0].iter_rows(values_only=True):
        pass


def _compare(
    board: Scoreboard,
    schema: Schema,
    path: Path,
    name: str,
    alone: Callable[[Path], object],
    *,
    target: float = 0.5,
) -> None:
    codec = Codec(schema)
    read = read_rows(path, codec, ignore_extra=True)
    works = {
        "alone": lambda: alone(path),
        "ours": lambda: Table.of(codec.encode(read_rows(path, codec, ignore_extra=True))),
    }
    least = in_turns(works, rounds=board.size.pick(7, 1), clock=time.perf_counter)
    suffix = "".join(path.suffixes)
    what = f"reading and encoding {read.num_rows:,} × {len(schema.columns)}"
    if suffix != ".csv":
        what += f" from {suffix}"
    board.add(
        f"{what}, speed of {name} alone, wall", least["alone"] / least["ours"], "×", target,
        at_most=False,
    )  # fmt: skip
