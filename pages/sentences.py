"""One sentence per line in Markdown, so that a diff shows the sentence that changed.

`scripts/sentences` lists the lines that hold two sentences, and those that end within one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
# A sentence ends, and another begins on the same line.
_TWO = re.compile(r"[.!?][)\"'*”]*\s+(?=[\"'(*“\[]*[A-Z`])")
# What ends in a full stop without ending a sentence.
_SHORT = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|al|No|[A-Z])\.|\b\d+\.)$")
_END = re.compile(r"[.!?:;…∎][)\"'*`”\]]*$|\|$|^[-*_]{3,}$")
# A line that is not prose, or with which a new paragraph begins.
_APART = re.compile(r"^\s*(?:#|\||<|!\[|\[[^\]]+\]:|>|$)|^\s{4,}")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")


@dataclass(frozen=True, kw_only=True)
class Misplaced:
    """A line that holds two sentences, or ends within one."""

    page: str
    line: int
    fault: str


def pages(root: Path = ROOT) -> list[Path]:
    """Return every page that is written by hand; those of studies are made from their records."""
    found = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "examples").glob("*.md")]
    return sorted(path for path in found if path.parent.name != "studies")


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of prose with their numbers; code and tables are left out."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and fence is None:
            fence = mark[1]
        elif fence is not None:
            fence = None if line.strip() == fence else fence
        elif not _APART.match(line):
            yield number, line


def misplaced(page: str, text: str) -> Iterator[Misplaced]:
    """Yield the lines of a page that break the rule."""
    lines = dict(prose_lines(text))
    for number, line in lines.items():
        if _has_two(line):
            yield Misplaced(page=page, line=number, fault="two sentences")
        after = lines.get(number + 1)
        ends = _END.search(line.rstrip()) is not None
        if after is not None and not _ITEM.match(after) and not ends:
            yield Misplaced(page=page, line=number, fault="ends within a sentence")


def _has_two(line: str) -> bool:
    text = re.sub(r"`[^`]*`", lambda code: "`" + "x" * (len(code[0]) - 2) + "`", line)
    text = _ITEM.sub("", text)
    # A heading of an item, such as "**Row count.** Under …", is read with its sentence.
    text = re.sub(r"^\*\*[^*]+\*\*\s+", "", text)
    ends = (text[: found.start() + 1] for found in _TWO.finditer(text))
    return any(not _SHORT.search(end) for end in ends)


def main(arguments: Sequence[str]) -> int:
    """Print the lines that break the rule on pages that are not listed; return 1 if there are."""
    listed = {line.split()[1] for line in EXCEPTIONS.read_text("utf-8").splitlines()[1:] if line}
    found = [
        each
        for path in pages()
        for each in misplaced(str(path.relative_to(ROOT)), path.read_text("utf-8"))
        if "--all" in arguments or each.page not in listed
    ]
    for each in found:
        print(f"{each.page}:{each.line}: {each.fault}")
    return 1 if found else 0


EXCEPTIONS = Path(__file__).parent / "sentences.txt"

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
