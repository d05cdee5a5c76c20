"""Decoded rows to files of every format, whole or not at all.

Text is spelled as the schema's format says, so that code written for the real file reads it.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from understudy.facts.codec import Codec
from understudy.facts.column import TextColumn
from understudy.facts.file_format import TextDialect
from understudy.models.sheet_writing import (
    ABOVE_HEADER,
    write_excel,
    write_json_lines,
    write_statistics,
)
from understudy.system.files.suffixes import (
    ARROW,
    EXCEL,
    LINES,
    PARQUET,
    STATISTICS,
    check_written,
    packing_of,
    suffix_of,
)
from understudy.system.files.writing import atomic

_PACKINGS = {".gz": "gzip", ".zst": "zstd"}
# Keys of a column whose texts are part of what is written.
_WRITTEN_KEYS = ("prefix", "unit", "format", "decimal", "thousands")


def write_rows(blocks: Iterable[pa.Table], path: str | os.PathLike[str], codec: Codec) -> int:
    """Write blocks of decoded rows to one file, whole or not at all; returns the rows written."""
    path = check_written(Path(path))
    suffix = suffix_of(path)
    if suffix in STATISTICS:
        return write_statistics(blocks, path)
    with atomic(path) as file:
        if suffix == PARQUET:
            return _write_parquet(blocks, file)
        if suffix in ARROW:
            return _write_arrow(blocks, file)
        if suffix in LINES:
            return write_json_lines((codec.note(block) for block in blocks), file)
        if suffix == EXCEL:
            spelling = codec.schema.format
            line = spelling.header_line or 1
            return write_excel(blocks, file, sheet=spelling.sheet, header_line=line)
        return _write_packed(blocks, file, codec, path)


def _write_packed(blocks: Iterable[pa.Table], file: BinaryIO, codec: Codec, path: Path) -> int:
    dialect = codec.schema.format.dialect(suffix_of(path))
    packing = _PACKINGS.get(packing_of(path))
    if packing is None:
        return _write_text(blocks, file, codec, dialect)
    sink = pa.PythonFile(_StaysOpen(file), mode="w")
    with pa.CompressedOutputStream(sink, packing) as packed:
        return _write_text(blocks, packed, codec, dialect)


class _StaysOpen:
    """A file that whoever opened it closes: it is flushed to disk after that."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.closed = file, False

    def write(self, data: bytes) -> int:
        """Write some bytes."""
        return self._file.write(data)

    def flush(self) -> None:
        """Pass on what was written."""
        self._file.flush()

    def close(self) -> None:
        """Leave the file open."""
        self.closed = True


def _write_text(blocks: Iterable[pa.Table], file: Any, codec: Codec, dialect: TextDialect) -> int:
    import pyarrow.csv as arrow_csv

    quoted = _needs_quotes(codec, dialect)
    options = arrow_csv.WriteOptions(
        include_header=False,
        delimiter=dialect.separator,
        quoting_style="needed" if quoted else "none",
    )
    file.write(_header_lines(codec, dialect, quoted=quoted).encode(dialect.encoding))
    sink = _recoded(file, dialect)
    spelled = (codec.spell(_in_dialect(block, codec, dialect)) for block in blocks)
    return _pour(spelled, lambda types: arrow_csv.CSVWriter(sink, types, write_options=options))


def _recoded(file: Any, dialect: TextDialect) -> Any:
    """The file, or one that takes UTF-8 with double quotes and passes on what the dialect says."""
    plain = dialect.quote in ('"', "") and dialect.encoding.lower() in (
        "utf-8",
        "utf-8-sig",
        "utf8",
    )
    return file if plain else pa.PythonFile(_Recoded(file, dialect), mode="w")


class _Recoded:
    """A file of another encoding or quote, written from UTF-8 in pieces of whole lines."""

    def __init__(self, file: Any, dialect: TextDialect) -> None:
        self._file, self._dialect, self._rest, self.closed = file, dialect, b"", False
        # A byte order mark stands before the header alone.
        self._encoding = _without_mark(dialect.encoding)

    def write(self, data: bytes) -> int:
        """Take UTF-8, and write all of it that ends in a line break."""
        whole, ended, self._rest = (self._rest + bytes(data)).rpartition(b"\n")
        if ended:
            self._write(whole + ended)
        return len(data)

    def _write(self, data: bytes) -> None:
        text = data.decode()
        if self._dialect.quote not in ('"', ""):
            text = _requoted(text, self._dialect)
        self._file.write(text.encode(self._encoding, errors="replace"))

    def flush(self) -> None:
        """Do nothing: pieces of lines wait for their end."""

    def close(self) -> None:
        """Write what is left."""
        self._write(self._rest)
        self.closed = True


def _without_mark(encoding: str) -> str:
    import codecs
    import sys

    name = codecs.lookup(encoding).name
    order = "le" if sys.byteorder == "little" else "be"
    return {"utf-8-sig": "utf-8", "utf-16": f"utf-16-{order}", "utf-32": f"utf-32-{order}"}.get(
        name, name
    )


def _requoted(text: str, dialect: TextDialect) -> str:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.separator)
    made = io.StringIO(newline="")
    writer = csv.writer(
        made, delimiter=dialect.separator, quotechar=dialect.quote, lineterminator="\n"
    )
    writer.writerows(lines)
    return made.getvalue()


def _in_dialect(rows: pa.Table, codec: Codec, dialect: TextDialect) -> pa.Table:
    """The rows with real numbers as texts, where their decimal mark is not a dot.

    A column with a notation of its own is spelled by that.
    """
    if dialect.decimal == ".":
        return rows
    for place, field in enumerate(rows.schema):
        own = getattr(codec.schema.columns[field.name], "notation", None)
        if pa.types.is_floating(field.type) and own is None:
            texts = pc.replace_substring(rows.column(place).cast(pa.string()), ".", ",")
            rows = rows.set_column(place, field.name, texts)
    return rows


def _header_lines(codec: Codec, dialect: TextDialect, *, quoted: bool) -> str:
    line = io.StringIO()
    # Python quotes a lone carriage return only when told to quote everything.
    writer = csv.writer(
        line,
        delimiter=dialect.separator,
        quotechar=dialect.quote or '"',
        quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_NONE,
        lineterminator="\n",
    )
    writer.writerow(codec.schema.written)
    return f"{ABOVE_HEADER}\n" * (dialect.header_line - 1) + line.getvalue()


def _needs_quotes(codec: Codec, dialect: TextDialect) -> bool:
    """Whether any text that the file may hold needs quotes: a public fact."""
    if dialect.decimal == dialect.separator:
        return True
    texts = [*codec.schema.columns]
    for column in codec.schema.columns.values():
        texts += [*getattr(column, "texts", ()), *(getattr(column, "missing", None) or ())]
        texts += [getattr(column, key, None) or "" for key in _WRITTEN_KEYS]
        texts += getattr(column, "labels", None) or ()
    if any(isinstance(column, TextColumn) for column in codec.schema.columns.values()):
        return True
    special = f'"\r\n{dialect.separator}{dialect.quote}'
    return any(character in text for text in texts for character in special) or any(
        text != text.strip() for text in texts
    )


def _write_parquet(blocks: Iterable[pa.Table], file: BinaryIO) -> int:
    import pyarrow.parquet as pq

    return _pour(blocks, lambda types: pq.ParquetWriter(file, types, compression="zstd"))


def _write_arrow(blocks: Iterable[pa.Table], file: BinaryIO) -> int:
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    return _pour(blocks, lambda types: pa.ipc.new_file(file, types, options=options))


def _pour(blocks: Iterable[pa.Table], opened: Callable[[pa.Schema], Any]) -> int:
    """Write one block or more through a writer, which needs to know the types of the first."""
    rest, rows = iter(blocks), 0
    first = next(rest)
    with opened(first.schema) as writer:
        for block in chain([first], rest):
            writer.write_table(block)
            rows += block.num_rows
    return rows
