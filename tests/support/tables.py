"""Random schemas of every kind of column, tables of codes that fit them, and dirty texts."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from understudy.facts.codec import Codec
from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.rows.table import Table

Document = dict[str, Any]

# Texts that CSV, Arrow or people trip over.
ODD_TEXTS = (
    "a,b",
    'say "so"',
    '"',
    "two\nlines",
    "two\r\nlines",
    " leading",
    "trailing ",
    "\ttab",
    "naïve",
    "日本",
    "🦓",
    "NA",
    "null",
    "nan",
    "0",
    "-1",
    "1.0",
    "true",
    "False",
    "2020-01-01",
    "x" * 300,
)

# What may stand in cells that are declared to hold numbers or dates.
DIRTY_TEXTS = (
    *("", " ", "  ", "\t", "\u00a0", "\x1c", "?", "NA", "n/a", "null", "None", "-", "+", ".", "e5"),
    *("0", "7", " 7 ", "\t7", "7\u00a0", "-7", "- 7", "+5", "007", "-0", "00", "1_000", "1,000"),
    *("１２", "٣", "0x1F", "0X1f", "-0x1F", "0x", "0xFFFFFFFFFFFFFFFF", "0x1FFFFFFFFFFFFFFFF"),
    *("0b1", "0o7", "1e5", "1E5", "1e-5", "1e", "3.7", "-3.7", "-0.5", "0.999999999999999999999"),
    *("3.", ".5", "1d5", "5f", "1e400", "-1e400", "1e-400", "1e999999999999", "0x1p3", "5%", "$5"),
    *("inf", "-inf", "+inf", "Infinity", "INF", "nan", "NaN", "-nan", "+nan", "nan(1)", "nan(ind)"),
    *("9007199254740993", "4611686018427387904", "4611686018427387905", "9223372036854775807"),
    *(
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
    ),
    *("9" * 400, "9" * 5000, "true", "False", "UTF8", "conversion error", "invalid utf8"),
    *("2021-02-30", "2020-02-29", "2021-01-01", " 2021-01-01", "2021-01-01 ", "2021-1-1"),
    *(
        "20210101",
        "2021-W01-1",
        "2021W011",
        "2021-001",
        "01/02/2021",
        "2021-01",
        "2021",
        "2021-01-01Z",
    ),
    *("2021-01-01T10", "2021-01-01 10", "2021-01-01T10:00", "2021-01-01T10:00:00"),
    *("2021-01-01 10:00:00", "2021-01-01t10:00:00", "2021-01-01T10:00:00.5", "2021-01-01x10:00:00"),
    *("2021-01-01T10:00:00.123456789", "2021-01-01T10:00:00Z", "2021-01-01T10:00:00+02:00"),
    *("2021-01-01 23:30:00-02:00", "2021-01-01T00:30:00+02", "2021-01-01 24:00:00"),
    *("2021-01-01T10:00:60", "2021-01-01T25:00", "20210101T100000", "1969-12-31T23:59:59.5"),
    *("0000-01-01", "0000-02-29", "0000-01-01 00:00:00", "0001-01-01", "0001-01-01T00:00:00+05:00"),
    *("9999-12-31", "9999-12-31T23:59:59", "9999-12-31T23:59:59-05:00", "10000-01-01"),
    *("-0001-01-01", "9999-12-31T23:59:59.999999"),
)

# Characters from which most texts that some parser accepts are made.
_NEARLY = "0123456789+-.eExXTtZzW:_ ()anifINF１\u00a0\t"

# Some characters that are not assigned are refused in names.
_UNSEEN: Any = ("Cc", "Cf", "Cn", "Cs", "Zl", "Zp")
names = st.text(
    st.characters(exclude_categories=_UNSEEN, include_characters="\t\n\r\u200d"),
    min_size=1,
    max_size=8,
).filter(str.strip)
texts = st.sampled_from(ODD_TEXTS) | st.text(
    st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8
)
dirty_texts = st.sampled_from(DIRTY_TEXTS) | st.text(_NEARLY, max_size=12)
word_markers = st.sampled_from(["?", "NA", "missing", "n/a", "a,b", 'say "so"', "two\nlines"])


_NUMBERS_AS_WRITTEN: tuple[Document, ...] = (
    {"dtype": "string"},
    {"unit": "$", "accounting": True},
    {"unit": "# %", "decimal": ","},
    {"percent": True},
    {"thousands": ".", "decimal": ","},
)


@st.composite
def categorical(draw: st.DrawFn) -> Document:
    """A categorical column: texts, numbers, truth values or a mixture, perhaps only one value."""
    numbers = st.integers(-(2**70), 2**70) | st.integers(-5, 5)
    reals = st.floats(-1e6, 1e6, allow_nan=False).filter(
        lambda x: x != 0 or math.copysign(1, x) > 0
    )
    kinds = [texts, numbers, reals | st.integers(-5, 5), st.booleans(), texts | numbers]
    listed = draw(st.lists(draw(st.sampled_from(kinds)), min_size=1, max_size=6))
    values = list({_text(value): value for value in listed}.values())
    taken = {_text(value) for value in values}
    free = word_markers.filter(lambda marker: marker not in taken)
    missing = draw(st.none() | st.lists(free, max_size=2, unique=True))
    if missing is not None and "" in taken:
        missing = None
    choices = ["drop", *(v for v in values if v != "clip"), *(missing or ())]
    column = {"kind": "categorical", "values": values, "outside": draw(st.sampled_from(choices))}
    return _with_missing(column, missing)


@st.composite
def boolean(draw: st.DrawFn) -> Document:
    """A boolean column."""
    missing = draw(st.none() | st.lists(word_markers, max_size=2, unique=True))
    outside = draw(st.sampled_from(["drop", True, False, *(missing or ())]))
    column = {"kind": "boolean", "outside": outside}
    labels = draw(st.sampled_from([None, ["ja", "nein"], ["Raucher", "a,b!"], ["1", "0"]]))
    if labels is not None:
        column |= {"labels": labels}
    return _with_missing(column, missing)


@st.composite
def integer(draw: st.DrawFn) -> Document:
    """A column of whole numbers by min and max, bins, or edges; perhaps of a single value."""
    limits = st.integers(-50, 50) | st.integers(-(2**62), 2**62)
    low, high = sorted((draw(limits), draw(limits)))
    column = draw(_cut(st.integers(low, high), low, high) | st.just(_whole(low, high)))
    markers = st.lists(st.sampled_from([low - 1, high + 1, high + 2, 2**63 - 1, "?"]), max_size=2)
    forms = [{}, {}, {"unit": "$"}, {"digits": 5}, {"thousands": "'"}, {"accounting": True}]
    column |= draw(st.sampled_from(forms))
    return draw(_finished({"kind": "integer", **column}, markers, st.integers(low, high)))


@st.composite
def real(draw: st.DrawFn) -> Document:
    """A column of real numbers."""
    limits = st.floats(-100, 100) | st.floats(-1e300, 1e300)
    low, high = sorted((draw(limits) + 0.0, draw(limits) + 0.0))
    values = st.floats(low, high)
    column = draw(_cut(values, low, high))
    if "edges" not in column and high - low <= 1e-9 * max(abs(low), abs(high)):
        column = {"min": low, "max": low}
    beyond = [-2e300, 2e300, "nan", "inf", "?"]
    markers = st.lists(st.sampled_from(beyond), max_size=2)
    column |= draw(st.sampled_from([{}, {}, *_NUMBERS_AS_WRITTEN]))
    return draw(_finished({"kind": "float", **column}, markers, values))


@st.composite
def day(draw: st.DrawFn) -> Document:
    """A column of days."""
    low, high = sorted((draw(st.dates()), draw(st.dates())))
    column = draw(_cut(st.dates(low, high), low, high) | st.just(_whole(low, high)))
    beyond = [d for d in (date.min, date.max) if not low <= d <= high]
    markers = st.lists(st.sampled_from([*beyond, "?"]), max_size=2)
    column |= draw(st.sampled_from([{}, {"format": "%d.%m.%Y"}, {"format": "%B %d, %Y"}]))
    return draw(_finished({"kind": "date", **column}, markers, st.dates(low, high)))


@st.composite
def moment(draw: st.DrawFn) -> Document:
    """A column of moments, some of them with an offset."""
    moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(
        lambda m: m.replace(microsecond=0)
    )
    zones = draw(st.sampled_from([None, UTC]))
    low, high = (m.replace(tzinfo=zones) for m in sorted((draw(moments), draw(moments))))
    within = st.datetimes(low.replace(tzinfo=None), high.replace(tzinfo=None)).map(
        lambda m: m.replace(microsecond=0, tzinfo=zones)
    )
    column = draw(_cut(within, low, high) | st.just(_whole(low, high)))
    markers = st.lists(st.just("?"), max_size=1)
    forms = [{}, {"format": "%d/%m/%Y %H:%M:%S"}, {"zone": "UTC"}]
    forms += [{"zone": "Asia/Tokyo"}, {"zone": "America/New_York"}] if low.year > 1950 else []
    column |= draw(st.sampled_from(forms))
    return draw(_finished({"kind": "datetime", **column}, markers, within))


def identifier() -> st.SearchStrategy[Document]:
    """A column of ids."""
    return st.sampled_from(
        [{"kind": "id"}, {"kind": "id", "prefix": "P"}, {"kind": "id", "prefix": "a,"}]
    )


learned = st.one_of(categorical(), boolean(), integer(), real(), day(), moment())


@st.composite
def documents(draw: st.DrawFn, *, most: int = 4) -> Document:
    """The structure of a schema file with at least one learned column."""
    columns = draw(st.lists(learned, min_size=1, max_size=most))
    columns += draw(st.lists(identifier(), max_size=1))
    labels = draw(st.lists(names, min_size=len(columns), max_size=len(columns), unique=True))
    order = draw(st.permutations(columns))
    return {"name": "random", "columns": dict(zip(labels, order, strict=True))}


schemas = documents().map(Schema.parse)


@st.composite
def encoded_tables(draw: st.DrawFn, *, most_rows: int = 8) -> tuple[Schema, Table]:
    """A schema and a table of codes, every code possible."""
    schema = draw(schemas)
    rows = draw(st.integers(0, most_rows))
    domain = Domain.of(schema)
    codes: dict[str, Codes] = {}
    for name, size in domain.sizes.items():
        drawn = draw(st.lists(st.integers(0, size - 1), min_size=rows, max_size=rows))
        codes[name] = np.array(drawn, code_type(size))
    return schema, Table(domain, codes, rows)


def decoded(schema: Schema, table: Table, *, seed: int = 0) -> pa.Table:
    """Rows of typed values for a table of codes."""
    return Codec(schema).decode(table.codes, generator=np.random.default_rng(seed))


def _cut(values: st.SearchStrategy[Any], low: Any, high: Any) -> st.SearchStrategy[Document]:
    edges = st.lists(values, min_size=1, max_size=5).map(_increasing)
    by_edges = edges.map(lambda chosen: {"edges": chosen, "max": high})
    by_bins = st.integers(1, 20).map(lambda bins: {"min": low, "max": high, "bins": bins})
    return by_edges | by_bins


def _increasing(values: list[Any]) -> list[Any]:
    ordered = sorted(values)
    return [ordered[0], *(b for a, b in pairwise(ordered) if b > a)]


def _whole(low: Any, high: Any) -> Document:
    return {"min": low, "max": high}


@st.composite
def _finished(
    draw: st.DrawFn,
    column: Document,
    markers: st.SearchStrategy[list[Any]],
    values: st.SearchStrategy[Any],
) -> Document:
    """A column on a line with what becomes of missing cells and of values out of bounds."""
    missing = draw(st.none() | markers)
    low = column["edges"][0] if "edges" in column else column["min"]
    stand_ins = values.filter(lambda value: bool(value >= low))
    choices = st.sampled_from(["clip", "drop", *(missing or ())]) | stand_ins
    return _with_missing(column | {"outside": draw(choices)}, missing)


def _with_missing(column: Document, missing: list[Any] | None) -> Document:
    return column if missing is None else column | {"missing": missing}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole and isinstance(value, float) else str(value)
