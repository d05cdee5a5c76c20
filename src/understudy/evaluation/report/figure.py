"""Figures of a page: pictures with a caption and the same data as a table."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A picture, and everything that a reader needs beside it.

    Attributes:
        legend: for each mark of the picture its style and what it means.
        data: what is drawn, for readers who do not see it.
    """

    title: str
    picture: Markup
    caption: str
    data: Listing
    legend: tuple[tuple[str, str], ...] = ()


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
