"""A ledger on a PostgreSQL server: roles, rows that stay, and connections that are lost."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from support.ledgers import new_database, new_ledger, server_of
from support.servers import crashing_postgres, free_port
from understudy.cli.main import run
from understudy.errors import BudgetExceeded, LedgerError, UsageError
from understudy.jobs.moving import import_ledger
from understudy.privacy.accounting.costs import concentrated, pure_epsilon
from understudy.privacy.accounting.events import (
    ApproximateEvent,
    Charge,
    Event,
    ExponentialEvent,
    FineGaussianEvent,
    GaussianEvent,
    GaussianKeyReleaseEvent,
    KeyReleaseEvent,
    LaplaceEvent,
    PermuteAndFlipEvent,
    SampledGaussianEvent,
    SmoothedHistogramEvent,
)
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.limits import Spent
from understudy.privacy.spending.stores.chain import ChainLink
from understudy.privacy.spending.stores.places import store_at
from understudy.privacy.spending.stores.postgres import PostgresStore
from understudy.privacy.statements.binding import Secret

F = Fraction
QUARTER = Charge("counts of age", LaplaceEvent(Fraction(4), Fraction(1)))


@pytest.fixture
def place(postgres_server: str, tmp_path: Any) -> str:
    """An empty ledger of its own, as its owner reaches it."""
    return new_ledger("postgres", tmp_path, postgres_server)


@pytest.fixture(scope="module")
def empty(postgres_server: str) -> str:
    """An empty ledger in which nothing is written."""
    place = new_database(postgres_server)
    PostgresStore(place).init()
    return place


@pytest.fixture(scope="module")
def opened(postgres_server: str) -> tuple[str, str]:
    """A ledger with an open run of epsilon 1 on dataset a, to which nothing is added."""
    place = new_database(postgres_server)
    PostgresStore(place).init()
    grant = Grant(Budget.pure(1), log=Ledger(place))
    Ledger(place).open("a", grant)
    return place, grant.identity


@pytest.fixture(scope="session")
def roles(postgres_server: str) -> tuple[str, str, str]:
    """A steward, an analyst and a stranger, each with the name of this process."""
    names = tuple(f"{who} {os.getpid()}" for who in ("steward", "analyst", "stranger"))
    with server_of(postgres_server) as connection:
        for name in names:
            connection.execute(f'CREATE ROLE "{name}" LOGIN'.encode())
    steward, analyst, stranger = names
    return steward, analyst, stranger


def _as(place: str, role: str) -> str:
    """The same address for another role."""
    parts = urlsplit(place)
    return parts._replace(
        netloc=f"{role.replace(' ', '%20')}@{parts.netloc.split('@')[1]}"
    ).geturl()


def test_stewards_set_limits_and_analysts_spend(place: str, roles: tuple[str, str, str]) -> None:
    """Each role can do its part and no other; a role without a grant can do nothing."""
    steward, analyst, stranger = (_as(place, role) for role in roles)
    assert 0 == run(
        ["ledger", "init", "--ledger", place, "--steward", roles[0], "--analyst", roles[1]]
    )
    Ledger(steward).limit("a", epsilon=Fraction(1))
    with pytest.raises(LedgerError, match="may not set limits; ask a steward"):
        Ledger(analyst).limit("a", epsilon=Fraction(99))
    with Ledger(analyst).grant("a", Budget.pure(1)) as grant:
        grant.charge([QUARTER] * 4)
    with pytest.raises(BudgetExceeded), Ledger(analyst).grant("a", Budget.pure(1)):
        pass
    with pytest.raises(LedgerError, match="this role may not do that there"):
        Ledger(stranger).accounts()
    with server_of(place) as connection:
        found = connection.execute(
            "SELECT entry, written_by FROM understudy_ledger.entries ORDER BY number"
        ).fetchall()
    assert [("limit", roles[0]), ("grant", roles[1])] == found[:2]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE understudy_ledger.entries SET body = body",
        "DELETE FROM understudy_ledger.entries",
        "TRUNCATE understudy_ledger.entries",
        "DROP TABLE understudy_ledger.entries",
        "ALTER TABLE understudy_ledger.entries DISABLE TRIGGER ALL",
        "INSERT INTO understudy_ledger.entries (number, body, \"check\") VALUES (9, '{}', '')",
        "UPDATE understudy_ledger.secret SET digits = digits",
    ],
)
def test_an_analyst_can_change_nothing(
    place: str, roles: tuple[str, str, str], change: str
) -> None:
    """Neither by the rights that were granted nor past the triggers."""
    PostgresStore(place).init(stewards=roles[:1], analysts=roles[1:2])
    Ledger(place).limit("a", epsilon=Fraction(1))
    with server_of(_as(place, roles[1])) as connection, pytest.raises(psycopg.Error):
        connection.execute(change.encode())
    assert ["a"] == [*Ledger(place).accounts()]


INSERT = 'INSERT INTO understudy_ledger.entries (number, body, "check") VALUES (%s, %s, %s)'


def _insert(connection: psycopg.Connection[Any], link: ChainLink) -> None:
    """Write a row as a client of one's own does, past the program."""
    connection.execute(INSERT, [link.number, link.body, link.check])


def _next(place: str, entry: Mapping[str, Any]) -> ChainLink:
    """The row that would follow in a ledger."""
    with PostgresStore(place).locked() as book:
        [link] = book.chain.links([entry], time="2026-11-18T00:00:00+00:00")
    return link


_OWN_FUNCTIONS = """
CREATE SCHEMA own;
CREATE FUNCTION own.has_function_privilege(name, text, text) RETURNS boolean
    LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION own.sha256(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT NULL::bytea';
CREATE FUNCTION own.div(numeric, numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 0::numeric';
SET search_path = own, pg_catalog;
SET understudy_ledger.importing = on;
"""


def test_functions_of_an_analyst_take_no_place_of_the_servers(
    place: str, roles: tuple[str, str, str]
) -> None:
    """A search path with functions of one's own sets no limit, and closes no run for less."""
    PostgresStore(place).init(analysts=roles[1:2])
    with server_of(place) as owner:
        owner.execute(
            f'GRANT CREATE ON DATABASE {urlsplit(place).path[1:]} TO "{roles[1]}"'.encode()
        )
    grant = Grant(Budget.pure(1), log=Ledger(place))
    Ledger(place).open("a", grant)
    grant.charge([QUARTER] * 4)
    free = {"epsilon_exact": "0", "delta_exact": "0", "rho_exact": "0", "rho_delta_exact": "0"}
    closing = {"entry": "close", "grant": grant.identity, "accounting": "pure", **free}
    limit = {"entry": "limit", "dataset": "a", "epsilon_exact": "50", "delta_exact": "0"}
    with server_of(_as(place, roles[1])) as analyst:
        analyst.execute(_OWN_FUNCTIONS)
        with pytest.raises(psycopg.Error, match="stewards set limits"):
            _insert(analyst, _next(place, limit))
        with pytest.raises(psycopg.Error, match="closed for too little"):
            _insert(analyst, _next(place, closing))
    assert Spent(F(1)) == Ledger(place).account("a").spent


def test_every_function_of_a_ledger_has_its_own_search_path(empty: str) -> None:
    """The server's own schema alone, and temporary objects last; all else is named in full."""
    query = (
        "SELECT DISTINCT proconfig[1] FROM pg_proc "
        "WHERE pronamespace = 'understudy_ledger'::regnamespace"
    )
    with server_of(empty) as connection:
        found = connection.execute(query).fetchall()
    assert [("search_path=pg_catalog, pg_temp",)] == found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (": ", ":  "),
        ('{"dataset"', '{ "dataset"'),
        ("1.5", "1.50"),
        ("1.5", "15e-1"),
        ("0.1", "0.10000000000000001"),
        ('"n": 7', '"n": 7, "n": 7'),
        ("é", "\\u00e9"),
    ],
)
def test_a_text_that_readers_would_refuse_is_not_written(place: str, old: str, new: str) -> None:
    """Its checksum would be right for the server, and wrong for every reader."""
    amounts = {"epsilon_exact": "1", "delta_exact": "0"}
    numbers = {"n": 7, "m": [1.5, 0.1, 1e-7, 1e23, 2e15, -0.0], "text": 'é"\n\x7f/'}
    entry = {"entry": "limit", "dataset": "a", **amounts, **numbers}
    right = _next(place, entry)
    body = right.body.replace(old, new, 1)
    wrong = ChainLink(1, body, hashlib.sha256(body.encode()).hexdigest())
    with server_of(place) as owner:
        with pytest.raises(psycopg.Error, match="not in canonical form"):
            _insert(owner, wrong)
        _insert(owner, right)
    assert ["a"] == [*Ledger(place).accounts()]


@pytest.mark.parametrize("change", ["UPDATE {} SET body = body", "DELETE FROM {}", "TRUNCATE {}"])
def test_rows_stay_for_their_owner_too(place: str, change: str) -> None:
    """A slip of the hand is refused; who disables the triggers is found by the chain."""
    Ledger(place).limit("a", epsilon=Fraction(1))
    with server_of(place) as owner, pytest.raises(psycopg.Error, match="only appended to"):
        owner.execute(change.format("understudy_ledger.entries").encode())


def test_the_sql_can_be_run_by_somebody_else(
    postgres_server: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """`ledger init --sql` prints what `ledger init` runs, and connects to nobody."""
    place = new_database(postgres_server)
    with pytest.raises(LedgerError, match="make one with `understudy ledger init`"):
        Ledger(place).accounts()
    assert 0 == run(["ledger", "init", "--ledger", "postgresql://nowhere.invalid/x", "--sql"])
    with server_of(place) as owner:
        owner.execute(capfd.readouterr().out.encode())
    assert {} == Ledger(place).accounts()


def test_a_schema_of_another_role_does_not_become_a_ledger(
    postgres_server: str, roles: tuple[str, str, str]
) -> None:
    """Who made it first could change all that is in it; its owner may continue to use it."""
    place = new_database(postgres_server)
    with server_of(place) as owner:
        owner.execute(
            f'GRANT CREATE ON DATABASE {urlsplit(place).path[1:]} TO "{roles[1]}"'.encode()
        )
    with server_of(_as(place, roles[1])) as analyst:
        analyst.execute("CREATE SCHEMA understudy_ledger")
    store = PostgresStore(place)
    with pytest.raises(LedgerError, match=r"belongs to another role.* or else drop the schema"):
        store.init()
    PostgresStore(_as(place, roles[1])).init()
    with server_of(place) as owner:
        owner.execute("DROP SCHEMA understudy_ledger CASCADE")
    store.init()
    store.init(analysts=roles[1:2])
    assert {} == Ledger(place).accounts()


def test_a_table_of_another_role_does_not_become_a_ledgers(
    postgres_server: str, roles: tuple[str, str, str]
) -> None:
    """Also where the schema around it belongs to whoever makes the ledger."""
    place = new_database(postgres_server)
    with server_of(place) as owner:
        owner.execute("CREATE SCHEMA understudy_ledger")
        owner.execute(f'GRANT ALL ON SCHEMA understudy_ledger TO "{roles[1]}"'.encode())
    with server_of(_as(place, roles[1])) as analyst:
        analyst.execute("CREATE TABLE understudy_ledger.entries (number bigint)")
    with pytest.raises(LedgerError, match="belongs to another role"):
        PostgresStore(place).init()


# --- what the server adds up --------------------------------------------------------------------

EVENTS: list[Event] = [
    LaplaceEvent(F(4376003, 745356), F(2)),
    PermuteAndFlipEvent(F(7, 3), F(1, 5)),
    ExponentialEvent(F(7, 3), F(1, 5)),
    SmoothedHistogramEvent(F(1, 3), F(1, 2)),
    ApproximateEvent("other", F(2, 7)),
    ApproximateEvent("other", F(2, 7), F(1, 10**6)),
    GaussianEvent(F(123, 7), F(2)),
    FineGaussianEvent(F(123, 7), F(1), F(1), F(1024)),
    SampledGaussianEvent(F(123, 7), F(1), F(1, 2), F(9)),
    KeyReleaseEvent(F(3), F(1), F(9), F(1, 10**9)),
    GaussianKeyReleaseEvent(F(3), F(1), F(9), F(1, 10**9)),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_the_server_counts_as_the_program_does(empty: str, event: Event) -> None:
    """ε and ρ of every event, rounded down at the fortieth digit."""
    said = json.dumps(Charge("q", event).document())
    query = "SELECT understudy_ledger.pure_epsilon(%s::jsonb), understudy_ledger.rho(%s::jsonb)"
    with server_of(empty) as connection:
        found = connection.execute(query, [said, said]).fetchone()
    assert found is not None
    cost = concentrated(event)
    rho = None if cost is None else cost.rho
    for amount, expected in zip(found, (pure_epsilon(event), rho), strict=True):
        if expected is None:
            assert amount is None
        else:
            assert 0 <= expected - F(int(amount), 10**40) < F(4, 10**40)


@pytest.mark.parametrize(
    ("charge", "low"),
    [
        (QUARTER, {"epsilon_exact": "1/5", "delta_exact": "0"}),
        (
            QUARTER,
            {
                "epsilon_exact": "1/4",
                "delta_exact": "0",
                "rho_exact": "1/99",
                "rho_delta_exact": "0",
            },
        ),
        (
            Charge("q", GaussianEvent(F(100), F(1))),
            {"epsilon_exact": "1/2", "delta_exact": "1/1000000"},
        ),
        (Charge("q", GaussianEvent(F(100), F(1))), {"epsilon_exact": "1", "delta_exact": "0"}),
    ],
)
def test_a_client_cannot_lower_what_a_run_has_cost(
    place: str, charge: Charge, low: dict[str, str]
) -> None:
    """A close below the sum of its charges is refused by the server, and the run counts whole."""
    ledger = Ledger(place)
    pure = charge is QUARTER
    grant = Grant(Budget.pure(1) if pure else Budget.approximate(1, "1e-6"), log=ledger)
    ledger.open("a", grant)
    grant.charge([charge])
    closing = {"entry": "close", "grant": grant.identity, "accounting": "pure", **low}
    with (
        pytest.raises(LedgerError, match="cannot be closed for less than its charges add up to"),
        ledger.store.locked() as book,
    ):
        book.write([closing])
    assert 1 == Ledger(place).account("a").spent.epsilon
    ledger.close(grant)
    assert (F(1, 4) if pure else 1) == Ledger(place).account("a").spent.epsilon


LAPLACE = {"mechanism": "discrete laplace", "scale_exact": "1", "sensitivity_exact": "1"}
GAUSS = {"mechanism": "discrete gaussian", "sensitivity_squared_exact": "1"}
AMOUNTS = {"epsilon_exact": "1", "delta_exact": "0"}


@pytest.mark.parametrize(
    "entry",
    [
        {"entry": "charge", **LAPLACE, "sensitivity_exact": "-1"},
        {"entry": "charge", **LAPLACE, "sensitivity_exact": "1/-1"},
        {"entry": "charge", **LAPLACE, "sensitivity_exact": -1},
        {"entry": "charge", **LAPLACE, "scale_exact": "-1"},
        {"entry": "charge", **LAPLACE, "scale_exact": "0"},
        {"entry": "charge", **LAPLACE, "scale_exact": "NaN"},
        {"entry": "charge", **LAPLACE, "scale_exact": "1/0"},
        {"entry": "charge", **LAPLACE, "times": -1},
        {"entry": "charge", **LAPLACE, "times": 0.5},
        {"entry": "charge", **GAUSS, "sigma_squared_exact": "-1"},
        {"entry": "charge", "mechanism": "other", "epsilon_exact": "-1", "delta_exact": "0"},
        {"entry": "grant", "dataset": "a", **AMOUNTS, "epsilon_exact": "-1"},
        {"entry": "grant", "dataset": "a", **AMOUNTS, "delta_exact": "-1"},
        {"entry": "grant", "dataset": "a", "epsilon_exact": "1"},
        {"entry": "limit", "dataset": "a", **AMOUNTS, "epsilon_exact": "-1"},
        {"entry": "reserve", "rho_exact": "-1", "rho_delta_exact": "0"},
        {"entry": "reserve", "rho_exact": "1"},
        {"entry": "close", "accounting": "pure", "delta_exact": "0"},
        {"entry": "close", "accounting": "pure", **AMOUNTS, "epsilon_exact": None},
    ],
    ids=json.dumps,
)
def test_impossible_amounts_are_refused(opened: tuple[str, str], entry: dict[str, Any]) -> None:
    """Amounts below 0, noise of no width, and entries that lack an amount."""
    place, run_named = opened
    ledger = Ledger(place)
    named = {"grant": "f" * 32 if entry["entry"] == "grant" else run_named, **entry}
    with (
        pytest.raises(LedgerError, match="lacks an amount, or has one below 0"),
        ledger.store.locked() as book,
    ):
        book.write([named])
    assert Spent(F(1)) == Ledger(place).account("a").spent


GRANT = {"entry": "grant", "grant": "f" * 32, "dataset": "a", **AMOUNTS}
STEP = {"entry": "step", "step": 1, "checkpoint": "a" * 64, "holder": ""}


@pytest.mark.parametrize(
    "entry",
    [
        {**GRANT, "grant": 5},
        {**GRANT, "dataset": 5},
        {"entry": "grant", "grant": "f" * 32, **AMOUNTS},
        {**GRANT, "neighbours": "sideways"},
        {**GRANT, "unit": "cat"},
        {**GRANT, "unit": None},
        {**GRANT, "unit": "person", "person_id": 5},
        {**GRANT, "time": 20260101},
        {**GRANT, "step": "1"},
        {**GRANT, "holder": "b" * 32},
        {"entry": 5},
        {"entry": "close", **AMOUNTS, "rho_exact": "1/2", "rho_delta_exact": "0"},
        {**GRANT, "time": "now"},
        {"entry": "charge", **AMOUNTS, "times": 1e16},
        {**STEP, "step": 1e16},
        {**STEP, "step": 0},
        {**STEP, "holder": "b" * 32},
        {**STEP, "checkpoint": "a"},
        {**STEP, "entry": "resume", "holder": "b" * 32},
    ],
    ids=json.dumps,
)
def test_an_entry_that_would_stop_readers_is_refused(
    opened: tuple[str, str], entry: dict[str, Any]
) -> None:
    """Well-formed, in the chain, and without a meaning: whoever may spend cannot write it."""
    place, run_named = opened
    link = _next(place, {"grant": run_named, **entry})
    with (
        server_of(place) as client,
        pytest.raises(psycopg.Error, match=r"nobody could read this entry|is not open"),
    ):
        _insert(client, link)
    assert Spent(F(1)) == Ledger(place).account("a").spent


@pytest.mark.parametrize("amount", ["9" * 400, "1/" + "9" * 4400])
def test_amounts_that_nobody_could_read_are_refused(opened: tuple[str, str], amount: str) -> None:
    """Numbers beyond floating point, or with too many digits for Python."""
    place, _ = opened
    with (
        server_of(place) as client,
        pytest.raises(psycopg.Error, match="missing or impossible"),
    ):
        _insert(client, _next(place, {**GRANT, "epsilon_exact": amount}))


def test_options_of_an_address_are_refused() -> None:
    """A role or a search path of one's own is not taken over from the address."""
    for query in ("options=-c%20role%3Dboss", "sslmode=prefer&OPTIONS=", "options"):
        with pytest.raises(UsageError, match="leave options= out of the address"):
            PostgresStore(f"postgresql://ann@host/db?{query}")


def test_a_secret_is_not_taken_over_where_statements_rest_on_another(place: str) -> None:
    """An empty ledger takes it; one with entries keeps its own, and its statements stay true."""
    store, other = PostgresStore(place), Secret.of_text("ab" * 32, place="other")
    store.take_secret(other)
    assert other.text == store.make_secret().text
    Ledger(place).limit("a", epsilon=F(1))
    store.take_secret(other)
    with pytest.raises(LedgerError, match="holds entries"):
        store.take_secret(Secret.of_text("cd" * 32, place="another"))
    assert other.text == store.make_secret().text


def test_a_ledger_that_the_server_refuses_stays_where_it_is(place: str, tmp_path: Path) -> None:
    """The file is marked as moved only after the server has taken every entry once."""
    file = Ledger(tmp_path / "old.jsonl")
    file.limit("a", epsilon=F(1))
    with file.store.locked() as book:
        book.write([{"entry": "grant", "grant": "e" * 32, "dataset": "a", **AMOUNTS, "times": 0}])
    with pytest.raises(LedgerError, match="lacks an amount, or has one below 0"):
        import_ledger(tmp_path / "old.jsonl", place)
    file.limit("a", epsilon=F(2))
    assert [] == [*Ledger(place).accounts()]


@pytest.mark.parametrize(
    ("charge", "closing"),
    [
        (LAPLACE, AMOUNTS),
        (
            {**LAPLACE, "sensitivity_squared_exact": "0", "sigma_squared_exact": "1"},
            {**AMOUNTS, "rho_exact": "0", "rho_delta_exact": "0"},
        ),
        (
            {**GAUSS, "sigma_squared_exact": "1", "epsilon_exact": "0"},
            {"epsilon_exact": "0", "delta_exact": "0"},
        ),
        (
            {**LAPLACE, "mechanism": "key release", "threshold_exact": "9", "delta_exact": "1/9"},
            {**AMOUNTS, "rho_exact": "1/2", "rho_delta_exact": "1/10"},
        ),
    ],
    ids=["no rho", "fields that lower rho", "fields that lower epsilon", "delta of keys"],
)
def test_a_close_says_all_that_a_run_is_counted_by(
    place: str, charge: dict[str, Any], closing: dict[str, str]
) -> None:
    """It cannot leave out ρ, nor have it lowered by fields that its mechanism does not have."""
    ledger = Ledger(place)
    grant = Grant(Budget.pure(1), log=ledger)
    ledger.open("a", grant)
    ledger.append([{"entry": "charge", "grant": grant.identity, "question": "q", **charge}])
    end = {"entry": "close", "grant": grant.identity, "accounting": "pure", **closing}
    with (
        pytest.raises(LedgerError, match="closed for less than its charges add up to"),
        ledger.store.locked() as book,
    ):
        book.write([end])
    assert Spent(F(1)) == Ledger(place).account("a").spent


@pytest.mark.slow
def test_a_bound_that_the_server_cannot_follow_is_closed_whole(place: str) -> None:
    """The ledger counts the grant, and beside it says what the statement claims."""
    ledger = Ledger(place)

    def plan(budget: Budget) -> list[Charge]:
        return [Charge("q", GaussianEvent(1 / (2 * budget.amount), Fraction(1)))]

    with ledger.grant("a", Budget.approximate(1, "1e-6")) as grant:
        charges = plan(grant.announce(plan))
        grant.charge(charges)
    *_, closing = ledger.entries(grant.identity)
    assert Spent(F(1), F(1, 10**6)) == ledger.account("a").spent
    assert F(closing["claimed_epsilon_exact"]) == grant.bound().epsilon


@pytest.mark.slow
def test_closes_of_other_ledgers_are_imported_as_they_are(place: str, tmp_path: Path) -> None:
    """By a steward alone: a bound that the server cannot follow was counted where it was made."""

    def plan(budget: Budget) -> list[Charge]:
        return [Charge("q", GaussianEvent(1 / (2 * budget.amount), Fraction(1)))]

    file = Ledger(tmp_path / "old.jsonl")
    with file.grant("a", Budget.approximate(1, "1e-6")) as grant:
        grant.charge(plan(grant.announce(plan)))
    import_ledger(file.path, place)
    assert file.account("a").spent == Ledger(place).account("a").spent
    assert 1 > Ledger(place).account("a").spent.epsilon


def test_a_role_that_cannot_import_leaves_the_file_as_it_was(
    place: str, roles: tuple[str, str, str], tmp_path: Path
) -> None:
    """Refused before the file is closed, so that it can still be spent from."""
    PostgresStore(place).init(analysts=roles[1:2])
    file = Ledger(tmp_path / "old.jsonl")
    file.limit("a", epsilon=F(1))
    file.make_secret()
    with pytest.raises(LedgerError, match="this role may not do that there"):
        import_ledger(file.path, _as(place, roles[1]))
    file.limit("a", epsilon=F(2))


# --- connections --------------------------------------------------------------------------------


def _end_connections(place: str) -> None:
    with server_of(place) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )


def test_a_connection_lost_between_charges_is_made_again(place: str) -> None:
    """What was charged stays, and the run continues."""
    ledger = Ledger(place)
    with ledger.grant("a", Budget.pure(1)) as grant:
        grant.charge([QUARTER])
        _end_connections(place)
        with pytest.raises(LedgerError, match="the connection was lost; nothing was written"):
            grant.log.append([])
        grant.charge([QUARTER])
    assert Spent(F(1, 2)) == Ledger(place).account("a").spent


def test_a_commit_whose_fate_is_unknown_counts_as_spent(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection ends while the server commits: nothing is drawn, and the run counts whole."""
    ledger = Ledger(place)
    commit = psycopg.Connection.commit

    def lost(connection: psycopg.Connection[Any]) -> None:
        commit(connection)
        connection.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    def charge_and_lose() -> None:
        with ledger.grant("a", Budget.pure(1)) as grant:
            grant.charge([QUARTER])
            monkeypatch.setattr(psycopg.Connection, "commit", lost)
            try:
                grant.charge([QUARTER])
            finally:
                monkeypatch.setattr(psycopg.Connection, "commit", commit)

    with pytest.raises(LedgerError, match="they may be there and count as spent"):
        charge_and_lose()
    [known] = Ledger(place).account("a").runs
    assert (True, 2) == (known["open"], known["charges"])
    assert Spent(F(1)) == Ledger(place).account("a").spent


@pytest.mark.slow
def test_a_server_that_crashes_keeps_what_was_charged(tmp_path: Path) -> None:
    """It ends without a word while a run charges; what the run had heard is there afterwards."""
    with crashing_postgres() as (server, crash):
        place = new_ledger("postgres", tmp_path, server)
        ledger = Ledger(place)
        grant = Grant(Budget.pure(1), log=ledger)
        ledger.open("a", grant)
        for _ in range(3):
            grant.charge([QUARTER])
        crash()
        with pytest.raises(LedgerError, match=r"connection was lost|cannot be reached"):
            grant.charge([QUARTER])
        [known] = Ledger(place).account("a").runs
        assert (True, 3) == (known["open"], known["charges"])
        assert Spent(F(1)) == Ledger(place).account("a").spent


def test_a_ledger_that_was_set_back_is_refused(place: str) -> None:
    """A copy from before the last run is not believed, by this process nor by the next."""
    ledger = Ledger(place)
    ledger.limit("a", epsilon=F(1))
    with ledger.grant("a", Budget.pure(1)) as grant:
        grant.charge([QUARTER])
    with server_of(place) as owner:
        owner.execute("ALTER TABLE understudy_ledger.entries DISABLE TRIGGER ALL")
        owner.execute("DELETE FROM understudy_ledger.entries WHERE number > 1")
    with pytest.raises(LedgerError, match="lacks entries that were in it before"):
        ledger.accounts()
    with pytest.raises(LedgerError, match="lacks entries that this machine has seen"):
        Ledger(place).accounts()


def test_times_are_the_servers(place: str) -> None:
    """A machine whose clock is wrong writes right times; an entry of the future is refused."""
    ledger = Ledger(place)
    ledger.limit("a", epsilon=F(1))
    with ledger.store.locked() as book:
        [written] = [entry["time"] for entry in book.chain.entries]
    assert abs(datetime.fromisoformat(written) - datetime.now(UTC)) < timedelta(minutes=5)
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="seconds")
    with ledger.store.locked() as book:
        [link] = book.chain.links([{"entry": "limit", "dataset": "b"}], time=later)
    with server_of(place) as other, pytest.raises(psycopg.Error, match="of the future"):
        _insert(other, link)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda p: p._replace(netloc=f"owner:x@127.0.0.1:{free_port()}"), "cannot be reached"),
        (lambda p: p._replace(path="/nowhere"), "cannot be reached"),
        (lambda p: p._replace(netloc=p.netloc.replace("owner", "nobody")), "to let this user in"),
    ],
)
def test_a_server_that_does_not_answer_is_refused(
    place: str, spoil: Callable[[Any], Any], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """With the way out, the right exit code, and no password."""
    parts = urlsplit(place)
    with_password = parts._replace(netloc=parts.netloc.replace("@", ":s3cr%2Ft@"))
    wrong = spoil(with_password).geturl()
    assert 3 == run(["ledger", "show", "--ledger", wrong])
    told = capfd.readouterr().err
    assert words in told
    assert "s3cr" not in told


def test_no_password_is_shown_anywhere(place: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither in representations nor in JSON, nor in what a moved ledger says."""
    parts = urlsplit(place)
    address = (
        f"{parts._replace(netloc=parts.netloc.replace('@', ':s3cr%2Ft@')).geturl()}?password=s3cr"
    )
    ledger = Ledger(address)
    ledger.limit("a", epsilon=F(1))
    assert 0 == run(["ledger", "show", "--json", "--ledger", address])
    told = capfd.readouterr()
    assert "s3cr" not in f"{ledger!r}{ledger.place}{ledger.path}{told.out}{told.err}"
    assert json.loads(told.out)["ledger"] == place.replace("postgres://", "postgresql://")


@pytest.mark.parametrize("place", ["postgresql://host:port/x", "mysql://host/x", "sqlite://x"])
def test_other_addresses_are_refused(place: str) -> None:
    """A ledger is a file, an SQLite file or a PostgreSQL database."""
    with pytest.raises(UsageError, match=r"--ledger (is not|begins)"):
        store_at(place)
