"""Describe the machine of a measurement: processor, memory and versions, never its name."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

from understudy import __version__

_CALCULATING = ("numpy", "numba", "pyarrow", "opendp", "duckdb")


def machine() -> dict[str, str | int | float]:
    """Processor, cores that may be used, and memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"processor": _processor(), "cores": cores or 1, "memory_gib": round(memory, 1)}


def versions() -> dict[str, str]:
    """Python, understudy, and the packages that calculate, as far as they are installed."""
    found = {"python": platform.python_version(), "understudy": __version__}
    for package in _CALCULATING:
        if (version := _installed(package)) is not None:
            found[package] = version
    return found


def _installed(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
