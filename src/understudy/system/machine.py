"""The machine below: its cores and its memory, as each system counts them."""

from __future__ import annotations

import os


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def whole_memory() -> int:
    """The memory of the machine in bytes."""
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return _windows_memory()[0]


def free_memory() -> int:
    """The memory that can be taken now without swapping; all of it where that is not known."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return whole_memory() if hasattr(os, "sysconf") else _windows_memory()[1]


def _windows_memory() -> tuple[int, int]:
    """All memory and the part that is free, as Windows says by GlobalMemoryStatusEx."""
    import ctypes

    status = (ctypes.c_ulonglong * 8)()
    # Its first 32 bits are the length of the record, the next 32 a load in percent.
    status[0] = ctypes.sizeof(status)
    ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined]
    return int(status[1]), int(status[2])
