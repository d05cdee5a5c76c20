"""How to mend cells that do not fit a schema: sentences for the owner.

A sentence may name a notation, a kind, or a missing marker that everybody uses. It never proposes
values or bounds that were seen: a schema is public, and what is in it must be known without the
rows. For those it names the code book and `schema infer`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from understudy.facts.column import MISSING_TEXTS, LearnedColumn


class Trouble(StrEnum):
    """Why a cell is not read as it is; the names are those of the flags of `CellFates`."""

    MISSING = "missing"
    OUTSIDE = "outside"
    UNDECLARED = "undeclared"
    UNREADABLE = "unreadable"


# Markers that are the same in every file, and so say nothing of this one.
MARKERS = (*MISSING_TEXTS, "--", "?", "None", "none")
_CURRENCIES = re.compile(r"[$€£¥]|\b(?:EUR|USD|GBP|CHF|JPY)\b")
_SIGNED = re.compile(
    r"[-+]?\s*(?:[$€£¥]|EUR|USD|GBP|CHF|JPY)?\s*[-+]?[\d.,' ]+\s*(?:[$€£¥]|EUR|USD|GBP|CHF|JPY)?"
)
_PERCENT = re.compile(r"[-+]?[\d.,' ]+\s?%")
_COMMA = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:[. '\u00a0\u202f]\d{3})+),\d+")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:[, '.\u00a0\u202f]\d{3})+(?:\.\d+)?")
_DATE = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?:[ T].*)?")
# A remedy is offered where at least this share of the cells that were looked at asks for it.
_OFTEN = 0.2

_NUMBERS = ("integer", "float")
_DAYS = ("date", "datetime")


def remedies(
    column: LearnedColumn, numbers: Mapping[Trouble, int], cells: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Say how to mend a column.

    Args:
        column: as the schema declares it.
        numbers: how many cells have each trouble.
        cells: different cells for each trouble. Private: no sentence quotes one, except for a
            missing marker of the public list.
    """
    return tuple(_sentences(column, numbers, cells))


def _sentences(
    column: LearnedColumn, numbers: Mapping[Trouble, int], cells: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    odd = [*cells.get(Trouble.UNREADABLE, ()), *cells.get(Trouble.UNDECLARED, ())]
    if numbers[Trouble.MISSING] and column.missing is None:
        yield "some cells are empty; add `missing = []` to the column, and they get their own level"
    markers = _markers(odd)
    if markers:
        listed = ", ".join(f'"{marker}"' for marker in markers)
        yield f"a usual missing marker occurs; declare it: `missing = [{listed}]`"
    if numbers[Trouble.UNREADABLE]:
        yield from _notations(column.kind, [text for text in odd if text.strip() not in MARKERS])
    if numbers[Trouble.UNDECLARED]:
        yield from _values(column, [text for text in odd if text.strip() not in MARKERS])
    if numbers[Trouble.OUTSIDE]:
        yield (
            f"some cells are beyond the bounds and are {_sent(column)}; take the bounds from the "
            "code book, or learn them with `understudy schema infer`"
        )


def _markers(cells: Sequence[str]) -> list[str]:
    seen = {text.strip() for text in cells}
    return [marker for marker in MARKERS if marker in seen]


def _notations(kind: str, cells: Sequence[str]) -> Iterator[str]:
    """Say which notation unreadable cells seem to have."""
    offers = _OF_DAYS if kind in _DAYS else _OF_NUMBERS if kind in _NUMBERS else ()
    said = [sentence for test, sentence in offers if _is_often(test, cells)]
    yield from said[:1]
    if cells and not said:
        yield (
            f"some cells are not of kind {kind}; correct the kind, or look up in the code book how "
            "this column is written"
        )


def _is_often(test: Callable[[str], bool], cells: Sequence[str]) -> bool:
    return bool(cells) and sum(test(text.strip()) for text in cells) >= _OFTEN * len(cells)


def _is_currency(text: str) -> bool:
    return bool(_CURRENCIES.search(text)) and bool(_SIGNED.fullmatch(text))


_OF_NUMBERS: tuple[tuple[Callable[[str], bool], str], ...] = (
    (
        _is_currency,
        "numbers have a currency sign; declare it as the unit of the column, with # in the place "
        'of the number: `unit = "$#"`, `unit = "€ #"` or `unit = "# €"`; where they have a '
        'decimal comma and thousands, also `decimal = ","` and `thousands = "."`',
    ),
    (
        lambda text: bool(_PERCENT.fullmatch(text)),
        "numbers have a percent sign; add `percent = true` to the column",
    ),
    (
        lambda text: bool(_COMMA.fullmatch(text)),
        'numbers have a decimal comma; add `decimal = ","` to `[format]` or to the column',
    ),
    (
        lambda text: bool(_THOUSANDS.fullmatch(text)),
        "numbers have marks between thousands; declare the mark as `thousands` in `[format]` or in "
        "the column",
    ),
    (
        lambda text: bool(_DATE.fullmatch(text)),
        'cells look like days; if they are, the kind is "date"',
    ),
)
_OF_DAYS: tuple[tuple[Callable[[str], bool], str], ...] = (
    (
        lambda text: bool(_DATE.fullmatch(text)),
        "days are not written as year-month-day; declare the `format` of the column, such as "
        '`format = "%d.%m.%Y"`',
    ),
)


def _values(column: LearnedColumn, cells: Sequence[str]) -> Iterator[str]:
    """Say what to do about values that are not listed."""
    declared = {_folded(text) for text in getattr(column, "texts", ())}
    if any(_folded(text) in declared for text in cells):
        yield "some cells differ from a declared value only in capitals or blanks; write them alike"
    others = [text for text in cells if _folded(text) not in declared]
    if others and column.kind == "boolean":
        yield "some cells are not words for true or false; take the words from the code book"
    elif others:
        yield (
            f"some values are not listed and are {_sent(column)}; take the values from the code "
            "book, or learn them with `understudy schema infer`"
        )


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()


def _sent(column: LearnedColumn) -> str:
    """Say where cells go that the schema does not allow."""
    outside: Any = getattr(column, "outside", "drop")
    if outside == "clip":
        return "clipped"
    return "dropped with their rows" if outside == "drop" else f"read as {outside!r}"
