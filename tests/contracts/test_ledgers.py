"""The exam of ledgers: a file, an SQLite file and a PostgreSQL server keep the same promises."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

from support.ledgers import KINDS, killed_spenders, new_ledger, server_of
from support.tiers import full_but
from understudy.errors import BudgetExceeded, LedgerError
from understudy.facts.schema import Schema
from understudy.jobs.moving import export_ledger, import_ledger
from understudy.methods import Independent
from understudy.privacy.accounting.events import Charge, GaussianEvent, LaplaceEvent
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.limits import Spent
from understudy.privacy.spending.steps import Told

QUARTER = Charge("counts of age", LaplaceEvent(Fraction(4), Fraction(1)))
SCHEMA = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
ROWS = {"smoker": [True, False] * 50}


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty ledger of each kind."""
    needs_server = request.param == "postgres"
    server = request.getfixturevalue("postgres_server") if needs_server else ""
    return new_ledger(request.param, tmp_path, server)


def test_spending_adds_up_exactly_for_all_who_look(place: str) -> None:
    """Three runs of a third leave exactly nothing of one, also for a process that comes later."""
    ledger = Ledger(place)
    ledger.limit("a", epsilon=Fraction(1))
    for _ in range(3):
        with ledger.grant("a", Budget.pure("1/3")) as grant:
            grant.charge([Charge("q", LaplaceEvent(Fraction(3), Fraction(1)))])
    other = Ledger(place)
    assert Spent(Fraction(1)) == other.account("a").spent
    with pytest.raises(BudgetExceeded), other.grant("a", Budget.pure("1e-30")):
        pass


def test_a_grant_that_was_not_closed_counts_whole(place: str) -> None:
    """Its process died: all that was set aside is spent."""
    ledger = Ledger(place)
    grant = Grant(Budget.pure(1), log=ledger)
    ledger.open("a", grant)
    grant.charge([QUARTER])
    assert Spent(Fraction(1)) == Ledger(place).account("a").spent
    ledger.close(grant)
    assert Spent(Fraction(1, 4)) == Ledger(place).account("a").spent
    with pytest.raises(LedgerError, match=r"closed|finished"):
        grant.charge([QUARTER])


def test_a_run_with_a_delta_is_closed_at_its_whole_grant(place: str) -> None:
    """Gaussian noise is counted in ρ, and what it claims is what was granted."""
    ledger = Ledger(place)
    with ledger.grant("a", Budget.approximate(1, "1e-6")) as grant:
        grant.charge([Charge("q", GaussianEvent(Fraction(100), Fraction(1)))])
    account = Ledger(place).account("a")
    assert Spent(Fraction(1), Fraction(1, 10**6)) == account.spent
    assert Fraction(1, 200) == account.runs[0]["cost"].concentrated.rho


def test_racing_runs_cannot_overspend_together(place: str) -> None:
    """Of eight that ask at once for half of what is left, two get it."""
    Ledger(place).limit("a", epsilon=Fraction(1))

    def ask(_: int) -> bool:
        try:
            with Ledger(place).grant("a", Budget.pure("1/2")) as grant:
                grant.charge([Charge("q", LaplaceEvent(Fraction(2), Fraction(1)))])
                return True
        except BudgetExceeded:
            return False

    with ThreadPoolExecutor(8) as racing:
        assert 2 == sum(racing.map(ask, range(8)))


@pytest.mark.slow
@pytest.mark.parametrize("rounds", full_but({1}, [1, 50]))
@pytest.mark.parametrize("kind", KINDS)
def test_killed_and_racing_charges_are_never_under_reported(
    kind: str, rounds: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Whatever a process said it had charged is in the ledger when it is killed at any instant.

    Fifty rounds are ten thousand charges, each round in a ledger of its own.
    """
    server = request.getfixturevalue("postgres_server") if kind == "postgres" else ""
    for number in range(rounds):
        folder = tmp_path / str(number)
        folder.mkdir()
        place = new_ledger(kind, folder, server)
        said = killed_spenders(place, least=200, charges=40, seed=number)
        account = Ledger(place).account("a")
        assert sum(run["charges"] for run in account.runs) >= said >= 200
        assert account.spent.epsilon >= Fraction(said, 40)
        counted = sum(1 if run["open"] else Fraction(run["charges"], 40) for run in account.runs)
        assert counted == account.spent.epsilon


def test_a_run_is_held_by_one_process(place: str) -> None:
    """Whoever else wants it is refused until it is let go of."""
    one, other = Ledger(place), Ledger(place)
    one.hold("run")
    with pytest.raises(LedgerError, match="another process has this run"):
        other.hold("run")
    one.let_go("run")
    other.hold("run")
    other.let_go("run")


def test_a_step_is_reported_once(place: str) -> None:
    """A run that continues from a checkpoint does so from its highest step alone."""
    ledger = Ledger(place)
    grant = Grant(Budget.pure(1), log=ledger)
    ledger.open("a", grant)
    ledger.tell(grant, 3, "a" * 64)
    with pytest.raises(LedgerError, match="each step is reported once"):
        ledger.tell(grant, 3, "b" * 64)
    ledger.let_go(grant.identity)
    assert (grant.identity, True) == Ledger(place).told("a" * 64)
    with (
        pytest.raises(LedgerError, match="an older or another one"),
        Ledger(place).grant("a", Budget.pure(1), resume=Told(grant.identity, 2, "c" * 64)),
    ):
        pass


def test_a_statement_is_recognised_by_the_ledger_that_paid(place: str) -> None:
    """The commitment is to an entry of this very chain."""
    made = Independent(SCHEMA, epsilon=1).fit(ROWS, ledger=place, dataset="a")
    record = made.model_.statement.record
    assert record is not None
    secret = Ledger(place).secret()
    assert secret is not None
    heads = Ledger(place).heads().values()
    assert [record.commitment] == [secret.commitment(head) for head in heads]


def test_a_ledger_moves_to_a_file_and_back(place: str, tmp_path: Path) -> None:
    """Entries keep their checks, the secret goes along, and one place alone can be spent from."""
    ledger = Ledger(place)
    ledger.limit("a", epsilon=Fraction(2))
    Independent(SCHEMA, epsilon=1).fit(ROWS, ledger=ledger, dataset="a")
    heads, secret = ledger.heads(), ledger.secret()
    copy = tmp_path / "copy.jsonl"
    export_ledger(copy, place)
    assert ledger.account("a") == Ledger(copy).account("a")
    with pytest.raises(LedgerError, match="is a copy"), Ledger(copy).grant("a", Budget.pure(1)):
        pass
    moved = tmp_path / "moved.jsonl"
    assert 4 == export_ledger(moved, place, move=True).entries
    with pytest.raises(LedgerError, match="was moved"):
        ledger.limit("a", epsilon=Fraction(9))
    file = Ledger(moved)
    assert (heads, secret) == (file.heads(), file.secret())
    with file.grant("a", Budget.pure(1)) as grant:
        grant.charge([QUARTER])
    assert Fraction(5, 4) == file.account("a").spent.epsilon


def test_a_file_moves_into_any_ledger(place: str, tmp_path: Path) -> None:
    """Also one whose line was torn, and one that was moved while the process died."""
    file = Ledger(tmp_path / "old.jsonl")
    file.limit("a", epsilon=Fraction(2))
    with file.path.open("a") as opened:
        opened.write('{"entry": "gra')
    Independent(SCHEMA, epsilon=1).fit(ROWS, ledger=file, dataset="a")
    account, heads = file.account("a"), file.heads()
    import_ledger(file.path, place)
    assert (account, heads) == (Ledger(place).account("a"), Ledger(place).heads())
    with pytest.raises(LedgerError, match="holds entries already"):
        import_ledger(file.path, place)
    with pytest.raises(LedgerError, match="was moved"):
        file.limit("a", epsilon=Fraction(9))


def test_an_entry_that_was_changed_is_found(place: str) -> None:
    """By whoever reads next: nothing is granted on its word."""
    ledger = Ledger(place)
    with ledger.grant("a", Budget.pure(1)) as grant:
        grant.charge([QUARTER])
    _tamper(place)
    with pytest.raises(LedgerError, match="is damaged or out of place"):
        Ledger(place).accounts()
    with pytest.raises(LedgerError), Ledger(place).grant("a", Budget.pure(1)):
        pass


def _tamper(place: str) -> None:
    """Lower an amount, past all triggers."""
    change = """SET body = replace(body, '"epsilon_exact": "1"', '"epsilon_exact": "0"')"""
    if place.startswith("sqlite"):
        with sqlite3.connect(place.removeprefix("sqlite:///")) as file:
            file.execute("DROP TRIGGER understudy_ledger_no_update")
            file.execute(f"UPDATE understudy_ledger {change}")
    elif place.startswith("postgres"):
        with server_of(place) as connection:
            connection.execute("ALTER TABLE understudy_ledger.entries DISABLE TRIGGER ALL")
            connection.execute(f"UPDATE understudy_ledger.entries {change}".encode())
    else:
        path = Path(place)
        path.write_text(path.read_text().replace('"epsilon_exact": "1"', '"epsilon_exact": "0"'))
