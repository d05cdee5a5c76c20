"""Flower's SuperLink behind a guard, as a process of the analyst's.

Flower serves three interfaces on one port: that of its nodes, which asks for a registered key, and
those of its operators and of its own processes, which ask for nothing. Whoever reaches the port
could register a key of their own, or start and stop runs. So the guard lets the nine calls of a
node through, and everything else only with a secret that the analyst made for this process.

The process reads its settings from standard input and ends when that is closed, so that it never
outlives the analyst.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
import socket
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from understudy.federated.wire import flower

_OPEN_TO_NODES: Final = frozenset(
    f"/v1/fleet/{call}"
    for call in (
        "activate-node",
        "deactivate-node",
        "send-node-heartbeat",
        "pull-messages",
        "push-messages",
        "pull-object",
        "push-object",
        "confirm-message-received",
        "get-run",
    )
)
OPEN_CALL: Final = "/understudy/open"
_MOST_CONNECTIONS = 512
_BACKLOG = 128

_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class LaunchOptions:
    """The options that a SuperLink is started with."""

    host: str
    port: int
    certificate: str
    key: str
    secret: str

    def line(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self)) + "\n"


class Guard:
    """Lets nodes make their calls and the analyst all of them; refuses what is too large.

    Nodes are asked to wait until the analyst has registered their keys and says so.
    """

    def __init__(self, app: Callable[[_Scope, _Receive, _Send], Awaitable[None]], secret: str):
        self._app = app
        self._secret = secret.encode()
        self._is_open = False

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Pass a request on, or answer it with a bare status."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            status = self._refusal(scope)
            if status is None:
                await self._app(scope, receive, send)
            else:
                await _answer(send, status)

    def _refusal(self, scope: _Scope) -> int | None:
        headers = dict(scope["headers"])
        secret = headers.get(flower.ANALYST_HEADER.encode(), b"")
        if not hmac.compare_digest(secret, self._secret):
            if scope["path"] not in _OPEN_TO_NODES:
                return 404
            if not self._is_open:
                return 503
        elif scope["path"] == OPEN_CALL:
            self._is_open = True
            return 204
        length = headers.get(b"content-length", b"0" if scope["method"] == "GET" else b"")
        if not length.isdigit():
            return 411
        return 413 if int(length) > flower.ANSWER_LIMIT else None


async def _answer(send: _Send, status: int) -> None:
    empty = [(b"content-length", b"0"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": empty})
    await send({"type": "http.response.body", "body": b""})


def main() -> None:
    """Serve until standard input is closed; the first line out says the port, or what failed."""
    settings = LaunchOptions(**json.loads(sys.stdin.readline()))
    try:
        listening = _listening(settings)
    except OSError as error:
        _tell({"error": error.strerror or type(error).__name__})
        return
    with tempfile.TemporaryDirectory(prefix="understudy-") as home, listening:
        os.environ["FLWR_HOME"] = home
        flower.prepare()
        logging.disable(logging.WARNING)
        _serve(settings, listening)


def _listening(settings: LaunchOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    return socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG)


def _serve(settings: LaunchOptions, listening: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(
        Guard(_flower_app(settings), settings.secret),
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=1,
    )
    config.load()
    # Whoever connects from here on waits in the queue of the socket.
    _tell({"port": listening.getsockname()[1]})
    server = uvicorn.Server(config)
    threading.Thread(target=_end_with_input, args=(server,), daemon=True).start()
    server.run(sockets=[listening])


def _end_with_input(server: Any) -> None:
    sys.stdin.read()
    server.should_exit = True


def _flower_app(settings: LaunchOptions) -> Any:
    """The SuperLink: registered keys alone, its state in memory, no process of its own for runs."""
    from flwr.common.constant import ISOLATION_MODE_PROCESS, TRANSPORT_TYPE_GRPC_RERE
    from flwr.supercore.constant import FLWR_IN_MEMORY_DB_NAME
    from flwr.superlink.cli.flower_superlink import SuperLinkLifespan
    from flwr.superlink.config_loader import SuperLinkLifespanConfig, load_control_authn_plugin
    from flwr.superlink.main import create_app

    config = SuperLinkLifespanConfig(
        control_address="",
        health_server_address=None,
        host=settings.host,
        port=settings.port,
        insecure=False,
        certificates=None,
        superexec_auth_secret=None,
        authn_plugin=load_control_authn_plugin(),
        event_log_plugin=None,
        fleet_event_log_plugin=None,
        enable_event_log=False,
        artifact_provider=None,
        enable_supernode_auth=True,
        fleet_api_type=TRANSPORT_TYPE_GRPC_RERE,
        fleet_api_address=None,
        simulation=False,
        ssl_ca_certfile=None,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
        database=FLWR_IN_MEMORY_DB_NAME,
        isolation=ISOLATION_MODE_PROCESS,
        runtime_dependency_install=False,
    )
    return create_app(config, SuperLinkLifespan)


def _tell(document: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
