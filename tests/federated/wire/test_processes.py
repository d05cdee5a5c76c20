"""An analyst and holders as real processes with TLS and keys, and everything that goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.holders import NAMES, Site
from support.promised import need
from support.servers import free_port
from understudy.errors import DataError, UsageError
from understudy.federated.wire import bundle, flower
from understudy.federated.wire import envelopes as letters
from understudy.federated.wire.node import Link, Node

need("flwr")

pytestmark = pytest.mark.slow

Running = tuple[Site, Any]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Three holders that have joined, for tests that leave them as they are."""
    site = Site.made(tmp_path_factory.mktemp("site"))
    with site.analyst() as channel, site.holders(channel):
        yield site, channel


@pytest.fixture
def heard_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """An analyst who waits for all to get the closing message, as long as a busy machine needs."""
    monkeypatch.setattr("understudy.federated.wire.channel._CLOSING_SECONDS", 60.0)


def _refusal(site: Site, address: str, **changes: Any) -> str:
    """The refusal that a holder with another key or other roots gets."""
    usual = {"key": site.folder / "north", "root_certificates": site.folder / "roots.crt"}
    link = Link(address, **{**usual, "wait": 1.5, **changes})
    with pytest.raises(DataError) as caught:
        Node(link, lambda body: pytest.fail("asked")).serve()
    return str(caught.value)


def test_three_holders_answer_each_its_own(running: Running) -> None:
    """Every holder gets its request, and nobody else's; large bodies arrive whole."""
    site, channel = running
    assert NAMES == channel.holders
    requests = {name: f"{name} ".encode() + b"x" * 100_000 for name in NAMES}
    replies = channel.ask(requests, deadline=30)
    assert {name: b"echo " + body for name, body in requests.items()} == replies
    assert [requests["north"].decode()] == site.asked("north")


def test_a_holder_may_be_asked_alone(running: Running) -> None:
    """Who is not asked hears nothing."""
    site, channel = running
    before = site.asked("west")
    assert {"south": b"echo alone"} == channel.ask({"south": b"alone"}, deadline=30)
    assert before == site.asked("west")


def test_a_slow_holder_is_left_out_and_a_fault_is_said(running: Running) -> None:
    """The deadline holds; what the others said is kept; no text of a fault travels."""
    site, channel = running
    released = site.folder / "released"
    asked = {"north": b"quick", "south": b"wait " + bytes(released), "west": b"fail 4711"}
    started = time.monotonic()
    replies = channel.ask(asked, deadline=4)
    released.touch()
    assert {"north": b"echo quick"} == replies
    assert 4 <= time.monotonic() - started
    assert any("west: the holder had a fault" in text for text in site.said)
    assert not any("4711" in text for text in site.said)


def test_a_wrong_certificate_is_refused_at_once(running: Running, tmp_path: Path) -> None:
    """A holder sends nothing to a server that its roots do not vouch for, and does not wait."""
    site, channel = running
    other = Site.made(tmp_path, ()).folder / "roots.crt"
    started = time.monotonic()
    told = _refusal(site, channel.address, root_certificates=other, wait=60)
    assert "certificate is not vouched for" in told
    assert time.monotonic() - started < 30


def test_a_certificate_for_another_name_is_refused(running: Running) -> None:
    """The right root does not make up for it."""
    site, channel = running
    address = channel.address.replace("127.0.0.1", "localhost")
    assert "is for another name" in _refusal(site, address)


def test_an_unregistered_key_is_refused(running: Running, tmp_path: Path) -> None:
    """A key that the analyst was not given joins nothing."""
    site, channel = running
    Site.made(tmp_path, ["stranger"])
    told = _refusal(site, channel.address, key=tmp_path / "stranger")
    assert "the analyst must know its public half" in told


def test_a_key_that_is_in_use_is_refused(running: Running) -> None:
    """Nobody takes a holder's place while it is there."""
    site, channel = running
    assert "no other holder may run with it" in _refusal(site, channel.address)


def test_nobody_listening_is_said(running: Running) -> None:
    """After the wait that was asked for."""
    site, _ = running
    assert "cannot be reached" in _refusal(site, f"127.0.0.1:{free_port()}")


def test_a_stranger_cannot_register_a_key_nor_start_a_run(running: Running) -> None:
    """Flower itself would let anyone who reaches the port; the guard does not."""
    import httpx
    from flwr.proto.control_pb2 import ListRunsRequest, RegisterNodeRequest
    from flwr.supercore.control import ControlHttpClient

    site, channel = running
    client = ControlHttpClient(
        f"https://{channel.address}",
        interceptors=[flower.version_header("stranger")],
        verify=flower.trusting(site.folder / "roots.crt"),
    )
    with client:
        with pytest.raises(httpx.HTTPStatusError, match="404"):
            client.RegisterNode(RegisterNodeRequest(public_key=b"x"))
        with pytest.raises(httpx.HTTPStatusError, match="404"):
            client.ListRuns(ListRunsRequest())


def test_too_few_holders_are_named(running: Running) -> None:
    """More holders than keys cannot come."""
    _, channel = running
    with pytest.raises(UsageError, match="holders is 4"):
        channel.wait_for(4, seconds=1)


def test_a_run_with_an_altered_bundle_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real holders answer nothing in a run that ships another bundle; no handler is called."""
    project = bundle._FILES["pyproject.toml"].replace(b"nothing:app", b"os:system")
    monkeypatch.setitem(bundle._FILES, "pyproject.toml", project)
    site = Site.made(tmp_path, ["north"])
    with site.analyst(["north"]) as channel, site.holders(channel, ["north"]):
        assert {} == channel.ask({"north": b"question"}, deadline=30)
    assert [] == site.asked("north")
    assert any("bundle is not the one without code" in text for text in site.said)


def test_a_holder_killed_while_it_answers_is_left_out_and_comes_back(tmp_path: Path) -> None:
    """The others' answers count; restarted with the same key, it answers again."""
    site = Site.made(tmp_path)
    with site.analyst() as channel, site.holders(channel) as processes:
        asked = {"north": b"one", "south": b"die", "west": b"one"}
        assert {"north", "west"} == set(channel.ask(asked, deadline=5))
        assert 9 == processes["south"].wait(60)
        assert any("south gave no answer" in text for text in site.said)
        with site.holders(channel, ["south"]):
            replies = channel.ask(dict.fromkeys(NAMES, b"two"), deadline=60)
        assert dict.fromkeys(NAMES, b"echo two") == replies
    assert ["die", "two"] == site.asked("south")


@pytest.mark.usefixtures("heard_out")
def test_holders_end_with_the_closing_message(tmp_path: Path) -> None:
    """After a run they end by themselves, and say how many answers they gave."""
    site = Site.made(tmp_path, ["north"])
    with site.analyst(["north"]) as channel:
        process = site.start("north", channel.address)
        channel.wait_for(1, seconds=60)
        assert {"north": b"echo one"} == channel.ask({"north": b"one"}, deadline=30)
    out, err = process.communicate(timeout=60)
    assert (0, "1") == (process.returncode, out)
    assert "closed the run" in err


class Forger(Node):
    """Answers without the number that came with the question."""

    def _letter(self, session: Any, message: Any) -> letters.Envelope:
        return letters.Envelope(b"forged", b"guessed")


@pytest.mark.usefixtures("heard_out")
def test_a_reply_without_the_nonce_is_dropped(tmp_path: Path) -> None:
    """Whoever did not get the question cannot answer it."""
    site = Site.made(tmp_path, ["north"])
    with site.analyst(["north"]) as channel:
        link = Link(channel.address, tmp_path / "north", tmp_path / "roots.crt")
        forger = threading.Thread(target=Forger(link, lambda body: body).serve, daemon=True)
        forger.start()
        channel.wait_for(1, seconds=60)
        assert {} == channel.ask({"north": b"one"}, deadline=3)
    forger.join(60)
    assert not forger.is_alive()


_ANALYST = """
import sys, time
from pathlib import Path
from support.holders import Site
with Site(Path(sys.argv[1])).analyst() as channel:
    sys.stdout.write(channel.address + "\\n")
    sys.stdout.flush()
    time.sleep(600)
"""


def test_the_superlink_does_not_outlive_a_killed_analyst(tmp_path: Path) -> None:
    """Its port is closed soon after the analyst was killed without a chance to say so."""
    site = Site.made(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", _ANALYST, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert "refuses key" in _refusal(site, address, key=_other_key(tmp_path))
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 60
    while "cannot be reached" not in _refusal(site, address, wait=0):
        assert time.monotonic() < deadline
        time.sleep(0.5)


def _other_key(folder: Path) -> Path:
    (folder / "other").mkdir()
    Site.made(folder / "other", ["stranger"])
    return folder / "other" / "stranger"


def test_an_address_in_use_is_said(tmp_path: Path) -> None:
    """The analyst does not start where someone listens already."""
    import socket

    from understudy.federated.wire import hub

    site = Site.made(tmp_path, ["north"])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = hub.Listening(
            "127.0.0.1",
            taken.getsockname()[1],
            site.folder / "analyst.crt",
            site.folder / "analyst.key",
        )
        keys = {"north": site.folder / "north.pub"}
        with pytest.raises(DataError, match="in use"), hub.opened(place, keys):
            pytest.fail("opened")
