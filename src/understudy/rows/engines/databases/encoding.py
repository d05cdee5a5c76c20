"""All cells of a table as codes, in a database's own words; rows to be dropped have a null."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.facts.codec import Codec
from understudy.facts.codec.persons import MODULUS, multipliers
from understudy.rows.engines.databases.dialects import Dialect
from understudy.rows.engines.databases.expressions import (
    can_drop,
    code_of,
    group_of,
)
from understudy.rows.engines.databases.texts import compared_by_bytes, name_of

if TYPE_CHECKING:
    import ibis.expr.types as ir

_PERSON = "person"
TIMES = "times"
"""The column that says how many rows have the same codes."""


def all_codes(rows: ir.Table, codec: Codec, dialect: Dialect) -> ir.Table:
    """All rows as codes, null where a cell sends its row away, and the person of each row."""
    rows, names = compared_by_bytes(rows.select(list(codec.read_types)), dialect), _names(codec)
    columns = {names[a]: code_of(c, rows[a], dialect) for a, c in codec.columns.items()}
    if codec.persons:
        column = codec.persons.column
        columns[_PERSON] = name_of(column, rows[column], dialect)
    return rows.select(**columns)


def alike(codes: ir.Table) -> ir.Table:
    """One row for all that have the same codes, with their number."""
    return codes.group_by(list(codes.columns)).aggregate(**{TIMES: codes.count()})


def kept_codes(codes: ir.Table, codec: Codec) -> ir.Table:
    """The codes of rows that are counted, those to be dropped left out, with coarser copies."""
    names = _names(codec)
    dropping = [codes[name] for name in _dropping(codec)]
    kept = codes.filter([code.notnull() for code in dropping]) if dropping else codes
    if codec.persons:
        kept = _first_of_each(kept, _PERSON, codec.persons.most)
    levels = enumerate(codec.domain.coarser.values())
    return kept.mutate(**{f"g{i}": group_of(kept[names[v.of]], v.groups) for i, v in levels})


def _names(codec: Codec) -> dict[str, str]:
    """The columns of codes, under names that need no quotes."""
    return {attribute: f"c{i}" for i, attribute in enumerate(codec.columns)}


def _dropping(codec: Codec) -> list[str]:
    """The columns of codes that are null where a row is dropped."""
    names = _names(codec)
    found = [names[a] for a, c in codec.columns.items() if can_drop(c)]
    return [*found, _PERSON] if codec.persons else found


def unfit_rows(codes: ir.Table, codec: Codec) -> ir.Scalar | None:
    """The number of rows that do not fit, of every person at most what fitting rows leave."""
    import ibis

    if codec.persons is None:
        return None
    most = codec.persons.most
    named = codes.filter(codes[_PERSON].notnull())
    checks = [named[name].notnull() for name in _dropping(codec)]
    flagged = named.select(_PERSON, fits=ibis.and_(*checks).cast("int64"))
    each = flagged.group_by(_PERSON).aggregate(fitting=flagged.fits.sum(), rows=flagged.count())
    left = most - ibis.least(each.fitting, most)
    return ibis.least(each["rows"] - each.fitting, left).sum()


def _first_of_each(codes: ir.Table, person: str, most: int) -> ir.Table:
    """The rows that `codec.persons` keeps of every person, without the column that names them."""
    import ibis

    names = [name for name in codes.columns if name != person]
    equal = ibis.window(group_by=[person, *names])
    numbered = codes.mutate(copy=ibis.row_number().over(equal))
    terms = [
        numbered[name].cast("int64") * factor + factor
        for name, factor in zip([*names, "copy"], multipliers(len(names)), strict=True)
    ]
    scattered = numbered.mutate(turn=sum(terms[1:], terms[0]) % MODULUS)
    lots = ibis.window(group_by=person, order_by=["turn", *names, "copy"])
    placed = scattered.mutate(place=ibis.row_number().over(lots))
    return placed.filter(placed.place < most).select(*names)
