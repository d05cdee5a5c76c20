"""The codec in a database's own words: cells become codes there, as `codec` makes them here.

A cell's code is an expression over that cell alone, null where its row is to be dropped. Nothing is
parsed in the database and no cell can make an expression fail: where a column of texts would need
that, the rows are read out and parsed here, and other types are refused. Values on a line are
compared with thresholds written in the cell's own type, so that `cell ≥ threshold` holds exactly
where the cell's ordinate reaches the bin's edge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.errors import CapacityError, DataError
from understudy.facts.codec.bins import BinnedCodec
from understudy.facts.codec.categories import ListedCodec, spellings
from understudy.facts.column import (
    HIGHEST_WHOLE,
    BinnedColumn,
    DateColumn,
    DatetimeColumn,
    IntegerColumn,
    Ordinate,
    text_of,
)
from understudy.facts.hierarchy import Groups
from understudy.rows.engines.databases.dialects import Dialect
from understudy.rows.engines.databases.texts import stripped

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

# A query with more branches for a column takes longer to write than rows take to count.
_MOST_BRANCHES = 4096
_SECONDS_PER_DAY = 86400
_EPOCH = datetime(1970, 1, 1)
# Decimals of many digits may hold more than a double can; no bound or edge lies beyond these.
_MANY_DIGITS = 300
_HUGE, _TINY = "1e301", "1e-301"
_END = "."


def code_of(codec: ListedCodec | BinnedCodec, cell: ir.Column, dialect: Dialect) -> ir.Value:
    """The code of a cell, null where its row is dropped.

    Args:
        codec: of the cell's column.
        cell: the column in the database.
        dialect: the database's own.
    """
    if codec.column.levels > _MOST_BRANCHES and not _is_counted(codec, cell):
        raise CapacityError(
            f"column {codec.name!r} has {codec.column.levels:,} levels, more than the "
            f"{_MOST_BRANCHES:,} that a query can tell apart; use fewer, or export the table"
        )
    if isinstance(codec, ListedCodec):
        if getattr(codec.column, "beginnings", ()):
            raise CapacityError(
                f"column {codec.name!r} groups values by prefixes, which a query does not tell "
                "apart; export the table, or list the values"
            )
        return _listed(codec, cell, dialect)
    return _binned(codec, cell, dialect)


def group_of(code: ir.Value, groups: Groups) -> ir.Value:
    """The group of a code: by division where groups are runs of equal length, else by lists."""
    import ibis

    length = int(np.count_nonzero(groups == 0))
    divided = np.arange(groups.size) // length
    # The last group may be the missing level's alone.
    if np.array_equal(divided[:-1], groups[:-1]):
        quotient = (code // length).cast("int32")
        last = groups.size - 1
        return (code == last).ifelse(_literal(int(groups[last])), quotient)
    lists = [np.flatnonzero(groups == group).tolist() for group in range(int(groups.max()))]
    branches = [(code.isin(codes), _literal(group)) for group, codes in enumerate(lists)]
    return ibis.cases(*branches, else_=_literal(len(lists)))


def must_be_parsed(codec: ListedCodec | BinnedCodec, kind: dt.DataType) -> bool:
    """Whether a column holds texts that have to be read as numbers or days; known by its type."""
    if not kind.is_string():
        return False
    return not isinstance(codec, ListedCodec) or codec.is_numeric


def can_drop(codec: ListedCodec | BinnedCodec) -> bool:
    """Whether a cell of this column may send its row away."""
    if isinstance(codec, ListedCodec):
        return codec.column.outside_code is None or codec.column.missing_as == "drop"
    strays = codec.column.outside == "drop"
    return strays or codec.missing_target is None


def _refusal(name: str, held: dt.DataType, kind: str) -> DataError:
    known = "a type that is not known here" if held.is_unknown() else held
    return DataError(
        f"column {name!r}: the database holds {known}, the schema says {kind}; "
        "correct the kind, or convert the column in a view and name that"
    )


def _literal(code: int | None) -> ir.Value:
    import ibis

    return ibis.null("int32") if code is None or code < 0 else ibis.literal(code, "int32")


def _listed(codec: ListedCodec, cell: ir.Column, dialect: Dialect) -> ir.Value:
    kind = cell.type()
    if kind.is_string():
        code = _of_text(codec, cell, dialect)
    elif kind.is_boolean():
        code = cell.ifelse(*(_literal(codec.code_of(value)) for value in (True, False)))
    elif kind.is_integer():
        code = _of_whole(codec, cell, dialect)
    elif kind.is_floating() or (kind.is_decimal() and _matched_by_value(codec)):
        code = _of_real(codec, _double(cell), dialect)
    else:
        raise _refusal(codec.name, kind, f"{codec.column.kind}, matched by text")
    return cell.isnull().ifelse(_literal(codec.code_of(None)), code)


def _of_text(codec: ListedCodec, cell: ir.Column, dialect: Dialect) -> ir.Value:
    if codec.is_numeric:
        raise DataError(
            f"column {codec.name!r}: the database holds text, the schema lists numbers; "
            'list them as texts, as values = ["1", "2"], or convert the column in a view'
        )
    padded = [text for text in codec.known if text != text.strip()]
    bare = stripped(cell, dialect)
    texts = [text for text in spellings(codec) if text == text.strip()]
    otherwise = _matched(bare, [(text, codec.code_of(text)) for text in texts], codec)
    if dialect.empties_are_null:
        otherwise = bare.isnull().ifelse(_literal(codec.code_of("")), otherwise)
    # Equality may pass over spaces at the end, but not over those before something else.
    end = _END if dialect.pads else ""
    whole = [(text + end, codec.code_of(text)) for text in padded]
    return _matched(cell.concat(end) if end else cell, whole, codec, otherwise)


def _of_whole(codec: ListedCodec, cell: ir.Column, dialect: Dialect) -> ir.Value:
    import ibis

    held = [n for n in map(_whole, spellings(codec)) if n is not None and n in cell.type().bounds]
    whole = [(ibis.literal(n, cell.type()), codec.code_of(n)) for n in held]
    otherwise = _of_real(codec, _double(cell), dialect) if codec.is_numeric else None
    return _matched(cell, whole, codec, otherwise)


def _of_real(codec: ListedCodec, cell: ir.Value, dialect: Dialect) -> ir.Value:
    reals = [x for x in map(_real, spellings(codec)) if x is not None and x == x]
    cases = [
        (_double_literal(x, dialect), codec.code_of(x)) for x in reals if _can_hold(x, dialect)
    ]
    found = _matched(cell, cases, codec)
    if not dialect.knows_nan:
        return found
    return cell.isnan().ifelse(_literal(codec.code_of(None)), found)


def _matched(
    cell: ir.Value,
    codes: Sequence[tuple[Any, int]],
    codec: ListedCodec,
    otherwise: ir.Value | None = None,
) -> ir.Value:
    """The code of the value that a cell equals; else what undeclared values take."""
    if otherwise is None:
        otherwise = _literal(codec.column.outside_code)
    cases = [(value, _literal(code)) for value, code in codes]
    return cell.cases(*cases, else_=otherwise) if cases else otherwise


def _whole(text: str) -> int | None:
    """The whole number that is spelled by exactly this text."""
    try:
        return int(text) if str(int(text)) == text else None
    except ValueError:
        return None


def _real(text: str) -> float | None:
    """The number whose spelling this text is."""
    try:
        return float(text) if text_of(float(text)) == text else None
    except (ValueError, OverflowError):
        return None


def _matched_by_value(codec: ListedCodec) -> bool:
    """Whether decimals can be matched as numbers: every spelling with digits is a plain one."""
    return codec.is_numeric and all(
        _real(text) is not None or not any(map(str.isdigit, text)) for text in codec.known
    )


def _double(cell: ir.Value) -> ir.Value:
    """A number as a double; one of many digits is first brought within its range."""
    kind = cell.type()
    if kind.is_boolean():
        cell = cell.ifelse(1, 0)
    if kind.is_decimal() and (kind.precision is None or kind.precision > _MANY_DIGITS):
        cell = _within_doubles(cell)
    return cell.cast("float64")


def _within_doubles(cell: ir.Value) -> ir.Value:
    import ibis

    nan, huge, tiny, zero = (ibis.literal(x).cast("decimal") for x in ("nan", _HUGE, _TINY, "0"))
    return ibis.cases(
        (cell == nan, cell),
        (cell > huge, huge),
        (cell < -huge, -huge),
        ((cell < tiny) & (cell > -tiny), zero),
        else_=cell,
    )


def _can_hold(value: Ordinate, dialect: Dialect) -> bool:
    return dialect.knows_infinity or math.isfinite(value)


def _double_literal(value: float, dialect: Dialect) -> ir.Value:
    """Written as a text, since a database may read plain digits as a decimal."""
    import ibis

    if not dialect.parses_exactly:
        return _by_powers(value)
    return ibis.literal(repr(value)).cast("float64")


def _by_powers(value: float) -> ir.Value:
    """A double as a whole number times powers of two, every one of them exact.

    An infinite one is a product beyond all doubles.
    """
    import ibis

    fraction, power = math.frexp(value) if math.isfinite(value) else (math.copysign(1, value), 1100)
    whole, power = int(fraction * 2**53), power - 53
    found = ibis.literal(whole, "int64").cast("float64")
    while power:
        step = min(abs(power), 62)
        factor = ibis.literal(2**step, "int64").cast("float64")
        found = found * factor if power > 0 else found / factor
        power += -step if power > 0 else step
    return found


@dataclass(frozen=True)
class _Line:
    """A column on a line as the database holds it.

    Attributes:
        cell: what is compared.
        at: the threshold, in the cell's type, that cells reach from an ordinate on.
        whole: whether ordinates are counted, so that the next one can be named.
        last: the last threshold that can be written, where there is one.
    """

    cell: ir.Value
    at: Callable[[Any], Any]
    whole: bool
    last: date | None = None

    def reaches(self, ordinate: Ordinate) -> ir.BooleanValue:
        """Whether the cell lies at the ordinate or above."""
        import ibis

        if self.cell.type().is_unsigned_integer() and ordinate <= 0:
            # Its type holds nothing below, and no number below that it could be compared with.
            return ibis.literal(True)
        return self.cell >= self.at(ordinate)

    def exceeds(self, ordinate: Ordinate) -> ir.BooleanValue:
        """Whether the cell lies above the ordinate."""
        if not self.whole:
            return self.cell > self.at(ordinate)
        try:
            return self.reaches(ordinate + 1)
        except OverflowError:
            return self._is_past_the_last()

    def _is_past_the_last(self) -> ir.BooleanValue:
        import ibis

        return ibis.literal(False) if self.last is None else self.cell > self.last

    def equals(self, ordinate: Ordinate) -> ir.BooleanValue:
        """Whether the cell lies at the ordinate."""
        return self.reaches(ordinate) & ~self.exceeds(ordinate)


def _binned(codec: BinnedCodec, cell: ir.Column, dialect: Dialect) -> ir.Value:
    import ibis

    column = codec.column
    line = _line(codec.name, column, cell, dialect)
    markers = [m for m in codec.markers.tolist() if m == m and _can_hold(m, dialect)]
    absent = [cell.isnull(), *map(line.equals, markers)]
    if line.cell.type().is_floating() and dialect.knows_nan:
        absent.append(line.cell.isnan())
    branches = [(_any(absent), _literal(codec.missing_target))]
    if column.outside != "clip":
        low, high = column.bounds
        stray = ~line.reaches(low) | line.exceeds(high)
        branches.append((stray, _literal(codec.outside_code)))
    edges = codec.edges.tolist()
    bins = _difference(line, edges) if _is_counted(codec, cell) else _bin(line, edges, 0)
    return ibis.cases(*branches, else_=bins)


def _is_counted(codec: ListedCodec | BinnedCodec, cell: ir.Column) -> bool:
    """Whether a column holds whole numbers that have a bin each."""
    if not isinstance(codec.column, IntegerColumn) or not cell.type().is_integer():
        return False
    edges = codec.column.left_edges
    return edges[-1] - edges[0] == len(edges) - 1


def _difference(line: _Line, edges: Sequence[int]) -> ir.Value:
    """The bin of a whole number, where every one has its own: how far it is from the first."""
    import ibis

    within = (line.cell - edges[0]).cast("int32")
    return ibis.cases(
        (~line.reaches(edges[0]), _literal(0)),
        (line.reaches(edges[-1]), _literal(len(edges) - 1)),
        else_=within,
    )


def _any(conditions: Sequence[ir.BooleanValue]) -> ir.BooleanValue:
    found = conditions[0]
    for condition in conditions[1:]:
        found = found | condition
    return found


def _bin(line: _Line, edges: Sequence[Ordinate], first: int) -> ir.Value:
    """The last of some bins whose left edge the cell reaches, found by halving."""
    if len(edges) == 1:
        return _literal(first)
    half = len(edges) // 2
    upper = _bin(line, edges[half:], first + half)
    return line.reaches(edges[half]).ifelse(upper, _bin(line, edges[:half], first))


def _line(name: str, column: BinnedColumn, cell: ir.Column, dialect: Dialect) -> _Line:
    kind = cell.type()
    if isinstance(column, DateColumn | DatetimeColumn):
        if kind.is_date():
            return _Line(cell, _from_day(column), whole=True, last=date.max)
        if kind.is_timestamp():
            return _Line(cell, _from_moment(column, kind), whole=True, last=datetime.max)
    elif kind.is_integer() and isinstance(column, IntegerColumn):
        return _Line(cell, _from_whole, whole=True)
    elif kind.is_numeric() or kind.is_boolean():
        whole = isinstance(column, IntegerColumn)
        return _Line(_double(cell), lambda x: _double_literal(_at_least(x), dialect), whole=whole)
    raise _refusal(name, kind, column.kind)


def _from_whole(ordinate: int) -> int:
    if ordinate > HIGHEST_WHOLE:
        raise OverflowError
    return ordinate


def _at_least(value: Ordinate) -> float:
    """The smallest double not below a number."""
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def _from_day(column: BinnedColumn) -> Callable[[int], Any]:
    """The first day that lies at an ordinate or above."""
    import ibis

    per_day = 1 if isinstance(column, DateColumn) else _SECONDS_PER_DAY

    def day(ordinate: int) -> ir.Value:
        return ibis.literal(date(1970, 1, 1) + timedelta(days=-(-ordinate // per_day)))

    return day


def _from_moment(column: BinnedColumn, kind: dt.DataType) -> Callable[[int], Any]:
    """The moment that an ordinate begins with; those of a zone are given in UTC."""
    import ibis
    import ibis.expr.datatypes as dt

    seconds = _SECONDS_PER_DAY if isinstance(column, DateColumn) else 1
    zone = UTC if getattr(kind, "timezone", None) else None

    def moment(ordinate: int) -> ir.Value:
        place = (_EPOCH + timedelta(seconds=ordinate * seconds)).replace(tzinfo=zone)
        return ibis.literal(place, dt.Timestamp("UTC" if zone else None))

    return moment
