"""Find phrases that readers of English as a second language stumble over: `scripts/english`.

Patterns are few and narrow: a hit is nearly always a sentence to rewrite. The words to use instead
are in the word list of CONTRIBUTING.md. Phrases in backticks are quoted, and are not searched.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pages.modules import ROOT
from pages.prose import Kind, Prose, prose

_OURS = frozenset({Kind.MODULE, Kind.CLASS, Kind.FUNCTION})
_EVERYWHERE = frozenset(Kind)
# Verbs of short first lines; a relative pronoun has a verb behind it.
_FINITE = (
    "that|which|who|whose|whom|where|stands?|declares?|"
    "is|are|was|were|has|have|had|does|do|did|can|cannot|may|might|must|could|would|should|will"
    "|gives?|gave|holds?|keeps?|kept|says?|said|makes?|needs?|fits?|belongs?|comes?|came|takes?|took"
    "|knows?|learns?|reads?|writes?|wrote|sees?|saw|goes|becomes?|remains?|differs?|agrees?|stays?"
    "|follows?|asks?|adds?|lies?|occurs?|depends?|allows?|protects?|pays?|returns?|raises?|weighs?"
)
_PEOPLE = "owners?|readers?|holders?|analysts?|people|users?|persons?|nobody|everybody|SuperLink"
_PREPOSITIONS = "as|at|but|by|for|from|in|of|on|to|under|when|where|with"


@dataclass(frozen=True)
class Pattern:
    """A phrase to avoid: its name, how it is found, where it is looked for, and what to write."""

    name: str
    regex: re.Pattern[str]
    advice: str
    kinds: frozenset[Kind] = _EVERYWHERE

    def hits(self, text: Prose) -> Iterator[Hit]:
        """Yield every place of a text where the phrase occurs."""
        if text.kind in self.kinds:
            matches = self.regex.finditer(text.plain)
            for found in (each for each in matches if each["hit"]):
                around = text.text[max(0, found.start() - 40) : found.end() + 40]
                yield Hit(self.name, text.at(found.start()), text.kind, " ".join(around.split()))


@dataclass(frozen=True)
class Hit:
    """A place where a phrase to avoid occurs, and the words around it."""

    pattern: str
    place: str
    kind: Kind
    around: str


def _phrase(regex: str, *, but: str = r"(?!)") -> re.Pattern[str]:
    """Compile a phrase of any case and white space; what `but` matches is right, and is passed."""
    whole = f"(?:{but})|(?P<hit>{regex})"
    return re.compile(whole.replace(" ", r"\s+"), re.IGNORECASE)


def _opening(regex: str) -> re.Pattern[str]:
    """Compile a pattern for the first words of a text, in their own case."""
    return re.compile(rf"\A\s*(?P<hit>{regex})", re.MULTILINE)


PATTERNS = (
    Pattern(
        "is-no",
        _phrase(
            r"\b(?:is|was|be|being) no\b(?! (?:longer|more|less|fewer)\b)",
            but=r"\bthere(?: \w+)? (?:is|was|be|being) no\b",
        ),
        "write `is not a`; `there is no` is right",
    ),
    Pattern(
        "are-no",
        _phrase(
            r"\b(?:are|were) no\b(?! (?:longer|more|less|fewer)\b)",
            but=r"\bthere(?: \w+)? (?:are|were) no\b",
        ),
        "write `are not`; `there are no` is right",
    ),
    Pattern(
        "is-none",
        _phrase(
            r"\b(?:is|are|was|were|be) (?-i:none)\b(?! of\b)",
            but=r"\bthere(?: \w+)? (?:is|are|was|were|be) none\b",
        ),
        "say what it is not: `is not a message`",
    ),
    Pattern(
        "comes-to",
        _phrase(r"\bwhat\b[^.,;:|]{0,80}?\b(?:comes?|came) to\b(?! (?:an end|be)\b)"),
        "name the result: `the value of`, `the cost of`, `the result of`",
    ),
    Pattern("so-many", _phrase(r"\bso many\b(?! that\b)"), "write `n`, or name the number"),
    Pattern(
        "stands",
        _phrase(
            r"\b(?:stands?|stood)\b(?!-| (?:in )?for\b| out\b)",
            but=r"\bas (?:it|they) stands?\b",
        ),
        "write `is`, or what it does there: `is written`, `is stored`, `is listed`",
    ),
    Pattern(
        "tells",
        _phrase(
            r"\b(?:tells?|told)\b(?!(?: \w+){0,3}? (?:apart|from)\b| the truth\b)",
            but=rf"\b(?:{_PEOPLE}) (?:is|are|was|were|be)(?: not)? told\b"
            rf"|\btells? (?:the )?(?:{_PEOPLE})\b",
        ),
        "write `says`, `shows`, `reports`; `by default` for `unless told`",
    ),
    Pattern("comes-by", _phrase(r"\b(?:comes?|came) by\b"), "write `visits`, `appears`"),
    Pattern("goes-on", _phrase(r"\b(?:go|goes|going|went) on\b"), "write `continues`, `resumes`"),
    Pattern("leave-away", _phrase(r"\b(?:leaves?|left|leaving) away\b"), "write `omit`"),
    Pattern(
        "pet-words",
        _phrase(r"\b(?:wishes|purse|desk|farewell|shelf|handicaps?|flatter\w*|weighing)\b"),
        "use the term that a reader would search for; see the word list",
    ),
    Pattern("anew", _phrase(r"\banew\b"), "write `again`, or `new` before the thing"),
    Pattern("somebody", _phrase(r"\bsomebody\b"), "write `someone`, or who it is: `an attacker`"),
    Pattern("seized", _phrase(r"\bseized\b"), "write `stolen`, `seen by an intruder`"),
    Pattern(
        "whom",
        _phrase(rf"\b(?:{_PEOPLE}|all|those|someone|anyone|everyone),? whom\b"),
        "write `who` or `that`; `says whom it protects` is right",
    ),
    Pattern(
        "alone",
        _phrase(r"\balone\b"),
        "write `only` before the thing",
        frozenset({Kind.HELP}),
    ),
    Pattern(
        "what",
        _opening(r"Wh(?:at|om)\b(?![^\n]*\?)[^\n]*"),
        "begin with a verb or with the thing itself",
        _OURS | {Kind.HELP},
    ),
    Pattern(
        "of",
        _opening(r"Of\b[^\n]*"),
        "name the thing: `The encoding of CSV text`",
        _OURS | {Kind.HELP},
    ),
    Pattern(
        "the-same",
        _opening(rf"The same(?:[,.:]| (?:{_PREPOSITIONS})\b)"),
        "say it again: a hover box shows only one docstring",
        _OURS | {Kind.TEST},
    ),
    Pattern(
        "noun-only",
        _opening(
            rf"(?:The|An?) (?!same\b)(?![^\n]*\b(?:{_FINITE})\b)"
            r"(?:[^\s.:;]+[ \t]){0,4}[^\s.:;]+\.\s*$"
        ),
        "write a verb: `Return the …`, `Count the …`",
        frozenset({Kind.FUNCTION}),
    ),
)


def found(texts: Iterable[Prose]) -> list[Hit]:
    """List every place where a phrase to avoid occurs, in the order of the patterns."""
    every = list(texts)
    return [hit for pattern in PATTERNS for text in every for hit in pattern.hits(text)]


def counts(hits: Iterable[Hit]) -> dict[str, int]:
    """Count the places of each pattern, those without any too."""
    counted = Counter(hit.pattern for hit in hits)
    return {pattern.name: counted[pattern.name] for pattern in PATTERNS}


def main(arguments: Sequence[str]) -> int:
    """Print the places of all patterns or of one, or how many there are."""
    parser = argparse.ArgumentParser(prog="scripts/english", description=__doc__)
    names = [pattern.name for pattern in PATTERNS]
    parser.add_argument("--json", action="store_true", help="print JSON instead of lines")
    parser.add_argument("--pattern", choices=names, help="show the places of one pattern only")
    parser.add_argument("--count", action="store_true", help="print how many places there are")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository to read")
    given = parser.parse_args(arguments)
    hits = [hit for hit in found(prose(given.root)) if given.pattern in (None, hit.pattern)]
    shown = [pattern for pattern in PATTERNS if given.pattern in (None, pattern.name)]
    print(_json(hits) if given.json else _lines(hits, shown, places=not given.count))
    return 0


def _json(hits: Sequence[Hit]) -> str:
    places = [
        {"pattern": h.pattern, "place": h.place, "kind": h.kind, "around": h.around} for h in hits
    ]
    return json.dumps({"counts": counts(hits), "hits": places}, indent=2, ensure_ascii=False)


def _lines(hits: Sequence[Hit], patterns: Sequence[Pattern], *, places: bool) -> str:
    lines = [f"{hit.place}: {hit.pattern}: {hit.around}" for hit in hits] if places else []
    number = counts(hits)
    return "\n".join([*lines, *(f"{number[p.name]:6} {p.name}: {p.advice}" for p in patterns)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
