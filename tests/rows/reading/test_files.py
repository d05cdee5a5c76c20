"""Reading and writing: CSV and Parquet by the schema's kinds, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from understudy.errors import DataError, OutputError, UnderstudyError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.file_format import FileFormat
from understudy.facts.schema import Schema
from understudy.models.row_writing import write_rows
from understudy.rows.reading import column_names, read_blocks, read_rows
from understudy.rows.sources import dataset_name
from understudy.rows.table import Table
from understudy.system.files.writing import atomic, check_writable
from understudy.system.frames import brand_of, in_brand

SCHEMA = Schema.parse(
    {
        "columns": {
            "city": {"kind": "categorical", "values": ["Zürich", "a\nb", "x,y"], "missing": []},
            "age": {"kind": "integer", "min": 0, "max": 9, "missing": []},
        }
    }
)
CODEC = Codec(SCHEMA)
ONE = Codec(
    Schema.parse({"columns": {"age": {"kind": "integer", "min": 0, "max": 9, "missing": []}}})
)


def codes_in(path: Path, codec: Codec = CODEC, **options: object) -> dict[str, list[int]]:
    """The codes of a file's rows."""
    table = Table.of(codec.encode(read_rows(path, codec, **options)))  # type: ignore[arg-type]
    return {name: codes.tolist() for name, codes in table.codes.items()}


def csv_file(folder: Path, data: bytes) -> Path:
    """A CSV file of these bytes."""
    path = folder / "rows.csv"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        'city,age\nZürich,1\n"a\nb",2\n"x,y",3\n'.encode(),
        'city,age\r\nZürich,1\r\n"a\nb",2\r\n"x,y",3\r\n'.encode(),
        'city,age\nZürich,1\n"a\nb",2\n"x,y",3'.encode(),
        '\ufeffcity,age\nZürich,1\n"a\nb",2\n"x,y",3\n'.encode(),
        '"city","age"\n"Zürich","1"\n"a\nb","2"\n"x,y","3"\n'.encode(),
        'city,age\n\nZürich,1\n\n"a\nb",2\n"x,y",3\n\n'.encode(),
        'age,city\n1,Zürich\n2,"a\nb"\n3,"x,y"\n'.encode(),
    ],
    ids=["plain", "CRLF", "no last line break", "BOM", "quoted", "blank lines", "other order"],
)
def test_csv_dialects_that_are_read(tmp_path: Path, data: bytes) -> None:
    """Line ends, a byte order mark, quotes, quoted line breaks and blank lines change nothing."""
    assert {"city": [0, 1, 2], "age": [1, 2, 3]} == codes_in(csv_file(tmp_path, data))


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "UTF-8", "utf8", "utf-8-sig"])
def test_csv_encodings(tmp_path: Path, encoding: str) -> None:
    """Text is decoded as asked; utf-8 is spelled in several ways, with or without its mark."""
    path = csv_file(tmp_path, "city,age\nZürich,1\n".encode(encoding))
    assert {"city": [0], "age": [1]} == codes_in(path, given=FileFormat(encoding=encoding))


@pytest.mark.parametrize("spelling", ["utf-8", "UTF-8", "utf8", "U8"])
def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path, spelling: str) -> None:
    """However utf-8 is spelled, a mark before the header is passed over."""
    path = csv_file(tmp_path, "\ufeffcity,age\nZürich,1\n".encode())
    assert {"city": [0], "age": [1]} == codes_in(path, given=FileFormat(encoding=spelling))


def test_a_header_alone_is_a_table_of_no_rows(tmp_path: Path) -> None:
    """No rows is a table like any other."""
    assert {"city": [], "age": []} == codes_in(csv_file(tmp_path, b"city,age\n"))
    assert {"city": [], "age": []} == codes_in(csv_file(tmp_path, b"city,age"))


def test_empty_lines_are_cells_in_a_file_of_one_column(tmp_path: Path) -> None:
    """Where a line is a single cell, an empty line is an empty cell."""
    assert {"age": [1, 10, 2]} == codes_in(csv_file(tmp_path, b"age\n1\n\n2\n"), ONE)


def test_empty_lines_are_no_rows_in_a_file_of_two_columns(tmp_path: Path) -> None:
    """One declared column does not make it a file of one column."""
    path = csv_file(tmp_path, b"age,more\n1,x\n\n2,y\n\n")
    assert {"age": [1, 2]} == codes_in(path, ONE, ignore_extra=True)


def test_columns_beyond_the_schema_are_refused_unless_ignored(tmp_path: Path) -> None:
    """The message names the column; asked to, reading passes over it."""
    path = csv_file(tmp_path, b"age,more\n1,x\n")
    with pytest.raises(DataError, match="'more' is not in the schema; declare it"):
        read_rows(path, ONE)
    assert {"age": [1]} == codes_in(path, ONE, ignore_extra=True)


def test_columns_missing_from_the_data_are_all_named(tmp_path: Path) -> None:
    """The message names every declared column that the header lacks."""
    codec = Codec(Schema.parse({"columns": {n: {"kind": "boolean"} for n in ("a", "b", "c")}}))
    with pytest.raises(DataError, match="no column 'b', 'c'; add it"):
        read_rows(csv_file(tmp_path, b"a\n1\n"), codec)
    with pytest.raises(DataError, match="no column 'b', 'c'; add it"):
        read_rows({"a": [1]}, codec)


def test_columns_are_read_by_the_schema_not_by_their_looks(tmp_path: Path) -> None:
    """Codes with leading zeros stay texts where the schema lists texts."""
    codec = Codec(
        Schema.parse({"columns": {"zip": {"kind": "categorical", "values": ["007", "7"]}}})
    )
    assert {"zip": [0, 1]} == codes_in(csv_file(tmp_path, b"zip\n007\n7\n"), codec)


def test_no_word_but_the_declared_ones_is_missing(tmp_path: Path) -> None:
    """NA and null are texts like others unless the schema says so."""
    codec = Codec(
        Schema.parse({"columns": {"a": {"kind": "categorical", "values": ["NA", "null"]}}})
    )
    assert {"a": [0, 1]} == codes_in(csv_file(tmp_path, b"a\nNA\nnull\n"), codec)


def test_names_with_dots_are_names_in_parquet_too(tmp_path: Path) -> None:
    """A dot in a column's name does not point into a nested column."""
    codec = Codec(Schema.parse({"columns": {"a.b": {"kind": "boolean"}}}))
    pq.write_table(pa.table({"a.b": [True], "a": [False]}), tmp_path / "rows.parquet")
    assert {"a.b": [1]} == codes_in(tmp_path / "rows.parquet", codec, ignore_extra=True)


@pytest.mark.parametrize("name", ["rows.doc", "rows", "rows.xls", ".csv"])
def test_a_suffix_we_do_not_speak_is_refused(tmp_path: Path, name: str) -> None:
    """Reading and writing both name the suffixes there are, and a way out."""
    with pytest.raises(UsageError, match=r"must end in \.csv, \.tsv, .*[Ss]ave the"):
        column_names(tmp_path / name)
    with pytest.raises(UsageError, match=r"must end in \.csv, \.tsv, .*- for standard output"):
        write_rows([], tmp_path / name, CODEC)


def test_an_unknown_encoding_is_a_usage_error() -> None:
    """The message names encodings that exist."""
    with pytest.raises(UsageError, match="encoding is unknown; use a name such as"):
        FileFormat(encoding="klingon")


@pytest.mark.parametrize(
    "data", [{"age": [2**70]}, {"age": ["SECRET", 1]}, {"age": [1], "more": [1, 2]}, 5]
)
def test_what_is_no_table_is_refused_without_quoting_it(data: object) -> None:
    """Arrow's own words, which may hold a cell, are not passed on."""
    with pytest.raises(DataError, match="not a table that Arrow can read") as caught:
        read_rows(data, ONE)  # type: ignore[arg-type]
    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__


def rows_of(*codes: int) -> pa.Table:
    """Decoded rows of the second column's codes."""
    table = {"city": np.zeros(len(codes), np.uint8), "age": np.array(codes, np.uint8)}
    return CODEC.decode(table, generator=np.random.default_rng(0))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_blocks_become_one_file(tmp_path: Path, suffix: str) -> None:
    """Rows of several blocks, an empty one among them, are written in order."""
    path = tmp_path / f"rows{suffix}"
    assert 3 == write_rows([rows_of(1, 2), rows_of(), rows_of(3)], path, CODEC)
    assert [1, 2, 3] == codes_in(path)["age"]
    assert [path] == list(tmp_path.iterdir())


def failing_blocks() -> Iterator[pa.Table]:
    """One block, then a failure."""
    yield rows_of(1)
    raise KeyboardInterrupt


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_failure_in_mid_write_leaves_what_was_there(tmp_path: Path, suffix: str) -> None:
    """The old file stays as it was, and nothing lies beside it."""
    path = tmp_path / f"rows{suffix}"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_rows(failing_blocks(), path, CODEC)
    assert "old" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


def test_files_have_the_usual_permissions(tmp_path: Path) -> None:
    """What is written may be read by whom the umask lets read."""
    with atomic(tmp_path / "made.csv") as file:
        file.write(b"x")
    (tmp_path / "usual").write_bytes(b"x")
    assert (tmp_path / "usual").stat().st_mode == (tmp_path / "made.csv").stat().st_mode


def test_places_that_cannot_be_written_are_found_beforehand(tmp_path: Path) -> None:
    """A folder, a missing folder and a file used as a folder are refused; nothing is left."""
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "no" / "rows.csv", tmp_path / "file" / "rows.csv"):
        with pytest.raises(OutputError, match=r"choose another place|name a file in it"):
            check_writable(place)
    assert tmp_path / "new.csv" == check_writable(tmp_path / "new.csv")
    assert [tmp_path / "file"] == list(tmp_path.iterdir())


@pytest.mark.parametrize("brand", ["pandas", "polars", "pyarrow"])
def test_frames_go_out_in_the_brand_they_came_in(brand: str) -> None:
    """A brand makes a frame that is known by that brand."""
    assert brand == brand_of(in_brand(rows_of(1), brand))


def test_unreadable_files_say_why(tmp_path: Path) -> None:
    """A missing file and a folder are named, with the reason the system gives."""
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "folder.parquet").mkdir()
    for name in ("none.csv", "none.parquet", "folder.csv", "folder.parquet"):
        with pytest.raises(DataError, match=name):
            read_rows(tmp_path / name, CODEC)


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    """In the order of names, without the notes that other writers leave beside them."""
    folder = tmp_path / "rows"
    folder.mkdir()
    for name, values in (("b", (3,)), ("a", (1, 2)), ("c", ())):
        write_rows([rows_of(*values)], folder / f"{name}.parquet", CODEC)
    (folder / "_SUCCESS").touch()
    (folder / ".a.parquet.crc").touch()
    expected = codes_in(folder)
    assert [1, 2, 3] == expected["age"]
    blocks = [CODEC.encode(block).codes for block in read_blocks(folder, CODEC)]
    assert expected == {n: [c for b in blocks for c in b[n].tolist()] for n in expected}


def test_files_that_agree_in_types_alone_are_one_table(tmp_path: Path) -> None:
    """What a file says besides of its columns, and their order, do not matter."""
    folder = tmp_path / "rows"
    folder.mkdir()
    write_rows([rows_of(1)], folder / "a.parquet", CODEC)
    rows = pq.read_table(folder / "a.parquet")
    strict = pa.schema([field.with_nullable(False) for field in rows.schema][::-1], {"by": "us"})
    pq.write_table(rows.select(strict.names).cast(strict), folder / "b.parquet")
    assert [1, 1] == codes_in(folder)["age"]


@pytest.mark.parametrize("ignore", [False, True])
def test_partitions_differ_in_undeclared_columns_only_if_ignored(
    tmp_path: Path, ignore: bool
) -> None:
    """A column more in one file is refused with the file's name, or passed over."""
    folder = tmp_path / "rows"
    folder.mkdir()
    write_rows([rows_of(1)], folder / "a.parquet", CODEC)
    rows = pq.read_table(folder / "a.parquet")
    pq.write_table(rows.append_column("more", rows["age"]), folder / "b.parquet")
    if ignore:
        assert [1, 1] == codes_in(folder, ignore_extra=True)["age"]
        return
    with pytest.raises(DataError, match=r"b\.parquet: column 'more' is int64 here and absent in a"):
        read_rows(folder, CODEC)


@pytest.mark.parametrize("name", ["more.csv", "2020"])
def test_a_folder_of_other_things_is_refused(tmp_path: Path, name: str) -> None:
    """Rows that would be passed over without a word."""
    write_rows([rows_of(1)], tmp_path / "a.parquet", CODEC)
    (tmp_path / name).mkdir() if name.isdigit() else (tmp_path / name).touch()
    with pytest.raises(DataError, match=f"{name!r} in this folder is not a .parquet file"):
        read_rows(tmp_path, CODEC)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("a/patients.csv", "patients"),
        ("patients.parquet", "patients"),
        ("a/patients/", "patients"),
        ("patients.v2", "patients.v2"),
        ({"a": [1]}, None),
    ],
)
def test_the_ledger_knows_data_by_its_name(data: object, name: str | None) -> None:
    """That of a file or folder, without the suffix of a format."""
    assert name == dataset_name(data)


def test_line_breaks_and_commas_in_names_survive(tmp_path: Path) -> None:
    """A header is quoted where it needs to be."""
    names = ["a,b", "c\nd", "e\rf", 'say "so"', "plain"]
    codec = Codec(Schema.parse({"columns": {name: {"kind": "boolean"} for name in names}}))
    codes = {name: np.array([1], np.uint8) for name in names}
    write_rows([codec.decode(codes, generator=np.random.default_rng(0))], tmp_path / "x.csv", codec)
    assert {name: [1] for name in names} == codes_in(tmp_path / "x.csv", codec)


@pytest.mark.parametrize("cut", [0, 4, 20, -20, -1])
def test_truncated_parquet_is_refused(tmp_path: Path, cut: int) -> None:
    """Part of a Parquet file is not a Parquet file."""
    whole, part = tmp_path / "whole.parquet", tmp_path / "part.parquet"
    write_rows([rows_of(1, 2, 3)], whole, CODEC)
    part.write_bytes(whole.read_bytes()[:cut])
    with pytest.raises(DataError, match=r"part\.parquet"):
        read_rows(part, CODEC)


def test_damaged_parquet_is_refused_or_read(tmp_path: Path) -> None:
    """A flipped byte anywhere gives rows or one of our errors, never another one."""
    path = tmp_path / "rows.parquet"
    write_rows([rows_of(*range(10))], path, CODEC)
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1 :])
        try:
            codes_in(path)
        except UnderstudyError:
            refused += 1
    assert refused > 0


@pytest.mark.parametrize("in_blocks", [False, True])
def test_texts_in_parquet_must_be_unicode(tmp_path: Path, in_blocks: bool) -> None:
    """Arrow takes the file's word for it, and a codec would fail at the cell."""
    path = tmp_path / "rows.parquet"
    bad = pa.array([b"\xff\xfe"], pa.binary()).view(pa.string())
    columns = {name: pa.array([str(cells[0])]) for name, cells in rows_of(0).to_pydict().items()}
    for name in columns:
        pq.write_table(pa.table({**columns, name: bad}), path)
        with pytest.raises(DataError, match="is not a readable parquet file; export it again"):
            [*read_blocks(path, CODEC)] if in_blocks else read_rows(path, CODEC)


def test_a_ragged_line_of_any_bytes_is_told_without_a_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing is printed on the way, whatever the line holds."""
    header = ",".join(SCHEMA.columns).encode()
    # The header is read with some lines more.
    lines = (b"," * (len(SCHEMA.columns) - 1) + b"\n") * 50_000
    path = csv_file(tmp_path, header + b"\n" + lines + b"\xff,\xfe," * 9 + b"\n")
    with pytest.raises(DataError, match="a line has 19 fields where the header has"):
        read_rows(path, CODEC)
    assert ("", "") == capfd.readouterr()
