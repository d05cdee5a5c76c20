"""Reading ahead: the next block comes while the last one is counted."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

T = TypeVar("T")


def one_ahead(items: Generator[T]) -> Generator[T]:
    """The same items, each made in a thread of its own while the one before is worked on.

    Never more than one waits. A failure is raised where its item would have come, and the thread
    has ended and the items are closed when this generator is, at its end or earlier.
    """
    end = object()
    with closing(items), ThreadPoolExecutor(1, "ahead") as thread:
        coming = thread.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = thread.submit(next, items, end)
            yield item  # type: ignore[misc]  # the end was told apart
            del item
