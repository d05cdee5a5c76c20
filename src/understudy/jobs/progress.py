"""How a job reports its progress to whoever waits for it.

Privacy: how far a reading has come depends on private rows. It is for the owner's eyes while the
job runs, and enters no result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class BarUpdate(Protocol):
    """Moves a progress bar."""

    def __call__(self, done: int, total: int | None, label: str = "") -> None:
        """Show how many steps are done, of how many, and a new label if there is one."""


class JobProgress(Protocol):
    """Shows what a job is doing; a terminal, a page or nobody implements it."""

    def spinner(self, message: str) -> AbstractContextManager[Callable[[str], None]]:
        """Show a message while a stage runs; the function it gives replaces the message."""

    def bar(self, label: str) -> AbstractContextManager[BarUpdate]:
        """Show a bar while steps are counted; the function it gives moves the bar."""

    def message(self, text: str) -> None:
        """Show a sentence that stays."""

    def warning(self, text: str) -> None:
        """Show a sentence that stays and stands out."""


class SilentProgress:
    """Shows nothing: for jobs that nobody watches."""

    def spinner(self, message: str) -> AbstractContextManager[Callable[[str], None]]:
        """Ignore the message and all that replace it."""
        return nullcontext(lambda text: None)

    def bar(self, label: str) -> AbstractContextManager[BarUpdate]:
        """Ignore all steps."""
        return nullcontext(_ignore)

    def message(self, text: str) -> None:
        """Ignore a sentence."""

    def warning(self, text: str) -> None:
        """Ignore a warning."""


def _ignore(done: int, total: int | None, label: str = "") -> None:
    """Ignore a step."""


SILENT = SilentProgress()


class Stopwatch:
    """Measures the seconds of each stage, for the owner; they never enter a model or statement."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time a stage."""
        started = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - started, 6)


class ReadingProgress:
    """Turns rows read so far into a sentence with speed and time left, for each reading."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._number = 0
        self._started = 0.0

    def __call__(self, done: int, total: int | None) -> None:
        """Show the rows done and their total, where it is known; 0 starts the next reading."""
        if done == 0:
            self._number += 1
            self._started = time.perf_counter()
        seconds = time.perf_counter() - self._started
        self._show(f"reading {self._number}: {_speed_text(done, total, seconds)}")


def _speed_text(done: int, total: int | None, seconds: float) -> str:
    """Say rows, their speed and, where their number is known, the time left."""
    of = "" if total is None else f" of {total:,}"
    if done == 0 or seconds <= 0:
        return f"{done:,}{of} rows"
    text = f"{done:,}{of} rows, {done / seconds:,.0f} rows/s"
    if total is None:
        return text
    left = round(seconds * max(total - done, 0) / done)
    return f"{text}, {left // 60}:{left % 60:02} left"


def counted(blocks: Iterable[pa.Table], rows: int, progress: JobProgress) -> Iterator[pa.Table]:
    """Pass blocks of rows on, and show how many of them have been written."""
    done = 0
    with progress.bar("writing rows") as update:
        for block in blocks:
            update(done, rows)
            yield block
            done += block.num_rows
