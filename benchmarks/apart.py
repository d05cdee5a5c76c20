"""The other end of `measuring.apart`: prepare some work, do it, print what it took.

Run: python -m benchmarks.apart MODULE:FUNCTION [ARGUMENT ...]
"""

from __future__ import annotations

import importlib
import json
import sys
import time

from benchmarks.measuring import peak_bytes


def main() -> None:
    """Do the named work and print wall seconds, CPU seconds and peak bytes."""
    place, *arguments = sys.argv[1:]
    module, _, function = place.partition(":")
    work = getattr(importlib.import_module(module), function)(*arguments)
    started, started_cpu = time.perf_counter(), time.process_time()
    work()
    taken, taken_cpu = time.perf_counter() - started, time.process_time() - started_cpu
    print(json.dumps({"seconds": taken, "cpu_seconds": taken_cpu, "peak": peak_bytes()}))


if __name__ == "__main__":
    main()
