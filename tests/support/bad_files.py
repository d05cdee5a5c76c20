"""Hostile and broken files of rows, each with words of the sentence that refuses it."""

from __future__ import annotations

import gzip
import io
import sqlite3
import struct
import zipfile
from collections.abc import Callable

import openpyxl
import pyarrow as pa
import pyarrow.feather

from understudy.facts.schema import Schema

SECRET = "S3CRET"
SCHEMA = Schema.parse(
    {
        "columns": {
            "name": {"kind": "categorical", "values": ["x"]},
            "age": {"kind": "integer", "min": 0, "max": 9},
        }
    }
)
TEXT = f"name,age\n{SECRET},1\n"
ENTITIES = '<!DOCTYPE w [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


def zipped(members: dict[str, str], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive of some texts."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", packing) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return sink.getvalue()


def zstd(text: str) -> bytes:
    """A text packed by zstd."""
    packed: bytes = pa.compress(text.encode(), codec="zstd", asbytes=True)
    return packed


def encrypted() -> bytes:
    """An archive whose directory says that its member is encrypted."""
    data = bytearray(zipped({"rows.csv": TEXT}))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def patched() -> bytes:
    """An archive whose member is said to be a patch, which Python's reader does not know."""
    data = bytearray(zipped({"rows.csv": TEXT}))
    data[data.index(b"PK\x01\x02") + 8] |= 0x20
    return bytes(data)


def misnamed(data: bytes) -> bytes:
    """An archive whose first member has a name that is not text, where its bytes begin."""
    changed = bytearray(data)
    place = changed.index(b"PK\x03\x04")
    changed[place + 7] |= 0x08
    changed[place + 30] = 0xFF
    return bytes(changed)


def misstated() -> bytes:
    """An archive whose member is larger than its directory says."""
    data = bytearray(zipped({"rows.csv": TEXT * 50}))
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 40)
    return bytes(data)


def workbook(change: Callable[[openpyxl.Workbook], None]) -> bytes:
    """A workbook that something was done to."""
    book = openpyxl.Workbook()
    for line in (["name", "age"], [SECRET, 1]):
        book.active.append(line)
    change(book)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def reworked(change: Callable[[str, bytes], bytes]) -> bytes:
    """A workbook whose members were changed."""
    with zipfile.ZipFile(io.BytesIO(workbook(lambda book: None))) as archive:
        members = {name: change(name, archive.read(name)) for name in archive.namelist()}
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return sink.getvalue()


def with_entities(name: str, data: bytes) -> bytes:
    """The sheet with declared entities."""
    return ENTITIES.encode() + data if name.endswith("sheet1.xml") else data


def grown(name: str, data: bytes) -> bytes:
    """The sheet with a hundred megabytes of blanks."""
    return data + b" " * 10**8 if name.endswith("sheet1.xml") else data


def lying_feather() -> bytes:
    """A Feather file of some bytes whose buffers say to unpack to eight gibibytes."""
    sink = io.BytesIO()
    table = pa.table({"name": ["x"] * 4096, "age": pa.array([1] * 4096, pa.int64())})
    pyarrow.feather.write_feather(table, sink, compression="zstd")
    return sink.getvalue().replace(struct.pack("<q", 8 * 4096), struct.pack("<q", 2**33))


def stream() -> bytes:
    """An Arrow stream, which has no footer."""
    sink = io.BytesIO()
    table = pa.table({"name": ["x"], "age": [1]})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def database() -> bytes:
    """An SQLite file of several pages."""
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE people (name, age)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [(SECRET, 1)] * 2000)
    data = connection.serialize()
    connection.close()
    return data


def broken_database() -> bytes:
    """An SQLite file whose pages are overwritten."""
    data = bytearray(database())
    data[4096:] = b"\xff" * (len(data) - 4096)
    return bytes(data)


def boundless_row() -> bytes:
    """An SQLite database with a row that claims to be longer than any file can be."""
    with sqlite3.connect(":memory:") as connection:
        connection.execute("PRAGMA page_size = 512")
        connection.execute("CREATE TABLE people (name, age)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [("x" * 40, 1)] * 2)
    data = bytearray(connection.serialize())
    connection.close()
    page = 512
    (second,) = struct.unpack_from(">H", data, page + 10)
    data[page + second : page + second + 16] = b"\xff" * 16
    return bytes(data)


FILES: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "two members": ("r.csv.zip", lambda: zipped({"a.csv": TEXT, "b.csv": TEXT}), "holds 2 files"),
    "no member": ("r.csv.zip", lambda: zipped({}), "holds 0 files"),
    "a path": ("r.csv.zip", lambda: zipped({"../a.csv": TEXT}), "has a path"),
    "another file": ("r.csv.zip", lambda: zipped({"a.exe": TEXT}), "does not end in .csv"),
    "encrypted": ("r.csv.zip", encrypted, "is encrypted"),
    "packed oddly": ("r.csv.zip", lambda: zipped({"a.csv": TEXT}, zipfile.ZIP_LZMA), "unusual way"),
    "patched": ("r.csv.zip", patched, "not a sound zip archive"),
    "misnamed": ("r.csv.zip", lambda: misnamed(zipped({"a.csv": TEXT})), "not a sound zip archive"),
    "misnamed book": (
        "r.xlsx",
        lambda: misnamed(workbook(lambda b: None)),
        "not a sound .xlsx file",
    ),
    "misstated": ("r.csv.zip", misstated, "not a sound zip archive"),
    "no zip": ("r.csv.zip", TEXT.encode, "not a sound zip archive"),
    "zip bomb": ("r.csv.zip", lambda: zipped({"a.csv": "0" * 10**8}), "250 times its size"),
    "gz bomb": ("r.csv.gz", lambda: gzip.compress(bytes(10**8)), "250 times its size"),
    "cut gz": ("r.csv.gz", lambda: gzip.compress(TEXT.encode())[:-9], "cannot be read"),
    "no gz": ("r.csv.gz", TEXT.encode, "cannot be read"),
    "wrong separator": ("r.csv", TEXT.replace(",", ";").encode, "--separator ';'"),
    "ragged": ("r.csv", (TEXT + "x,1,2\n").encode, "a line has 3 fields"),
    "wrong encoding": ("r.tsv", lambda: "name\tagé\n".encode("latin-1"), "--encoding cp1252"),
    "password": ("r.xlsx", lambda: b"\xd0\xcf\x11\xe0" + bytes(600), "protected by a password"),
    "no workbook": ("r.xlsx", TEXT.encode, "not a sound .xlsx file"),
    "other zip": ("r.xlsx", lambda: zipped({"a.csv": TEXT}), "not a readable .xlsx file"),
    "entities": ("r.xlsx", lambda: reworked(with_entities), "as spreadsheet programs write it"),
    "xlsx bomb": ("r.xlsx", lambda: reworked(grown), "250 times its size"),
    "merged": ("r.xlsx", lambda: workbook(lambda b: b.active.merge_cells("A1:B1")), "merged cells"),
    "formula": ("r.xlsx", lambda: workbook(lambda b: b.active.append(["x", "=1+1"])), "formulas"),
    "beside": ("r.xlsx", lambda: workbook(lambda b: b.active.append(["x", 1, "!"])), "more cells"),
    "two headers": (
        "r.xlsx",
        lambda: workbook(lambda b: (b.active.insert_rows(1), b.active.cell(1, 2, "g"))[0]),
        "column 1 has no name",
    ),
    "sheets": ("r.xlsx", lambda: workbook(lambda b: b.create_sheet("more")), "--sheet"),
    "lying feather": ("r.feather", lying_feather, "than there is memory for"),
    "stream": ("r.arrow", stream, "write_feather"),
    "no feather": ("r.feather", TEXT.encode, "write_feather"),
    "database": ("r.db", broken_database, "the database cannot be read"),
    "boundless row": ("r.db", boundless_row, "the database cannot be read"),
    "no database": ("r.db", TEXT.encode, "is not an SQLite database, or is encrypted"),
    "duckdb": ("r.db", lambda: bytes(8) + b"DUCK" + bytes(99), "rename it to end in .duckdb"),
    "no sav": ("r.sav", TEXT.encode, "is not a readable sav file"),
    "no dta": ("r.dta", TEXT.encode, "is not a readable dta file"),
    "no sas": ("r.sas7bdat", TEXT.encode, "is not a readable sas7bdat file"),
    "cut zst": ("r.csv.zst", lambda: zstd(TEXT * 99)[:-9], "cannot be read"),
    "cut zip": ("r.csv.zip", lambda: zipped({"a.csv": TEXT * 99})[:-40], "not a sound zip archive"),
    "cut workbook": ("r.xlsx", lambda: workbook(lambda b: None)[:-99], "not a sound .xlsx file"),
    "cut database": ("r.db", lambda: database()[:6000], "the database cannot be read"),
    "cut lines": (
        "r.jsonl",
        lambda: b'{"name": "x", "age": 1}\n{"name": "x',
        "a line is not a JSON",
    ),
    "lines of lists": ("r.jsonl", lambda: b'["x", 1]\n', "a line is not a JSON object"),
    "no lines": ("r.jsonl", TEXT.encode, "a line is not a JSON object"),
}

SLOW = {"zip bomb", "xlsx bomb", "gz bomb"}
