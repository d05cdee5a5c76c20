"""Files that are written whole or not at all.

Output is written beside its place, flushed to disk, and moved there.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from understudy.errors import DiskError, OutputError
from understudy.system.files.descriptors import flush

_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def atomic(path: Path) -> Iterator[BinaryIO]:
    """A file that appears at `path` complete and flushed, or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with writing(path):
            with beside.open("xb") as file:
                yield file
                file.flush()
                flush(file.fileno())
            beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Writing failures in our words, those of a full disk apart."""
    try:
        yield
    except OSError as error:
        if error.errno in _DISK_FULL:
            raise DiskError(f"{path}: the disk took no more bytes; free some space") from None
        reason = error.strerror or "the place cannot be written"
        raise OutputError(f"{path}: cannot be written: {reason}; choose another place") from None


def check_writable(path: str | os.PathLike[str]) -> Path:
    """The path, after making sure that a file can be created there; asked before spending."""
    path = Path(path)
    probe = path.with_name(f".{path.name}.{os.getpid()}.probe")
    with writing(path):
        if path.is_dir():
            raise OutputError(f"{path}: is a folder; name a file in it")
        probe.touch(exist_ok=False)
        probe.unlink()
    return path


def check_apart(output: Path, *inputs: str | Path) -> None:
    """Refuse an output that would take the place of an input, or join the files of one."""
    for path in inputs:
        if os.path.exists(output) and os.path.exists(path) and os.path.samefile(output, path):
            raise OutputError(f"{output}: is one of the inputs; choose another place")
        if os.path.isdir(path) and output.resolve().is_relative_to(Path(path).resolve()):
            raise OutputError(f"{output}: is inside the input {path}; choose another place")
