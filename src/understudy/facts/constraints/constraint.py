"""One constraint: what it says, and which combinations of codes it forbids."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from understudy.errors import SchemaError
from understudy.facts.column import Column, IdColumn, LearnedColumn, TextColumn
from understudy.facts.constraints.grammar import (
    Condition,
    ParseError,
    Sentence,
    Token,
    parse,
)
from understudy.facts.constraints.meaning import CodeSet, all_codes, codes_of

Box = Mapping[str, CodeSet]
# Codes of some attributes that must not all meet in one row, attributes in a fixed order.
Nogood = tuple[tuple[str, CodeSet], ...]

_PHRASES = {
    "=": "is",
    "!=": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
    "in": "is one of",
    "missing": "is missing",
    "not missing": "is not missing",
}


@dataclass(frozen=True)
class Constraint:
    """Where all of the premise holds, all of the conclusion must; without one, that must not be.

    Attributes:
        text: the constraint as it was declared.
        words: the same for people.
        sizes: the attributes it speaks of, in the order of their mention, with their sizes.
        premise: for each attribute, the codes for which its conditions hold.
        conclusion: the same for what follows; None if nothing can.
    """

    text: str
    words: str
    sizes: Mapping[str, int]
    premise: Box
    conclusion: Box | None

    @property
    def combinations(self) -> int:
        """How many combinations of codes its attributes have."""
        return math.prod(self.sizes.values())

    @property
    def forbidden(self) -> int:
        """How many of these combinations it forbids."""
        if self.conclusion is None:
            return self._count(self.premise)
        both = _meet(self.premise, self.conclusion)
        return self._count(self.premise) - self._count(both)

    def _count(self, box: Box) -> int:
        every = {name: all_codes(size) for name, size in self.sizes.items()}
        return math.prod(codes.bit_count() for codes in (every | dict(box)).values())

    @property
    def nogoods(self) -> frozenset[Nogood]:
        """Return sets of codes that must not meet: one for each condition that follows."""
        if self.conclusion is None:
            return frozenset(self._nogoods([self.premise]))
        unmet = [{n: all_codes(self.sizes[n]) & ~codes} for n, codes in self.conclusion.items()]
        return frozenset(self._nogoods([_meet(self.premise, box) for box in unmet]))

    def _nogoods(self, boxes: Sequence[Box]) -> Iterator[Nogood]:
        """The boxes that hold any row, without the attributes for which they hold every code."""
        for box in boxes:
            if all(box.values()):
                told = {n: c for n, c in box.items() if c != all_codes(self.sizes[n])}
                yield tuple(sorted(told.items()))


def read_constraint(text: object, columns: Mapping[str, Column | None]) -> Constraint:
    """Read a constraint from its text.

    Args:
        text: as in a schema.
        columns: what is declared; None for a column with problems of its own, which excuses
            conditions on it.

    Raises:
        SchemaError: with every finding, each pointing at a character.
    """
    if not isinstance(text, str):
        raise SchemaError([f"constraint {text!r} is not a text; write 'if ... then ...' in quotes"])
    try:
        sentence = parse(text)
    except ParseError as finding:
        raise SchemaError([_problem(text, finding)]) from None
    findings = [*_findings(sentence, columns)]
    if findings:
        raise SchemaError([_problem(text, finding) for finding in findings])
    return _constraint(text, sentence, columns)


def _problem(text: str, finding: ParseError) -> str:
    return f"constraint {text!r}: at character {finding.position}: {finding}"


def _conditions(sentence: Sentence) -> tuple[Condition, ...]:
    return (*sentence.premise, *(sentence.conclusion or ()))


def _findings(sentence: Sentence, columns: Mapping[str, Column | None]) -> Iterator[ParseError]:
    for condition in _conditions(sentence):
        if columns.get(condition.column.text, condition) is None:
            continue
        try:
            codes_of(condition, _learned(condition.column, columns))
        except ParseError as finding:
            yield finding


def _learned(name: Token, columns: Mapping[str, Column | None]) -> LearnedColumn:
    match columns.get(name.text):
        case None:
            raise ParseError(
                name.position,
                f"{name} is not a column; the columns are {', '.join(columns)}; correct it",
            )
        case IdColumn() | TextColumn():
            raise ParseError(
                name.position, f"{name} is generated afresh, as ids and texts are; constrain others"
            )
        case column:
            return column


def _constraint(text: str, sentence: Sentence, columns: Mapping[str, Column | None]) -> Constraint:
    names = dict.fromkeys(c.column.text for c in _conditions(sentence))
    known = {n: c for n in names if isinstance(c := columns[n], LearnedColumn)}
    sizes = {name: column.size for name, column in known.items()}
    premise = _box(sentence.premise, known)
    conclusion = None if sentence.conclusion is None else _box(sentence.conclusion, known)
    return Constraint(
        text=text, words=_words(sentence), sizes=sizes, premise=premise, conclusion=conclusion
    )


def _box(conditions: Sequence[Condition], columns: Mapping[str, LearnedColumn]) -> Box:
    box: Box = {}
    for condition in conditions:
        name = condition.column.text
        box = _meet(box, {name: codes_of(condition, columns[name])})
    return box


def _meet(first: Box, second: Box) -> Box:
    return {
        name: first.get(name, second.get(name, 0)) & second.get(name, first.get(name, 0))
        for name in {**first, **second}
    }


def _words(sentence: Sentence) -> str:
    premise = " and ".join(map(_phrase, sentence.premise))
    if sentence.conclusion is None:
        return f"never: {premise}"
    return f"where {premise}: {' and '.join(map(_phrase, sentence.conclusion))}"


def _phrase(condition: Condition) -> str:
    values = ", ".join(value.text for value in condition.values)
    return f"{condition.column.text} {_PHRASES[condition.relation]} {values}".rstrip()
