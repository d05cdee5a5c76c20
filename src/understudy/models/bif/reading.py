"""The structure in BIF text: every variable's parents. Probabilities are passed over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from understudy.errors import UsageError
from understudy.models.bif.names import ORIGINAL, read

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/          # comments
    |"(?:[^"\\\n]|\\.)*"            # texts
    |[{}()\[\];,|]                  # signs
    |[^\s{}()\[\];,|"]+             # words
    |"                              # a text that does not end
    """,
    re.DOTALL | re.VERBOSE,
)
_CLOSING = {"{": "}", "(": ")"}


class NotBif(ValueError):
    """The text is not valid BIF; says what was expected and the line where it is not."""


def parents_of(text: str) -> dict[str, list[str]]:
    """Every variable's parents, by the names in our own `original` properties where there are any.

    Raises:
        NotBif: where the text cannot be read.
        UsageError: where a name is repeated, unknown or without its block.
    """
    blocks = _Blocks()
    tokens = _Tokens(text, [*_tokens(text)])
    while not tokens.at_end:
        match tokens.take("network, variable or probability"):
            case "network":
                tokens.before("{")
                tokens.inside("{")
            case "variable":
                blocks.declare(" ".join(map(_plain, tokens.before("{"))), tokens.inside("{"))
            case "probability":
                tokens.before("(")
                header = tokens.inside("(")
                tokens.before("{")
                tokens.inside("{")
                blocks.join(header)
            case _:
                raise tokens.unexpected("network, variable or probability")
    return blocks.parents()


@dataclass
class _Blocks:
    """The declarations so far: originals of variables, and the parents of each."""

    originals: dict[str, str] = field(default_factory=dict)
    above: dict[str, list[str]] = field(default_factory=dict)

    def declare(self, name: str, body: list[str]) -> None:
        """A variable, with the name that it had before it was written down."""
        if name in self.originals:
            raise UsageError(f"the network declares variable {name!r} twice; keep one")
        self.originals[name] = _original(body, name)

    def join(self, header: list[str]) -> None:
        """A variable's parents, behind a bar or, as older files have it, just behind its name."""
        whole = " ".join(map(_plain, header))
        if "|" in header or "," in header:
            names = _between_signs(header)
        else:
            names = [whole] if whole in self.originals else [*map(_plain, header)]
        if not names:
            raise NotBif("a probability block names no variable")
        child, *parents = names
        if child in self.above:
            raise UsageError(f"the network has two tables of {child!r}; keep one")
        self.above[child] = parents

    def parents(self) -> dict[str, list[str]]:
        """The structure, once all is read."""
        if not self.originals:
            raise NotBif("it has no variable")
        for child, parents in self.above.items():
            for name in (child, *parents):
                if name not in self.originals:
                    raise UsageError(f"the network has no variable {name!r}; declare it")
        for name in self.originals:
            if name not in self.above:
                raise UsageError(f"variable {name!r} has no probability block; add it")
        return self._by_originals()

    def _by_originals(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, original in self.originals.items():
            if original in found:
                raise UsageError(f"the network names attribute {original!r} twice; keep one")
            found[original] = [self.originals[parent] for parent in self.above[name]]
        return found


def _original(body: list[str], name: str) -> str:
    """The value of our own property in a variable's block, or else the variable's name."""
    for start in range(len(body) - 3):
        if body[start : start + 3] == ["property", ORIGINAL, "="]:
            value = _json_text(body[start + 3])
            if value is None:
                raise UsageError(f"variable {name!r}: property {ORIGINAL} is not a text; repair it")
            return value
    return name


def _json_text(token: str) -> str | None:
    try:
        value = read(token)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _plain(token: str) -> str:
    return token[1:-1] if token.startswith('"') else token


def _between_signs(header: list[str]) -> list[str]:
    """Names of one word or several, between bars and commas."""
    groups = groupby(header, key=lambda token: token in ("|", ","))
    return [" ".join(map(_plain, words)) for is_sign, words in groups if not is_sign]


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Words, texts and signs, each with the place where it begins."""
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token == '"' or (token.startswith("/*") and not token.endswith("*/")):
            raise NotBif(f"line {_line(text, found.start())}: {token[:2]} has no end")
        if not token.startswith(("//", "/*")):
            yield token, found.start()


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


@dataclass
class _Tokens:
    """The tokens of a text, taken one after the other."""

    text: str
    every: list[tuple[str, int]]
    place: int = 0

    @property
    def at_end(self) -> bool:
        return self.place == len(self.every)

    def take(self, expected: str) -> str:
        """Return the next token."""
        if self.at_end:
            raise NotBif(f"it ends where {expected} is expected")
        self.place += 1
        return self.every[self.place - 1][0]

    def before(self, sign: str) -> list[str]:
        """The words up to a sign, which is taken too."""
        words: list[str] = []
        while (token := self.take(sign)) != sign:
            if token in "{}()[];":
                raise self.unexpected(sign)
            words.append(token)
        return words

    def inside(self, opening: str) -> list[str]:
        """Return the words up to the closing bracket, which is taken too; the opening one was."""
        start, depth, closing = self.place, 1, _CLOSING[opening]
        while depth:
            token = self.take(closing)
            depth += (token == opening) - (token == closing)
        return [token for token, _ in self.every[start : self.place - 1]]

    def unexpected(self, expected: str) -> NotBif:
        """Return the error of the token that was just taken."""
        _, place = self.every[self.place - 1]
        return NotBif(f"line {_line(self.text, place)}: {expected} is expected")
