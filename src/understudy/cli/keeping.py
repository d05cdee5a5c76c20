"""What has been paid for is kept, in another place if its own cannot be written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from understudy.errors import DiskError, UnderstudyError


def write_or_keep(data: bytes, output: Path, *, what: str) -> None:
    """A file whole at its place or, where that fails, among temporary ones."""
    from understudy.files import atomic

    try:
        with atomic(output) as file:
            file.write(data)
    except UnderstudyError as error:
        handle, name = tempfile.mkstemp(prefix="understudy-", suffix=output.suffix)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        raise DiskError(f"{error}\nthe {what} is kept: {name}") from None
