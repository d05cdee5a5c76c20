"""Questions to a model as people write them: P(income | age >= 30, sex = Female)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from understudy.column import Column, IdColumn, LearnedColumn
from understudy.conditional import Probabilities
from understudy.constraints.grammar import Condition, Finding, Token, parse_list
from understudy.domain import Attributes
from understudy.errors import UsageError
from understudy.infer.elimination import Evidence
from understudy.infer.evidence import allowed

_SHAPE = re.compile(r"\s*P\s*\((?P<inside>.*)\)\s*", re.DOTALL)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")


@dataclass(frozen=True)
class Question:
    """What is asked, and given what.

    Attributes:
        targets: the attributes whose joint distribution is asked for; none where a chance is.
        given: what is known.
        both: what is known and the event whose chance is asked for; None where a distribution is.
    """

    targets: Attributes
    given: Evidence
    both: Evidence | None


def read_question(text: str, columns: Mapping[str, Column]) -> Question:
    """A question from its text.

    Raises:
        UsageError: pointing at the character that does not fit.
    """
    try:
        return _question(text, columns)
    except Finding as finding:
        raise UsageError(f"question {text!r}: at character {finding.position}: {finding}") from None


def _question(text: str, columns: Mapping[str, Column]) -> Question:
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise Finding(1, "write P(column | conditions), as P(income | age >= 30, sex = Female)")
    start, end = shape.span("inside")
    bar = _bar(text, start, end)
    asked = parse_list(text[: end if bar is None else bar], start)
    given = [] if bar is None else parse_list(text[:end], bar + 1)
    bare = [c.column for c in given if not c.relation]
    if bare:
        way_out = f"say what is known of it, as {bare[0].text} = ..."
        raise Finding(bare[0].position, f"{bare[0]} stands alone; {way_out}")
    named = [c for c in asked if not c.relation]
    if named and len(named) < len(asked):
        raise Finding(named[0].column.position, "ask for columns or for conditions, not for both")
    targets = tuple(dict.fromkeys(_learned(c.column, columns)[0] for c in named))
    # Conditions on one column are taken together: parts of a bin may overlap or not.
    both = None if targets else evidence_of([*asked, *given], columns)
    return Question(targets, evidence_of(given, columns), both)


def _bar(text: str, start: int, end: int) -> int | None:
    """Where the bar stands that is in no quotes."""
    blanked = _QUOTED.sub(lambda match: " " * len(match[0]), text[start:end])
    place = blanked.find("|")
    return None if place < 0 else start + place


def evidence_of(conditions: Sequence[Condition], columns: Mapping[str, Column]) -> Evidence:
    """Conditions as weights, those of one column taken together."""
    said: dict[str, list[Condition]] = {}
    for condition in conditions:
        said.setdefault(_learned(condition.column, columns)[0], []).append(condition)
    return {name: _weights(found, columns) for name, found in said.items()}


def _weights(conditions: Sequence[Condition], columns: Mapping[str, Column]) -> Probabilities:
    name, column = _learned(conditions[0].column, columns)
    said = [(c.relation, [value.text for value in c.values]) for c in conditions]
    try:
        return allowed(name, column, said)
    except UsageError as error:
        raise Finding(conditions[0].column.position, str(error)) from None


def _learned(name: Token, columns: Mapping[str, Column]) -> tuple[str, LearnedColumn]:
    column = columns.get(name.text)
    if column is None:
        raise Finding(name.position, f"{name} is no column; known are {', '.join(columns)}")
    if isinstance(column, IdColumn):
        raise Finding(name.position, f"{name} is an id, which is generated afresh; ask for others")
    return name.text, column
