"""How hard pages are to read: the length of sentences, and the share of passive ones.

`scripts/readability` lists the pages beyond the limits that have no reason on record.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pages.sentences import ROOT, pages, prose_lines

REASONS = Path(__file__).parent / "readability.toml"
MOST_WORDS = 45
MOST_PASSIVE = 0.45
# Fewer sentences say nothing about a share.
LEAST_SENTENCES = 20
_BREAK = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[(])")
_IRREGULAR = (
    *(
        "begun",
        "bound",
        "built",
        "chosen",
        "cut",
        "drawn",
        "found",
        "given",
        "held",
        "kept",
        "known",
    ),
    *("left", "lost", "made", "meant", "paid", "put", "read", "said", "seen", "sent", "set"),
    *("shown", "spent", "split", "taken", "told", "thrown", "understood", "written"),
)
_PASSIVE = re.compile(
    rf"\b(?:is|are|was|were|be|been|being)\b(?:\s+(?:not|never|also|then|only|already|\w+ly))?"
    rf"\s+(?:\w{{2,}}ed|{'|'.join(_IRREGULAR)})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The numbers by which a page is hard to read."""

    page: str
    sentences: int
    longest: int
    passive: float

    @property
    def faults(self) -> list[str]:
        """Return the limits that the page exceeds, by name."""
        found = ["longest"] if self.longest > MOST_WORDS else []
        often = self.passive > MOST_PASSIVE and self.sentences >= LEAST_SENTENCES
        return [*found, "passive"] if often else found


def page_sentences(text: str) -> list[str]:
    """Return the sentences of a page's prose; code counts as one word."""
    plain = []
    for _, line in prose_lines(text):
        words = re.sub(r"`[^`]*`", "code", line)
        words = re.sub(r"\]\([^)]*\)", "]", words)
        plain += _BREAK.split(words.strip())
    return [sentence for sentence in plain if len(sentence.split()) > 2]


def reading(page: str, text: str) -> Reading:
    """Measure a page."""
    found = page_sentences(text)
    passive = sum(_PASSIVE.search(sentence) is not None for sentence in found)
    return Reading(
        page=page,
        sentences=len(found),
        longest=max((len(sentence.split()) for sentence in found), default=0),
        passive=passive / max(len(found), 1),
    )


def readings(root: Path = ROOT) -> Iterator[Reading]:
    """Yield every page of the repository."""
    for path in pages(root):
        yield reading(str(path.relative_to(root)), path.read_text(encoding="utf-8"))


def reasons() -> Mapping[str, Mapping[str, str]]:
    """Return the pages that may exceed a limit, each limit with the reason."""
    return tomllib.loads(REASONS.read_text(encoding="utf-8"))


def main(arguments: Sequence[str]) -> int:
    """Print pages beyond the limits; return 1 if one of them has no reason."""
    known, wrong = reasons(), 0
    for each in readings():
        faults = [fault for fault in each.faults if fault not in known.get(each.page, {})]
        wrong += len(faults)
        if faults or "--all" in arguments:
            said = f"longest {each.longest} words, {each.passive:.0%} of {each.sentences} passive"
            print(f"{each.page}: {said} {' '.join(faults)}".rstrip())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
