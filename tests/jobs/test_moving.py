"""Ledgers that are moved: one place alone can be spent from, however it is named."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from understudy.errors import LedgerError, UsageError
from understudy.jobs.moving import export_ledger, import_ledger
from understudy.privacy.spending.ledger import MOVED, Ledger, default_place, moved_to
from understudy.privacy.spending.stores.places import lasting_place, store_at


def _limited(path: Path) -> Ledger:
    ledger = Ledger(path)
    ledger.limit("patients", epsilon=Fraction(1))
    return ledger


def test_one_name_in_two_folders_is_two_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative address names another ledger in another folder: the second import is refused."""
    file = _limited(tmp_path / "l.jsonl").path
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "a")
    import_ledger(file, "sqlite:///l.sqlite")
    monkeypatch.chdir(tmp_path / "b")
    with pytest.raises(LedgerError, match="was moved before"):
        import_ledger(file, "sqlite:///l.sqlite")
    assert not (tmp_path / "b" / "l.sqlite").exists() or not Ledger("sqlite:///l.sqlite").accounts()


def test_a_copy_is_imported_nowhere_but_where_it_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the ledger's lasting place, which a folder does not change."""
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    Ledger("sqlite:///l.sqlite").limit("patients", epsilon=Fraction(1))
    export_ledger(tmp_path / "copy.jsonl", "sqlite:///l.sqlite")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerError, match="is a copy of"):
        import_ledger(tmp_path / "copy.jsonl", "sqlite:///l.sqlite")


def test_servers_are_told_apart_wherever_their_parts_stand() -> None:
    """Host, port and database may be in the address or behind it; passwords are left out."""
    places = {
        lasting_place(store_at(address))
        for address in (
            "postgresql://u:pw@127.0.0.1:5432/one",
            "postgresql:///?host=127.0.0.1&port=5432&user=u&dbname=one",
            "postgresql:///?host=127.0.0.1&port=5432&user=u&dbname=two",
        )
    }
    assert {"postgresql://127.0.0.1:5432/one", "postgresql://127.0.0.1:5432/two"} == places


def test_what_was_written_after_a_move_does_not_undo_it(tmp_path: Path) -> None:
    """An older version knows no such entry and keeps writing; the ledger stays moved."""
    ledger = _limited(tmp_path / "l.jsonl")
    with ledger.store.locked() as book:
        book.write([{"entry": MOVED, "to": "elsewhere"}])
    with ledger.store.locked() as book:
        book.write([{"entry": "limit", "dataset": "x", "epsilon": 1.0, "epsilon_exact": "1"}])
    with ledger.store.locked() as book:
        assert "elsewhere" == moved_to(book.chain)


@pytest.mark.parametrize("address", ["mysql://u:topsecret@h/db", "POSTGRESQL://u:topsecret@h/db"])
def test_an_unknown_address_in_the_environment_makes_no_file(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused as one of --ledger is, and its password is not repeated."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNDERSTUDY_LEDGER", address)
    with pytest.raises(UsageError, match="postgresql://USER@HOST/DATABASE") as caught:
        Ledger(default_place())
    assert "topsecret" not in str(caught.value)
    assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "address", ["postgresql://u:top/secret@host/db", "postgresql://u@host/db;password=topsecret"]
)
def test_a_password_in_the_wrong_place_is_not_repeated(address: str) -> None:
    """Behind a slash it would count as the name of the database, which is shown."""
    with pytest.raises(UsageError, match="--ledger") as caught:
        store_at(address)
    assert "secret" not in str(caught.value)
