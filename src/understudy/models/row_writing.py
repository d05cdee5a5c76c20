"""Rows to CSV and Parquet files, whole or not at all.

Output is written beside its place, flushed to disk, and moved there.
"""

from __future__ import annotations

import csv
import errno
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from understudy.codec import Codec
from understudy.errors import DiskError, OutputError
from understudy.files.reading import check_suffix

_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


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
    spelled = map(codec.spell_missing, blocks)
    return _pour(spelled, lambda types: pc.CSVWriter(file, types, write_options=options))


def _header_line(codec: Codec) -> str:
    line = io.StringIO()
    # Python quotes a lone carriage return only when told to quote everything.
    if _needs_quotes(codec):
        writer = csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="\n")
    else:
        writer = csv.writer(line, lineterminator="\n")
    writer.writerow(codec.schema.columns)
    return line.getvalue()


def _needs_quotes(codec: Codec) -> bool:
    """Whether any text that may stand in the file needs quotes: a public fact."""
    texts = [*codec.schema.columns]
    for column in codec.schema.columns.values():
        texts += [*getattr(column, "texts", ()), *(getattr(column, "missing", None) or ())]
        texts.append(getattr(column, "prefix", ""))
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


@contextmanager
def atomic(path: Path) -> Iterator[BinaryIO]:
    """A file that appears at `path` complete and flushed, or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with writing(path):
            with beside.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Writing failures in our words, those of a full disk apart."""
    try:
        yield
    except OSError as error:
        if error.errno in _DISK_FULL:
            raise DiskError(f"{path}: the disk took no more bytes; free some space") from None
        reason = error.strerror or "the place cannot be written"
        raise OutputError(f"{path}: cannot be written: {reason}; choose another place") from None


def check_writable(path: str | os.PathLike[str]) -> Path:
    """The path, after making sure that a file can be created there; asked before spending."""
    path = Path(path)
    probe = path.with_name(f".{path.name}.{os.getpid()}.probe")
    with writing(path):
        if path.is_dir():
            raise OutputError(f"{path}: is a folder; name a file in it")
        probe.touch(exist_ok=False)
        probe.unlink()
    return path


def check_apart(output: Path, *inputs: str | Path) -> None:
    """Refuse an output that would take the place of an input, or join the files of one."""
    for path in inputs:
        if os.path.exists(output) and os.path.exists(path) and os.path.samefile(output, path):
            raise OutputError(f"{output}: is one of the inputs; choose another place")
        if os.path.isdir(path) and output.resolve().is_relative_to(Path(path).resolve()):
            raise OutputError(f"{output}: is inside the input {path}; choose another place")
