"""The owner's rows for an evaluation: a file as it is, or a table of a database, read once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from understudy.facts.file_format import FileFormat
    from understudy.facts.schema import Schema
    from understudy.system.frames import Rows


def owner_rows(
    data: str | Path, schema: Schema, *, table: str | None, file_format: FileFormat
) -> Rows:
    """The rows to compare: files stay where they are, a table of a database is held in memory.

    Several parts of an evaluation read the rows again; a table that changes between them would be
    compared with itself of another time.

    Privacy: the rows themselves, for the owner's eyes; nothing of them is written.
    """
    from understudy.rows.engines.databases.connections import is_database

    if table is None and not is_database(str(data)):
        return data
    import pyarrow as pa

    from understudy.facts.codec import Codec
    from understudy.rows.sources import Access, opened_blocks

    codec = Codec(schema)
    access = Access(ignore_extra=True, format=file_format, table=table)
    with opened_blocks(str(data), codec, access) as blocks:
        held = list(blocks)
    found: Rows = pa.concat_tables(held or [pa.schema(codec.read_types.items()).empty_table()])
    return found
