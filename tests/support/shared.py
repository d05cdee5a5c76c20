"""Where the shared folder is: $UNDERSTUDY_SHARED, else beside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[2].parent / "shared"


def shared_file(*parts: str) -> Path:
    """A file of the shared folder; the test is skipped where there is none."""
    path = Path(os.environ.get("UNDERSTUDY_SHARED", _BESIDE)).joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(parts)} is not there; set UNDERSTUDY_SHARED to the shared folder")
    return path
