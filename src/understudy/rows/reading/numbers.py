"""Numbers as offices write them: decimal commas, and marks between thousands.

Each cell is respelled by itself, so that no row's reading depends on another row. A cell that is
not a number in the declared spelling stays as it is, and one that would be a number in another
spelling is made unreadable: 1.234 is a thousand where dots separate thousands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from understudy.facts.codec import Codec
from understudy.facts.codec.categories import ListedCodec
from understudy.facts.column import FloatColumn, IntegerColumn
from understudy.facts.column.numbers import NumberBase
from understudy.facts.file_format import TextDialect

# A sign, a currency or nothing may stand before a number, and a unit behind it.
_AROUND = "[^0-9.,]*"
_DOTTED = r"^\s*[+-]?[0-9]*\.[0-9]*([eE][+-]?[0-9]+)?\s*$"


def respelled(rows: pa.Table, codec: Codec, dialect: TextDialect) -> pa.Table:
    """The rows with the texts of numeric columns spelled as programs spell numbers."""
    if dialect.spells_plainly:
        return rows
    for name, markers in numeric_columns(codec).items():
        place = rows.schema.get_field_index(name)
        cells = rows.column(place)
        if _holds_texts(cells.type):
            chunks = [_chunk(chunk, dialect, markers) for chunk in cells.chunks]
            rows = rows.set_column(place, name, pa.chunked_array(chunks, cells.type))
    return rows


def numeric_columns(codec: Codec) -> dict[str, Sequence[str]]:
    """The columns whose cells are numbers, each with its markers of missing cells."""
    found: dict[str, Sequence[str]] = {}
    for name, column in codec.columns.items():
        listed = isinstance(column, ListedCodec) and column.is_numeric
        if isinstance(column.column, NumberBase) and column.column.has_own_marks:
            continue
        if listed or isinstance(column.column, IntegerColumn | FloatColumn):
            found[name] = column.column.missing or ()
    return found


def _holds_texts(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind))


def _chunk(cells: pa.Array, dialect: TextDialect, markers: Sequence[str]) -> pa.Array:
    if isinstance(cells, pa.DictionaryArray):
        texts = _respelled(cells.dictionary, dialect, markers)
        return pa.DictionaryArray.from_arrays(cells.indices, texts)
    return _respelled(cells, dialect, markers)


def _respelled(cells: pa.Array, dialect: TextDialect, markers: Sequence[str]) -> pa.Array:
    plain, foreign = cells, pa.scalar(value=False)
    if dialect.thousands:
        marks = f"[{re.escape(dialect.thousands_marks)}]"
        plain = pc.replace_substring_regex(plain, marks, "")
    if dialect.decimal != ".":
        plain = pc.replace_substring(plain, dialect.decimal, ".")
        foreign = pc.match_substring_regex(cells, _DOTTED)
    numbers = pc.match_substring_regex(cells, _pattern(dialect))
    marked = pc.is_in(pc.utf8_trim_whitespace(cells), pa.array(markers, pa.string()))
    # No parser takes two dots for one.
    unreadable = pc.replace_substring(cells, ".", "..")
    others = pc.if_else(foreign, unreadable, cells)
    return pc.if_else(marked, cells, pc.if_else(numbers, plain, others))


def _pattern(dialect: TextDialect) -> str:
    """The numbers of a dialect, with signs, currencies and units around them."""
    return f"^{_AROUND}{dialect.number_pattern}{_AROUND}$"
