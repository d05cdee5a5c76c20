"""Reading, writing and flushing open files, where systems differ in the calls they have."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

# Opened without it, Windows would change line breaks.
BINARY = getattr(os, "O_BINARY", 0)
_BLOCK = 2**20


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Read at most `size` bytes from a place in a file."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)


def write_at(descriptor: int, data: bytes, offset: int) -> int:
    """Write bytes at a place in a file; returns how many."""
    if hasattr(os, "pwrite"):
        return os.pwrite(descriptor, data, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.write(descriptor, data)


def make_room(descriptor: int, size: int) -> None:
    """Have the disk set bytes aside for a file now, or fail now."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    end = os.fstat(descriptor).st_size
    while end < size:
        end += write_at(descriptor, bytes(min(_BLOCK, size - end)), end)


def flush(descriptor: int) -> None:
    """Wait until the disk has what was written.

    On macOS `fsync` leaves bytes in the disk's own memory, and another call does not.
    """
    if sys.platform == "darwin":
        fcntl = import_module("fcntl")
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        return
    os.fsync(descriptor)


def flush_folder(folder: Path) -> None:
    """Make a newly created name survive a power cut; Windows has no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        flush(descriptor)
    finally:
        os.close(descriptor)
