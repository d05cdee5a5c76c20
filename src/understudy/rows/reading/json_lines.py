"""Rows from files with a JSON object on each line.

Such a file has no header: a key that is absent from a row is a missing cell, and keys that the
schema does not declare are passed over, for every row may have others. A block is read by Arrow
when all its cells have the declared types; else each cell is spelled as a text by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.errors import DataError
from understudy.facts.codec import Codec
from understudy.facts.codec.categories import ListedCodec
from understudy.facts.column import BooleanColumn, FloatColumn, IntegerColumn
from understudy.rows.reading.cells import spelled
from understudy.rows.reading.packed import RowsPlace, opened_bytes
from understudy.system.files.piped import PipedFile
from understudy.system.files.refusals import reading

_NOT_AN_OBJECT = re.compile(rb"^[ \t\r]*[^ \t\r\n{]", re.MULTILINE)
_LINE_BREAK, _BRACE = b"\n{"
_BLANKS = re.compile(r"[ \t\r\n]*")
_BLOCK_BYTES = 1 << 25
_LEAST_BLOCK_BYTES = 1 << 16
_LONGEST_LINE = 1 << 24
# A block, its cells as Python holds them, and those that are made of them.
_TEXT_BLOCKS = 24


def json_blocks(place: RowsPlace, codec: Codec, *, memory: int | None = None) -> Iterator[pa.Table]:
    """The declared columns, a block of rows at a time; at least one block, perhaps empty."""
    types = _types(codec)
    name = _name(place)
    yield types.empty_table()
    with reading(name):
        for block in _line_blocks(place, _block_bytes(memory)):
            yield _parsed(block, types, name)


def read_json_lines(place: RowsPlace, codec: Codec) -> pa.Table:
    """The declared columns, all rows at once."""
    blocks = list(json_blocks(place, codec))
    if any(block.schema != blocks[0].schema for block in blocks):
        blocks = [_as_texts(block) for block in blocks]
    return pa.concat_tables(blocks)


def first_keys(place: RowsPlace) -> list[str]:
    """Return the keys of the first row.

    Privacy: they are read from a row; what is made of them is for the owner to review.
    """
    with reading(_name(place)):
        for block in _line_blocks(place, _LEAST_BLOCK_BYTES):
            for row in _objects(block, _name(place)):
                return list(row)
    raise DataError(f"{_name(place)}: the file has no rows; it needs one to show its keys")


def _name(place: RowsPlace) -> str:
    return place.name if isinstance(place, PipedFile) else str(place)


def _as_texts(rows: pa.Table) -> pa.Table:
    """Rows whose columns are texts, so that blocks of all kinds fit together."""
    for place, field in enumerate(rows.schema):
        if not pa.types.is_string(field.type):
            cells = [spelled(chunk.to_pylist()) for chunk in rows.column(place).chunks]
            rows = rows.set_column(place, field.name, pa.chunked_array(cells, pa.string()))
    return rows


def _types(codec: Codec) -> pa.Schema:
    """The types that cells have if nothing is odd: numbers, booleans, and texts for the rest."""
    found = {}
    for name in codec.read_types:
        column = codec.columns.get(name)
        if column is None:
            found[name] = pa.string()
        elif isinstance(column.column, BooleanColumn):
            found[name] = pa.bool_()
        elif isinstance(column, ListedCodec):
            found[name] = _listed_type(column)
        else:
            numbers = {IntegerColumn: pa.int64(), FloatColumn: pa.float64()}
            found[name] = numbers.get(type(column.column), pa.string())
    return pa.schema(list(found.items()))


def _listed_type(column: ListedCodec) -> pa.DataType:
    if not column.is_numeric:
        return pa.string()
    whole = all(type(value) is int for value in getattr(column.column, "values", ()))
    return pa.int64() if whole else pa.float64()


def _block_bytes(memory: int | None) -> int:
    if memory is None:
        return _BLOCK_BYTES
    return min(_BLOCK_BYTES, max(_LEAST_BLOCK_BYTES, memory // _TEXT_BLOCKS))


def _line_blocks(place: RowsPlace, size: int) -> Iterator[bytes]:
    """The file cut after line breaks; no line is longer than is set above."""
    rest = b""
    with opened_bytes(place) as stream:
        while block := stream.read(size):
            end = block.rfind(b"\n")
            if end < 0:
                rest += block
            else:
                # Slices of bytes are copies; large ones are made once.
                yield b"".join((rest, memoryview(block)[:end]))
                rest = block[end + 1 :]
            if len(rest) > _LONGEST_LINE:
                raise DataError(
                    f"{_name(place)}: a line is longer than {_LONGEST_LINE:,} bytes; write one "
                    "JSON object on each line"
                )
    if rest:
        yield rest


def _parsed(block: bytes, types: pa.Schema, name: str) -> pa.Table:
    import pyarrow.json as pj

    block = block.removeprefix(b"\xef\xbb\xbf")
    if not block.strip():
        return types.empty_table()
    # Arrow's reader ends the process at a line that is `null`.
    if not _all_objects(block):
        return _spelled(list(_objects(block, name)), types)
    options = pj.ParseOptions(explicit_schema=types, unexpected_field_behavior="ignore")
    try:
        rows = pj.read_json(pa.BufferReader(block), parse_options=options)
        rows.validate(full=True)
    except pa.ArrowException:
        return _spelled(list(_objects(block, name)), types)
    return rows.select(types.names)


def _all_objects(block: bytes) -> bool:
    """Whether every line begins with a brace, blanks apart."""
    characters = np.frombuffer(block, np.uint8)
    firsts = np.flatnonzero(characters[:-1] == _LINE_BREAK) + 1
    # A search through all lines takes ten times as long.
    if block.startswith(b"{") and (characters[firsts] == _BRACE).all():
        return True
    return _NOT_AN_OBJECT.search(block) is None


def _spelled(rows: list[Mapping[str, Any]], types: pa.Schema) -> pa.Table:
    return pa.table({n: spelled([_cell(row.get(n)) for row in rows]) for n in types.names})


def _cell(value: object) -> object:
    """A cell; a list or an object in it is not a value of any column, and stays a text."""
    return json.dumps(value) if isinstance(value, list | dict) else value


def _objects(block: bytes, name: str) -> Iterator[Mapping[str, Any]]:
    """The objects of a block; numbers stay as they are written."""
    decoder = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
    text = block.removeprefix(b"\xef\xbb\xbf").decode()
    place = 0
    while (place := _after_blanks(text, place)) < len(text):
        try:
            row, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            raise DataError(_not_lines(name)) from None
        if not isinstance(row, dict):
            raise DataError(_not_lines(name))
        yield row


def _after_blanks(text: str, place: int) -> int:
    found = _BLANKS.match(text, place)
    return place if found is None else found.end()


def _not_lines(name: str) -> str:
    return f"{name}: a line is not a JSON object; write one object on each line, and nothing else"
