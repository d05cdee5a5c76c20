"""Impostors at a live SuperLink: stolen public keys, old signatures, and holders that lie."""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from support.holders import Site
from support.promised import need
from understudy.federated.wire import envelopes as letters
from understudy.federated.wire import flower
from understudy.federated.wire.keys import private_key
from understudy.federated.wire.session import Session

need("flwr")

pytestmark = pytest.mark.slow

NAMES = ("north", "south")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Any]]:
    """Two holders in processes of their own that have joined an analyst's SuperLink."""
    site = Site.made(tmp_path_factory.mktemp("site"), [*NAMES, "stranger"])
    with site.analyst(NAMES) as channel, site.holders(channel, NAMES):
        yield site, channel


@contextmanager
def _calling(site: Site, channel: Any, interceptor: Any) -> Iterator[Any]:
    """A client of the SuperLink that proves itself in some way."""
    from flwr.supernode.fleet_http_client import FleetHttpClient

    client = FleetHttpClient(
        f"https://{channel.address}",
        interceptors=[flower.version_header("SuperNode"), interceptor],
        verify=flower.trusting(site.folder / "roots.crt"),
    )
    with client:
        yield client


def _proof(site: Site, secret: str, public: str) -> Any:
    """What shows a public key and signs with the secret of a perhaps other one."""
    from flwr.supernode.node_auth_http_interceptor import NodeAuthHttpInterceptor

    shown = private_key(site.folder / public).public_key()
    return NodeAuthHttpInterceptor(private_key(site.folder / secret), shown)


class Recorded:
    """Sends the headers of a request that was signed some time ago."""

    def __init__(self, site: Site, name: str, seconds: float) -> None:
        from flwr.supercore.date import now
        from flwr.supercore.primitives.asymmetric import public_key_to_bytes, sign_message

        key = private_key(site.folder / name)
        self._time = (now() - timedelta(seconds=seconds)).isoformat()
        self._signature = sign_message(key, self._time.encode("ascii"))
        self._key = public_key_to_bytes(key.public_key())

    def intercept(self, context: Any, call_next: Any) -> Any:
        """Add the recorded headers to another request."""
        from flwr.common.constant import TIMESTAMP_HEADER
        from flwr.supercore.constant import (
            FLEET_HTTP_PUBLIC_KEY_HEADER,
            FLEET_HTTP_SIGNATURE_HEADER,
        )
        from flwr.supercore.interceptors.http.utils import add_headers

        headers = {
            FLEET_HTTP_PUBLIC_KEY_HEADER: b64encode(self._key).decode("ascii"),
            TIMESTAMP_HEADER: self._time,
            FLEET_HTTP_SIGNATURE_HEADER: b64encode(self._signature).decode("ascii"),
        }
        add_headers(context.request, headers)
        return call_next(context)


def _number(name: str, channel: Any) -> Any:
    from flwr.proto.node_pb2 import Node

    return Node(node_id=channel._run.nodes[name])


def _status_of_pull(client: Any, node: Any) -> int:
    """What the SuperLink answers a holder that asks for its messages."""
    import httpx
    from flwr.proto.fleet_pb2 import PullMessagesRequest

    try:
        client.PullMessages(PullMessagesRequest(node=node))
    except httpx.HTTPStatusError as error:
        return int(error.response.status_code)
    return 200


def test_a_public_key_proves_nothing(running: tuple[Site, Any]) -> None:
    """Whoever has a holder's public key alone gets no message and does not take its place."""
    import httpx
    from flwr.proto.fleet_pb2 import ActivateNodeRequest
    from flwr.supercore.primitives.asymmetric import public_key_to_bytes

    site, channel = running
    stolen = public_key_to_bytes(private_key(site.folder / "north").public_key())
    with _calling(site, channel, _proof(site, "stranger", "north")) as client:
        assert 401 == _status_of_pull(client, _number("north", channel))
        with pytest.raises(httpx.HTTPStatusError, match="401"):
            client.ActivateNode(ActivateNodeRequest(public_key=stolen, heartbeat_interval=30))


def test_an_unknown_key_gets_no_message(running: tuple[Site, Any]) -> None:
    """A sound signature by a key that the analyst was not given."""
    site, channel = running
    with _calling(site, channel, _proof(site, "stranger", "stranger")) as client:
        assert 401 == _status_of_pull(client, _number("north", channel))


@pytest.mark.parametrize(("seconds", "status"), [(0, 200), (3600, 401), (-3600, 401)])
def test_a_recorded_signature_does_not_last(
    running: tuple[Site, Any], seconds: float, status: int
) -> None:
    """What was signed an hour ago, or for an hour from now, is refused."""
    site, channel = running
    with _calling(site, channel, Recorded(site, "south", seconds)) as client:
        assert status == _status_of_pull(client, _number("south", channel))


def test_a_holder_does_not_call_as_another(running: tuple[Site, Any]) -> None:
    """With its own key it gets its own messages, and nobody else's."""
    site, channel = running
    with _calling(site, channel, _proof(site, "south", "south")) as client:
        assert 200 == _status_of_pull(client, _number("south", channel))
        assert 401 == _status_of_pull(client, _number("north", channel))


def _recording(channel: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The messages that an analyst sends from now on."""
    sent: list[Any] = []
    push = channel._push

    def recorded(messages: Sequence[Any]) -> None:
        push(messages)
        sent.extend(messages)

    monkeypatch.setattr(channel, "_push", recorded)
    return sent


def test_a_holder_does_not_answer_in_anothers_name(
    running: tuple[Site, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Even one that knows the message's id: it does not know the number that came with it."""
    site, channel = running
    sent, replies = _recording(channel, monkeypatch), dict[str, bytes]()
    question = f"wait {tmp_path / 'go'}".encode()
    asking = threading.Thread(
        target=lambda: replies.update(channel.ask({"north": question}, deadline=60))
    )
    asking.start()
    while not sent:
        asking.join(0.01)
    with _calling(site, channel, _proof(site, "south", "south")) as client:
        forged = letters.answer(letters.Envelope(b"forged", b"x" * 16), sent[0])
        Session(client, _number("south", channel)).reply(forged)
    (tmp_path / "go").touch()
    asking.join(90)
    assert {"north": b"echo " + question} == replies


def test_a_message_that_is_sent_again_is_not_handled_again(
    running: tuple[Site, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same question twice in the same words and with the same number reaches rows once."""
    site, channel = running
    sent = _recording(channel, monkeypatch)
    assert {"south": b"echo once"} == channel.ask({"south": b"once"}, deadline=60)
    before = site.asked("south")
    channel._push([sent[0]])
    assert {"south": b"echo next"} == channel.ask({"south": b"next"}, deadline=60)
    assert [*before, "next"] == site.asked("south")
