"""How commands speak: messages to stderr, results to stdout, one JSON object for machines."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console


# Names of files and columns may hold brackets and colons; they are shown as they are.
_PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}


def messages() -> Console:
    """Where people are spoken to: the owner's terminal."""
    from rich.console import Console

    return Console(stderr=True, soft_wrap=True, **_PLAIN)


def results() -> Console:
    """Where a command's own result goes when it is for people."""
    from rich.console import Console

    return Console(soft_wrap=not sys.stdout.isatty(), **_PLAIN)


def print_json(document: Mapping[str, Any]) -> None:
    """One object, as the last thing on stdout."""
    print(json.dumps(document, ensure_ascii=False, indent=1))


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
    def stage(self, name: str, message: str) -> Iterator[None]:
        """Time a stage, with a spinner while it lasts on a terminal."""
        with messages().status(message), self.timed(name):
            yield


def with_progress(blocks: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Pass blocks of rows on, with a progress bar while they take more than a moment."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("writing rows"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=messages(), transient=True) as progress:
        task = progress.add_task("", total=rows)
        for block in blocks:
            yield block
            progress.advance(task, block.num_rows)
