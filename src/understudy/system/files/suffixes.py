"""The names of the file formats that rows are read from and written to."""

from __future__ import annotations

from pathlib import Path

from understudy.errors import UsageError

CSV, PARQUET = ".csv", ".parquet"
SUFFIXES = (CSV, PARQUET)


def check_suffix(path: Path) -> Path:
    """The path, when its suffix names a format we speak."""
    if path.suffix not in SUFFIXES:
        raise UsageError(f"{path}: the name must end in {' or '.join(SUFFIXES)}")
    return path
