"""Rows of object stores and lakes: Parquet in s3://, gs:// and abfs://, Delta and Iceberg tables.

Folders whose names say values, such as `region=North`, are one table, here or in a store. Which
files make up the table is found once: a Delta or an Iceberg table is read at one version, and of
other files each further reading checks that none was replaced.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from understudy.errors import DataError, UnderstudyError, UsageError
from understudy.facts.codec import Codec
from understudy.rows.reading.lake_stores import LakeStore
from understudy.rows.reading.parquet import check_names, sound
from understudy.system.extras import require
from understudy.system.files.suffixes import PARQUET

STORES = ("s3", "gs", "gcs", "abfs", "abfss")
_DELTA, _ICEBERG = "delta", "iceberg"
# Something before a colon that no port follows is a user's name, and a password is behind it.
_NAMES_USER = re.compile(r"[^/@]*:(?![0-9]*(/|$)).*@", re.DOTALL)
_BLOCK_ROWS = 1 << 18
_LEAST_ROWS = 1 << 10
# A cell as it is read, its place on the line and its code, of a block and of the next.
_BYTES_PER_CELL = 32

# Which version it was stays unsaid. Versions count the writes to a table, and where each row comes
# with a write of its own, that number is the number of rows.
_VERSION = "all answers are from one version of the table"
_FILES = "files are listed once, and a run that finds others there fails"

Batches = Callable[[Sequence[str], int], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class LakeTable:
    """One version of a table whose files are found once.

    Attributes:
        shown: the address, without what could be a password.
        types: the columns.
        rows: how many rows there are.
        batches: reads some columns, a bounded number of rows at a time.
        reading: how all answers come from the same rows, for the statement; public.
    """

    shown: str
    types: pa.Schema
    rows: int
    batches: Batches
    reading: str

    def check(self, codec: Codec, *, ignore_extra: bool) -> None:
        """Refuse columns that do not fit the schema; no rows are needed to know."""
        check_names(self.types.names, codec, ignore_extra=ignore_extra)
        codec.encode(self.types.empty_table().select(list(codec.read_types)))

    def whole(self, codec: Codec, *, ignore_extra: bool) -> pa.Table:
        """All rows of the declared columns."""
        names = list(codec.read_types)
        self.check(codec, ignore_extra=ignore_extra)
        types = pa.schema([self.types.field(name) for name in names])
        with _failures(self.shown):
            return sound(pa.Table.from_batches(self.batches(names, _BLOCK_ROWS), types))

    def blocks(
        self, codec: Codec, *, ignore_extra: bool = False, memory: int | None = None
    ) -> Iterator[pa.Table]:
        """The rows of the declared columns, a block at a time."""
        names = list(codec.read_types)
        self.check(codec, ignore_extra=ignore_extra)
        most = _BLOCK_ROWS
        if memory is not None:
            most = max(_LEAST_ROWS, min(most, memory // (_BYTES_PER_CELL * max(len(names), 1))))
        with _failures(self.shown):
            for batch in self.batches(names, most):
                yield sound(pa.Table.from_batches([batch]))


def is_lake(data: object) -> bool:
    """Whether data is an address of a store or a lake, or a folder of folders that say values."""
    if not isinstance(data, str | os.PathLike):
        return False
    scheme = _scheme(os.fspath(data))
    if scheme:
        return scheme.split("+")[0] in (*STORES, _DELTA, _ICEBERG)
    path = Path(data)
    return path.is_dir() and any("=" in each.name and each.is_dir() for each in path.iterdir())


def lake_name(address: str) -> str:
    """The last part of an address's path: by it a ledger knows the rows."""
    bare = urlsplit(shown_address(address))
    parts = [part for part in bare.path.split("/") if part]
    if _scheme(address).startswith(_ICEBERG) and "metadata" in parts[:-1]:
        # An Iceberg table is named by its folder, whichever version of it is read.
        parts = parts[: parts.index("metadata")]
    return unquote(parts[-1]) if parts else bare.netloc


def open_lake(data: str | os.PathLike[str]) -> LakeTable:
    """The table at an address, at the version that it has now.

    Raises:
        DataError: it cannot be read.
    """
    address = os.fspath(data)
    kind, _, store = _scheme(address).partition("+")
    rest = address.partition("://")[2]
    inner = f"{store}://{rest}" if store else rest
    with _failures(shown_address(address)):
        if kind == _DELTA:
            return _delta(inner, shown_address(address))
        if kind == _ICEBERG:
            return _iceberg(inner, shown_address(address))
        return _parquet(address)


def shown_address(address: str) -> str:
    """An address as it may be shown: without user, password and options."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        return address
    if _NAMES_USER.match(rest):
        # A password may hold a slash or any other mark: all before the last @ may be one.
        rest = rest.rpartition("@")[2]
    bucket, _, path = re.split("[?#]", rest, maxsplit=1)[0].partition("/")
    place = bucket.rpartition("@")[2]
    return f"{scheme}://{place}/{path}" if path else f"{scheme}://{place}"


def _scheme(address: str) -> str:
    scheme, separator, _ = address.partition("://")
    return scheme if separator else ""


# --- Parquet ------------------------------------------------------------------------------------


def _parquet(address: str) -> LakeTable:
    system, path = filesystem_of(address)
    files = _files(system, path)
    if not files:
        raise DataError(f"{shown_address(address)}: holds no {PARQUET} files; check the address")
    dataset = _dataset(system, files, path)

    def batches(names: Sequence[str], most: int) -> Iterator[pa.RecordBatch]:
        if _files(system, path) != files:
            raise DataError(
                f"{shown_address(address)}: its files were changed while they were read; run "
                "again when nobody writes there"
            )
        yield from dataset.to_batches(columns=list(names), batch_size=most, batch_readahead=2)

    return LakeTable(
        shown=shown_address(address),
        types=dataset.schema,
        rows=dataset.count_rows(),
        batches=batches,
        reading=f"Parquet: {_FILES}",
    )


def filesystem_of(address: str) -> tuple[Any, str]:
    """The store of an address and the path in it: Arrow's own, else one of fsspec's."""
    import pyarrow.fs as stores

    if not _scheme(address):
        return stores.LocalFileSystem(), os.path.abspath(address)
    try:
        return _arrows_own(address)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        fsspec = require("fsspec", extra="lake")
        try:
            found, path = fsspec.core.url_to_fs(address)
        except ImportError:
            raise UsageError(
                f"{shown_address(address)}: this store needs one more package of fsspec's; install "
                "s3fs for s3://, gcsfs for gs:// or adlfs for abfs://"
            ) from None
        return stores.PyFileSystem(stores.FSSpecHandler(found)), path


def _arrows_own(address: str) -> tuple[Any, str]:
    """A store that Arrow was built with."""
    import pyarrow.fs as stores

    found, path = stores.FileSystem.from_uri(address)
    return found, path


def _files(system: Any, path: str) -> list[tuple[str, int, object]]:
    """The files of a table: path, size and time of change; notes that writers leave are not."""
    import pyarrow.fs as stores

    [place] = system.get_file_info([path])
    found = [place]
    if place.type == stores.FileType.Directory:
        found = system.get_file_info(stores.FileSelector(path, recursive=True))
    held = [each for each in found if each.type == stores.FileType.File and _counts(each, path)]
    if strange := [each.path for each in held if not each.path.lower().endswith(PARQUET)]:
        raise DataError(
            f"{os.path.basename(strange[0])!r} is not a {PARQUET} file; keep only the files of one "
            "table in a folder"
        )
    return sorted((each.path, each.size, each.mtime_ns) for each in held)


def _counts(file: Any, root: str) -> bool:
    inside = file.path[len(root) :] if file.path.startswith(root) else file.path
    return not any(part.startswith((".", "_")) for part in inside.split("/") if part)


def _dataset(system: Any, files: Sequence[tuple[str, int, object]], root: str) -> Any:
    """One table of all files; what folders say is text, as the cells of a text file are."""
    import pyarrow.dataset as datasets

    paths = [path for path, _, _ in files]
    keys = _keys(paths[0], root)
    if strange := [path for path in paths if _keys(path, root) != keys]:
        raise DataError(
            f"{os.path.basename(strange[0])!r} is not in folders that say {', '.join(keys)!r} as "
            "the others are; keep the files of one table alike"
        )
    layout = datasets.partitioning(
        pa.schema([(unquote(key), pa.string()) for key in keys]), flavor="hive"
    )
    made = datasets.dataset(
        paths, filesystem=system, format="parquet", partitioning=layout, partition_base_dir=root
    )
    for fragment in made.get_fragments():
        _check_alike(made.schema, fragment.physical_schema, os.path.basename(fragment.path))
    return made


def _keys(path: str, root: str) -> list[str]:
    """The columns whose values the folders of a file say, in order."""
    folders = path[len(root) :].split("/")[:-1]
    return [part.partition("=")[0] for part in folders if "=" in part]


def _check_alike(types: pa.Schema, own: pa.Schema, name: str) -> None:
    """Refuse files that are not of one table: Arrow would fill what is missing with nulls."""
    for field in own:
        if field.name not in types.names or types.field(field.name).type != field.type:
            raise DataError(
                f"{name!r}: column {field.name!r} is {field.type} here and another type in other "
                "files; write all files with the same columns and types"
            )


# --- Delta and Iceberg --------------------------------------------------------------------------


def _delta(address: str, shown: str) -> LakeTable:
    package = require("deltalake", extra="lake")
    store = LakeStore.of(address, shown=shown)
    table = package.DeltaTable(store.address, storage_options=store.delta_options)
    # The version that was opened: later ones are not looked at.
    dataset = table.to_pyarrow_dataset()

    def batches(names: Sequence[str], most: int) -> Iterator[pa.RecordBatch]:
        yield from dataset.to_batches(columns=list(names), batch_size=most, batch_readahead=2)

    rows = dataset.count_rows()
    return LakeTable(shown, dataset.schema, rows, batches, reading=f"Delta: {_VERSION}")


def _iceberg(address: str, shown: str) -> LakeTable:
    package = require("pyiceberg.table", extra="lake")
    store = LakeStore.of(address, shown=shown)
    if not store.address.endswith(".json"):
        raise UsageError(
            f"{shown}: an Iceberg table is named by its newest metadata file, as "
            "iceberg:///lake/patients/metadata/00002-….metadata.json"
        )
    # Its messages name buckets, and would be on the terminal.
    logging.getLogger("pyiceberg").addHandler(logging.NullHandler())
    table = package.StaticTable.from_metadata(store.address, store.iceberg_options)
    scan = table.scan()
    schema = scan.to_arrow_batch_reader().schema
    batches = partial(_iceberg_batches, table)
    return LakeTable(shown, schema, scan.count(), batches, reading=f"Iceberg: {_VERSION}")


def _iceberg_batches(table: Any, names: Sequence[str], most: int) -> Iterator[pa.RecordBatch]:
    for batch in table.scan(selected_fields=tuple(names)).to_arrow_batch_reader():
        for start in range(0, batch.num_rows, most):
            yield batch.select(list(names)).slice(start, most)


@contextmanager
def _failures(shown: str) -> Iterator[None]:
    """Failures of a store in our words; its own may quote keys or cells."""
    try:
        yield
    except UnderstudyError:
        raise
    except Exception as error:
        raise DataError(
            f"{shown}: cannot be read ({type(error).__name__}); check the address, the credentials "
            "that this process has, and whether it is a table of Parquet"
        ) from None
