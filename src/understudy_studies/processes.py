"""Cells measured in several processes, each handed on as soon as it is done.

Processes are our own and not those of a pool, so that an interrupt ends them at once and not when
their cells are done.
"""

from __future__ import annotations

import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType

from understudy.errors import CapacityError
from understudy.system.progress import ProgressCallback, unwatched
from understudy.system.version import __version__
from understudy_studies import find
from understudy_studies.cells import Cell, Setting
from understudy_studies.tables import DataFolder

_PATIENCE = 5.0
# Seconds between two reports of a cell that takes long.
_BETWEEN_REPORTS = 1.0

StepReport = Callable[[Setting, int, int | None], None]
"""Called with a setting that is being measured, the steps done, and the steps in all."""

Crew = dict[Connection, BaseProcess]


@dataclass(frozen=True)
class Step:
    """How far a process is with its cell."""

    setting: Setting
    done: int
    total: int | None


def unreported(setting: Setting, done: int, total: int | None) -> None:
    """Ignore the steps of a cell."""


class CellFailed(RuntimeError):
    """A cell failed in another process; the message is what it said there."""


def measured(
    name: str,
    settings: Sequence[Setting],
    shelf: DataFolder,
    *,
    processes: int,
    report: StepReport = unreported,
) -> Iterator[Cell]:
    """The cells of some settings of a study, in the order in which they are done.

    Args:
        report: called now and then with the steps of a cell that takes long.
    """
    count = min(processes, len(settings))
    if count <= 1:
        for setting in settings:
            yield measure(name, setting, shelf, watch=partial(report, setting))
        return
    with _crew(name, shelf, count) as crew:
        yield from _answers(crew, deque(settings), report)


def measure(
    name: str, setting: Setting, shelf: DataFolder, *, watch: ProgressCallback = unwatched
) -> Cell:
    """One cell, timed."""
    started = time.perf_counter()
    study = find(name)
    numbers = study.measure_watched(setting, shelf, watch)
    seconds = time.perf_counter() - started
    return Cell(setting, numbers, seconds, version=__version__, laws=study.laws(setting))


@contextmanager
def _crew(name: str, shelf: DataFolder, count: int) -> Iterator[Crew]:
    """Processes that measure what they are sent, ended with the block, done or not."""
    # Fresh processes: a copy of this one would share the state of its threads.
    spawning = get_context("spawn")
    crew: Crew = {}
    try:
        for _ in range(count):
            ours, theirs = spawning.Pipe()
            crew[ours] = spawning.Process(target=_serve, args=(theirs, name, shelf), daemon=True)
            crew[ours].start()
            theirs.close()
        yield crew
    finally:
        started = [process for process in crew.values() if process.pid is not None]
        for process in started:
            process.terminate()
        for process in started:
            process.join(_PATIENCE)


def _answers(crew: Crew, waiting: deque[Setting], report: StepReport) -> Iterator[Cell]:
    busy = set()
    for connection in list(crew)[: len(waiting)]:
        connection.send(waiting.popleft())
        busy.add(connection)
    while busy:
        for ready in wait(list(busy)):
            assert isinstance(ready, Connection)
            cell = _received(ready, crew[ready])
            if isinstance(cell, Step):
                report(cell.setting, cell.done, cell.total)
                continue
            busy.remove(ready)
            if waiting:
                ready.send(waiting.popleft())
                busy.add(ready)
            yield cell


def _received(connection: Connection, process: BaseProcess) -> Cell | Step:
    try:
        answer = connection.recv()
    except EOFError:
        process.join(_PATIENCE)
        raise CapacityError(
            f"a process of the study ended with {process.exitcode}, perhaps for want of memory; "
            "run it again with --processes 1, and it continues from here"
        ) from None
    if isinstance(answer, Cell | Step):
        return answer
    raise CellFailed(answer)


def _serve(connection: Connection, name: str, shelf: DataFolder) -> None:
    """Measure what comes until there is no more; the first process answers a terminal's Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    while True:
        try:
            setting = connection.recv()
        except EOFError:
            return
        try:
            watch = StepSender(connection, setting)
            answer: Cell | str = measure(name, setting, shelf, watch=watch)
        except Exception:
            answer = traceback.format_exc()
        connection.send(answer)


class StepSender:
    """Sends the steps of a cell to the first process, once a second at most."""

    def __init__(
        self,
        connection: Connection,
        setting: Setting,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection, self._setting, self._clock = connection, setting, clock
        self._sent = clock()

    def __call__(self, done: int, total: int | None) -> None:
        """Send a step, unless the last one was sent just now."""
        now = self._clock()
        if now - self._sent >= _BETWEEN_REPORTS:
            self._sent = now
            self._connection.send(Step(self._setting, done, total))


def _end(number: int, frame: FrameType | None) -> None:
    """End as an exit does, so that a learner's own process is ended too."""
    sys.exit(128 + number)
