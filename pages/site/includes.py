"""Pieces of source that pages include, and that are laid out beside them."""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath

_INCLUDE = re.compile(r"^```\{literalinclude\} (\S+)$", re.MULTILINE)
FOLDER = "_code"


def included(text: str, *, page: str) -> set[str]:
    """Return the paths in the repository of the files that a page includes."""
    return {_path(page, found) for found in _INCLUDE.findall(text)}


def moved_includes(text: str, *, page: str) -> str:
    """Name included files by their place in the layout of the site."""
    return _INCLUDE.sub(lambda m: f"```{{literalinclude}} /{FOLDER}/{_path(page, m[1])}", text)


def _path(page: str, target: str) -> str:
    return os.path.normpath(str(PurePosixPath(page).parent / target))
