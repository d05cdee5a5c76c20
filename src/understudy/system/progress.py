"""Progress of long work: a function that is called as the work advances."""

from __future__ import annotations

from collections.abc import Callable

# Called with the rows or steps that are done, and with their total where it is known.
ProgressCallback = Callable[[int, int | None], None]


def unwatched(done: int, total: int | None) -> None:
    """Ignore the progress: the caller did not ask to see it."""
