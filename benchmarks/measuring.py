"""Seconds and bytes: of a function, of several in turns, of a process of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

Work = Callable[[], object]


def in_turns(
    works: Mapping[str, Work], *, rounds: int = 3, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """The least seconds of each piece of work, taken in turns so that all meet the same load.

    A first round is not counted: it compiles and fills caches. The clock counts CPU seconds of
    all threads unless another is given.
    """
    for work in works.values():
        work()
    least = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            started = clock()
            work()
            least[name] = min(least[name], clock() - started)
    return least


def cpu_seconds(work: Work, *, rounds: int = 1) -> float:
    """The least CPU seconds of some runs, after one that is not counted."""
    return in_turns({"it": work}, rounds=rounds)["it"]


def speed(ours: Work, theirs: Work, *, rounds: int = 3) -> float:
    """How many times faster ours is, in CPU seconds taken in turns."""
    least = in_turns({"ours": ours, "theirs": theirs}, rounds=rounds)
    return least["theirs"] / least["ours"]


@dataclass(frozen=True)
class Spent:
    """The time and memory that a process took, its children included."""

    cpu_seconds: float
    wall_seconds: float
    output: str


def run_child(command: Sequence[str], *, environment: Mapping[str, str] | None = None) -> Spent:
    """Run a command to its end; whatever it takes to start is counted as it comes."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as messages:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=messages, env=child_environment(environment)
        )
        _, status, used = os.wait4(process.pid, 0)
        taken = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        messages.seek(0)
        if process.returncode:
            end = messages.read()[-2000:]
            raise RuntimeError(f"{command[0]} ended with {process.returncode}: {end}")
        return Spent(used.ru_utime + used.ru_stime, taken, output.read())


def child_environment(more: Mapping[str, str] | None) -> dict[str, str]:
    """This process's own environment, in which the benchmarks and understudy are found."""
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    here = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return here | dict(more or {})


def understudy(*arguments: str, environment: Mapping[str, str] | None = None) -> Spent:
    """Run one of our commands in a process of its own."""
    command = [sys.executable, "-m", "understudy.cli.main", *arguments]
    return run_child(command, environment=environment)


def apart(prepare: Callable[..., Work], *arguments: str) -> dict[str, float]:
    """Wall seconds, CPU seconds and peak bytes of work that is prepared in a process of its own.

    Args:
        prepare: a function at the top of a module; it makes ready and returns the work itself,
            which alone is timed. The peak is that of the whole process.
        arguments: texts that it is called with.
    """
    place = f"{prepare.__module__}:{prepare.__qualname__}"
    ran = run_child([sys.executable, "-m", "benchmarks.apart", place, *arguments])
    found: dict[str, float] = json.loads(ran.output.splitlines()[-1])
    return found


def peak_bytes() -> int:
    """The most memory this process has held.

    Linux counts for the peak of `getrusage` what the parent held before the program was loaded,
    so the process's own mark is read where there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        [mark] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
        return int(mark.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
