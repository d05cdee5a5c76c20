"""Packages and servers that tests need: skipped where they are missing, a failure where CI runs.

`requirements/` and `.ci/run` promise them there, so that a test cannot be left out unseen.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, NoReturn

import pytest


def missing(thing: str) -> NoReturn:
    """Skip a test, or a file of tests, for want of something; fail it where CI runs."""
    if os.environ.get("CI"):
        pytest.fail(f"{thing} is not installed, and CI runs every test")
    pytest.skip(f"{thing} is not installed", allow_module_level=True)


def need(module: str) -> Any:
    """Return a module that the locks promise; a test without it is skipped, or fails in CI."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        missing(module)
