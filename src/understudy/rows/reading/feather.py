"""Rows from Arrow files, which are also called Feather, a batch at a time.

What a file announces is added up before Arrow makes memory of it: a batch may be compressed, and
some types have rows that take no bytes at all.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from understudy.errors import DataError
from understudy.facts.codec import Codec
from understudy.system.files.arrow import BatchSize, UnsoundArrow, batch_sizes
from understudy.system.files.refusals import reading

_BYTES_PER_CELL = 12
# A batch is held as it is unpacked, and as the cells that are made of it.
_COPIES = 2


def feather_types(path: Path) -> pa.Schema:
    """The columns that a file declares; its rows stay unread."""
    with reading(path), _announced(path), pa.OSFile(str(path)) as file:
        types = pa.ipc.open_file(file).schema
        # A name that is not text is met when it is asked for.
        return pa.schema([(field.name, field.type) for field in types])


def feather_bytes(path: Path, codec: Codec) -> int:
    """The bytes that reading all of a file is expected to take."""
    return sum(_needed(batch, codec) for batch in _sizes(path))


def feather_blocks(path: Path, codec: Codec, *, memory: int | None = None) -> Iterator[pa.Table]:
    """The declared columns, a batch of rows at a time; at least one, perhaps without rows."""
    largest = max((_needed(batch, codec) for batch in _sizes(path)), default=0)
    if memory is not None and largest > memory:
        raise DataError(
            f"{path}: one batch of its rows takes {largest:,} bytes, more than there is memory "
            "for; write it in smaller batches, or give more by --memory"
        )
    names = list(codec.read_types)
    with reading(path), _announced(path), pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_file(file)
        yield reader.schema.empty_table().select(names)
        for number in range(reader.num_record_batches):
            rows = pa.Table.from_batches([reader.get_batch(number)]).select(names)
            # Arrow trusts a file's offsets unless it is told to look.
            rows.validate(full=True)
            yield rows


def read_feather(path: Path, codec: Codec) -> pa.Table:
    """The declared columns, all rows at once."""
    return pa.concat_tables(list(feather_blocks(path, codec))).unify_dictionaries()


def _needed(batch: BatchSize, codec: Codec) -> int:
    cells = batch.rows * len(codec.columns)
    return max(_COPIES * batch.unpacked, _BYTES_PER_CELL * cells)


def _sizes(path: Path) -> list[BatchSize]:
    with (
        reading(path),
        _announced(path),
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        return batch_sizes(data)


@contextmanager
def _announced(path: Path) -> Iterator[None]:
    """Say in our words why a file's own description is wrong."""
    try:
        yield
    except (UnsoundArrow, ValueError) as error:
        reason = str(error) if isinstance(error, UnsoundArrow) else "is damaged"
        raise DataError(
            f"{path}: {reason}; write it as pyarrow.feather.write_feather does, or export it to "
            ".parquet"
        ) from None
