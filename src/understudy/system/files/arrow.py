"""Arrow files from elsewhere: what they announce is checked before Arrow makes memory of it.

A file of a few bytes can ask for any amount of memory: its buffers may be compressed, its footer
may name one block or one text again and again, and some types have rows that take no bytes at all.
So the footer is walked here first, byte by byte, and a file is read only if its rows are stored as
they are, each of its bytes is used once, and its columns have the types that are expected.

Source: the Arrow columnar format 1.5, "IPC File Format", with `File.fbs`, `Message.fbs` and
`Schema.fbs`; the encoding of FlatBuffers, "Internals".
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

MappedBytes = bytes | mmap.mmap
Types = Mapping[str, Collection[pa.DataType]]

_MAGIC = b"ARROW1"
_TAIL = struct.Struct(f"<i{len(_MAGIC)}s")
# A message begins with four bytes of ones and the length of its description; before Arrow 0.15
# with the length alone.
_CONTINUATION = 0xFFFFFFFF
# Of the union in a message: what kind of description follows.
_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2
_DICTIONARY_DATA = 1
# Where each field stands in its table, in the order of the .fbs files.
_FOOTER_SCHEMA, _FOOTER_DICTIONARIES, _FOOTER_BATCHES, _FOOTER_METADATA = 1, 2, 3, 4
_SCHEMA_FIELDS, _SCHEMA_METADATA = 1, 2
_FIELD_NAME, _FIELD_KIND, _FIELD_DICTIONARY, _FIELD_CHILDREN, _FIELD_METADATA = 0, 2, 4, 5, 6
_MESSAGE_KIND, _MESSAGE_HEADER, _MESSAGE_BODY = 1, 2, 3
_BATCH_LENGTH, _BATCH_BUFFERS, _BATCH_COMPRESSION = 0, 2, 3
# offset, length of the description, padding, length of the body; offset and length.
_BLOCK, _BUFFER = struct.Struct("<qi4xq"), struct.Struct("<qq")
_MOST_NESTED = 4
# Whole numbers, real ones, texts, lists and large lists: each row of these takes bytes, and what
# describes them holds no texts.
_KINDS = {2, 3, 5, 12, 21}
# A table is at least as large: its offset to a list of fields, and one of them.
_LEAST_TABLE = 8


class UnsoundArrow(ValueError):
    """A file whose bytes announce less than Arrow would make of them; the reason is a sentence."""


@dataclass(frozen=True)
class BatchSize:
    """The size that a batch announces: its rows, and the bytes of its buffers once unpacked."""

    rows: int
    unpacked: int


def batch_sizes(data: MappedBytes) -> list[BatchSize]:
    """The sizes of all batches of an Arrow file, dictionaries first; its rows stay unread.

    Raises:
        UnsoundArrow: for something else than an Arrow file, and for one that names its bytes
            more than once.
    """
    try:
        footer = _footer(data)
        numbers = (_FOOTER_DICTIONARIES, _FOOTER_BATCHES)
        blocks = [block for number in numbers for block in footer.structs(number, _BLOCK)]
        if sum(description + body for _, description, body in blocks) > len(data):
            raise UnsoundArrow("names some of its bytes more than once")
        return [_announced_size(data, *block) for block in blocks]
    except (struct.error, UnicodeError):
        raise UnsoundArrow("is not an Arrow file, or is damaged") from None


def _announced_size(data: MappedBytes, offset: int, length: int, body: int) -> BatchSize:
    message = _message(data, offset, length, body)
    batch = message.table(_MESSAGE_HEADER)
    if message.number(_MESSAGE_KIND, "<B") == _DICTIONARY_BATCH and batch is not None:
        batch = batch.table(_DICTIONARY_DATA)
    if batch is None:
        raise UnsoundArrow("holds something else than rows")
    packed = batch.slot(_BATCH_COMPRESSION) is not None
    start = offset + length
    sizes = [
        _unpacked(data, start + at, size) if packed else size for at, size in _buffers(batch, body)
    ]
    rows = batch.number(_BATCH_LENGTH, "<q")
    if rows < 0:
        raise UnsoundArrow("is not an Arrow file, or is damaged")
    return BatchSize(rows, sum(sizes))


def _buffers(batch: _BufferTable, body: int) -> list[tuple[int, ...]]:
    """Where the buffers of a batch are, when they lie beside each other in its body."""
    buffers = list(batch.structs(_BATCH_BUFFERS, _BUFFER))
    sizes = [size for _, size in buffers]
    ends = [at + size for at, size in buffers]
    if min(sizes, default=0) < 0 or sum(sizes) > body or max(ends, default=0) > body:
        raise UnsoundArrow("names some of its bytes more than once")
    if min((at for at, _ in buffers), default=0) < 0:
        raise UnsoundArrow("is not an Arrow file, or is damaged")
    return buffers


def _unpacked(data: MappedBytes, place: int, size: int) -> int:
    """The size that a compressed buffer announces; -1 says that it is stored as it is."""
    if size == 0:
        return 0
    (announced,) = struct.unpack_from("<q", data, place)
    if announced < -1:
        raise UnsoundArrow("is not an Arrow file, or is damaged")
    return size if announced == -1 else int(announced)


def read_arrow(data: bytes, types: Types, *, rows: int) -> pa.Table:
    """The table of an Arrow file; it takes no memory but the bytes that are there.

    Args:
        data: the whole file.
        types: the columns that it may have, and the types that each may have.
        rows: how many there may be at most.

    Raises:
        UnsoundArrow: for any other file, before its rows are read.
    """
    try:
        _check(data, rows)
    except (struct.error, UnicodeError):
        raise UnsoundArrow("is not an Arrow file, or is damaged") from None
    with pa.ipc.open_file(pa.BufferReader(data)) as file:
        odd = [f.name for f in file.schema if f.type not in types.get(f.name, ())]
        if odd or len(file.schema) > len(types):
            raise UnsoundArrow("has other columns than are expected")
        table = file.read_all()
    # Arrow trusts a file's offsets unless told to look, and would read beyond its end.
    table.validate(full=True)
    return table


@dataclass(frozen=True)
class _BufferTable:
    """A table of a FlatBuffer: its fields are where a list before it says."""

    data: bytes
    place: int

    def slot(self, number: int) -> int | None:
        """Return the position of a field; None where it has its default."""
        fields = self.place - self._number("<i", self.place)
        at = fields + 4 + 2 * number
        if at + 2 > fields + self._number("<H", fields):
            return None
        offset = self._number("<H", at)
        return self.place + offset if offset else None

    def number(self, number: int, kind: str) -> int:
        """A field that is a number."""
        at = self.slot(number)
        return 0 if at is None else self._number(kind, at)

    def table(self, number: int) -> _BufferTable | None:
        """A field that is a table."""
        at = self.slot(number)
        return None if at is None else self._at(at)

    def tables(self, number: int) -> Iterator[_BufferTable]:
        """A field that is a list of tables."""
        start, length = self.extent(number)
        for i in range(length):
            yield self._at(start + 4 * i)

    def structs(self, number: int, kind: struct.Struct) -> Iterator[tuple[int, ...]]:
        """A field that is a list of adjacent numbers."""
        start, length = self.extent(number)
        for i in range(length):
            yield kind.unpack_from(self.data, start + kind.size * i)

    def extent(self, number: int) -> tuple[int, int]:
        """Where a list or a text begins, and how long it is; a list that is absent is empty."""
        at = self.slot(number)
        if at is None:
            return 0, 0
        start = at + self._number("<I", at)
        return start + 4, self._number("<I", start)

    def _at(self, place: int) -> _BufferTable:
        return _BufferTable(self.data, place + self._number("<I", place))

    def _number(self, kind: str, place: int) -> int:
        if place < 0:
            raise UnsoundArrow("is not an Arrow file, or is damaged")
        (found,) = struct.unpack_from(kind, self.data, place)
        return int(found)


def _check(data: bytes, rows: int) -> None:
    """Refuse a file of which Arrow would make more than its bytes."""
    footer = _footer(data)
    if footer.extent(_FOOTER_DICTIONARIES)[1]:
        raise UnsoundArrow("has dictionaries, and none are expected")
    schema = footer.table(_FOOTER_SCHEMA)
    described = 0 if schema is None else _weight_of_schema(schema, len(footer.data))
    described += sum(_weight_of_texts(footer, _FOOTER_METADATA))
    blocks = list(footer.structs(_FOOTER_BATCHES, _BLOCK))
    held = sum(description + body for _, description, body in blocks)
    if described > len(footer.data) or held > len(data):
        raise UnsoundArrow("names some of its bytes more than once")
    found = sum(_rows_of_batch(data, *block) for block in blocks)
    if found > rows:
        raise UnsoundArrow(f"has {found:,} rows, and at most {rows:,} are announced")


def _footer(data: MappedBytes) -> _BufferTable:
    length, magic = _TAIL.unpack_from(data, max(len(data) - _TAIL.size, 0))
    start = len(data) - _TAIL.size - length
    if data[: len(_MAGIC)] != _MAGIC or magic != _MAGIC or length < 8 or start < len(_MAGIC):
        raise UnsoundArrow("is not an Arrow file, or is damaged")
    return _root(data[start : start + length])


def _root(data: bytes) -> _BufferTable:
    (place,) = struct.unpack_from("<I", data)
    return _BufferTable(data, place)


def _weight_of_schema(schema: _BufferTable, most: int) -> int:
    """The bytes that a schema refers to, each counted as often as it is referred to."""
    weight = sum(_weight_of_texts(schema, _SCHEMA_METADATA))
    level = list(_bounded(schema.tables(_SCHEMA_FIELDS), most))
    for _ in range(_MOST_NESTED):
        weight += sum(_weight_of_field(field) for field in level)
        children = (child for field in level for child in field.tables(_FIELD_CHILDREN))
        level = list(_bounded(children, most))
    if level:
        raise UnsoundArrow("has lists in lists")
    return weight


def _bounded(tables: Iterator[_BufferTable], most: int) -> Iterator[_BufferTable]:
    """Return the tables, if this many bytes can hold them."""
    for number, table in enumerate(tables):
        if number * _LEAST_TABLE > most:
            raise UnsoundArrow("names some of its bytes more than once")
        yield table


def _weight_of_field(field: _BufferTable) -> int:
    if field.slot(_FIELD_DICTIONARY) is not None:
        raise UnsoundArrow("has dictionaries, and none are expected")
    if field.number(_FIELD_KIND, "<B") not in _KINDS:
        raise UnsoundArrow("has other columns than are expected")
    texts = sum(_weight_of_texts(field, _FIELD_METADATA))
    return _LEAST_TABLE + field.extent(_FIELD_NAME)[1] + texts


def _weight_of_texts(table: _BufferTable, number: int) -> Iterator[int]:
    """Return the lengths of pairs of texts."""
    for pair in _bounded(table.tables(number), len(table.data)):
        yield _LEAST_TABLE + pair.extent(0)[1] + pair.extent(1)[1]


def _message(data: MappedBytes, offset: int, length: int, body: int) -> _BufferTable:
    """The description of a batch, which lies within the file like its body."""
    if offset < len(_MAGIC) or length < 8 or body < 0 or offset + length + body > len(data):
        raise UnsoundArrow("ends before its rows do")
    first, second = struct.unpack_from("<II", data, offset)
    start = 8 if first == _CONTINUATION else 4
    described = second if first == _CONTINUATION else first
    if start + described > length:
        raise UnsoundArrow("is not an Arrow file, or is damaged")
    return _root(data[offset + start : offset + start + described])


def _rows_of_batch(data: bytes, offset: int, length: int, body: int) -> int:
    """The rows of a batch that is stored as it is; its buffers lie beside each other in its body.

    Arrow itself refuses a body that ends beyond the file.
    """
    message = _message(data, offset, length, body)
    batch = message.table(_MESSAGE_HEADER)
    if message.number(_MESSAGE_KIND, "<B") != _RECORD_BATCH or batch is None:
        raise UnsoundArrow("holds something else than rows")
    if batch.slot(_BATCH_COMPRESSION) is not None:
        raise UnsoundArrow("is compressed, and nothing announces the size that it unpacks to")
    sizes = [size for _, size in batch.structs(_BATCH_BUFFERS, _BUFFER)]
    own = message.number(_MESSAGE_BODY, "<q")
    if own != body or min(sizes, default=0) < 0 or sum(sizes) > body:
        raise UnsoundArrow("names some of its bytes more than once")
    found = batch.number(_BATCH_LENGTH, "<q")
    if found < 0:
        raise UnsoundArrow("is not an Arrow file, or is damaged")
    return found
