"""A channel to holders over a SuperLink: questions out, the replies that come in time back."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from understudy.errors import DataError, UsageError
from understudy.federated.wire import envelopes as letters
from understudy.system.printable import printable

_POLL_SECONDS = 0.03
# A question is put again: a holder that was restarted has lost what it was asked. A request that it
# has answered before costs it nothing.
_AGAIN_SECONDS = 30.0
_RETURN_SECONDS = 2.0
# How far the clocks of holders may be off before a message seems too old to them.
_CLOCKS_SECONDS = 300.0
_CLOSING_SECONDS = 2.0
_NONCE_BYTES: Final = 16
_SHOWN_CHARACTERS = 300


@dataclass(frozen=True)
class FlowerRun:
    """A run of Flower's that this process works for, and the holders' node numbers."""

    client: Any
    number: int
    nodes: Mapping[str, int]


@dataclass
class _OpenQuestion:
    """A question to one holder, and every message that asked it."""

    body: bytes
    node: int
    nonces: dict[str, bytes] = field(default_factory=dict)
    put_at: float = float("-inf")
    heard: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    told: str = ""
    given_up: bool = False

    def is_due(self, now: float) -> bool:
        """Whether to put it now: for the first time, to a holder that was away, or after long."""
        away = self.lost.issuperset(self.nonces)
        return now - self.put_at > (_RETURN_SECONDS if away else _AGAIN_SECONDS)


class FlowerChannel:
    """Sends each holder its request and brings the replies that come in time."""

    def __init__(self, run: FlowerRun, address: str, say: Callable[[str], None]) -> None:
        self.address = address
        self._run = run
        self._say = say
        self._present: tuple[str, ...] = ()

    @property
    def holders(self) -> Sequence[str]:
        """Those who were there when enough had come."""
        return self._present

    def wait_for(self, count: int, *, seconds: float) -> None:
        """Wait until this many holders are there; they are the holders from then on."""
        if not 1 <= count <= len(self._run.nodes):
            raise UsageError(
                f"holders is {count}; with {len(self._run.nodes)} public keys say a number from 1 "
                f"to {len(self._run.nodes)}"
            )
        deadline, known = time.monotonic() + seconds, set[str]()
        while True:
            present = self._online()
            for name in sorted(present - known):
                self._say(f"{name} is there ({len(present)} of {count})")
            known = present
            if len(present) >= count:
                self._present = tuple(name for name in self._run.nodes if name in present)
                return
            if time.monotonic() > deadline:
                missing = ", ".join(sorted(set(self._run.nodes) - present))
                raise DataError(
                    f"{len(present)} of {count} holders came within {seconds:g} s; missing: "
                    f"{missing}; nothing was asked"
                )
            time.sleep(0.2)

    def _online(self) -> set[str]:
        from flwr.proto.runtime_pb2 import GetNodesRequest

        online = {node.node_id for node in self._run.client.GetNodes(GetNodesRequest()).nodes}
        return {name for name, number in self._run.nodes.items() if number in online}

    def ask(self, requests: Mapping[str, bytes], *, deadline: float) -> Mapping[str, bytes]:
        """Return the replies that come within the deadline; holders that gave none are left out."""
        ends = time.monotonic() + deadline
        open_ = {
            name: _OpenQuestion(body, self._run.nodes[name]) for name, body in requests.items()
        }
        replies: dict[str, bytes] = {}
        trees: dict[str, Any] = {}
        while open_ and time.monotonic() < ends:
            self._put(open_, ends)
            trees |= self._heads(open_)
            replies |= self._arrived(open_, trees)
            open_ = {
                name: question
                for name, question in open_.items()
                if name not in replies and not question.given_up
            }
            time.sleep(_POLL_SECONDS if open_ else 0)
        for name in open_:
            self._say(f"{name} gave no answer within {deadline:g} s")
        return replies

    def _put(self, questions: Mapping[str, _OpenQuestion], ends: float) -> None:
        """Put the questions that are new, and again those that were put long ago."""
        now = time.monotonic()
        messages = []
        for question in [each for each in questions.values() if each.is_due(now)]:
            letter = letters.Envelope(question.body, secrets.token_bytes(_NONCE_BYTES))
            message = self._message(letter, letters.ASK, question.node, ends - now)
            question.nonces[message.metadata.message_id] = letter.nonce
            question.put_at = now
            messages.append(message)
        self._push(messages)

    def _message(self, letter: letters.Envelope, kind: str, node: int, seconds: float) -> Any:
        lasting = max(seconds, 0) + _CLOCKS_SECONDS
        return letters.question(letter, kind=kind, run=self._run.number, node=node, seconds=lasting)

    def _push(self, messages: Sequence[Any]) -> None:
        from flwr.proto.message_pb2 import PushObjectRequest
        from flwr.proto.runtime_pb2 import PushAppMessagesRequest

        if not messages:
            return
        heads, trees = zip(*(letters.envelope(message) for message in messages), strict=True)
        pushed = self._run.client.PushMessages(
            PushAppMessagesRequest(messages_list=heads, message_object_trees=trees)
        )
        wanted = set(pushed.objects_to_push)
        parts = {
            name: part for message in messages for name, part in letters.parts(message).items()
        }
        for name in wanted & set(parts):
            self._run.client.PushObject(
                PushObjectRequest(
                    node=_own_node(),
                    run_id=self._run.number,
                    session_id=pushed.session_id,
                    object_id=name,
                    object_content=parts[name],
                )
            )

    def _heads(self, questions: Mapping[str, _OpenQuestion]) -> dict[str, Any]:
        """Trees of the replies that have begun to arrive, by the message they reply to."""
        from flwr.common.serde import message_from_proto
        from flwr.proto.runtime_pb2 import PullAppMessagesRequest

        # The SuperLink gives each reply once, and an error to whoever asks for it again.
        asked = {
            put: name
            for name, question in questions.items()
            for put in question.nonces
            if put not in question.heard
        }
        if not asked:
            return {}
        pulled = self._run.client.PullMessages(PullAppMessagesRequest(message_ids=list(asked)))
        found = {}
        for head, tree in zip(pulled.messages_list, pulled.message_object_trees, strict=True):
            message = message_from_proto(head)
            replied_to = message.metadata.reply_to_message_id
            if replied_to not in asked:
                continue
            questions[asked[replied_to]].heard.add(replied_to)
            if message.has_error():
                questions[asked[replied_to]].lost.add(replied_to)
                self._note(asked[replied_to], questions[asked[replied_to]], message.error)
            else:
                found[replied_to] = tree
        return found

    def _note(self, name: str, question: _OpenQuestion, error: Any) -> None:
        """Say once why a holder sends no answer, and whether to wait for it."""
        question.given_up = error.code in (letters.REFUSED, letters.FAULT)
        reason = error.reason if question.given_up else "is away; waiting for its return"
        if reason != question.told:
            question.told = reason
            self._say(f"{name}: {printable(reason[:_SHOWN_CHARACTERS])}")

    def _arrived(
        self, questions: Mapping[str, _OpenQuestion], trees: dict[str, Any]
    ) -> dict[str, bytes]:
        """The replies that are whole, by holder."""
        whole = {}
        for name, question in questions.items():
            for put in [put for put in question.nonces if put in trees]:
                letter = self._letter(name, trees[put])
                if letter is None:
                    continue
                del trees[put]
                if secrets.compare_digest(letter.nonce, question.nonces[put]):
                    whole[name] = letter.body
                else:
                    question.lost.add(put)
        return whole

    def _letter(self, name: str, tree: Any) -> letters.Envelope | None:
        """A reply once it is whole; one that is damaged counts as none, with no nonce."""
        try:
            message = letters.assembled(tree, self._part)
            return None if message is None else letters.opened(message)
        except DataError as error:
            self._say(f"{name}: {error}")
            return letters.Envelope(b"", b"")

    def _part(self, name: str) -> bytes | None:
        from flwr.proto.message_pb2 import PullObjectRequest

        request = PullObjectRequest(node=_own_node(), run_id=self._run.number, object_id=name)
        pulled = self._run.client.PullObject(request)
        if not pulled.object_found:
            raise DataError("a part of a reply is gone; it was not read")
        return bytes(pulled.object_content) if pulled.object_available else None

    def send_closing(self) -> None:
        """Tell holders that no more will be asked; whether they hear it or not."""
        with suppress(Exception):
            empty = letters.Envelope(b"", b"")
            there = self._online()
            self._push(
                [
                    self._message(empty, letters.CLOSING, number, 0)
                    for name, number in self._run.nodes.items()
                    if name in there
                ]
            )
            deadline = time.monotonic() + _CLOSING_SECONDS
            while self._online() and time.monotonic() < deadline:
                time.sleep(0.05)


def _own_node() -> Any:
    from flwr.proto.node_pb2 import Node

    return Node(node_id=letters.SUPERLINK)
