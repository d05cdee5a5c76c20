"""Run a fit in a process of its own, under limits of CPU seconds and memory."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from benchmarks.measuring import child_environment

FINISHED = "finished"
DID_NOT_FINISH = "did not finish"
FAILED = "failed"
# Numerical libraries of all tools use one thread: waiting threads would count as CPU seconds.
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR")
}
_SECONDS_BETWEEN_LOOKS = 0.05


@dataclass(frozen=True)
class Limits:
    """The most that a fit may take."""

    cpu_seconds: int = 15 * 60
    memory_bytes: int = 8 << 30


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it took.

    Attributes:
        status: finished, did not finish within the limits, or failed by itself.
        why: the limit that was reached, or the last line of its messages, without places of files.
    """

    status: str
    why: str
    cpu_seconds: float
    peak_bytes: int


def run_limited(
    command: Sequence[str], limits: Limits, *, environment: Mapping[str, str] | None = None
) -> Ended:
    """Run a command to its end, or to the first limit that it reaches."""
    with tempfile.TemporaryFile("w+") as messages:
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=messages,
            env=child_environment({**ONE_THREAD, **(environment or {})}),
            preexec_fn=partial(_limit, limits.cpu_seconds),
        )
        try:
            peak, (status, used) = _watched(process, limits.memory_bytes)
        except BaseException:
            # An arena that is stopped leaves no fit behind.
            process.kill()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        taken = used.ru_utime + used.ru_stime
        state, why = verdict(process.returncode, taken, peak, limits, messages)
    return Ended(state, why, taken, peak or used.ru_maxrss * 1024)


def _limit(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def _watched(
    process: subprocess.Popen[bytes], most: int
) -> tuple[int, tuple[int, resource.struct_rusage]]:
    """Wait for a process, look at its memory often, and kill it where it takes too much.

    `getrusage` would count what this process held before the other program was loaded.
    """
    peak = 0
    while True:
        peak = max(peak, _peak(process.pid))
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            return peak, (status, used)
        if peak > most:
            process.kill()
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _peak(process: int) -> int:
    """The most memory that a process has held so far; 0 where that cannot be read."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    marks = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(marks[0].split()[1]) * 1024 if marks else 0


def verdict(
    code: int, taken: float, peak: int, limits: Limits, messages: IO[str]
) -> tuple[str, str]:
    """The status of a process that ended with this code, and why it did not finish."""
    if peak > limits.memory_bytes:
        return DID_NOT_FINISH, f"more than {limits.memory_bytes / 2**30:.0f} GiB of memory"
    # The clock of the limit counts ticks and can be a few percent ahead of the seconds reported.
    if code == -signal.SIGXCPU or (code == -signal.SIGKILL and taken > 0.9 * limits.cpu_seconds):
        return DID_NOT_FINISH, f"more than {limits.cpu_seconds:,} CPU seconds"
    if code:
        messages.seek(0)
        lines = [line for line in messages.read().splitlines() if line.strip()]
        return FAILED, without_places(lines[-1] if lines else f"exit code {code}")
    return FINISHED, ""


def without_places(line: str) -> str:
    """A message without the places of files, which are nobody's business, and not too long."""
    return re.sub(r"(/[\w.\-+]+){2,}", "...", line.strip())[:160]
