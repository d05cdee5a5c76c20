"""Events from a real Redis server: taken in, acknowledged, gone; and what happens when it is."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from support.promised import need
from support.servers import free_port, redis_server
from understudy.cli.main import run
from understudy.errors import DataError, UsageError
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.stream import DensityEstimator, Hashed
from understudy.stream.redis_streams import Place, RedisEvents, publish
from understudy.stream.texts import Texts

USERS = 20_000

CI = os.environ.get("CI") == "true"
redis: Any = importlib.import_module("redis") if CI else need("redis")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server of this module's own."""
    with redis_server() as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[Any]:
    """An empty database."""
    with redis.Redis.from_url(address) as found:
        found.flushall()
        yield found


def _drain(place: Place, visits: DensityEstimator, **options: Any) -> None:
    events = RedisEvents(place, **options)
    for batch in events.batches(idle=0):
        visits.update(batch)
    for batch in events.batches(idle=0.05):
        visits.update(batch)
    events.close()


def _is_right(visits: DensityEstimator, density: float) -> bool:
    answer = visits.answer()
    return abs(answer.density - density) < 6 * answer.standard_error


def test_events_are_taken_in_and_gone(address: str, client: Any) -> None:
    """Afterwards nothing is pending, and no entry is left."""
    publish(address, "visits", np.arange(USERS // 2))
    visits = DensityEstimator(USERS, epsilon=1, ledger=None)
    _drain(Place(address, "visits"), visits, entries=3)
    assert _is_right(visits, 0.5)
    assert (0, 0) == (client.xlen("visits"), client.xpending("visits", "understudy")["pending"])


def test_a_batch_that_takes_long_is_no_silence(address: str, client: Any) -> None:
    """The stream continues after it, however short a silence may be."""
    publish(address, "visits", np.arange(30), per_entry=10)
    taken: list[int] = []
    for batch in RedisEvents(Place(address, "visits"), entries=1).batches(idle=0.05):
        assert not isinstance(batch, Texts)
        taken.extend(batch.tolist())
        time.sleep(0.1)
    assert list(range(30)) == taken


def test_texts_and_numbers_may_be_mixed(address: str, client: Any) -> None:
    """A hash space takes lines, and numbers as their digits."""
    publish(address, "visits", np.arange(1000), per_entry=100)
    client.xadd("visits", {"texts": "\n".join(map(str, range(500, 2000)))})
    visits = DensityEstimator(Hashed(USERS), epsilon=2, ledger=None)
    _drain(Place(address, "visits"), visits)
    answer = visits.answer()
    assert 6 > abs(answer.distinct - 2000) / answer.distinct_error


def test_a_restart_gets_unfinished_entries_again(address: str, client: Any) -> None:
    """What was taken in but not acknowledged comes twice, and counts once."""
    publish(address, "visits", np.arange(USERS // 2))
    place, visits = Place(address, "visits"), DensityEstimator(USERS, epsilon=1, ledger=None)
    visits.update(next(RedisEvents(place, entries=5).batches(idle=0.1)))
    assert 5 == client.xpending("visits", "understudy")["pending"]
    taken: list[int] = []
    events = RedisEvents(place, entries=4)
    for batch in events.batches(idle=0.05):
        assert not isinstance(batch, Texts)
        taken.extend(batch.tolist())
        visits.update(batch)
    assert list(range(USERS // 2)) == sorted(taken)
    assert (0, 0) == (client.xlen("visits"), client.xpending("visits", "understudy")["pending"])
    assert _is_right(visits, 0.5)


def test_a_server_that_goes_away_is_told_about() -> None:
    """Mid-batch: the state keeps what it took in, the budget is as it was, the error says so."""
    port = free_port()
    grant = Grant(Budget.pure(2))
    visits = DensityEstimator(USERS, epsilon=1, grant=grant)
    with redis_server(port) as address:
        publish(address, "visits", np.arange(USERS))
        batches = RedisEvents(Place(address, "visits"), entries=10).batches(idle=1)
        visits.update(next(batches))
    before = visits.state.tobytes()
    with pytest.raises(DataError, match="went away") as raised:
        next(batches)
    assert before == visits.state.tobytes()
    assert (1, "state of epoch 1") == (visits.answers_left, grant.charges[-1].question)
    assert f"127.0.0.1:{port}" in str(raised.value)


def test_passwords_are_not_told() -> None:
    """An address in a message has none."""
    place = Place(f"redis://me:secret@127.0.0.1:{free_port()}/0", "visits")
    with pytest.raises(DataError, match="cannot be reached") as raised:
        RedisEvents(place)
    assert "secret" not in str(raised.value)


def test_entries_of_another_form_are_refused(address: str, client: Any) -> None:
    """They stay where they are, unacknowledged, and are not quoted."""
    for field in ({"user": "Ann"}, {"ids": b"12345"}):
        client.flushall()
        client.xadd("visits", field)
        with pytest.raises(DataError, match="with --column") as raised:
            next(RedisEvents(Place(address, "visits")).batches(idle=1))
        assert "Ann" not in str(raised.value)
        assert 1 == client.xlen("visits")


def test_a_field_of_any_name_is_read(address: str, client: Any) -> None:
    """`--column` names the field; each entry has one id there, or lines of them."""
    for name in ("Ann", "Bob", "Cem\nDora"):
        client.xadd("visits", {"user": name, "page": "start"})
    events = RedisEvents(Place(address, "visits", column="user"))
    batch = next(events.batches(idle=1))
    assert isinstance(batch, Texts)
    assert 4 == len(batch)


def test_entries_that_cannot_be_read_cost_nothing(
    address: str, client: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stream whose entries lack the field is refused before the ledger is asked."""
    client.xadd("visits", {"user": "Ann"})
    command = ["stream", "density", address, "--stream", "visits", "--epsilon", "1"]
    hashed = [*command, "--hash-space", "1000", "--idle", "0.1"]
    assert 4 == run(hashed)
    assert 4 == run([*hashed, "--column", "visitor"])
    assert "Ann" not in capsys.readouterr().err
    assert 0 == run(["ledger", "show"])
    assert "is empty" in capsys.readouterr().out
    assert 0 == run([*hashed, "--column", "user"])


def test_keys_that_are_no_streams_are_refused(address: str, client: Any) -> None:
    """By the server, in our words."""
    client.set("visits", "me")
    with pytest.raises(DataError, match="is this key a stream"):
        RedisEvents(Place(address, "visits"))


@pytest.mark.parametrize("address", ["http://x", "redis://x:port/0"])
def test_addresses_that_are_none_are_refused(address: str) -> None:
    """Before anything is asked of anybody."""
    with pytest.raises(UsageError, match="Redis address"):
        RedisEvents(Place(address, "visits"))


def test_the_command_reads_a_stream(
    address: str, client: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """With answers by the clock, ended by a silence; deletions are refused."""
    publish(address, "visits", np.arange(1000))
    command = ["stream", "density", address, "--universe", "1000", "--epsilon", "4"]
    assert 2 == run([*command, "--idle", "0.2"])
    assert 2 == run([*command, "--stream", "visits"])
    assert 2 == run([*command, "--stream", "visits", "--idle", "1", "--deletions"])
    timing = ["--idle", "0.3", "--every", "0.1", "--answers", "3"]
    assert 0 == run([*command, "--stream", "visits", *timing, "--json"])
    assert 3 == len(capsys.readouterr().out.splitlines())
    assert 0 == client.xlen("visits")


def test_no_server_means_no_spending(capsys: pytest.CaptureFixture[str]) -> None:
    """An address where nobody answers ends the run before the ledger is asked."""
    where = f"redis://127.0.0.1:{free_port()}/0"
    command = ["stream", "density", where, "--stream", "s", "--universe", "9", "--epsilon", "1"]
    assert 4 == run([*command, "--idle", "1"])
    assert 0 == run(["ledger", "show"])
    assert "is empty" in capsys.readouterr().out
