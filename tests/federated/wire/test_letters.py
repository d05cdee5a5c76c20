"""What travels inside Flower's messages, and what a holder does with what is none of ours."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from support.promised import need
from understudy.errors import DataError
from understudy.federated.wire import bundle, flower
from understudy.federated.wire import envelopes as letters
from understudy.federated.wire.envelopes import Envelope
from understudy.federated.wire.node import Link, Node

need("flwr")

RUN, NODE = 7, 12
LETTER = Envelope(b"body", b"nonce")


def _question(letter: Envelope = LETTER, *, kind: str = letters.ASK, run: int = RUN) -> Any:
    return letters.question(letter, kind=kind, run=run, node=NODE, seconds=60)


class Session:
    """Knows the bundle of each run."""

    def __init__(self, digest: str = bundle.digest(bundle.content())) -> None:
        self.digest = digest

    def bundle_of(self, run: int) -> str:
        """Return the same bundle for every run."""
        return self.digest


class Handler:
    """Counts what it is given."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def __call__(self, body: bytes) -> bytes:
        """Echo, or fail with a private value."""
        self.bodies.append(body)
        if body == b"fail":
            raise ValueError("patient 4711")
        return b"echo " + body


def _node(handler: Handler) -> Node:
    return Node(Link("127.0.0.1:1", Path("key"), Path("roots")), handler)


def _reply(node: Node, message: Any, session: Session | None = None) -> Any:
    return node._reply(session or Session(), message)  # type: ignore[arg-type]


def test_a_letter_arrives_as_it_was_sent() -> None:
    """Taken apart, sent in parts, put together."""
    sent = _question()
    parts = letters.parts(sent)
    _, tree = letters.envelope(sent)
    arrived = letters.assembled(tree, parts.get)
    assert arrived is not None
    assert LETTER == letters.opened(arrived)
    assert sent.metadata.message_id == arrived.metadata.message_id


def test_a_letter_waits_for_its_last_part() -> None:
    """While a part is on its way there is no message."""
    sent = _question()
    parts = letters.parts(sent)
    _, tree = letters.envelope(sent)
    parts.pop(tree.children[0].object_id)
    assert None is letters.assembled(tree, parts.get)


def test_damaged_parts_are_refused() -> None:
    """Bytes that are not parts of a message."""
    _, tree = letters.envelope(_question())
    with pytest.raises(DataError, match="damaged"):
        letters.assembled(tree, lambda name: b"garbage")


def test_a_tree_of_many_parts_is_refused_before_they_are_fetched() -> None:
    """A message of ours has three."""
    _, tree = letters.envelope(_question())
    for _ in range(1000):
        tree.children.add().object_id = "0" * 64
    with pytest.raises(DataError, match="more than 3 parts"):
        letters.assembled(tree, lambda name: pytest.fail("fetched"))


def test_other_content_is_refused() -> None:
    """Records that are not envelopes are refused: other names, other types, no names."""
    from flwr.app import ConfigRecord, RecordDict

    for content in (
        RecordDict(),
        RecordDict({"letter": ConfigRecord({"body": b""})}),
        RecordDict({"letter": ConfigRecord({"body": "text", "nonce": b""})}),
        RecordDict({"letter": ConfigRecord({"body": b"", "nonce": b"", "more": 1})}),
    ):
        message = _question()
        message.content = content
        with pytest.raises(DataError, match="holds no"):
            letters.opened(message)


def test_a_body_beyond_the_limit_does_not_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither side makes one."""
    monkeypatch.setattr(letters, "MESSAGE_LIMIT", 3)
    with pytest.raises(DataError, match="at most 3 travel"):
        Envelope(b"long", b"")


def test_a_reply_brings_the_nonce_back() -> None:
    """By it the analyst knows that whoever replied had the question."""
    handler = Handler()
    reply = letters.opened(_reply(_node(handler), _question()))
    assert Envelope(b"echo body", b"nonce") == reply
    assert [b"body"] == handler.bodies


def test_a_replayed_message_is_not_handled_again() -> None:
    """The same message twice: one answer, one refusal."""
    handler = Handler()
    node, message = _node(handler), _question()
    assert _reply(node, message).has_content()
    again = _reply(node, message)
    assert "second time" in again.error.reason
    assert [b"body"] == handler.bodies


def test_a_run_with_another_bundle_is_refused() -> None:
    """Nothing reaches the handler, whatever else the run says."""
    handler = Handler()
    reply = _reply(_node(handler), _question(), Session(bundle.digest(b"altered")))
    assert "bundle" in reply.error.reason
    assert [] == handler.bodies


def test_a_message_of_another_kind_is_refused() -> None:
    """Flower's own kinds, such as train, mean nothing here."""
    handler = Handler()
    reply = _reply(_node(handler), _question(kind="train"))
    assert "unknown kind" in reply.error.reason
    assert [] == handler.bodies


def test_a_fault_does_not_quote_what_the_handler_raised() -> None:
    """The analyst and the log learn that there was one."""
    said: list[str] = []
    node = Node(Link("127.0.0.1:1", Path("key"), Path("roots")), Handler(), said.append)
    reply = _reply(node, _question(Envelope(b"fail", b"")))
    assert "fault" in reply.error.reason
    assert "4711" not in reply.error.reason + "".join(said)


def test_the_bundle_holds_no_code_and_is_the_same_everywhere() -> None:
    """Flower reads it as an app, by a hash that no machine changes."""
    from flwr.cli.config_utils import get_fab_config

    packed = bundle.content()
    names = zipfile.ZipFile(io.BytesIO(packed)).namelist()
    assert ["LICENSE", "pyproject.toml", ".info/CONTENT"] == names
    assert "understudy" == get_fab_config(packed)["project"]["name"]
    known = "3b64cd14209101b3ef106bde9d26b1a0da0c15be861ea12086695a52bd9832f4"
    assert known == bundle.digest(packed)


@pytest.mark.parametrize(
    ("status", "headers", "why"),
    [
        (302, {"location": "https://10.0.0.1/", "content-length": "0"}, "redirects"),
        (200, {"content-length": str(flower.ANSWER_LIMIT + 1)}, "announces"),
        (200, {"transfer-encoding": "chunked"}, "unknown"),
        (200, {"content-encoding": "gzip", "content-length": "9"}, "packed"),
    ],
)
def test_a_holder_reads_no_answer_of_unknown_size(
    status: int, headers: dict[str, str], why: str
) -> None:
    """An analyst cannot fill a holder's memory, nor send it to another machine."""
    import httpx

    class Client:
        """Like Flower's: a client within, which would follow redirects."""

        def __init__(self) -> None:
            def respond(request: Any) -> Any:
                return httpx.Response(status, headers=headers, stream=httpx.ByteStream(b""))

            transport = httpx.MockTransport(respond)
            self._client = httpx.Client(transport=transport, follow_redirects=True)

    client = flower.bounded(Client())
    with pytest.raises(flower.OversizedAnswer, match=why):
        client._client.get("https://127.0.0.1/")
