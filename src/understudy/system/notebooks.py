"""Displays for notebooks: cards of facts as HTML, and a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from markupsafe import Markup, escape

_CARD = (
    "border:1px solid #8884;border-radius:6px;padding:.6em 1em;max-width:48em;"
    "font-family:sans-serif;line-height:1.4"
)
_CELL = "text-align:left;padding:.1em 1.2em .1em 0"


@dataclass(frozen=True)
class Card:
    """A title, a sentence that must be read with it, and tables of facts.

    Example:
        >>> Card("Plan", "Nothing is read.", tables=[{"rows": "1,000"}]).html()[:13]
        '<div style="b'
    """

    title: str
    sentence: str
    tables: Sequence[Mapping[str, str] | Sequence[Sequence[str]]] = field(default=())
    picture: str = ""

    def html(self) -> str:
        """The card for a notebook; every text in it is escaped, the picture is drawn as it is."""
        body = Markup("").join(_table(_lines(table)) for table in self.tables)
        head = Markup("<strong>{}</strong><p style='margin:.4em 0'>{}</p>").format(
            self.title, self.sentence
        )
        drawn = Markup(self.picture)
        return str(Markup('<div style="{}">{}{}{}</div>').format(_CARD, head, body, drawn))


def _lines(table: Mapping[str, str] | Sequence[Sequence[str]]) -> Iterable[Sequence[str]]:
    return table.items() if isinstance(table, Mapping) else table


def _table(lines: Iterable[Sequence[str]]) -> Markup:
    rows = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(_cell(text) for text in line))
        for line in lines
    )
    return Markup("<table style='border-collapse:collapse'>{}</table>").format(rows)


def _cell(text: str) -> Markup:
    return Markup('<td style="{}">{}</td>').format(_CELL, text)


class Display(Protocol):
    """A piece of a notebook's output that can be replaced."""

    def update(self, shown: object, /) -> None:
        """Show something else in its place."""


Show = Callable[[object], Display]


@dataclass(frozen=True)
class Fragment:
    """A piece of HTML as notebooks take it."""

    text: str

    def _repr_html_(self) -> str:
        return self.text


@dataclass
class ProgressBar:
    """A bar in a notebook's output: called with the steps done and, where it is known, of all.

    Privacy: notebooks are kept and passed on, and how many rows were read is private. The bar
    holds a share in whole percents and no number of steps.
    """

    label: str
    show: Show
    place: Display | None = None

    def __call__(self, done: int, total: int | None = None, *_: object) -> None:
        """Move the bar; the first call makes it appear."""
        fragment = Fragment(self._html(done, total))
        if self.place is None:
            self.place = self.show(fragment)
        else:
            self.place.update(fragment)

    def _html(self, done: int, total: int | None) -> str:
        known = "" if total is None else f" value={100 * done // max(total, 1)} max=100"
        return f"<progress{known}></progress> {escape(self.label)}"


def notebook_bar(label: str) -> Callable[..., None]:
    """A bar where this process runs a notebook; elsewhere something that shows nothing."""
    show = _notebook()
    return _hidden if show is None else ProgressBar(label, show)


def _hidden(*_: object) -> None:
    """Show nothing: nobody looks at a notebook."""


def _notebook() -> Show | None:
    """Return the display function of the running notebook; None outside of one."""
    python: Any = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    if shell is None or "IPKernelApp" not in getattr(shell, "config", {}):
        return None
    display = python.display.display
    return lambda shown: display(shown, display_id=True)
