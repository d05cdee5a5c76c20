"""A holder's connection to a SuperLink: reaching it, being known by a key, messages in and out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import DataError
from understudy.federated.wire import envelopes as letters
from understudy.federated.wire import flower
from understudy.federated.wire.keys import private_key

_PART_SECONDS = 0.02
_RETRY_SECONDS = 1.0
# A holder that was killed counts as present for two heartbeats more.
_TAKEN_SECONDS = 2 * flower.HEARTBEAT_SECONDS + 5.0


@dataclass(frozen=True)
class Link:
    """Where the analyst's SuperLink is, who we are, and whom we trust to be it."""

    superlink: str
    key: Path
    root_certificates: Path
    wait: float = 300.0

    def check(self) -> None:
        """Refuse a key or certificates that cannot be used, before anything else is done."""
        flower.prepare()
        private_key(self.key)
        flower.trusting(self.root_certificates)


@dataclass
class Session:
    """One activated connection."""

    client: Any
    node: Any

    def next(self) -> Any | None:
        """Return the next whole message, or None."""
        from flwr.common.serde import message_from_proto
        from flwr.proto.fleet_pb2 import PullMessagesRequest
        from flwr.proto.message_pb2 import ConfirmMessageReceivedRequest

        pulled = self.client.PullMessages(PullMessagesRequest(node=self.node))
        if not pulled.messages_list:
            return None
        head, tree = message_from_proto(pulled.messages_list[0]), pulled.message_object_trees[0]
        run = head.metadata.run_id
        message = self._whole(tree, run, deadline=time.monotonic() + head.metadata.ttl)
        self.client.ConfirmMessageReceived(
            ConfirmMessageReceivedRequest(
                node=self.node, run_id=run, message_object_id=tree.object_id
            )
        )
        return message

    def _whole(self, tree: Any, run: int, *, deadline: float) -> Any | None:
        """A message once all its parts have come; one that is damaged or late is dropped."""
        while time.monotonic() < deadline:
            try:
                message = letters.assembled(tree, lambda name: self._part(run, name))
            except DataError:
                return None
            if message is not None:
                return message
            time.sleep(_PART_SECONDS)
        return None

    def _part(self, run: int, name: str) -> bytes | None:
        from flwr.proto.message_pb2 import PullObjectRequest

        request = PullObjectRequest(node=self.node, run_id=run, object_id=name)
        pulled = self.client.PullObject(request)
        if not pulled.object_found:
            raise DataError("a part of a message is gone")
        return bytes(pulled.object_content) if pulled.object_available else None

    def reply(self, message: Any) -> None:
        """Send a reply and its parts."""
        from flwr.proto.fleet_pb2 import PushMessagesRequest
        from flwr.proto.message_pb2 import PushObjectRequest

        head, tree = letters.envelope(message)
        pushed = self.client.PushMessages(
            PushMessagesRequest(
                node=self.node,
                messages_list=[head],
                message_object_trees=[tree],
                # How long an answer took could tell something about rows.
                clientapp_runtime_list=[0.0],
            )
        )
        wanted = set(pushed.objects_to_push)
        for name, part in letters.parts(message).items():
            if name in wanted:
                self.client.PushObject(
                    PushObjectRequest(
                        node=self.node,
                        run_id=message.metadata.run_id,
                        session_id=pushed.session_id,
                        object_id=name,
                        object_content=part,
                    )
                )

    def bundle_of(self, run: int) -> str:
        """The hash of the bundle that came with a run."""
        from flwr.proto.run_pb2 import GetRunRequest

        return str(self.client.GetRun(GetRunRequest(node=self.node, run_id=run)).run.fab_hash)


@contextmanager
def connected(link: Link, say: Callable[[str], None]) -> Iterator[Session]:
    """A session, kept alive by heartbeats, ended when left."""
    from flwr.proto.fleet_pb2 import DeactivateNodeRequest
    from flwr.proto.node_pb2 import Node as NodeNumber

    key = private_key(link.key)
    with _client(link, key) as client:
        number = _activated(client, key, link, say)
        say(f"connected to {link.superlink}")
        session = Session(client, NodeNumber(node_id=number))
        with _heartbeats(session):
            try:
                yield session
            finally:
                with suppress(Exception):
                    client.DeactivateNode(DeactivateNodeRequest(node_id=number))


def _client(link: Link, key: Any) -> Any:
    from flwr.supernode.fleet_http_client import FleetHttpClient
    from flwr.supernode.node_auth_http_interceptor import NodeAuthHttpInterceptor

    client = FleetHttpClient(
        f"https://{link.superlink}",
        interceptors=[
            flower.version_header("SuperNode"),
            NodeAuthHttpInterceptor(key, key.public_key()),
        ],
        verify=flower.trusting(link.root_certificates),
    )
    return flower.bounded(client)


def _activated(client: Any, key: Any, link: Link, say: Callable[[str], None]) -> int:
    """The number the SuperLink gives this key, waiting for a SuperLink that is not there yet."""
    import httpx

    started, said = time.monotonic(), False
    while True:
        try:
            return _activate(client, key)
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            if status == httpx.codes.SERVICE_UNAVAILABLE:
                refused, patience = _unready(link), link.wait
            else:
                refused, patience = _refusal(link, status), _TAKEN_SECONDS
        except httpx.TransportError as error:
            refused, patience = _unreachable(link, error), link.wait
        waited = time.monotonic() - started
        if waited + _RETRY_SECONDS > min(patience, link.wait):
            raise refused
        if not said:
            say(f"{refused}; trying for {min(patience, link.wait):g} s")
            said = True
        time.sleep(_RETRY_SECONDS)


def _activate(client: Any, key: Any) -> int:
    from flwr.proto.fleet_pb2 import ActivateNodeRequest
    from flwr.supercore.primitives.asymmetric import public_key_to_bytes

    request = ActivateNodeRequest(
        public_key=public_key_to_bytes(key.public_key()),
        heartbeat_interval=flower.HEARTBEAT_SECONDS,
    )
    return int(client.ActivateNode(request).node_id)


def _refusal(link: Link, status: int) -> DataError:
    return DataError(
        f"superlink {link.superlink}: refuses key {link.key} (status {status}); the analyst must "
        "know its public half, no other holder may run with it, and the clocks of both machines "
        "must agree to five minutes"
    )


def _unready(link: Link) -> DataError:
    return DataError(f"superlink {link.superlink}: is not ready yet; wait longer, or ask its owner")


def _unreachable(link: Link, error: Exception) -> DataError:
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        # Waiting would not mend it.
        raise DataError(
            f"superlink {link.superlink}: its certificate is not vouched for by "
            f"{link.root_certificates}, or is for another name; nothing was sent"
        ) from None
    return DataError(f"superlink {link.superlink}: cannot be reached; check address and firewall")


@contextmanager
def _heartbeats(session: Session) -> Iterator[None]:
    """Tell the SuperLink that we are there, also while an answer takes long."""
    from flwr.proto.heartbeat_pb2 import SendNodeHeartbeatRequest

    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(flower.HEARTBEAT_SECONDS / 3):
            with suppress(Exception):
                session.client.SendNodeHeartbeat(
                    SendNodeHeartbeatRequest(
                        node=session.node, heartbeat_interval=flower.HEARTBEAT_SECONDS
                    )
                )

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
