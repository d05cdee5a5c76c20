"""The sections of the site, read from the list of all pages."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SECTION = re.compile(r"^## ([^:\n]+)[^\n]*\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^\| \[[\w ]+\]\(([^)]+)\) \| (.*) \|$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading of the list of pages, and each page below it with the sentence about it."""

    title: str
    pages: tuple[tuple[str, str], ...]


def sections(listing: str) -> list[Section]:
    """Read the sections of `docs/README.md`, in their order."""
    return [
        Section(title=title.strip(), pages=tuple(_LINE.findall(body)))
        for title, body in _SECTION.findall(listing)
    ]


def table_of_contents(title: str, pages: list[str], *, depth: int = 1) -> str:
    """Return the directive that puts pages below a heading of the site's side bar."""
    lines = ["```{toctree}", ":hidden:", f":maxdepth: {depth}"]
    lines += [f":caption: {title}"] if title else []
    return "\n".join([*lines, "", *pages, "```", ""])
