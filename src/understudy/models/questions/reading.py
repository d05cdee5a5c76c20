"""Questions as people write them.

P(column, ... | conditions)         P(conditions | conditions)
count(conditions), count(*)         mean(column | conditions)
quantile(column, 0.9 | conditions)  most probable row | conditions
top 5 pairs                         independent(column, column)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from understudy.errors import UsageError
from understudy.facts.codec.regions import ANYWHERE, Region
from understudy.facts.column import BinnedColumn, Column
from understudy.facts.constraints.grammar import Condition, ParseError, Token, parse_list
from understudy.models.inference import Evidence
from understudy.models.inference.evidence import region_of
from understudy.models.inference.question import (
    Question,
    about,
    bar_of,
    evidence_of,
    learned_column,
    probability_question,
    sayings_of,
)
from understudy.models.questions.places import CodePlaces, places_of

FORMS = (
    "P(column | conditions)",
    "count(conditions)",
    "mean(column | conditions)",
    "quantile(column, 0.9 | conditions)",
    "most probable row",
    "top 5 pairs",
    "independent(column, column)",
)
_CALL = re.compile(
    r"\s*(?P<word>p|count|mean|quantile|independent)\s*\((?P<inside>.*)\)\s*", re.S | re.I
)
_ROW = re.compile(r"\s*most\s+probable\s+row\s*(?:\|(?P<inside>.*))?", re.S | re.I)
_PAIRS = re.compile(r"\s*top\s+(?P<number>\d{1,6})\s+pairs?\s*", re.I)


@dataclass(frozen=True)
class CountQuestion:
    """How many rows fit conditions."""

    fits: Evidence


@dataclass(frozen=True)
class ColumnQuestion:
    """A mean or a quantile of one column among rows that fit conditions.

    Attributes:
        name: of the column.
        places: the numbers behind its codes.
        given: what is known, that the column is not missing among it.
        share: which quantile; None for the mean.
    """

    name: str
    places: CodePlaces
    given: Evidence
    share: float | None


@dataclass(frozen=True)
class RowQuestion:
    """Which row is the most probable one among those that fit conditions."""

    given: Evidence


@dataclass(frozen=True)
class PairsQuestion:
    """Which pairs of columns depend on each other most."""

    number: int


@dataclass(frozen=True)
class IndependenceQuestion:
    """Whether two columns are independent."""

    pair: tuple[str, str]


AnyQuestion = (
    IndependenceQuestion | Question | CountQuestion | ColumnQuestion | RowQuestion | PairsQuestion
)


def read_any(text: str, columns: Mapping[str, Column]) -> AnyQuestion:
    """Read a question of any form from its text.

    Raises:
        UsageError: pointing at the character that does not fit, with the forms there are.

    Example:
        >>> read_any("top 5 pairs", {}).number
        5
    """
    try:
        return _any(text, columns)
    except ParseError as finding:
        raise UsageError(f"question {text!r}: at character {finding.position}: {finding}") from None


def _any(text: str, columns: Mapping[str, Column]) -> AnyQuestion:
    if found := _PAIRS.fullmatch(text):
        return _pairs(found)
    if found := _ROW.fullmatch(text):
        start, end = found.span("inside")
        given = [] if start < 0 else about(parse_list(text[:end], start))
        return RowQuestion(evidence_of(given, columns))
    found = _CALL.fullmatch(text)
    if found is None:
        raise ParseError(1, f"the question has none of the known forms; write {', '.join(FORMS)}")
    start, end = found.span("inside")
    match found["word"].lower():
        case "p":
            return probability_question(text, (start, end), columns)
        case "count":
            return _count(text, (start, end), columns)
        case "independent":
            return _independence(text, (start, end), columns)
        case "mean":
            return _column(text, (start, end), columns, share=False)
        case _:
            return _column(text, (start, end), columns, share=True)


def _pairs(found: re.Match[str]) -> PairsQuestion:
    number = int(found["number"])
    if not number:
        raise ParseError(found.start("number") + 1, "none are asked for; ask for 1 or more pairs")
    return PairsQuestion(number)


def _independence(
    text: str, inside: tuple[int, int], columns: Mapping[str, Column]
) -> IndependenceQuestion:
    start, end = inside
    asked = parse_list(text[:end], start) if text[start:end].strip() else []
    if len(asked) != 2 or any(each.relation for each in asked):
        raise ParseError(start + 1, f"write {FORMS[-1]}, two columns without conditions")
    first, second = (learned_column(each.column, columns)[0] for each in asked)
    if first == second:
        raise ParseError(start + 1, f"{first!r} is not independent of itself; name two columns")
    return IndependenceQuestion((first, second))


def _count(text: str, inside: tuple[int, int], columns: Mapping[str, Column]) -> CountQuestion:
    start, end = inside
    bar = bar_of(text, start, end)
    if bar is not None:
        raise ParseError(bar + 1, "a count has no bar; put all conditions in one list")
    if text[start:end].strip() in ("", "*"):
        return CountQuestion({})
    return CountQuestion(evidence_of(about(parse_list(text[:end], start)), columns))


def _column(
    text: str, inside: tuple[int, int], columns: Mapping[str, Column], *, share: bool
) -> ColumnQuestion:
    start, end = inside
    bar = bar_of(text, start, end)
    asked = parse_list(text[: end if bar is None else bar], start)
    given = [] if bar is None else about(parse_list(text[:end], bar + 1))
    form = FORMS[3] if share else FORMS[2]
    if len(asked) != 1 + share or any(each.relation for each in asked):
        raise ParseError(start + 1, f"write {form}; conditions come after the bar")
    name, column = learned_column(asked[0].column, columns)
    region = ANYWHERE
    own = [condition for condition in given if condition.column.text == name]
    evidence = dict(evidence_of(given, columns))
    if own and isinstance(column, BinnedColumn):
        region = region_of(name, column, sayings_of(own))
    places = _places(asked[0], columns, region=region)
    evidence[name] = evidence[name] * places.present if name in evidence else places.present
    if not evidence[name].any():
        raise ParseError(asked[0].column.position, f"no value of {name!r} fits; loosen a condition")
    return ColumnQuestion(name, places, evidence, _share(asked[1].column) if share else None)


def _places(asked: Condition, columns: Mapping[str, Column], *, region: Region) -> CodePlaces:
    name, column = learned_column(asked.column, columns)
    try:
        return places_of(name, column, region)
    except UsageError as error:
        raise ParseError(asked.column.position, str(error)) from None


def _share(token: Token) -> float:
    try:
        share = float(token.text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ParseError(token.position, f"{token} is not a share; write one from 0 to 1, as 0.9")
    return share
