"""Kinds of cells: the narrowest that a cell's text can be read as, and how many cells have it.

Each cell of a column counts once, under its narrowest kind: missing, boolean, integer, float, date,
datetime or text; of booleans, each usual word counts by itself, of reals, those of each number of
decimals, and of texts, codes with leading zeros, usual missing markers and notations of days and
numbers. Proof: docs/proofs/kinds.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime

import numpy as np

from understudy.facts.column import FALSE_WORDS, TRUE_WORDS
from understudy.facts.file_format import TextDialect
from understudy.methods.discover.keys import keys_of
from understudy.methods.discover.notations import NOTATIONS, notation_of
from understudy.rows.counting import CountSource
from understudy.system.arrays import Integers

KINDS = ("missing", "boolean", "integer", "float", "date", "datetime", "text")
"""The kinds of cells; usual words and numbers of decimals are counted apart, and the rest here."""

_WORDS = {*TRUE_WORDS, *FALSE_WORDS} - {"0", "1"}


def _spellings(words: Sequence[str]) -> tuple[str, ...]:
    """The words in small letters, with a capital, and in capitals, each once; numbers apart."""
    found = (f for w in words if not w[0].isdigit() for f in (w, w.capitalize(), w.upper()))
    return tuple(dict.fromkeys(found))


TRUE_SPELLINGS, FALSE_SPELLINGS = _spellings(TRUE_WORDS), _spellings(FALSE_WORDS)

ROUND = "decimals that are zero"
DECIMALS = tuple(f"{digits} decimals" for digits in range(1, 7))
"""Reals that are written without an exponent and with up to six decimals, by their number."""

MARKS = ("?", "--", "None")
"""Usual missing markers that are not read as missing unless they are declared."""

CODE = "leading zeros"
"""Digits behind a zero, such as 00501, which a number would lose."""

COUNTED = (*KINDS, *TRUE_SPELLINGS, *FALSE_SPELLINGS, *NOTATIONS, *MARKS, CODE, ROUND, *DECIMALS)
"""All that a cell may count under, in the order of a released vector."""

_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,17})")
_DECIMALS = re.compile(r"[+-]?[0-9]*\.([0-9]{1,6})")
_REAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_LEADING_ZERO = re.compile(r"[+-]?0[0-9]")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def narrowest(text: str) -> str:
    """The narrowest kind that a cell's text can be read as; it is not empty.

    Example:
        >>> [narrowest(text) for text in ("1", "1.5", "yes", "2021-03-01", "00501", "x")]
        ['integer', 'float', 'boolean', 'date', 'text', 'text']
    """
    if _has_leading_zeros(text):
        return "text"
    if _WHOLE.fullmatch(text):
        return "integer"
    if _REAL.fullmatch(text):
        return "float" if math.isfinite(float(text)) else "text"
    if text.lower() in _WORDS:
        return "boolean"
    return _moment(text)


def _has_leading_zeros(text: str) -> bool:
    is_whole = _WHOLE.fullmatch(text.lstrip("+-0") or "0") is not None
    return is_whole and _LEADING_ZERO.match(text) is not None


def _moment(text: str) -> str:
    try:
        if _DAY.fullmatch(text):
            date.fromisoformat(text)
            return "date"
        if _DAY.match(text):
            datetime.fromisoformat(text)
            return "datetime"
    except ValueError:
        return "text"
    return "text"


def kinds_of(source: CountSource, column: str, dialect: TextDialect) -> Integers:
    """How many cells of a column are of each kind, numbers being spelled as declared. Private."""
    counts = dict.fromkeys(COUNTED, 0)
    for text, times in keys_of(source, column=column).counts.items():
        counts[_place(text, dialect)] += times
    counts["missing"] = int(source.count([(column,)])[0].counts[1])
    return np.array(list(counts.values()), np.int64)


def _place(text: str, dialect: TextDialect) -> str:
    """The one place of the released vector that a cell counts under."""
    if text in MARKS:
        return text
    spelled = dialect.plain_number(text)
    found = narrowest(spelled)
    if found == "boolean":
        return text if text in TRUE_SPELLINGS or text in FALSE_SPELLINGS else found
    if found == "text" and _has_leading_zeros(spelled):
        return CODE
    decimals = _DECIMALS.fullmatch(spelled) if found == "float" else None
    if decimals is None:
        return (notation_of(text, dialect) or found) if found == "text" else found
    digits = decimals[1]
    return DECIMALS[len(digits) - 1] if digits.strip("0") else ROUND
