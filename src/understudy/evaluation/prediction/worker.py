"""Learners, fitted and asked in a process of their own, which can be ended.

`python -m understudy.evaluation.prediction.worker` reads jobs from its standard input and writes
what was predicted to its standard output: a line of JSON that states types and shapes of some
arrays, then their numbers. Nothing touches the disk, and nothing that is read can be executed.
The process is kept for the next job, because importing the learners takes longer than most jobs.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from understudy.evaluation.prediction.learners import LEARNERS
from understudy.system.arrays import Array

COMMAND = (sys.executable, "-m", "understudy.evaluation.prediction.worker")


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Job:
    """The rows that a learner learns from, and the rows it is asked about.

    Attributes:
        targets: classes numbered from 0 without gaps, or numbers.

    Privacy: rows of either table; they go to a child process and nowhere else.
    """

    learner: str
    task: str
    seed: int
    train: Array
    targets: Array
    test: Array


@dataclass(frozen=True, repr=False, eq=False)
class LearnerOutput:
    """The predictions of a learner; where there are none, `reason` says why.

    Attributes:
        strength: for each row and class how strongly it is held to be of it.
        seconds: of learning and predicting.
    """

    predicted: Array | None = None
    strength: Array | None = None
    seconds: float | None = None
    reason: str | None = None


def run(job: Job, *, seconds: float | None) -> LearnerOutput:
    """Do a job in a child process, which is ended after `seconds`, its start included.

    None does it in this process, without a limit: quicker for many small jobs.
    """
    if seconds is None:
        return _run_here(job)
    sent = _packed({"learner": job.learner, "task": job.task, "seed": job.seed}, _arrays(job))
    return _kept_process(COMMAND, os.getpid()).ask(sent, seconds)


class LearnerProcess:
    """A child process that does jobs one after another; one that was ended is replaced."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._child: subprocess.Popen[bytes] | None = None
        self._busy = threading.Lock()

    def ask(self, sent: bytes, seconds: float) -> LearnerOutput:
        """Send a packed job and read its answer; after `seconds` the child is ended."""
        with self._busy:
            child = self._child = self._child or self._started()
            assert child.stdin is not None
            assert child.stdout is not None
            late = threading.Event()
            clock = threading.Timer(seconds, _end, (child, late))
            clock.start()
            try:
                child.stdin.write(sent)
                child.stdin.flush()
                return _answer(child.stdout)
            except (BrokenPipeError, EOFError):
                return LearnerOutput(reason=self._reason(child, late.is_set(), seconds))
            finally:
                clock.cancel()
                if late.is_set() or child.poll() is not None:
                    _close(child)
                    self._child = None

    def _started(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )
        # Also at the end of this process.
        weakref.finalize(self, _close, child)
        return child

    @staticmethod
    def _reason(child: subprocess.Popen[bytes], late: bool, seconds: float) -> str:
        code = child.wait()
        if late:
            return f"ended after {seconds:g} seconds, the time allowed for a model"
        killed = ", perhaps for want of memory" if code < 0 else ""
        return f"its process ended with {code}{killed}"


@lru_cache(maxsize=1)
def _kept_process(command: tuple[str, ...], parent: int) -> LearnerProcess:
    """Keep one process for a command and for the process that asks: a fork starts its own."""
    del parent
    return LearnerProcess(command)


def _end(child: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    child.kill()


def _close(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()


def _run_here(job: Job) -> LearnerOutput:
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Threads of a small job wait for each other by spinning: on a busy machine of two
            # processors XGBoost then takes tens of times the processor time of one thread.
            predicted, strength = _learned(job, n_jobs=1)
    except Exception as error:
        return LearnerOutput(reason=_failed(error))
    return LearnerOutput(predicted, strength, time.perf_counter() - started)


def _failed(error: Exception) -> str:
    # Its words may quote a number of the rows.
    return f"the learner failed with {type(error).__name__}"


def _arrays(job: Job) -> list[Array]:
    return [job.train, job.targets, job.test]


def _environment() -> dict[str, str]:
    """This process's own, in which the child finds this package."""
    paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
    # Threads that wait for each other by spinning would keep a busy machine from ever going on.
    patient = {"OMP_WAIT_POLICY": "PASSIVE"}
    return {**patient, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _answer(stream: IO[bytes]) -> LearnerOutput:
    head, arrays = _unpacked(stream)
    if head["reason"] is not None:
        return LearnerOutput(reason=head["reason"])
    predicted, strength = arrays
    return LearnerOutput(predicted, strength, head["seconds"])


def _packed(head: dict[str, Any], arrays: Sequence[Array]) -> bytes:
    shapes = [[array.dtype.str, list(array.shape)] for array in arrays]
    line = json.dumps({"head": head, "arrays": shapes}).encode()
    return b"\n".join([line, b"".join(array.tobytes() for array in arrays)])


def _unpacked(stream: IO[bytes]) -> tuple[dict[str, Any], list[Array]]:
    """Read what was packed; an EOFError where the other side ended before all of it."""
    text = stream.readline()
    if not text.endswith(b"\n"):
        raise EOFError
    line = json.loads(text)
    arrays: list[Array] = []
    for kind, shape in line["arrays"]:
        size = np.dtype(kind).itemsize * math.prod(shape)
        numbers = stream.read(size)
        if len(numbers) < size:
            raise EOFError
        arrays.append(np.frombuffer(numbers, kind).reshape(shape))
    return line["head"], arrays


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Do the jobs that are read, until there are no more; a learner that fails is a reason."""
    with suppress(EOFError):
        while True:
            sink.write(_done(*_unpacked(source)))
            sink.flush()


def _done(head: dict[str, Any], arrays: Sequence[Array]) -> bytes:
    train, targets, test = arrays
    started = time.perf_counter()
    try:
        predicted, strength = _learned(Job(**head, train=train, targets=targets, test=test))
    except Exception as error:
        return _packed({"reason": _failed(error)}, [])
    taken = time.perf_counter() - started
    return _packed({"reason": None, "seconds": taken}, [predicted, strength])


def _learned(job: Job, **parameters: int) -> tuple[Array, Array]:
    """Learn and predict, with further parameters of the learner where it has them."""
    recipe = LEARNERS[job.learner].recipe(job.task)
    assert recipe is not None
    learner = recipe.make(job.seed)
    learner.set_params(**{n: v for n, v in parameters.items() if n in learner.get_params()})
    learner.fit(job.train, job.targets)
    if job.task == "regression":
        return np.asarray(learner.predict(job.test), np.float64), np.empty((0, 0))
    return np.asarray(learner.predict(job.test), np.int64), _strength(learner, job.test)


def _strength(learner: Any, test: Array) -> Array:
    """A column for each class: chances, or distances from the border."""
    if hasattr(learner, "predict_proba"):
        return np.asarray(learner.predict_proba(test), np.float64)
    distance = np.asarray(learner.decision_function(test), np.float64)
    return np.column_stack([-distance, distance]) if distance.ndim == 1 else distance


if __name__ == "__main__":
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    serve(sys.stdin.buffer, answers)
