"""How hard pages are to read: the length of sentences, and the share of passive ones.

`scripts/readability` lists the sentences and pages beyond the limits that have no reason on
record, and the reasons that are not needed any more.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pages.sentences import ROOT, pages, prose_lines

REASONS = Path(__file__).parent / "readability.toml"
MOST_WORDS = 40
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
    """The numbers by which a page is hard to read, and its long sentences."""

    page: str
    sentences: int
    longest: int
    passive: float
    long: tuple[str, ...] = ()

    @property
    def is_passive(self) -> bool:
        """Whether too many of the page's sentences are passive."""
        return self.passive > MOST_PASSIVE and self.sentences >= LEAST_SENTENCES


@dataclass(frozen=True, kw_only=True)
class PageWaiver:
    """The faults that a page may keep, and why.

    Attributes:
        long: the first words of sentences that may be long.
        reason: why they are; needed where there are any.
        passive: why the page may be passive; empty where it may not.
    """

    long: tuple[str, ...] = ()
    reason: str = ""
    passive: str = ""

    @classmethod
    def of(cls, *, long: Sequence[str] = (), reason: str = "", passive: str = "") -> Self:
        """Make a waiver from its table; TypeError where it has another key."""
        return cls(long=tuple(long), reason=reason, passive=passive)

    def remarks(self, found: Reading) -> Iterator[str]:
        """Yield every fault of a page that is not waived, and every waiver without a fault."""
        for sentence in found.long:
            if not (self.reason and sentence.startswith(self.long)):
                yield f"{len(sentence.split())} words: {sentence}"
        for words in self.long:
            if not any(sentence.startswith(words) for sentence in found.long):
                yield f"no long sentence begins so: {words}"
        if found.is_passive and not self.passive:
            yield f"{found.passive:.0%} of its sentences are passive"
        if self.passive and not found.is_passive:
            yield "it is waived as passive, and is not"


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
        long=tuple(each for each in found if len(each.split()) > MOST_WORDS),
    )


def readings(root: Path = ROOT) -> Iterator[Reading]:
    """Yield every page of the repository."""
    for path in pages(root):
        yield reading(str(path.relative_to(root)), path.read_text(encoding="utf-8"))


def waivers() -> Mapping[str, PageWaiver]:
    """Return the waivers of all pages that have any."""
    tables = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    return {page: PageWaiver.of(**table) for page, table in tables.items()}


def remarks() -> list[str]:
    """List every fault without a waiver and every waiver without a fault."""
    known = dict(waivers())
    found = [
        f"{each.page}: {said}"
        for each in readings()
        for said in known.pop(each.page, PageWaiver()).remarks(each)
    ]
    return [*found, *(f"{page}: it is waived, and is not there" for page in known)]


def main(arguments: Sequence[str]) -> int:
    """Print what is beyond the limits, or the numbers of all pages; return 1 for a fault."""
    if "--all" in arguments:
        for each in readings():
            share = f"{each.passive:.0%} of {each.sentences} passive"
            print(f"{each.page}: longest {each.longest} words, {share}")
    found = remarks()
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
