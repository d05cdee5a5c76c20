"""Decoded rows to CSV and Parquet files, whole or not at all."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from understudy.facts.codec import Codec
from understudy.facts.column import TextColumn
from understudy.system.files.suffixes import check_suffix
from understudy.system.files.writing import atomic

# Keys of a column whose texts are part of what is written.
_WRITTEN_KEYS = ("prefix", "unit", "format", "decimal", "thousands")


def write_rows(blocks: Iterable[pa.Table], path: str | os.PathLike[str], codec: Codec) -> int:
    """Write blocks of decoded rows to one file, whole or not at all; returns the rows written."""
    path = check_suffix(Path(path))
    with atomic(path) as file:
        return (
            _write_csv(blocks, file, codec)
            if path.suffix == ".csv"
            else _write_parquet(blocks, file)
        )


def _write_csv(blocks: Iterable[pa.Table], file: BinaryIO, codec: Codec) -> int:
    import pyarrow.csv as pc

    style = "needed" if _needs_quotes(codec) else "none"
    options = pc.WriteOptions(include_header=False, quoting_style=style)
    file.write(_header_line(codec).encode())
    spelled = map(codec.spell, blocks)
    return _pour(spelled, lambda types: pc.CSVWriter(file, types, write_options=options))


def _header_line(codec: Codec) -> str:
    line = io.StringIO()
    # Python quotes a lone carriage return only when told to quote everything.
    if _needs_quotes(codec):
        writer = csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="\n")
    else:
        writer = csv.writer(line, lineterminator="\n")
    writer.writerow(codec.schema.written)
    return line.getvalue()


def _needs_quotes(codec: Codec) -> bool:
    """Whether any text that may stand in the file needs quotes: a public fact."""
    texts = [*codec.schema.columns]
    for column in codec.schema.columns.values():
        texts += [*getattr(column, "texts", ()), *(getattr(column, "missing", None) or ())]
        texts += [getattr(column, key, None) or "" for key in _WRITTEN_KEYS]
        texts += getattr(column, "labels", None) or ()
    if any(isinstance(column, TextColumn) for column in codec.schema.columns.values()):
        return True
    return any(character in text for text in texts for character in '",\r\n') or any(
        text != text.strip() for text in texts
    )


def _write_parquet(blocks: Iterable[pa.Table], file: BinaryIO) -> int:
    import pyarrow.parquet as pq

    return _pour(blocks, lambda types: pq.ParquetWriter(file, types, compression="zstd"))


def _pour(blocks: Iterable[pa.Table], opened: Callable[[pa.Schema], Any]) -> int:
    """Write one block or more through a writer, which needs to know the types of the first."""
    rest, rows = iter(blocks), 0
    first = next(rest)
    with opened(first.schema) as writer:
        for block in chain([first], rest):
            writer.write_table(block)
            rows += block.num_rows
    return rows
