"""Packages that only some jobs need, imported when one of those jobs begins."""

from __future__ import annotations

import importlib
from types import ModuleType

from understudy.errors import UsageError


def require(package: str, *, extra: str) -> ModuleType:
    """An optional package; where it is not installed, the error names the extra that brings it.

    Example:
        >>> require("json", extra="cluster").__name__
        'json'
    """
    try:
        return importlib.import_module(package)
    except ImportError:
        raise UsageError(
            f"package {package!r} is not installed; this needs: pip install 'understudy[{extra}]'"
        ) from None
