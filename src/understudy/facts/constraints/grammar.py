"""The little language of constraints, from a text to conditions.

    constraint  =  "if" conditions "then" conditions  |  "not" "(" conditions ")"
    conditions  =  condition { "and" condition }
    condition   =  column ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value
                |  column "in" "{" value { "," value } "}"
                |  column [ "not" ] "missing"

Columns and values are words, or texts in quotes, in which a doubled quote stands for itself. The
grammar's own words must be quoted to be a column or a value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

KEYWORDS = ("if", "then", "not", "and", "in", "missing")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")

_TOKEN = re.compile(
    r"""\s*(?: (?P<symbol> <= | >= | != | [(){},=<>] )
             | (?P<quoted> "(?:[^"]|"")*" | '(?:[^']|'')*' )
             | (?P<word> [^\s(){},=<>!"'] [^\s(){},=<>!"]* ) )""",
    re.VERBOSE,
)


class ParseError(ValueError):
    """A constraint cannot be read; says why, and at which character, counted from 1."""

    def __init__(self, position: int, sentence: str) -> None:
        self.position = position
        super().__init__(sentence)


@dataclass(frozen=True)
class Token:
    """A piece of a constraint's text: a word, a text in quotes, a symbol, or the end."""

    kind: str
    text: str
    position: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else repr(self.text)


@dataclass(frozen=True)
class Condition:
    """A condition on one column: a comparison with values, or that it is missing or not."""

    column: Token
    relation: str
    values: tuple[Token, ...] = ()


@dataclass(frozen=True)
class Sentence:
    """Conditions that call for others, or, without a conclusion, must not hold together."""

    premise: tuple[Condition, ...]
    conclusion: tuple[Condition, ...] | None


def parse(text: str) -> Sentence:
    """A constraint's text as conditions; a ParseError at the first character that does not fit.

    Example:
        >>> parse("if age < 18 then income missing").conclusion[0].relation
        'missing'
    """
    return _Parser(_tokens(text)).sentence()


def parse_list(text: str, start: int = 0) -> list[Condition]:
    """Conditions with commas or "and" between them, of a text from some character on.

    A column alone is one too, with an empty relation: nothing is said of it.
    """
    return _Parser(_tokens(text, start)).items()


def _tokens(text: str, start: int = 0) -> list[Token]:
    tokens, end = [], len(text.rstrip())
    while start < end:
        match = _TOKEN.match(text, start)
        if match is None:
            raise _stray(text, start)
        kind = str(match.lastgroup)
        tokens.append(Token(kind, _unquoted(kind, match[kind]), match.start(kind) + 1))
        start = match.end()
    return [*tokens, Token("end", "", end + 1)]


def _unquoted(kind: str, text: str) -> str:
    return text[1:-1].replace(text[0] * 2, text[0]) if kind == "quoted" else text


def _stray(text: str, start: int) -> ParseError:
    position = start + len(text[start:]) - len(text[start:].lstrip())
    if text[position] in "\"'":
        return ParseError(
            position + 1, "the quote is not closed; close it, or double it inside texts"
        )
    return ParseError(position + 1, f"{text[position]!r} is alone; write !=, or use quotes")


class _Parser:
    """Reads tokens from left to right, one function for each rule of the grammar."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._place = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _take(self) -> Token:
        token = self._next
        self._place += token.kind != "end"
        return token

    def _is(self, *texts: str) -> bool:
        return self._next.kind in ("word", "symbol") and self._next.text in texts

    def _expect(self, text: str, hint: str) -> None:
        if not self._is(text):
            raise ParseError(self._next.position, f"{self._next} is found where {hint}")
        self._take()

    def sentence(self) -> Sentence:
        conclusion = None
        if self._is("if"):
            self._take()
            premise = self._conditions()
            self._expect("then", "'and' or 'then' is expected; quote texts of several words")
            conclusion = self._conditions()
        else:
            self._expect("not", "'if' or 'not (' is expected; begin with one of them")
            self._expect("(", "'(' is expected; write not (... and ...)")
            premise = self._conditions()
            self._expect(")", "'and' or ')' is expected; quote texts of several words")
        if self._next.kind != "end":
            reason = "the end is expected; quote texts of several words, and join tests by 'and'"
            raise ParseError(self._next.position, f"{self._next} is found where {reason}")
        return Sentence(premise, conclusion)

    def items(self) -> list[Condition]:
        found = [self._item()]
        while self._is(",", "and"):
            self._take()
            found.append(self._item())
        if self._next.kind != "end":
            reason = "',' or the end is expected; quote texts of several words"
            raise ParseError(self._next.position, f"{self._next} is found where {reason}")
        return found

    def _item(self) -> Condition:
        after = self._tokens[min(self._place + 1, len(self._tokens) - 1)]
        if after.kind == "end" or (after.kind, after.text) in (("symbol", ","), ("word", "and")):
            return Condition(self._name("a column"), "")
        return self._condition()

    def _conditions(self) -> tuple[Condition, ...]:
        conditions = [self._condition()]
        while self._is("and"):
            self._take()
            conditions.append(self._condition())
        return tuple(conditions)

    def _condition(self) -> Condition:
        column = self._name("a column")
        if self._is(*COMPARISONS):
            return Condition(column, self._take().text, (self._name("a value"),))
        if self._is("in"):
            self._take()
            return Condition(column, "in", self._listed())
        relation = "missing"
        if self._is("not"):
            self._take()
            relation = "not missing"
        known = f"{', '.join(COMPARISONS)}, in, missing or not missing"
        self._expect("missing", f"what is said of {column.text!r} is expected; use {known}")
        return Condition(column, relation)

    def _listed(self) -> tuple[Token, ...]:
        self._expect("{", "'{' is expected; write in {a, b}")
        values = [self._name("a value")]
        while self._is(","):
            self._take()
            values.append(self._name("a value"))
        self._expect("}", "',' or '}' is expected; quote texts of several words")
        return tuple(values)

    def _name(self, what: str) -> Token:
        token = self._next
        if token.kind not in ("word", "quoted"):
            raise ParseError(
                token.position, f"{token} is found where {what} is expected; name it, or use quotes"
            )
        if token.kind == "word" and token.text in KEYWORDS:
            reason = f"{token} is a word of the grammar where {what} is expected"
            raise ParseError(token.position, f"{reason}; put quotes around it if it is one")
        return self._take()
