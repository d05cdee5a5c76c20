"""Inputs one after the other, in a child process with limits, resumed where it stopped.

The child notes the number of each input before it is read. A child that dies or stops moving is
replaced by one that continues with the next input, and the one it died of is a finding.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

from fuzz.readers import PLANTED, READERS, Files, Reader, sample_number

# Of processor time, so that a busy machine makes no findings.
MOST_SECONDS = 5.0
# Of the clock: for what waits without computing, or does not return to Python.
MOST_WAITING = 120.0
MOST_MEMORY = 1 << 30
BATCH = 20_000


class Hang(BaseException):
    """An input took too long."""


@dataclass
class Progress:
    """How far a run has come; kept on disk so that another process can continue."""

    reader: str
    seed: int
    done: int = 0
    findings: int = 0
    seconds: float = 0.0


def run(name: str, inputs: int, seed: int, folder: Path) -> Progress:
    """Feed inputs to a reader until all are done, those of earlier runs included."""
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / f"{name}-{seed}.json"
    progress = Progress(**json.loads(state.read_text())) if state.exists() else Progress(name, seed)
    while progress.done < inputs:
        started = time.monotonic()
        stop = min(inputs, progress.done + BATCH)
        progress.done = _one_child(name, seed, progress.done, stop, folder)
        progress.seconds += time.monotonic() - started
        progress.findings = len(findings(name, seed, folder))
        state.write_text(json.dumps(asdict(progress)))
    return progress


def findings(name: str, seed: int, folder: Path) -> list[dict[str, object]]:
    """What went wrong so far."""
    path = _findings_path(name, seed, folder)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _findings_path(name: str, seed: int, folder: Path) -> Path:
    return folder / f"{name}-{seed}.findings.jsonl"


def _one_child(name: str, seed: int, start: int, stop: int, folder: Path) -> int:
    """Run one child to its end; returns the number of the first input that was not read."""
    counter = folder / f"{name}-{seed}.at"
    counter.write_bytes(start.to_bytes(8, "little"))
    command = [sys.executable, "-m", "fuzz", "--child", name, str(seed), str(start), str(stop)]
    child = subprocess.Popen([*command, str(folder)], env=_environment())
    try:
        code = _watched(child, counter)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
    if code == 0:
        return stop
    died_at = int.from_bytes(counter.read_bytes(), "little")
    what = "stopped moving" if code is None else f"died with {code}"
    _note(name, seed, folder, died_at, f"the process {what}", "")
    return died_at + 1


def _environment() -> dict[str, str]:
    """The child finds this package, and memory that is freed goes back at once."""
    tests = str(Path(__file__).parent.parent)
    paths = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    # Every thread may reserve an arena, which counts as memory although nothing is in it.
    memory = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
    return os.environ | {"PYTHONPATH": paths, **memory}


def _watched(child: subprocess.Popen[bytes], counter: Path) -> int | None:
    """The child's exit code; None if it stayed at one input for too long."""
    last, since = b"", time.monotonic()
    while True:
        try:
            return child.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            now = counter.read_bytes()
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > MOST_WAITING:
            return None


def child(name: str, seed: int, start: int, stop: int, folder: Path) -> None:
    """Read inputs from start to stop under limits, noting what goes wrong."""
    reader = (READERS | PLANTED)[name]()
    with _place() as place, (folder / f"{name}-{seed}.at").open("r+b") as file:
        counter = mmap.mmap(file.fileno(), 8)
        # The first reading imports and compiles; what it takes is no part of the limit.
        attempt(reader, sample_number(reader, name, seed, start), place, seconds=300)
        limit_memory(MOST_MEMORY)
        for number in range(start, stop):
            counter[:] = number.to_bytes(8, "little")
            files = sample_number(reader, name, seed, number)
            error = attempt(reader, files, place)
            if error is not None:
                _note(name, seed, folder, number, type(error).__name__, _where(error))


def attempt(
    reader: Reader, files: Files, place: Path, *, seconds: float = MOST_SECONDS
) -> BaseException | None:
    """Read one input; what it raised, unless that was one of our refusals."""
    from understudy.errors import UnderstudyError

    target = _laid_out(files, place, reader.name)
    with _overheard() as unraisable:
        try:
            with _timed(seconds):
                reader.read(target)
        except UnderstudyError as error:
            if error.exit_code not in (2, 3, 4):
                return error
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error
    return unraisable[0] if unraisable else None


@contextmanager
def _overheard() -> Iterator[list[BaseException]]:
    """Errors that Python would print and pass over; a traceback on the terminal is a finding."""
    heard: list[BaseException] = []
    usual = sys.unraisablehook
    sys.unraisablehook = lambda said: heard.append(said.exc_value or Exception(said.exc_type))
    try:
        yield heard
    finally:
        sys.unraisablehook = usual


@contextmanager
def _timed(seconds: float) -> Iterator[None]:
    """Raise Hang in what takes more than a number of seconds of processor time."""
    signal.signal(signal.SIGPROF, _hang)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _laid_out(files: Files, place: Path, name: str) -> Path:
    """The files in a folder that holds nothing of the input before."""
    target = place / name
    if target.is_dir():
        shutil.rmtree(target)
    if any("/" in path for path in files):
        target.mkdir()
    for path, data in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)
    return target


def limit_memory(more: int) -> None:
    """Let this process take a number of bytes more than it has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _hang(number: int, frame: FrameType | None) -> None:
    raise Hang


@contextmanager
def _place() -> Iterator[Path]:
    """A folder for inputs, in memory where the system has such a place."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        yield Path(folder)


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames[-6:]))


def _note(name: str, seed: int, folder: Path, number: int, what: str, where: str) -> None:
    line = json.dumps({"number": number, "what": what, "where": where})
    with _findings_path(name, seed, folder).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def replay(name: str, seed: int, number: int, keep: Path) -> BaseException | None:
    """Read one input again, its files kept in a folder."""
    reader = (READERS | PLANTED)[name]()
    keep.mkdir(parents=True, exist_ok=True)
    limit_memory(2 * MOST_MEMORY)
    return attempt(reader, sample_number(reader, name, seed, number), keep, seconds=300)
