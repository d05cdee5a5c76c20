"""Files that one process holds at a time, and that are still where they were.

A lock belongs to a file and not to its name. While a process waits for one, or just before it gets
it, the file may be moved away or removed, and another one may take its name: two processes would
then hold the same name. So a lock counts only if the name still leads to the file that is locked.

This is the only module that knows how a system locks files: `fcntl` on POSIX, `msvcrt` on Windows.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import ModuleType

from understudy.errors import UsageError

# A file that is replaced more often than this between two calls is not left alone by someone.
_ATTEMPTS = 100
# Windows locks bytes and forbids others to read them: one that no file of ours has.
_FAR_AWAY = 2**30
_PAUSE = 0.01


def lock(descriptor: int, *, wait: bool = True) -> None:
    """Hold an open file for this process alone, until it is closed or unlocked.

    Raises:
        BlockingIOError: where it is not waited for, while another process holds it.
        UsageError: the system has no locks of files.
    """
    fcntl = _posix()
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return
    while not _locked_byte(descriptor):
        if not wait:
            raise BlockingIOError("another process holds this file")
        time.sleep(_PAUSE)


def lock_kind() -> str:
    """The module that locks files on this system; none where nothing does."""
    if _posix() is not None:
        return "fcntl"
    return "none" if _windows() is None else "msvcrt"


def unlock(descriptor: int) -> None:
    """Let others hold a file that stays open."""
    fcntl = _posix()
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        return
    msvcrt = _byte_locks()
    place = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _FAR_AWAY, os.SEEK_SET)
    msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    os.lseek(descriptor, place, os.SEEK_SET)


def open_locked(path: Path, flags: int, mode: int = 0o600, *, wait: bool = False) -> int:
    """A descriptor of the file at a path, held by this process alone until it is closed.

    Raises:
        BlockingIOError: while another process holds it, or it is replaced again and again.
        OSError: where it cannot be opened.
    """
    for _ in range(_ATTEMPTS):
        descriptor = os.open(path, flags, mode)
        try:
            lock(descriptor, wait=wait)
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


def _locked_byte(descriptor: int) -> bool:
    """Whether this process has got the byte that stands for the file."""
    msvcrt = _byte_locks()
    place = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _FAR_AWAY, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except PermissionError:
        return False
    finally:
        os.lseek(descriptor, place, os.SEEK_SET)
    return True


def _byte_locks() -> ModuleType:
    found = _windows()
    if found is None:
        raise UsageError(
            "this system has no locks of files, so that two runs could spend the same budget; "
            "keep the ledger in a database: --ledger sqlite:///FILE or postgresql://HOST/NAME"
        )
    return found


def _posix() -> ModuleType | None:
    try:
        import fcntl
    except ImportError:
        return None
    return fcntl


def _windows() -> ModuleType | None:
    try:
        import msvcrt
    except ImportError:
        return None
    return msvcrt
