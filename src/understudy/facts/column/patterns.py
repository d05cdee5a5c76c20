"""Texts from a pattern such as `[A-Z]{2}[0-9]{6}`: the bounded part of regular expressions.

A pattern holds plain characters, sets in square brackets, `\\d` and `\\w`, groups with
alternatives, and repeats with a largest number. What could grow without end is refused.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from random import Random

_LONGEST_PATTERN = 400
_LONGEST_TEXT = 1000
# Repeats of nothing make no text longer, and still take time.
_MOST_EFFORT = 10_000
_DEEPEST = 20
_CLASSES = {
    "d": string.digits,
    "w": string.ascii_letters + string.digits + "_",
    "s": " ",
}
_SPECIAL = "[](){}|?*+.^$\\"
_PRINTED = string.digits + string.ascii_letters + string.punctuation + " "


class UnsafePattern(ValueError):
    """A pattern that is not understood, or that has no longest text."""


@dataclass(frozen=True)
class OneOf:
    """One character of some."""

    characters: str

    def text(self, draw: Random) -> str:
        """Draw a text."""
        return draw.choice(self.characters)

    @property
    def longest(self) -> int:
        """Return the length of the longest text."""
        return 1

    @property
    def effort(self) -> int:
        """Return how many parts make a text at most."""
        return 1


@dataclass(frozen=True)
class OneAfterTheOther:
    """Parts in their order."""

    parts: tuple[TextPart, ...]

    def text(self, draw: Random) -> str:
        """Draw a text."""
        return "".join(part.text(draw) for part in self.parts)

    @property
    def longest(self) -> int:
        """Return the length of the longest text."""
        return sum(part.longest for part in self.parts)

    @property
    def effort(self) -> int:
        """Return how many parts make a text at most."""
        return 1 + sum(part.effort for part in self.parts)


@dataclass(frozen=True)
class Alternatives:
    """One part of several."""

    parts: tuple[TextPart, ...]

    def text(self, draw: Random) -> str:
        """Draw a text."""
        return draw.choice(self.parts).text(draw)

    @property
    def longest(self) -> int:
        """Return the length of the longest text."""
        return max(part.longest for part in self.parts)

    @property
    def effort(self) -> int:
        """Return how many parts make a text at most."""
        return 1 + max(part.effort for part in self.parts)


@dataclass(frozen=True)
class Repeated:
    """A part several times."""

    part: TextPart
    least: int
    most: int

    def text(self, draw: Random) -> str:
        """Draw a text."""
        times = draw.randint(self.least, self.most)
        return "".join(self.part.text(draw) for _ in range(times))

    @property
    def longest(self) -> int:
        """Return the length of the longest text."""
        return self.part.longest * self.most

    @property
    def effort(self) -> int:
        """Return how many parts make a text at most."""
        return 1 + self.part.effort * self.most


TextPart = OneOf | OneAfterTheOther | Alternatives | Repeated


def read_pattern(pattern: str) -> TextPart:
    """Return what makes texts of a pattern; UnsafePattern where it has no bounded meaning.

    Example:
        >>> read_pattern("[A-Z]{2}-[0-9]{4}").longest
        7
    """
    if not 1 <= len(pattern) <= _LONGEST_PATTERN:
        raise UnsafePattern(f"it has {len(pattern)} characters; use 1 to {_LONGEST_PATTERN}")
    reader = _Reader(
        pattern.removeprefix("^").removesuffix("$") if _is_framed(pattern) else pattern
    )
    part = reader.alternatives(0)
    if reader.left:
        raise UnsafePattern(
            f"{reader.left[0]!r} closes nothing; remove it, or write it as \\{reader.left[0]}"
        )
    if part.longest > _LONGEST_TEXT:
        raise UnsafePattern(
            f"its texts have up to {part.longest} characters; use at most {_LONGEST_TEXT}"
        )
    if part.effort > _MOST_EFFORT:
        raise UnsafePattern("its repeats of repeats are too many; use fewer")
    return part


def _is_framed(pattern: str) -> bool:
    """Whether ^ and $ mark the ends, where they say nothing."""
    return not pattern.endswith("\\$")


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    @property
    def left(self) -> str:
        """Return the part of the pattern that was not read yet."""
        return self._pattern[self._at :]

    def _take(self) -> str:
        if not self.left:
            raise UnsafePattern("it ends too early; close every bracket")
        self._at += 1
        return self._pattern[self._at - 1]

    def _took(self, character: str) -> bool:
        found = self.left.startswith(character)
        self._at += len(character) if found else 0
        return found

    def alternatives(self, depth: int) -> TextPart:
        """Read parts between bars, up to a closing bracket or the end."""
        if depth > _DEEPEST:
            raise UnsafePattern(f"groups are more than {_DEEPEST} deep; use fewer")
        found = [self._sequence(depth)]
        while self._took("|"):
            found.append(self._sequence(depth))
        return found[0] if len(found) == 1 else Alternatives(tuple(found))

    def _sequence(self, depth: int) -> TextPart:
        parts: list[TextPart] = []
        while self.left and self.left[0] not in "|)":
            parts.append(self._repeats(self._single(depth)))
        return OneAfterTheOther(tuple(parts))

    def _single(self, depth: int) -> TextPart:
        match self._take():
            case "[":
                return OneOf(self._set())
            case "(":
                self._took("?:")
                part = self.alternatives(depth + 1)
                if not self._took(")"):
                    raise UnsafePattern("a group is not closed; add )")
                return part
            case "\\":
                return OneOf(self._escaped())
            case character if character in _SPECIAL:
                raise UnsafePattern(
                    f"{character!r} has no bounded meaning here; write \\{character} for the sign"
                )
            case character:
                return OneOf(character)

    def _escaped(self) -> str:
        character = self._take()
        if character.isalnum() and character not in _CLASSES:
            raise UnsafePattern(f"\\{character} is not known; use \\d, \\w, \\s or a set")
        return _CLASSES.get(character, character)

    def _set(self) -> str:
        turned = self._took("^")
        held: list[str] = []
        while not self._took("]"):
            first = self._escaped() if self._took("\\") else self._take()
            if len(first) == 1 and self.left[:1] == "-" and self.left[1:2] not in ("", "]"):
                self._take()
                held += _between(first, self._escaped() if self._took("\\") else self._take())
            else:
                held += first
        characters = "".join(dict.fromkeys(held))
        if turned:
            characters = "".join(c for c in _PRINTED if c not in characters)
        if not characters:
            raise UnsafePattern("a set is empty; list characters in it")
        return characters

    def _repeats(self, part: TextPart) -> TextPart:
        if self._took("?"):
            return Repeated(part, 0, 1)
        if self.left[:1] in ("*", "+") and self.left:
            raise UnsafePattern(
                f"{self.left[0]!r} repeats without end; write the most, as in {{1,8}}"
            )
        if not self._took("{"):
            return part
        least, most = self._counts()
        return Repeated(part, least, most)

    def _counts(self) -> tuple[int, int]:
        body, closed, _ = self.left.partition("}")
        self._at += len(body) + 1
        first, comma, second = body.partition(",")
        numbers = [n for n in (first, second) if n]
        if (
            not closed
            or not first
            or not all(n.isascii() and n.isdigit() and len(n) < 5 for n in numbers)
        ):
            raise UnsafePattern(
                f"{{{body[:12]}}} is not a number of repeats; write {{3}} or {{2,5}}"
            )
        if comma and not second:
            raise UnsafePattern(f"{{{body}}} repeats without end; write the most, as in {{1,8}}")
        least, most = int(first), int(second or first)
        if most < least:
            raise UnsafePattern(f"{{{body}}} has its numbers swapped; write the smaller one first")
        return least, most


def _between(first: str, last: str) -> list[str]:
    if len(last) != 1 or not ord(first) <= ord(last) <= ord(first) + 1000:
        raise UnsafePattern(
            f"{first}-{last} is not a range of characters; write the first one first"
        )
    return [chr(code) for code in range(ord(first), ord(last) + 1)]
