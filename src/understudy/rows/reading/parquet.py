"""Rows from Parquet: a file, or a folder whose files are partitions of one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from understudy.errors import DataError
from understudy.facts.codec import Codec
from understudy.system.files.refusals import reading
from understudy.system.files.suffixes import PARQUET

_BLOCK_ROWS = 1 << 18
_BLOCK_BYTES = 1 << 22
_LEAST_BLOCK_BYTES = 1 << 16
# A cell as it is read, its place on the line and its code, of a block and of the next.
_BYTES_PER_CELL = 32
# Row groups are taken together up to so many rows: one block of reading.
_PARTITION_ROWS = 1 << 18


@dataclass(frozen=True)
class Footer:
    """The metadata of a Parquet file: its columns, and the rows of each of its row groups.

    Attributes:
        types: the columns.
        rows: how many each row group holds.
        unpacked: the bytes that all pages take once they are unpacked; texts of a dictionary are
            counted once.
    """

    types: pa.Schema
    rows: tuple[int, ...]
    unpacked: int


@dataclass(frozen=True)
class Partition:
    """Some row groups of a Parquet file, and how many rows they hold together."""

    path: Path
    row_groups: tuple[int, ...]
    rows: int


def is_parquet(path: Path) -> bool:
    """Whether a path is read as Parquet: by its suffix, or because it is a folder."""
    return path.suffix.lower() == PARQUET or path.is_dir()


def partition_files(path: Path) -> list[Path]:
    """The files of a table by name: those of a folder, or the one file.

    Names that begin with a dot or an underscore are the notes that writers leave. Anything else
    that is not a Parquet file is refused: its rows would be missing without notice.
    """
    if not path.is_dir():
        return [path]
    with reading(path):
        entries = sorted(p for p in path.iterdir() if not p.name.startswith((".", "_")))
    strange = [p.name for p in entries if p.suffix.lower() != PARQUET or not p.is_file()]
    if strange:
        raise DataError(
            f"{path}: {strange[0]!r} in this folder is not a {PARQUET} file; "
            "keep only the partitions of one table in a folder"
        )
    if not entries:
        raise DataError(f"{path}: cannot be read: the folder holds no {PARQUET} files")
    return entries


def read_footer(path: Path) -> Footer:
    """A file's columns and row groups; its rows stay unread."""
    import pyarrow.parquet as pq

    with reading(path), pq.ParquetFile(path) as file:
        groups = range(file.num_row_groups)
        held = [file.metadata.row_group(group) for group in groups]
        rows = tuple(group.num_rows for group in held)
        unpacked = sum(group.total_byte_size for group in held)
        return Footer(file.schema_arrow, rows, unpacked)


def parquet_types(path: Path) -> pa.Schema:
    """The column names and types that a Parquet file, or the first of a folder, declares."""
    return read_footer(partition_files(path)[0]).types


def check_alike(types: Mapping[Path, pa.Schema], codec: Codec, *, ignore_extra: bool) -> None:
    """Refuse partitions that are not of one table, and columns that do not fit the schema."""
    first = next(iter(types))
    for path, found in types.items():
        odd = _difference(types[first], found, codec, ignore_extra=ignore_extra)
        if odd is not None:
            here, there = (_type_of(t, odd) for t in (found, types[first]))
            raise DataError(
                f"{path}: column {odd!r} is {here} here and {there} in {first.name}; "
                "write all partitions with the same columns and types"
            )
    check_names(types[first].names, codec, ignore_extra=ignore_extra)
    # The kinds that fit are a matter of types alone, so that no rows are needed to know.
    codec.encode(types[first].empty_table().select(list(codec.read_types)))


def check_names(names: list[str], codec: Codec, *, ignore_extra: bool) -> None:
    """Refuse a header that lacks declared columns, or has more than the declared ones."""
    codec.check_columns(names)
    if not ignore_extra:
        codec.check_nothing_extra(names)


def _difference(
    first: pa.Schema, second: pa.Schema, codec: Codec, *, ignore_extra: bool
) -> str | None:
    """A column in which two files differ; undeclared ones count unless they are ignored."""

    def fields(types: pa.Schema) -> Counter[tuple[str, str]]:
        return Counter(
            (field.name, str(field.type))
            for field in types
            if not ignore_extra or field.name in {*codec.schema.columns, *codec.read_types}
        )

    ours, theirs = fields(first), fields(second)
    return min((name for name, _ in (ours - theirs) | (theirs - ours)), default=None)


def _type_of(types: pa.Schema, name: str) -> str:
    return " and ".join(str(field.type) for field in types if field.name == name) or "absent"


def partitions_of(path: Path, footer: Footer) -> Iterator[Partition]:
    """A file cut at its row groups, small ones taken together; an empty file is one partition."""
    groups: list[int] = []
    rows = 0
    for group, more in enumerate(footer.rows):
        if groups and rows + more > _PARTITION_ROWS:
            yield Partition(path, tuple(groups), rows)
            groups, rows = [], 0
        groups.append(group)
        rows += more
    yield Partition(path, tuple(groups), rows)


def read_parquet(path: Path, codec: Codec, *, ignore_extra: bool) -> pa.Table:
    """The declared columns of a file or folder, all rows at once."""
    import pyarrow.parquet as pq

    parts = []
    names = list(codec.read_types)
    for file in _checked_files(path, codec, ignore_extra=ignore_extra):
        with reading(file):
            rows = sound(pq.read_table(file, columns=names, partitioning=None))
        # Files that agree in their types may still differ in what else they say of a column.
        parts.append(pa.table({name: rows.column(name) for name in names}))
    return pa.concat_tables(parts)


def parquet_blocks(
    path: Path, codec: Codec, *, ignore_extra: bool, memory: int | None
) -> Iterator[pa.Table]:
    """The declared columns of a file or folder, a block of rows at a time."""
    for file in _checked_files(path, codec, ignore_extra=ignore_extra):
        yield from _blocks(file, codec, memory=memory)


def partition_blocks(partition: Partition, codec: Codec) -> Iterator[pa.Table]:
    """The declared columns of a partition, a block of rows at a time."""
    rows = 0
    for block in _blocks(partition.path, codec, row_groups=list(partition.row_groups)):
        rows += block.num_rows
        yield block
    if rows != partition.rows:
        raise DataError(
            f"{partition.path}: does not hold the rows that it declares; export it again, "
            "and do not change it while it is counted"
        )


def _checked_files(path: Path, codec: Codec, *, ignore_extra: bool) -> list[Path]:
    files = partition_files(path)
    types = {file: read_footer(file).types for file in files}
    check_alike(types, codec, ignore_extra=ignore_extra)
    return files


def _blocks(
    path: Path, codec: Codec, *, row_groups: list[int] | None = None, memory: int | None = None
) -> Iterator[pa.Table]:
    import pyarrow.parquet as pq

    rows, buffer = _block_rows(codec, memory), _buffer_bytes(codec, memory)
    options = {"columns": list(codec.read_types), "row_groups": row_groups}
    # Read ahead, a file's pages would be held until its end.
    with reading(path), pq.ParquetFile(path, pre_buffer=False, buffer_size=buffer) as file:
        for batch in file.iter_batches(rows, **options):
            yield sound(pa.Table.from_batches([batch]))


def sound(rows: pa.Table) -> pa.Table:
    """The rows, when all texts are Unicode and lie within the file; Arrow trusts it for that."""
    rows.validate(full=True)
    return rows


def _block_rows(codec: Codec, memory: int | None) -> int:
    row = _BYTES_PER_CELL * len(codec.columns)
    return _BLOCK_ROWS if memory is None else max(1, min(_BLOCK_ROWS, memory // row))


def _buffer_bytes(codec: Codec, memory: int | None) -> int:
    """Arrow has a buffer for every column."""
    if memory is None:
        return _BLOCK_BYTES
    return min(_BLOCK_BYTES, max(_LEAST_BLOCK_BYTES, memory // (4 * len(codec.columns))))
