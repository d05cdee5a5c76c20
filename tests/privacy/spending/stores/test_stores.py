"""Stores below a ledger: what each keeps, and how each refuses."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from understudy.cli.commands.ledger.init import init
from understudy.cli.commands.ledger.moving import export, import_file
from understudy.errors import LedgerError
from understudy.privacy.spending.ledger import Ledger, default_place
from understudy.privacy.spending.lines import holds_entries
from understudy.privacy.spending.stores.chain import Chain, ChainLink
from understudy.privacy.spending.stores.file import FileStore
from understudy.privacy.spending.stores.places import store_at
from understudy.privacy.spending.stores.postgres_tables import statements
from understudy.privacy.spending.stores.scratch import ScratchStore
from understudy.privacy.spending.stores.sqlite import SqliteStore
from understudy.privacy.spending.stores.store import LedgerStore


def test_a_place_says_its_store(tmp_path: Path) -> None:
    """A path is a file, and an address what it begins with."""
    file, lite = store_at(tmp_path / "l"), store_at(f"sqlite:///{tmp_path}/l.db")
    assert isinstance(file, FileStore)
    assert isinstance(lite, SqliteStore)
    assert (str(tmp_path / "l"), f"sqlite:///{tmp_path}/l.db") == (file.shown, lite.shown)


def test_the_default_may_be_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """$UNDERSTUDY_LEDGER names a server as well as a file."""
    monkeypatch.setenv("UNDERSTUDY_LEDGER", "postgresql://host/privacy")
    assert "postgresql://host/privacy" == default_place()


@pytest.mark.parametrize("change", ["UPDATE {} SET body = ''", "DELETE FROM {}"])
def test_rows_of_sqlite_stay(tmp_path: Path, change: str) -> None:
    """A slip of the hand is refused."""
    Ledger(f"sqlite:///{tmp_path}/l.db").limit("a", epsilon=Fraction(1))
    with sqlite3.connect(tmp_path / "l.db") as file, pytest.raises(sqlite3.Error, match="appended"):
        file.execute(change.format("understudy_ledger"))


def test_sqlite_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    """A folder, a file of something else, and one that was replaced while it was known."""
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger(f"sqlite:///{tmp_path}").limit("a", epsilon=Fraction(1))
    (tmp_path / "x.db").write_text("not a database, but a text that is long enough" * 99)
    with pytest.raises(LedgerError, match="is not an SQLite file"):
        Ledger(f"sqlite:///{tmp_path}/x.db").accounts()
    ledger = Ledger(f"sqlite:///{tmp_path}/l.db")
    ledger.limit("a", epsilon=Fraction(1))
    ledger.accounts()
    ledger.path.unlink()
    with pytest.raises(LedgerError, match="lacks entries that were in it before"):
        ledger.limit("a", epsilon=Fraction(1))


@pytest.mark.parametrize("place", ["sqlite:////proc/l.db", "/proc/l.jsonl"])
def test_a_place_that_may_not_be_written_is_refused(place: str) -> None:
    """With the way out; nothing is granted."""
    with pytest.raises(LedgerError, match="choose another"):
        Ledger(place).limit("a", epsilon=Fraction(1))


def test_two_chains_do_not_become_one(tmp_path: Path) -> None:
    """An import into a ledger with entries is refused by each store."""
    for place in (str(tmp_path / "l.jsonl"), f"sqlite:///{tmp_path}/l.db"):
        ledger = Ledger(place)
        ledger.limit("a", epsilon=Fraction(1))
        with (
            pytest.raises(LedgerError) as refused,
            ledger.store.locked() as book,
        ):
            book.copy(book.chain)
        assert str(holds_entries(ledger.place)) == str(refused.value)


def test_a_chain_finds_what_is_out_of_place() -> None:
    """A link that is missing, changed or moved."""
    links = Chain().links([{"entry": "limit"}, {"entry": "close"}], time="now")
    assert 2 == len(Chain().extended(links, place="x").entries)
    changed = ChainLink(1, links[0].body.replace("limit", "grant"), links[0].check)
    for wrong in ([links[1]], [links[1], links[0]], [changed, links[1]]):
        with pytest.raises(LedgerError, match="entry 1 is damaged or out of place"):
            Chain().extended(wrong, place="x")


def test_scratch_is_a_store() -> None:
    """It keeps entries in memory, and holds nothing against others."""
    store: LedgerStore = ScratchStore()
    with store.locked() as book:
        book.write([{"entry": "limit"}])
    with store.locked() as book:
        assert ["limit"] == [entry["entry"] for entry in book.chain.entries]
    assert store.hold("x")


def test_names_of_roles_are_quoted() -> None:
    """No name of a role becomes SQL."""
    made = statements(stewards=['x"; DROP TABLE y; --'])
    assert 'TO "x""; DROP TABLE y; --";' in made
    assert "may_set_limits" not in statements(analysts=["a"]).split("GRANT USAGE")[1]


def test_commands_say_what_they_do() -> None:
    """The first line of each help text is a sentence."""
    for command in (init, import_file, export):
        assert (command.__doc__ or "").split("\n")[0].endswith(".")


@pytest.mark.parametrize("body", [None, 5, 2.5, b"\xff", "5", "[]"])
def test_a_table_without_texts_is_damage(tmp_path: Path, body: object) -> None:
    """A row of a damaged SQLite file may hold anything; it is refused in our words."""
    with closing(sqlite3.connect(tmp_path / "l.db")) as file, file:
        file.execute('CREATE TABLE understudy_ledger (number, body, "check")')
        file.execute("INSERT INTO understudy_ledger VALUES (1, ?, '')", [body])
    with pytest.raises(LedgerError, match="entry 1 is damaged or out of place"):
        Ledger(f"sqlite:///{tmp_path}/l.db").accounts()
