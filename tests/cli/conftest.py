"""Commands run in a folder of their own, with a ledger of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import Desk, desk_in


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "ledger.jsonl"))
    monkeypatch.setenv("COLUMNS", "200")
    return desk_in(tmp_path, capsys)
