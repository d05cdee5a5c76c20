"""The terminal: messages go to stderr, results to stdout, and machines get one JSON object.

What is shown may come from a model or a message that someone else made. It is shown as it is, and
never obeyed: markup is not read, and characters that a terminal would obey are escaped.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from understudy.jobs.progress import SILENT
from understudy.system.printable import printable, printable_json, printable_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from understudy.jobs.output import JobResult
    from understudy.jobs.progress import BarUpdate, JobProgress


# Names of files and columns may hold brackets and colons; they are shown as they are.
_PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}


@cache
def _terminal() -> type[Console]:
    """The class of consoles that show every character as itself or as its escape."""
    from rich.console import Console

    class Terminal(Console):
        def render_str(self, text: str, **options: Any) -> Any:
            """Escape texts and cells of tables before they are laid out."""
            return super().render_str(printable_lines(text), **options)

        def render(self, *arguments: Any, **options: Any) -> Any:
            """Escape everything else, but not the control codes of rich itself."""
            for segment in super().render(*arguments, **options):
                seen = segment.control or segment.text.isprintable() or segment.text == "\n"
                yield segment if seen else segment._replace(text=_seen(segment.text))

    return Terminal


def _seen(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def messages() -> Console:
    """The console for messages to people: stderr."""
    return _terminal()(stderr=True, soft_wrap=True, **_PLAIN)


def results() -> Console:
    """The console for results that people read: stdout."""
    return _terminal()(soft_wrap=not sys.stdout.isatty(), **_PLAIN)


def print_json(document: Mapping[str, Any]) -> None:
    """Print one object, as the last thing on stdout."""
    print(printable_json(document, indent=1))


def print_text(text: str) -> None:
    """Print a text as it is for a file, and escaped on a terminal."""
    print(_seen(text) if sys.stdout.isatty() else text, end="")


def table_of(heads: Sequence[str]) -> Table:
    """Make a table without lines between its cells; rows are added to it."""
    from rich.table import Table

    return Table(*heads, box=None)


def print_result(result: JobResult, *, as_json: bool) -> None:
    """Print what a job wrote: for machines on stdout, and what people must know on stderr."""
    console = messages()
    if as_json:
        print_json(result.document | {"seconds": result.seconds})
    else:
        console.print(f"{result.headline} → {result.output}", style="bold")
    for sentence in result.sentences:
        console.print(sentence)
    for remark in result.remarks:
        console.print(remark, style="dim")


def is_terminal(stream: object) -> bool:
    """Whether a person is at the other end; a process may lack the stream."""
    asked = getattr(stream, "isatty", None)
    return bool(asked and asked())


class TerminalProgress:
    """Shows progress on stderr: spinners and bars on a terminal, sentences anywhere.

    Where there is no terminal, a bar is a line now and then.

    Privacy: the text beside a spinner may be exact. Whether there is a terminal is therefore asked
    of stderr itself: rich also takes a file for one where FORCE_COLOR or TTY_COMPATIBLE says so,
    which they do in many scripts.
    """

    @contextmanager
    def spinner(self, message: str) -> Iterator[Callable[[str], None]]:
        """Show a spinner on a terminal; the function it gives changes the message beside it."""
        if not is_terminal(sys.stderr):
            yield lambda text: None
            return
        from rich.text import Text

        # A plain text would be read as markup.
        with messages().status(Text(printable(message))) as status:
            yield lambda text: status.update(Text(printable(text)))

    @contextmanager
    def bar(self, label: str) -> Iterator[BarUpdate]:
        """Show a bar on a terminal, or lines elsewhere; the function it gives moves it."""
        if not is_terminal(sys.stderr):
            yield ProgressLines(label, self.message)
            return
        with _bar() as progress:
            task = progress.add_task(label, total=None)

            def update(done: int, total: int | None, label: str = "") -> None:
                progress.update(task, completed=done, total=total, description=label or None)

            yield update

    def message(self, text: str) -> None:
        """Print a sentence."""
        messages().print(text, style="dim")

    def warning(self, text: str) -> None:
        """Print a sentence that stands out."""
        messages().print(text, style="yellow")


class ProgressLines:
    """Prints how far a job is, at most once a minute: for logs, which have no bars.

    Args:
        label: what is done.
        show: prints a line.
        clock: the time in seconds.
    """

    def __init__(
        self,
        label: str,
        show: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label, self._show, self._clock = label, show, clock
        self._began = self._said = clock()
        self._first: int | None = None

    def __call__(self, done: int, total: int | None, label: str = "") -> None:
        """Print steps and the time left, if the last line is a minute old."""
        now = self._clock()
        if self._first is None:
            self._first, self._began = done, now
        if total is None or now - self._said < _BETWEEN_LINES:
            return
        self._said = now
        steps = done - self._first
        left = (now - self._began) / steps * (total - done) if steps > 0 else None
        about = "" if left is None else f", about {max(round(left / 60), 1)} min left"
        self._show(f"{label or self._label}: {done:,} of {total:,}{about}")


_BETWEEN_LINES = 60.0


def progress_for(*, as_json: bool) -> JobProgress:
    """Progress on the terminal, or none where machines read the result."""
    return SILENT if as_json else TerminalProgress()


def _bar() -> Progress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=messages(), transient=True)
