"""Addresses of SQLite files mean the same for rows and for ledgers."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.system.files.sqlite_address import slash_hint, sqlite_path


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("sqlite://x.db", "x.db"),
        ("sqlite:///x.db", "x.db"),
        ("sqlite:///data/x.db", "data/x.db"),
        ("sqlite:////data/x.db", "/data/x.db"),
        ("sqlite://", "."),
    ],
)
def test_a_fourth_slash_makes_an_address_absolute(address: str, path: str) -> None:
    """Two and three slashes are followed by a path of the current folder."""
    assert Path(path) == sqlite_path(address)


def test_a_slash_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where the folder is not here, and is there at the root."""
    monkeypatch.chdir(tmp_path)
    lost = tmp_path.relative_to("/") / "x.db"
    assert f"the absolute path is sqlite:///{tmp_path}/x.db" in slash_hint(lost)
    for fine in (Path("x.db"), tmp_path / "x.db", Path("no", "such", "x.db")):
        assert "" == slash_hint(fine)
