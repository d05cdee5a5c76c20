"""Figures of a page: pictures with a caption and the same data as a table."""

from __future__ import annotations

import csv
import io
import re
import zlib
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

TableRow = tuple[str, ...]
NONE = "–"


@dataclass(frozen=True)
class Listing:
    """A table of texts.

    Attributes:
        head: the title of each column; all but the first `names` hold numbers.
        note: what was left out, if anything.
    """

    head: TableRow
    lines: tuple[TableRow, ...]
    names: int = 1
    note: str = ""

    @property
    def download(self) -> str:
        """The table as a link that holds it: CSV in a data address, which loads nothing."""
        text = io.StringIO()
        csv.writer(text).writerows([self.head, *self.lines])
        return f"data:text/csv;charset=utf-8,{quote(text.getvalue())}"

    @property
    def file_name(self) -> str:
        """A name for the file that a reader keeps."""
        return f"{anchor_of(' '.join(self.head[:2]))}.csv"


def anchor_of(text: str) -> str:
    """A name for links: letters, digits and hyphens; texts that differ have different ones.

    Example:
        >>> anchor_of("age"), anchor_of("Cramér’s V")
        ('age', 'cram-r-s-v-56a7c2c3')
    """
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if plain == text:
        return plain
    return f"{plain[:40]}-{zlib.crc32(text.encode()):08x}".strip("-")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A picture, and everything that a reader needs beside it.

    Attributes:
        legend: for each mark of the picture its style and what it means.
        group: begins the name of the figure in links.
        data: what is drawn, for readers who do not see it.
    """

    title: str
    picture: Markup
    caption: str
    data: Listing
    legend: tuple[tuple[str, str], ...] = ()
    group: str = "figure"

    @property
    def anchor(self) -> str:
        """The name by which links reach the figure."""
        return f"{self.group}-{anchor_of(self.title)}"


def decimal(value: float | None) -> str:
    """Return a number to three places."""
    if value is None:
        return NONE
    return f"{value:.3f}" if abs(value) < 1000 else f"{value:,.0f}"


def signed(value: float | None) -> str:
    """A difference to three places, with its sign."""
    return NONE if value is None else f"{value:+.3f}".replace("-", "−")


def percent(share: float | None) -> str:
    """A share of the whole; small ones keep two digits."""
    if share is None:
        return NONE
    digits = f"{100 * share:.1f}" if share >= 0.01 or share == 0 else f"{100 * share:.2g}"
    return f"{digits}\u00a0%"
