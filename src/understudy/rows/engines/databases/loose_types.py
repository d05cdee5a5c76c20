"""Databases whose cells need not be what their column's type says: SQLite, and days in MariaDB.

A column is counted there as long as every cell has the type that the column declares. Where one
does not, its text would have to be parsed, and all rows are read out: spelled as those of an SQLite
file are, or, of a column with days such as 0000-00-00, as the texts that an export would have.
Which of the two happens changes no count.
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


def days_spelled(database: Database, rows: ir.Table, codec: Codec) -> ir.Table:
    """The rows, with texts in the place of days and moments where a month or a day is 0."""
    if not database.dialect.zero_days:
        return rows
    kinds = rows.schema()
    temporal = [n for n in codec.columns if kinds[n].is_date() or kinds[n].is_timestamp()]
    if not temporal:
        return rows
    parts = [part for n in temporal for part in (rows[n].month(), rows[n].day())]
    if not database.value(rows.filter(_any([part == 0 for part in parts])).limit(1).count()):
        return rows
    return rows.mutate(**{name: rows[name].cast("string") for name in temporal})


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
