"""Kernels run whatever becomes of their cache."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from understudy.system import jit

_LATE = """
import sys
from understudy.system.jit import kernel_after

def vectors(number):
    return "vectors"

@kernel_after(vectors)
def loop(number):
    return "loop"

print(loop(1), "numba" in sys.modules)
import numba
print(loop(1))
"""

_CODE = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, MOST))
import numpy as np
from understudy.facts.domain import Domain
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.system.jit import MANY

codes = np.full(MANY + 1, 2, np.uint8)
codes[0] = 0
table = Table(Domain({"a": 3}), {"a": codes}, len(codes))
one, none, others = MemorySource(table).count([("a",)])[0].counts.tolist()
print(one, none, others == MANY)
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["0", "10**9"], ids=["full disk", "room enough"])
def test_a_full_disk_does_not_stop_a_kernel(tmp_path: Path, limit: str) -> None:
    """Compiled code that cannot be cached is compiled for this run alone."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", _CODE.replace("MOST", limit)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert "1 0 True\n" == ran.stdout, ran.stderr
    assert (limit == "0") == (not list(tmp_path.rglob("*.nbc")))


def test_vectors_are_done_until_a_compiler_has_started() -> None:
    """A short command does not wait for a compiler; where one runs, its loops are used."""
    ran = subprocess.run([sys.executable, "-c", _LATE], capture_output=True, text=True, check=False)
    assert "vectors False\nloop\n" == ran.stdout, ran.stderr


def test_vectors_are_left_when_they_took_as_long_as_a_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Many short loops together cost more than the start of a compiler."""
    clock = iter([0.0, 0.2, 1.0, 1.2])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(jit, "kernel", lambda function: function)
    monkeypatch.setattr(jit, "has_started", lambda: False)
    done = jit.kernel_after(lambda: "vectors")(lambda: "loop")
    assert ["vectors", "vectors", "loop", "loop"] == [done() for _ in range(4)]
