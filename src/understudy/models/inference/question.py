"""Questions to a model, and conditions on its rows, as people write them.

A question is P(income | age >= 30, sex = Female); the conditions come after the bar.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from understudy.errors import UsageError
from understudy.facts.codec.regions import Region
from understudy.facts.column import BinnedColumn, Column, GeneratedColumn, LearnedColumn
from understudy.facts.constraints.grammar import Condition, ParseError, Token, parse_list
from understudy.facts.domain import Attributes
from understudy.models.inference.elimination import Evidence
from understudy.models.inference.evidence import Said, allowed, region_of
from understudy.system.arrays import Probabilities

_SHAPE = re.compile(r"\s*P\s*\((?P<inside>.*)\)\s*", re.DOTALL)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")


@dataclass(frozen=True)
class Question:
    """A question to a model: its targets and its conditions.

    Attributes:
        targets: the attributes whose joint distribution is asked for; none where a chance is.
        given: what is known.
        both: what is known and the event whose chance is asked for; None where a distribution is.
    """

    targets: Attributes
    given: Evidence
    both: Evidence | None


@dataclass(frozen=True)
class Conditions:
    """The conditions that rows must fit.

    Attributes:
        text: as it was written.
        evidence: how well each code fits.
        within: where values must lie that are drawn inside bins.
    """

    text: str
    evidence: Evidence
    within: Mapping[str, Region]


def read_question(text: str, columns: Mapping[str, Column]) -> Question:
    """Read a question from its text.

    Raises:
        UsageError: pointing at the character that does not fit.
    """
    try:
        return _question(text, columns)
    except ParseError as finding:
        raise UsageError(f"question {text!r}: at character {finding.position}: {finding}") from None


def read_conditions(text: str, columns: Mapping[str, Column]) -> Conditions:
    """Conditions from a text such as: age >= 30, sex = Female.

    Raises:
        UsageError: pointing at the character that does not fit, or at a column that is left
            without any value.
    """
    try:
        said = _by_column(about(parse_list(text)), columns)
        evidence = {name: _weights(found, columns) for name, found in said.items()}
        for name, fits in evidence.items():
            if not fits.any():
                reason = "no value fits all that is said of it; loosen a condition"
                raise ParseError(said[name][0].column.position, f"column {name!r}: {reason}")
        return Conditions(text.strip(), evidence, _within(said, columns))
    except ParseError as finding:
        place = f"at character {finding.position}"
        raise UsageError(f"conditions {text!r}: {place}: {finding}") from None


def about(conditions: Sequence[Condition]) -> Sequence[Condition]:
    """Return the conditions, none of them a column alone."""
    for condition in conditions:
        if not condition.relation:
            way_out = f"say what is known of it, as {condition.column.text} = ..."
            raise ParseError(condition.column.position, f"{condition.column} is alone; {way_out}")
    return conditions


def _within(
    said: Mapping[str, Sequence[Condition]], columns: Mapping[str, Column]
) -> dict[str, Region]:
    declared = {name: columns[name] for name in said}
    return {
        name: region_of(name, column, sayings_of(said[name]))
        for name, column in declared.items()
        if isinstance(column, BinnedColumn)
    }


def _question(text: str, columns: Mapping[str, Column]) -> Question:
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise ParseError(1, "write P(column | conditions), as P(income | age >= 30, sex = Female)")
    return probability_question(text, shape.span("inside"), columns)


def probability_question(
    text: str, inside: tuple[int, int], columns: Mapping[str, Column]
) -> Question:
    """Read what is asked for and what is known, between two characters of a text."""
    start, end = inside
    bar = bar_of(text, start, end)
    asked = parse_list(text[: end if bar is None else bar], start)
    given = [] if bar is None else about(parse_list(text[:end], bar + 1))
    named = [c for c in asked if not c.relation]
    if named and len(named) < len(asked):
        raise ParseError(
            named[0].column.position, "ask for columns or for conditions, not for both"
        )
    targets = tuple(dict.fromkeys(learned_column(c.column, columns)[0] for c in named))
    # Conditions on one column are taken together: parts of a bin may overlap or not.
    both = None if targets else evidence_of([*asked, *given], columns)
    return Question(targets, evidence_of(given, columns), both)


def bar_of(text: str, start: int, end: int) -> int | None:
    """Find the bar that is in no quotes; None where there is none."""
    blanked = _QUOTED.sub(lambda match: " " * len(match[0]), text[start:end])
    place = blanked.find("|")
    return None if place < 0 else start + place


def evidence_of(conditions: Sequence[Condition], columns: Mapping[str, Column]) -> Evidence:
    """Conditions as weights, those of one column taken together."""
    said = _by_column(conditions, columns)
    return {name: _weights(found, columns) for name, found in said.items()}


def _by_column(
    conditions: Sequence[Condition], columns: Mapping[str, Column]
) -> dict[str, list[Condition]]:
    said: dict[str, list[Condition]] = {}
    for condition in conditions:
        said.setdefault(learned_column(condition.column, columns)[0], []).append(condition)
    return said


def _weights(conditions: Sequence[Condition], columns: Mapping[str, Column]) -> Probabilities:
    name, column = learned_column(conditions[0].column, columns)
    try:
        return allowed(name, column, sayings_of(conditions))
    except UsageError as error:
        raise ParseError(conditions[0].column.position, str(error)) from None


def sayings_of(conditions: Sequence[Condition]) -> list[Said]:
    """Return relations and values, without the columns."""
    return [(c.relation, [value.text for value in c.values]) for c in conditions]


def learned_column(name: Token, columns: Mapping[str, Column]) -> tuple[str, LearnedColumn]:
    """Return a column by the name that was written; one that is generated is refused."""
    column = columns.get(name.text)
    if column is None:
        raise ParseError(
            name.position, f"{name} is not a column; the columns are {', '.join(columns)}"
        )
    if isinstance(column, GeneratedColumn):
        raise ParseError(
            name.position, f"{name} is generated afresh, as ids and texts are; ask for others"
        )
    return name.text, column
