"""What all tests share: examples without a clock, and never the user's own ledger."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Kernels compile on their first call, so that a time limit for each example means nothing. In CI
# the same examples come every time; elsewhere new ones are tried.
settings.register_profile("understudy", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "understudy")


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "default-ledger.jsonl"))
