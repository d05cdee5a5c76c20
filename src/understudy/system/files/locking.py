"""Files that one process holds at a time, and that are still where they were.

A lock belongs to a file and not to its name. While a process waits for one, or just before it gets
it, the file may be moved away or removed, and another one may take its name: two processes would
then hold the same name. So a lock counts only if the name still leads to the file that is locked.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

# A file that is replaced more often than this between two calls is not left alone by somebody.
_ATTEMPTS = 100


def open_locked(path: Path, flags: int, mode: int = 0o600) -> int:
    """A descriptor of the file at a path, held by this process alone until it is closed.

    Raises:
        BlockingIOError: while another process holds it, or it is replaced again and again.
        OSError: where it cannot be opened.
    """
    for _ in range(_ATTEMPTS):
        descriptor = os.open(path, flags, mode)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_at(path, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise BlockingIOError(f"{path} is replaced again and again")


def is_at(path: Path, descriptor: int) -> bool:
    """Whether a path still leads to the file that is open."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
