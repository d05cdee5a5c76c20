"""Rows from text files, by the schema's kinds, never by what their cells look like."""

from __future__ import annotations

import codecs
import csv
import io
import mmap
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from understudy.errors import DataError
from understudy.facts.codec import Codec
from understudy.facts.column import MISSING_TEXTS
from understudy.facts.file_format import TextDialect
from understudy.rows.reading.numbers import numeric_columns, respelled
from understudy.rows.reading.packed import RowsPlace, opened_bytes, opened_within, read_some
from understudy.system.files.piped import PipedFile
from understudy.system.files.suffixes import packing_of

_BLOCK_BYTES = 1 << 22
# No line of a CSV file may be longer than a block.
_LEAST_BLOCK_BYTES = 1 << 20
# Arrow parses some blocks of text ahead, and their cells take about as much again.
_TEXT_BLOCKS = 16
# Arrow's words for a line that is too short or too long; the line itself follows and stays there.
_RAGGED = re.compile(r"CSV parse error: (?:Row #\d+: )?Expected (\d+) columns, got (\d+)")
_SEPARATORS = (",", ";", "\t", "|")
_NAMES = {"\t": "tab"}


@dataclass(frozen=True)
class TextFile:
    """A file of text, or the text that came through a pipe, and its dialect."""

    place: RowsPlace
    dialect: TextDialect

    @property
    def name(self) -> str:
        """The name of the file in errors."""
        return self.place.name if isinstance(self.place, PipedFile) else str(self.place)

    def header(self) -> list[str]:
        """The names of the columns, of which no two are equal."""
        header = self._fields(self.dialect.separator)
        if not header:
            raise DataError(
                f"{self.name}: the file is empty; it needs a header with the column names, on the "
                "line that --header-line says"
            )
        if len(set(header)) < len(header):
            raise DataError(
                f"{self.name}: two columns have the same name; rename one of them, or say by "
                "--header-line where the names are"
            )
        return header

    def other_separator(self) -> str | None:
        """The separator that the header has in place of the declared one, if so."""
        if len(self._fields(self.dialect.separator)) > 1:
            return None
        found = {other: len(self._fields(other)) for other in _SEPARATORS}
        best = max(found, key=found.__getitem__)
        return best if found[best] > 1 and best != self.dialect.separator else None

    def _fields(self, separator: str) -> list[str]:
        with self._text() as text:
            for _ in range(self.dialect.header_line - 1):
                text.readline()
            quote = self.dialect.quote
            lines = csv.reader(
                text,
                delimiter=separator,
                quotechar=quote or '"',
                quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
            )
            names = [name.removeprefix("\ufeff") for name in next(lines, [])]
        # Of the text that was decoded the header alone is looked at.
        "".join(names).encode()
        return names

    @contextmanager
    def _text(self) -> Iterator[io.TextIOWrapper]:
        """The first block of the text: a packed file may hold a line without end."""
        with opened_bytes(self.place) as stream:
            first = read_some(stream, _LEAST_BLOCK_BYTES)
        encoding = "utf-8-sig" if self._is_utf8 else self.dialect.encoding
        yield io.TextIOWrapper(
            io.BytesIO(first), encoding=encoding, errors="surrogateescape", newline=""
        )

    @property
    def _is_utf8(self) -> bool:
        return codecs.lookup(self.dialect.encoding).name in ("utf-8", "utf-8-sig")

    @property
    def encoding(self) -> str:
        """The encoding for Arrow; a mark before UTF-8 is passed over by itself."""
        return "utf-8" if self._is_utf8 else self.dialect.encoding

    def may_span_lines(self) -> bool:
        """Whether a field could span lines, which costs the reader a third of its speed."""
        if not self.dialect.quote:
            return False
        quote = self.dialect.quote.encode()
        if isinstance(self.place, PipedFile):
            return quote in self.place.data
        if packing_of(self.place):
            return True
        with (
            self.place.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return data.find(quote) >= 0


def wrong_separator(file: TextFile) -> str:
    """The way out where the header is one name, and has another separator; else empty."""
    other = file.other_separator()
    if other is None:
        return ""
    declared = file.dialect.separator
    shown, wrong = (_NAMES.get(each, each) for each in (other, declared))
    return (
        f"{file.name}: the header has no separator {wrong!r}; if it is {shown!r}, give "
        f"--separator {shown!r}, or declare it in [format] of the schema"
    )


def read_text(file: TextFile, codec: Codec, *, one_column: bool) -> pa.Table:
    """Read columns of numbers as numbers; if a cell is not one, read all of them as texts."""
    typed, texts = _types(codec, file.dialect)
    try:
        rows = _parsed(file, typed, one_column=one_column)
    except pa.ArrowInvalid:
        rows = _parsed(file, texts, one_column=one_column)
    return respelled(rows, codec, file.dialect)


def text_blocks(
    file: TextFile, codec: Codec, *, one_column: bool, memory: int | None
) -> Iterator[pa.Table]:
    """As `read_text`; where a cell defeats the types, texts continue from the same row."""
    typed, texts = _types(codec, file.dialect)
    size, done = _block_bytes(memory), 0
    try:
        for block in _stream(file, typed, size, one_column=one_column):
            yield respelled(block, codec, file.dialect)
            done += block.num_rows
    except pa.ArrowInvalid:
        for block in _stream(file, texts, size, one_column=one_column):
            known = min(done, block.num_rows)
            done -= known
            yield respelled(block.slice(known), codec, file.dialect)


def _block_bytes(memory: int | None) -> int:
    if memory is None:
        return _BLOCK_BYTES
    return min(_BLOCK_BYTES, max(_LEAST_BLOCK_BYTES, memory // _TEXT_BLOCKS))


def _stream(
    file: TextFile, types: Mapping[str, pa.DataType], size: int, *, one_column: bool
) -> Iterator[pa.Table]:
    import pyarrow.csv as pc

    options = _options(file, types, size, one_column=one_column)
    with _parsing(file), opened_within(file.place) as stream:
        try:
            reader = pc.open_csv(stream, **options)
        except pa.ArrowInvalid as error:
            if _is_header_alone(error):
                return
            raise
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _types(
    codec: Codec, dialect: TextDialect
) -> tuple[dict[str, pa.DataType], dict[str, pa.DataType]]:
    """The types to read columns as, and those that no cell can defeat."""
    typed = codec.read_types
    texts = {n: t if pa.types.is_dictionary(t) else pa.string() for n, t in typed.items()}
    if dialect.thousands:
        # Arrow knows no marks between thousands.
        typed = {n: texts[n] if n in numeric_columns(codec) else t for n, t in typed.items()}
    return typed, texts


def _parsed(file: TextFile, types: Mapping[str, pa.DataType], *, one_column: bool) -> pa.Table:
    import pyarrow.csv as pc

    options = _options(file, types, _BLOCK_BYTES, one_column=one_column)
    with _parsing(file), opened_within(file.place) as stream:
        try:
            return pc.read_csv(stream, **options)
        except pa.ArrowInvalid as error:
            if _is_header_alone(error):
                return pa.schema(types.items()).empty_table()
            raise


def _is_header_alone(error: pa.ArrowInvalid) -> bool:
    """Whether a file ends with its header, which no line break follows."""
    return str(error).startswith("CSV parse error: Empty CSV file")


def _options(
    file: TextFile, types: Mapping[str, pa.DataType], size: int, *, one_column: bool
) -> dict[str, Any]:
    """Options for Arrow's reader."""
    import pyarrow.csv as pc

    dialect = file.dialect
    # In a file of one column an empty line is a row: its cell is empty.
    parse = pc.ParseOptions(
        delimiter=dialect.separator,
        quote_char=dialect.quote or False,
        newlines_in_values=file.may_span_lines(),
        ignore_empty_lines=not one_column,
    )
    convert = pc.ConvertOptions(
        column_types=dict(types),
        include_columns=list(types),
        null_values=["", *MISSING_TEXTS],
        decimal_point=dialect.decimal,
    )
    skipped = dialect.header_line - 1
    read = pc.ReadOptions(encoding=file.encoding, block_size=size, skip_rows=skipped)
    return {"parse_options": parse, "convert_options": convert, "read_options": read}


@contextmanager
def _parsing(file: TextFile) -> Iterator[None]:
    """A ragged line ends the reading in our words."""
    try:
        yield
    except pa.ArrowInvalid as error:
        ragged = _RAGGED.match(str(error))
        if ragged:
            separator = file.dialect.separator
            held = "commas" if separator == "," else f"the separator {separator!r}"
            raise DataError(
                f"{file.name}: a line has {ragged[2]} fields where the header has {ragged[1]}; "
                f"quote fields that hold {held}, or give another --separator or --quote"
            ) from None
        raise
