"""What has been paid for is kept, in another place if its own cannot be written."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from understudy.cli.console import messages
from understudy.errors import DiskError, UnderstudyError


class Savable(Protocol):
    """A model, of rows or of images."""

    def save(self, path: str) -> None:
        """Write it down."""


def write_json(path: Path, document: dict[str, Any]) -> None:
    """A JSON file, whole or not at all."""
    from understudy.files import atomic

    with atomic(path) as file:
        file.write(json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n")


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


@contextmanager
def rescued(model: Savable) -> Iterator[None]:
    """Keep a model that has been paid for when its rows could not be written."""
    try:
        yield
    except (UnderstudyError, KeyboardInterrupt) as error:
        kept = _keep(model)
        if kept is None:
            raise
        note = f"the fitted model is kept: understudy sample {kept} -o OUTPUT"
        if isinstance(error, KeyboardInterrupt):
            messages().print(note)
            raise
        raise DiskError(f"{error}\n{note}") from None


def _keep(model: Savable) -> Path | None:
    handle, name = tempfile.mkstemp(prefix="understudy-", suffix=".zip")
    os.close(handle)
    try:
        model.save(name)
    except (UnderstudyError, OSError):
        Path(name).unlink(missing_ok=True)
        return None
    return Path(name)
