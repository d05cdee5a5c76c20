"""Who may call what at the analyst's SuperLink, and how much they may send."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from understudy.federated.wire import flower
from understudy.federated.wire.superlink import OPEN_CALL, Guard

SECRET = "secret"
KNOWN = {"understudy-analyst": SECRET}
NODE_CALL = "/v1/fleet/pull-messages"


def _status(
    path: str, headers: dict[str, str], *, kind: str = "http", opened: bool = True
) -> int | None:
    """What the guard answers with; 200 where it lets a request through, None for silence."""
    sent: list[MutableMapping[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"status": 200})

    async def send(event: MutableMapping[str, Any]) -> None:
        sent.append(event)

    async def receive() -> MutableMapping[str, Any]:
        return {}

    def scope(path: str, headers: dict[str, str]) -> dict[str, Any]:
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        return {"type": kind, "method": "POST", "path": path, "headers": pairs}

    guard = Guard(app, SECRET)
    if opened:
        asyncio.run(guard(scope(OPEN_CALL, KNOWN), receive, send))
    sent.clear()
    asyncio.run(guard(scope(path, headers), receive, send))
    return sent[0]["status"] if sent else None


@pytest.mark.parametrize(
    "path",
    [
        "/v1/control/register-node",
        "/v1/control/start-run",
        "/v1/control/list-runs",
        "/v1/runtime/acquire-task",
        "/v1/fleet/get-fab",
        "/v1/fleet/register-node",
        "/v1/fleet/pull-messages/",
        "/v1/fleet/../control/start-run",
        "/docs",
        "/openapi.json",
    ],
)
def test_strangers_make_no_call_but_a_nodes(path: str) -> None:
    """What asks for no key at Flower is not there for those without the secret."""
    length = {"content-length": "3"}
    assert 404 == _status(path, length)
    assert 404 == _status(path, {**length, "understudy-analyst": "guessed"})
    assert 200 == _status(path, {**length, **KNOWN})


def test_nodes_may_call_once_their_keys_are_known() -> None:
    """A node's call goes through to Flower, which asks for its key; before, it is to wait."""
    assert 200 == _status(NODE_CALL, {"content-length": "3"})
    assert 503 == _status(NODE_CALL, {"content-length": "3"}, opened=False)
    assert 404 == _status(OPEN_CALL, {"content-length": "0"}, opened=False)


@pytest.mark.parametrize(
    ("length", "status"),
    [
        (str(flower.ANSWER_LIMIT), 200),
        (str(flower.ANSWER_LIMIT + 1), 413),
        ("-1", 411),
        ("many", 411),
        (None, 411),
    ],
)
def test_a_request_says_its_size_and_keeps_to_the_limit(length: str | None, status: int) -> None:
    """A body of unknown or great size is refused before it is read."""
    assert status == _status(NODE_CALL, {} if length is None else {"content-length": length})


def test_other_protocols_are_not_served() -> None:
    """A websocket gets no answer at all."""
    assert None is _status(NODE_CALL, {}, kind="websocket")
