"""Databases whose columns have a preferred type, and cells of any: SQLite.

A column is counted there as long as every cell has the type that the column declares. Where one
does not, its text would have to be parsed, and all rows are read out and spelled as those of an
SQLite file are. Which of the two happens changes no count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from understudy.facts.codec import Codec
from understudy.rows.engines.databases.database import Database, asking
from understudy.rows.reading.cells import spelled

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

_STORED = {"int64": "integer", "float64": "real", "string": "text"}
_PARSED = ("date", "datetime")


def firmly_typed(database: Database, rows: ir.Table, codec: Codec) -> ir.Table | None:
    """The rows under types that every cell has; None where a cell or a column has another one.

    No column has the type of days and moments, which are texts or numbers to be parsed.
    """
    if any(column.column.kind in _PARSED for column in codec.columns.values()):
        return None
    kinds = {name: _firm(kind) for name, kind in rows.schema().items()}
    known = {name: kind for name, kind in kinds.items() if kind is not None}
    if len(known) < len(kinds):
        return None
    strangers = [_is_stranger(rows[name], kind) for name, kind in known.items()]
    found = rows.filter(_any(strangers)).limit(1).count()
    if database.value(found):
        return None
    return rows.select(**{name: rows[name].cast(kind) for name, kind in known.items()})


def _firm(kind: dt.DataType) -> str | None:
    if kind.is_integer() or kind.is_boolean():
        return "int64"
    if kind.is_floating():
        return "float64"
    return "string" if kind.is_string() else None


def _is_stranger(cell: ir.Column, kind: str) -> ir.BooleanValue:
    return cell.typeof().notin([_STORED[kind], "null"])


def _any(conditions: list[ir.BooleanValue]) -> ir.BooleanValue:
    import ibis

    return ibis.or_(*conditions)


def spelled_blocks(database: Database, rows: ir.Table, size: int) -> Iterator[pa.Table]:
    """The rows in blocks, each cell as the text that an SQLite file would give."""
    names = list(rows.columns)
    with asking():
        cursor = database.backend.raw_sql(database.written(rows))
        while block := cursor.fetchmany(size):
            columns = zip(names, zip(*block, strict=True), strict=True)
            yield pa.table({name: spelled(cells) for name, cells in columns})
