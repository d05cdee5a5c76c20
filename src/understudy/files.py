"""Rows in and out: CSV, Parquet, and data frames of any brand through Arrow.

Files are read by the schema's kinds, never by what their cells look like. Output appears whole or
not at all: it is written beside its place, flushed to disk, and moved there.
"""

from __future__ import annotations

import codecs
import csv
import errno
import io
import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

import pyarrow as pa
from typing_extensions import TypeIs

from understudy.codec import Codec
from understudy.errors import DataError, DiskError, OutputError, UnderstudyError, UsageError

SUFFIXES = (".csv", ".parquet")

_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@runtime_checkable
class ArrowStream(Protocol):
    """A data frame of any brand that can hand itself over as Arrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as an Arrow stream."""


Rows = str | os.PathLike[str] | ArrowStream | Mapping[str, Any]


def are_rows(data: object) -> TypeIs[Rows]:
    """Whether something is a file or a data frame, and not rows already behind an engine."""
    return isinstance(data, str | os.PathLike | ArrowStream | Mapping)


def read_rows(
    data: Rows, codec: Codec, *, ignore_extra: bool = False, encoding: str = "utf-8"
) -> pa.Table:
    """The declared columns of a file or a data frame.

    Privacy: the rows are private, and errors speak of the header and the shape alone.
    """
    if isinstance(data, str | os.PathLike):
        return _read_file(Path(data), codec, ignore_extra=ignore_extra, encoding=encoding)
    rows = _arrow_table(data)
    _check_names(rows.column_names, codec, ignore_extra=ignore_extra)
    return rows.select(list(codec.columns))


def _arrow_table(data: ArrowStream | Mapping[str, Any]) -> pa.Table:
    try:
        if brand_of(data) == "pandas":
            # An index that is no plain count would come along as a column of its own.
            return pa.Table.from_pandas(data, preserve_index=False)
        return pa.table(dict(data) if isinstance(data, Mapping) else data)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        # Arrow's own words may quote a cell.
        raise DataError(
            "the data is no table that Arrow can read; pass columns of one type each"
        ) from None


def column_names(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> list[str]:
    """The header of a CSV or Parquet file."""
    path = check_suffix(Path(path))
    with _reading(path):
        return (
            _csv_header(path, encoding)
            if path.suffix == ".csv"
            else list(parquet_types(path).names)
        )


def parquet_types(path: Path) -> pa.Schema:
    """The column names and types a Parquet file declares."""
    import pyarrow.parquet as pq

    with _reading(path):
        return pq.read_schema(path)


def check_suffix(path: Path) -> Path:
    """The path, when its suffix names a format we speak."""
    if path.suffix not in SUFFIXES:
        raise UsageError(f"{path}: the name must end in {' or '.join(SUFFIXES)}")
    return path


def _read_file(path: Path, codec: Codec, *, ignore_extra: bool, encoding: str) -> pa.Table:
    names = column_names(path, encoding=encoding)
    _check_names(names, codec, ignore_extra=ignore_extra)
    with _reading(path):
        if path.suffix == ".parquet":
            return _read_parquet(path, codec)
        return _read_csv(path, codec, encoding, one_column=len(names) == 1)


def _check_names(names: list[str], codec: Codec, *, ignore_extra: bool) -> None:
    codec.check_columns(names)
    if not ignore_extra:
        codec.check_nothing_extra(names)


def _read_parquet(path: Path, codec: Codec) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.read_table(path, columns=list(codec.columns), partitioning=None)


def _csv_header(path: Path, encoding: str) -> list[str]:
    is_utf8 = codecs.lookup(encoding).name == "utf-8"
    with path.open(encoding="utf-8-sig" if is_utf8 else encoding, newline="") as file:
        header = next(csv.reader(file), [])
    if not header:
        raise DataError(f"{path}: the file is empty; it needs a header with the column names")
    if len(set(header)) < len(header):
        raise DataError(f"{path}: two columns have the same name; rename one of them")
    return header


def _read_csv(path: Path, codec: Codec, encoding: str, *, one_column: bool) -> pa.Table:
    """Numbers are read as numbers; if a cell of one is none, all of them are read as texts."""
    types = {name: column.read_type for name, column in codec.columns.items()}
    try:
        return _parse_csv(path, types, encoding, one_column=one_column)
    except pa.ArrowInvalid:
        texts = {n: t if pa.types.is_dictionary(t) else pa.string() for n, t in types.items()}
        return _parse_csv(path, texts, encoding, one_column=one_column)


def _parse_csv(
    path: Path, types: Mapping[str, pa.DataType], encoding: str, *, one_column: bool
) -> pa.Table:
    import pyarrow.csv as pc

    ragged: list[tuple[int, int]] = []

    def refuse(row: Any) -> str:
        ragged.append((row.actual_columns, row.expected_columns))
        return "error"

    # In a file of one column an empty line is a row: its cell is empty.
    parse = pc.ParseOptions(
        newlines_in_values=_has_quotes(path),
        ignore_empty_lines=not one_column,
        invalid_row_handler=refuse,
    )
    convert = pc.ConvertOptions(
        column_types=dict(types), include_columns=list(types), null_values=[""]
    )
    read = pc.ReadOptions(encoding=encoding, block_size=1 << 22)
    try:
        return pc.read_csv(path, parse_options=parse, convert_options=convert, read_options=read)
    except pa.ArrowInvalid as error:
        if str(error).startswith("CSV parse error: Empty CSV file"):
            # A header that no line break follows.
            return pa.schema(types.items()).empty_table()
        if ragged:
            raise DataError(
                f"{path}: a line has {ragged[0][0]} fields where the header has {ragged[0][1]}; "
                "quote fields that hold commas"
            ) from None
        raise


def _has_quotes(path: Path) -> bool:
    """Whether a field could span lines, which costs the reader a third of its speed."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b'"') >= 0


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Reading failures in our words: those of the libraries may quote rows."""
    try:
        yield
    except UnderstudyError:
        raise
    except UnicodeError:
        raise DataError(_not_decodable(path)) from None
    except (pa.ArrowException, csv.Error) as error:
        if "UTF8" in str(error):
            raise DataError(_not_decodable(path)) from None
        raise DataError(f"{path}: is no readable {path.suffix[1:]} file; export it again") from None
    except LookupError:
        raise UsageError("the encoding is unknown; use a name such as utf-8 or latin-1") from None
    except OSError as error:
        reason = error.strerror or "it is damaged or no such file"
        raise DataError(f"{path}: cannot be read: {reason}; check the path") from None


def _not_decodable(path: Path) -> str:
    return f"{path}: is not text in this encoding; name it, for example --encoding latin-1"


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


def check_apart(output: Path, *inputs: Path) -> None:
    """Refuse an output that would take the place of an input."""
    for path in inputs:
        if os.path.exists(output) and os.path.exists(path) and os.path.samefile(output, path):
            raise OutputError(f"{output}: is one of the inputs; choose another place")


def brand_of(data: object) -> str:
    """Which library a data frame comes from, so that rows can go out in the same brand."""
    module = type(data).__module__.partition(".")[0]
    return module if module in ("pandas", "polars") else "pyarrow"


def in_brand(rows: pa.Table, brand: str) -> Any:
    """Arrow rows as a data frame of the given brand."""
    if brand == "pandas":
        return rows.to_pandas()
    if brand == "polars":
        import polars

        return polars.from_arrow(rows)
    return rows
