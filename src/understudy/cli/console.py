"""How commands speak: messages to stderr, results to stdout, one JSON object for machines.

What is shown may come from a model or a message that somebody else made. It is shown as it is, and
never obeyed: markup is not read, and characters that a terminal would obey are escaped.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from understudy.amounts import at_most_text
from understudy.printable import printable, printable_json, printable_lines

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console
    from rich.progress import Progress


# Names of files and columns may hold brackets and colons; they are shown as they are.
_PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}


@cache
def _terminal() -> type[Console]:
    """A console that shows no character but by itself or by its escape."""
    from rich.console import Console

    class Terminal(Console):
        def render_str(self, text: str, **options: Any) -> Any:
            """Texts and cells of tables, before they are laid out."""
            return super().render_str(printable_lines(text), **options)

        def render(self, *arguments: Any, **options: Any) -> Any:
            """All else that is shown; what rich itself tells a terminal is kept apart."""
            for segment in super().render(*arguments, **options):
                seen = segment.control or segment.text.isprintable() or segment.text == "\n"
                yield segment if seen else segment._replace(text=_seen(segment.text))

    return Terminal


def _seen(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def messages() -> Console:
    """Where people are spoken to: the owner's terminal."""
    return _terminal()(stderr=True, soft_wrap=True, **_PLAIN)


def results() -> Console:
    """Where a command's own result goes when it is for people."""
    return _terminal()(soft_wrap=not sys.stdout.isatty(), **_PLAIN)


def print_json(document: Mapping[str, Any]) -> None:
    """One object, as the last thing on stdout."""
    print(printable_json(document, indent=1))


def print_text(text: str) -> None:
    """A text for a file, as it is; on a terminal, as it may be shown."""
    print(_seen(text) if sys.stdout.isatty() else text, end="")


@contextmanager
def spinner(message: str) -> Iterator[Callable[[str], None]]:
    """A spinner on a terminal; what it gives changes the message beside it."""
    from rich.text import Text

    # A plain text would be read as markup.
    with messages().status(Text(printable(message))) as status:
        yield lambda text: status.update(Text(printable(text)))


class Stopwatch:
    """Seconds of each stage, for the owner; they never enter a model or statement."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time a stage."""
        started = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - started, 6)

    @contextmanager
    def stage(self, name: str, message: str) -> Iterator[Readings]:
        """Time a stage, with a spinner while it lasts on a terminal.

        What it gives may be told how far rows have been read, and then says so beside the spinner.
        """
        with spinner(message) as update, self.timed(name):
            yield Readings(update)


class Readings:
    """Tells the owner, at the terminal alone, how far each reading of a file has come."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._number = 0
        self._started = 0.0

    def __call__(self, done: int, total: int | None) -> None:
        """Rows done of so many, where that is known; 0 starts the next reading."""
        if done == 0:
            self._number += 1
            self._started = time.perf_counter()
        seconds = time.perf_counter() - self._started
        self._show(f"reading {self._number}: {_how_far(done, total, seconds)}")


def _how_far(done: int, total: int | None, seconds: float) -> str:
    """Rows, their speed and, where their number is known, the time left."""
    of = "" if total is None else f" of {total:,}"
    if done == 0 or seconds <= 0:
        return f"{done:,}{of} rows"
    text = f"{done:,}{of} rows, {done / seconds:,.0f} rows/s"
    if total is None:
        return text
    left = round(seconds * max(total - done, 0) / done)
    return f"{text}, {left // 60}:{left % 60:02} left"


def with_progress(blocks: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Pass blocks of rows on, with a progress bar while they take more than a moment."""
    with _bar("writing rows") as progress:
        task = progress.add_task("", total=rows)
        for block in blocks:
            yield block
            progress.advance(task, block.num_rows)


@contextmanager
def steps(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal: what it gives is told how many steps are done, of how many."""
    if not messages().is_terminal:
        yield lambda done, total: None
        return
    with _bar(what) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _bar(what: str) -> Progress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(what, markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=messages(), transient=True)


@contextmanager
def training_bar() -> Iterator[Callable[[int, int, float | None], None]]:
    """A progress bar on a terminal: steps done, ε so far, and the time left."""
    if not messages().is_terminal:
        yield lambda done, total, epsilon: None
        return
    with _bar("{task.description}") as progress:
        task = progress.add_task("training", total=None)

        def tell(done: int, total: int, epsilon: float | None) -> None:
            said = (
                "training"
                if epsilon is None
                else f"training, ε = {at_most_text(epsilon, digits=3)} so far"
            )
            progress.update(task, completed=done, total=total, description=said)

        yield tell
