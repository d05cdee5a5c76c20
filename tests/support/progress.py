"""A progress display that remembers what it was shown, for tests of jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from understudy.jobs.progress import BarUpdate


class RecordedProgress:
    """Keeps what a job shows while it runs, in order."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.steps: list[tuple[int, int | None]] = []

    @contextmanager
    def spinner(self, message: str) -> Iterator[Callable[[str], None]]:
        """Keep the message, and all that replace it."""
        self.shown.append(message)
        yield self.shown.append

    @contextmanager
    def bar(self, label: str) -> Iterator[BarUpdate]:
        """Keep the label and every step."""
        self.shown.append(label)

        def update(done: int, total: int | None, label: str = "") -> None:
            self.steps.append((done, total))

        yield update

    def message(self, text: str) -> None:
        """Keep a sentence."""
        self.shown.append(text)

    def warning(self, text: str) -> None:
        """Keep a warning."""
        self.shown.append(text)
