"""What `schema` does, asked without a terminal."""

from __future__ import annotations

import sqlite3
import tomllib
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from understudy.errors import DataError, OutputError, SchemaError, UsageError
from understudy.facts.schema import Schema
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.reading import FormatRequest
from understudy.jobs.schema_inference import InferenceRequest, infer
from understudy.jobs.schemas import (
    Skeletal,
    SkeletonRequest,
    confirm,
    draft_of,
    load_whole,
    schema_document,
    write_draft,
)

SKELETON = """
[columns.name]
kind = "categorical"
values = ["Ann", "Bob"]

[columns.age]
kind = "integer"
"""


def test_a_skeleton_has_the_columns_of_the_header(folder: Path) -> None:
    """It is written once, and never over another file."""
    draft = draft_of(SkeletonRequest(str(folder / "people.csv"))).draft
    write_draft(draft, folder / "new.toml")
    assert ["name", "age"] == list(draft.columns)
    with pytest.raises(OutputError, match="is there already"):
        write_draft(draft, folder / "people.toml")


def drafted(folder: Path, data: bytes, *, look: bool = False, **spelling: str) -> Skeletal:
    """The skeleton of a CSV file of these bytes."""
    (folder / "x.csv").write_bytes(data)
    given = FormatRequest(**spelling)  # type: ignore[arg-type]
    return draft_of(SkeletonRequest(str(folder / "x.csv"), spelling=given, look=look))


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_the_separator_is_proposed_from_the_header(tmp_path: Path, separator: str) -> None:
    """A header with another separator and no comma declares it, and needs no review."""
    made = drafted(tmp_path, f"name{separator}age\nx,y{separator}1\n".encode()).draft
    assert (["name", "age"], separator) == (list(made.columns), made.format.separator)
    assert [] == made.unreviewed
    write_draft(made, tmp_path / "s.toml")
    assert separator == tomllib.loads((tmp_path / "s.toml").read_text())["format"]["separator"]


def test_a_header_with_commas_declares_nothing(tmp_path: Path) -> None:
    """Where commas separate names, a semicolon is part of a name."""
    made = drafted(tmp_path, b"name,age;years\n").draft
    assert (["name", "age;years"], False) == (list(made.columns), made.format.is_declared)


def test_rows_are_looked_at_only_when_asked(tmp_path: Path) -> None:
    """Without a look nothing depends on rows; with one the format is unreviewed."""
    data = "name;pay;born\nMüller;1.234,50;31.12.1999\n".encode("latin-1")
    other = b"name;pay;born\n?;?;?\n"
    assert drafted(tmp_path, data) == drafted(tmp_path, other)
    seen = drafted(tmp_path, data, look=True)
    expected = {"separator": ";", "decimal": ",", "thousands": ".", "encoding": "cp1252"}
    assert {"version": 1, **expected, "unreviewed": True} == seen.draft.format.document()
    assert ["[format]", "born"] == seen.draft.unreviewed
    born = {"kind": "date", "format": "%d.%m.%Y", "unreviewed": True}
    assert born == seen.draft.columns["born"].document()
    assert ("column 'born': its first cells look like dates written as %d.%m.%Y",) == seen.remarks


@pytest.mark.parametrize("blank", ["", " ", "\u00a0"])
def test_a_currency_before_grouped_numbers_is_seen(tmp_path: Path, blank: str) -> None:
    """`€ 1.234,56` shows its unit with its blank, and the marks of the file."""
    cells = [f"€{blank}1.234,56", f"€{blank}12,50", f"-€{blank}7"]
    seen = drafted(
        tmp_path, "\n".join(["price;kind", *(f"{c};x" for c in cells)]).encode(), look=True
    )
    assert {"kind": "float", "unit": f"€{blank}#", "unreviewed": True} == dict(
        seen.draft.columns["price"].document()
    )
    assert (",", ".") == (seen.draft.format.decimal, seen.draft.format.thousands)


def test_columns_in_other_marks_than_the_file_say_so(tmp_path: Path) -> None:
    """Dollars with a decimal point beside euros with a comma get marks of their own."""
    rows = ["€ 1.234,56;$1,234.50;5 %", "€ 2.234,56;$2,234.50;6 %"]
    made = drafted(tmp_path, "\n".join(["a;b;c", *rows]).encode(), look=True).draft
    marks = {"decimal": ".", "thousands": ","}
    own = {
        name: {k: v for k, v in c.keys.items() if k in marks} for name, c in made.columns.items()
    }
    assert {"a": {}, "b": marks, "c": {}} == own


def test_an_unreviewed_format_is_confirmed(tmp_path: Path) -> None:
    """Nothing is fitted before, and afterwards the format stays without its mark."""
    text = '[format]\ndecimal = ","\nunreviewed = true\n[columns.a]\nkind = "boolean"\n'
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(SchemaError, match=r"^format: unreviewed"):
        Schema.load(path).check_reviewed()
    assert {"[format]": {"decimal": ","}} == confirm(path)
    Schema.load(path).check_reviewed()
    assert "," == Schema.load(path).format.decimal


@pytest.mark.parametrize("header", ["1,2,3", "2020-01-01,,1.5e3", "12%,7", ","])
def test_a_first_line_that_could_be_a_row_is_no_header(tmp_path: Path, header: str) -> None:
    """Its cells are not quoted, and the message says the way out."""
    with pytest.raises(DataError, match=r"could be a row|same name") as caught:
        drafted(tmp_path, f"{header}\n".encode())
    assert "1.5e3" not in str(caught.value)


def test_keys_of_json_lines_are_unreviewed(tmp_path: Path) -> None:
    """They are in rows, so that only a look shows them."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"name": "Ann", "age": 3}\n')
    with pytest.raises(UsageError, match="with --look the keys"):
        draft_of(SkeletonRequest(str(path)))
    made = draft_of(SkeletonRequest(str(path), look=True)).draft
    assert ["name", "age"] == list(made.columns) == made.unreviewed


def test_declared_types_of_databases_are_kinds(tmp_path: Path) -> None:
    """SQLite and DuckDB declare types in public, and rows stay unread."""
    columns = "a INTEGER, b DOUBLE, c VARCHAR, d DATE, e TIMESTAMP, f BOOLEAN"
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute(f"CREATE TABLE people ({columns})")
    connection.close()
    with duckdb.connect(str(tmp_path / "x.duckdb")) as database:
        database.execute(f"CREATE TABLE people ({columns})")
    kinds = ["integer", "float", "categorical", "date", "datetime", "boolean"]
    for name in ("x.db", "x.duckdb"):
        made = draft_of(SkeletonRequest(str(tmp_path / name), table="people")).draft
        assert kinds == [column.kind for column in made.columns.values()]


def test_a_schema_is_described(folder: Path) -> None:
    """Its attributes have their numbers of codes."""
    document = schema_document(Schema.load(folder / "people.toml"))
    assert {"name", "age"} == document["columns"].keys()
    assert [] == document["unreviewed"]


def test_only_unreviewed_columns_can_be_confirmed(folder: Path) -> None:
    """Those that are reviewed already are refused by name, and all of none is nothing."""
    assert {} == confirm(folder / "people.toml")
    with pytest.raises(UsageError, match="'age' is not unreviewed"):
        confirm(folder / "people.toml", ["age"])


def test_what_a_skeleton_lacks_is_learned(folder: Path) -> None:
    """The schema is written and can be loaded, and the ledger has paid."""
    (folder / "skeleton.toml").write_text(SKELETON)
    payer = LedgerRequest(ledger=folder / "ledger.jsonl")
    asked = InferenceRequest(
        data=str(folder / "people.csv"),
        schema=folder / "skeleton.toml",
        output=folder / "learned.toml",
        epsilon="1",
        payer=payer,
    )
    found = infer(asked)
    learned = Schema.load(folder / "learned.toml")
    assert found.document()["fingerprint"] == learned.fingerprint
    assert 1.0 == float(payer.opened().account("people").spent.epsilon)
    with pytest.raises(OutputError, match="is there already"):
        infer(asked)


def test_types_of_a_parquet_file_are_proposals(tmp_path: Path) -> None:
    """Widths, units, zones and categories are written as unreviewed; common types are not."""
    path = tmp_path / "rows.parquet"
    moments = pa.array([0], pa.timestamp("us", "Europe/Berlin"))
    whole = pa.array([1], pa.int8())
    words = pa.array(["a"]).dictionary_encode()
    pq.write_table(pa.table({"n": whole, "t": moments, "c": words, "i": [1], "s": ["x"]}), path)
    draft = draft_of(SkeletonRequest(data=str(path), types=True)).draft
    keys = {name: dict(column.keys) for name, column in draft.columns.items()}
    assert {"dtype": "int8", "unreviewed": True} == keys["n"]
    moment = {"dtype": "datetime64[us]", "zone": "Europe/Berlin", "unreviewed": True}
    assert moment == keys["t"]
    assert {"dtype": "category", "unreviewed": True} == keys["c"]
    assert {} == keys["i"] == keys["s"]


def test_types_of_a_text_file_are_refused(tmp_path: Path) -> None:
    """CSV declares no types."""
    path = tmp_path / "rows.csv"
    path.write_text("a\n1\n")
    with pytest.raises(UsageError, match="--types"):
        draft_of(SkeletonRequest(data=str(path), types=True))


MIXED = """
[columns.age]
kind = "integr"
min = 90
max = 17

[columns.city]
kind = "categorical"
values = []
"""


def test_all_findings_of_a_column_come_at_once(tmp_path: Path) -> None:
    """A wrong kind does not hide bounds, and a wrong column not the way to learn another one."""
    path = tmp_path / "mixed.toml"
    path.write_text(MIXED)
    with pytest.raises(SchemaError) as raised:
        load_whole(path)
    kind, bounds, values, way_out = raised.value.problems
    assert kind.startswith("column 'age': the kind is missing or unknown")
    assert "column 'age': upper bound 17 is below lower bound 90; swap them" == bounds
    assert values.startswith("column 'city'")
    assert way_out.startswith("column 'city' declares no values or range")
    assert f"understudy schema infer DATA --schema {path}" in way_out


@pytest.mark.parametrize(
    "text", ['[columns.age]\nkind = "integr"\n', "columns = 3", "[columns]\nx = 3", "not toml"]
)
def test_no_way_to_learn_is_named_where_nothing_is_open(text: str, tmp_path: Path) -> None:
    """Findings stay as they are."""
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(SchemaError) as raised:
        load_whole(path)
    assert not any("schema infer" in problem for problem in raised.value.problems)
