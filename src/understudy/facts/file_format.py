"""How a file spells its rows: separators, quotes, decimal marks, encoding and header.

A schema may say it in its table `format`. It is public, like the rest of the schema. Whatever is
not said follows from the suffix of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from understudy.errors import SchemaError

VERSION = 1
_TABS = (".tsv", ".txt")
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
_DECIMALS = (".", ",")
# Spaces of all widths are one mark, and so are both apostrophes.
_SPACES, _APOSTROPHES = " \u00a0\u202f", "'\u2019"
_THOUSANDS = (",", ".", "_", *_SPACES, *_APOSTROPHES)
_MOST_LINES = 1000
_NO_QUOTE = "none"


@dataclass(frozen=True)
class TextDialect:
    """How a file of text spells its rows, complete.

    Attributes:
        separator: between fields.
        quote: around a field that holds the separator; empty where no field does.
        decimal: before the decimals of a number.
        thousands: between groups of three digits; empty where there is none.
        encoding: of the text.
        header_line: the number of the line that names the columns, counted from 1.
    """

    separator: str = ","
    quote: str = '"'
    decimal: str = "."
    thousands: str = ""
    encoding: str = "utf-8"
    header_line: int = 1

    @property
    def spells_plainly(self) -> bool:
        """Whether numbers are spelled as programs spell them."""
        return self.decimal == "." and not self.thousands

    @property
    def thousands_marks(self) -> str:
        """All characters that stand for the mark between thousands."""
        for alike in (_SPACES, _APOSTROPHES):
            if self.thousands and self.thousands in alike:
                return alike
        return self.thousands

    def plain_number(self, text: str) -> str:
        """A number as programs spell it; any other text as it is.

        Example:
            >>> german = FileFormat(decimal=",", thousands=".").dialect(".csv")
            >>> [german.plain_number(text) for text in ("1.234,5", "1.5", "x")]
            ['1234.5', '1..5', 'x']
        """
        if self.spells_plainly:
            return text
        if re.fullmatch(f"[+-]?{self.number_pattern}", text):
            marks = dict.fromkeys(map(ord, self.thousands_marks))
            return text.translate(marks).replace(self.decimal, ".")
        # No parser takes two dots for one: this would be a number in another spelling.
        return text.replace(".", "..") if re.fullmatch(r"[+-]?[0-9]*\.[0-9]+", text) else text

    def as_written(self, text: str) -> str:
        """A cell as the file has it, from its usual spelling; marks between thousands are lost.

        Example:
            >>> german = FileFormat(decimal=",").dialect(".csv")
            >>> [german.as_written(text) for text in ("1234.5", "1..5", "x", "12.5 kg")]
            ['1234,5', '1.5', 'x', '12,5 kg']
        """
        if self.decimal == ".":
            return text
        if ".." in text:
            return text.replace("..", ".")
        return re.sub(r"(?<=[0-9])\.(?=[0-9])|(?<![0-9])\.(?=[0-9])", self.decimal, text)

    @property
    def number_pattern(self) -> str:
        """The numbers of the dialect without a sign: digits, perhaps in groups, and decimals."""
        decimal, whole = re.escape(self.decimal), "[0-9]+"
        if self.thousands:
            whole = f"([0-9]{{1,3}}([{re.escape(self.thousands_marks)}][0-9]{{3}})+|[0-9]+)"
        return f"({whole}({decimal}[0-9]*)?|{decimal}[0-9]+)([eE][+-]?[0-9]+)?"


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """The declared facts about the format of a file; None where nothing is declared.

    Attributes:
        separator: between the fields of a text file.
        quote: around fields that hold the separator; `none` where fields are never quoted.
        decimal: the decimal mark of numbers, a dot or a comma.
        thousands: the mark between groups of three digits.
        encoding: of the text; utf-8-sig writes a byte order mark.
        header_line: the number of the line that names the columns.
        sheet: of a workbook.
        unreviewed: someone looked at rows for it, and nobody has vouched for it yet.

    Example:
        >>> FileFormat(separator=";", decimal=",").dialect(".csv").encoding
        'utf-8'
    """

    separator: str | None = None
    quote: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    header_line: int | None = None
    sheet: str | None = None
    unreviewed: bool = False

    def __post_init__(self) -> None:
        named = _NAMED.get(self.separator or "", self.separator)
        object.__setattr__(self, "separator", named)
        problems = list(self._problems())
        if problems:
            raise SchemaError([f"format: {problem}" for problem in problems])

    def _problems(self) -> Iterator[str]:
        quote = '"' if self.quote is None else self.quote
        if self.separator is not None and not _is_separator(self.separator, quote):
            yield (
                f"separator is {self.separator!r}; give one character that is not a letter, a "
                "digit or the quote, or tab, comma, semicolon, pipe, space"
            )
        if quote != _NO_QUOTE and not (len(quote) == 1 and _is_mark(quote)):
            yield f"quote is {quote!r}; give one character such as \" or ', or none"
        if self.decimal is not None and self.decimal not in _DECIMALS:
            yield f"decimal is {self.decimal!r}; give . or ,"
        if self.thousands and self.thousands not in _THOUSANDS:
            yield f"thousands is {self.thousands!r}; give one of , . ' _ or a space"
        if self.thousands and self.thousands == self.decimal:
            yield _both(self.thousands)
        if self.encoding is not None and not _is_encoding(self.encoding):
            yield "the encoding is unknown; use a name such as utf-8 or cp1252"
        if self.header_line is not None and not 1 <= self.header_line <= _MOST_LINES:
            yield f"header_line is {self.header_line}; lines are counted from 1 to {_MOST_LINES}"

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> FileFormat:
        """The format that a schema's table declares; all problems are raised at once."""
        kinds = {field.name: str(field.type) for field in fields(cls)}
        problems = [
            f"format: {name} is not a key of a format; remove it or correct the name"
            for name in body
            if name not in (*kinds, "version")
        ]
        if body.get("version", VERSION) != VERSION:
            problems.append("format: its version is not 1; use a newer understudy to read it")
        for name in kinds.keys() & body.keys():
            if type(body[name]).__name__ != kinds[name].partition(" ")[0]:
                problems.append(f"format: {name} is not a {kinds[name].partition(' ')[0]}")
        if problems:
            raise SchemaError(sorted(problems))
        return cls(**{name: value for name, value in body.items() if name != "version"})

    def document(self) -> dict[str, Any]:
        """Return the format as a schema file has it."""
        held = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: value for name, value in held.items() if value not in (None, False)}
        return {"version": VERSION, **given}

    @property
    def is_declared(self) -> bool:
        """Whether anything is declared."""
        return self != FileFormat()

    def over(self, other: FileFormat) -> FileFormat:
        """This format, and whatever it leaves open as the other one says."""
        held = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: value for name, value in held.items() if value not in (None, False)}
        return replace(other, **given)

    def dialect(self, suffix: str) -> TextDialect:
        """The dialect of a text file of this suffix."""
        if self.thousands == "." and self.decimal is None:
            raise SchemaError([f"format: {_both(self.thousands)}"])
        usual = "\t" if suffix.startswith(_TABS) else ","
        quote = '"' if self.quote is None else self.quote
        return TextDialect(
            separator=self.separator or usual,
            quote="" if quote == _NO_QUOTE else quote,
            decimal=self.decimal or ".",
            thousands=self.thousands or "",
            encoding=self.encoding or "utf-8",
            header_line=self.header_line or 1,
        )


def _both(mark: str) -> str:
    return f"thousands and decimal are both {mark!r}; give the other decimal mark"


def _is_separator(text: str, quote: str) -> bool:
    return text == "\t" or (len(text) == 1 and text != quote and (_is_mark(text) or text == " "))


def _is_mark(text: str) -> bool:
    return text.isascii() and text.isprintable() and not text.isalnum() and text not in " .+-"


def _is_encoding(name: str) -> bool:
    try:
        # Python has codecs that are not encodings of text, and refuses them here.
        "x".encode(name)
    except (LookupError, ValueError):
        return False
    return True


# Nothing is given: files are spelled as their suffixes and the schema say.
DECLARED = FileFormat()
