"""Our bytes inside Flower's messages: one record, its body and a number used once.

The number used once reaches only the holder that a message is for. A reply must bring it back,
since Flower lets a node answer in another's name if it knows the message's id.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from understudy.errors import DataError
from understudy.federated.wire.flower import MESSAGE_LIMIT

ASK: Final = "query.ask"
CLOSING: Final = "query.farewell"
# Why a holder gives no answer, in Flower's numbers; asked again it would say the same.
REFUSED: Final = 7
FAULT: Final = 2
# The number of the SuperLink itself among Flower's nodes.
SUPERLINK: Final = 1

_RECORD = "letter"
# A message of ours is three objects: message, dictionary, record.
_OBJECTS = 3


@dataclass(frozen=True)
class Envelope:
    """A message with the number that ties question and answer."""

    body: bytes
    nonce: bytes

    def __post_init__(self) -> None:
        if len(self.body) > MESSAGE_LIMIT:
            raise DataError(f"a message has {len(self.body)} bytes; at most {MESSAGE_LIMIT} travel")


def question(letter: Envelope, *, kind: str, run: int, node: int, seconds: float) -> Any:
    """A message to a holder, which nobody delivers after `seconds`."""
    import time

    from flwr.app import Metadata
    from flwr.app.message import make_message

    metadata = Metadata(
        run_id=run,
        message_id="",
        src_node_id=SUPERLINK,
        dst_node_id=node,
        reply_to_message_id="",
        group_id="",
        created_at=time.time(),
        ttl=seconds,
        message_type=kind,
    )
    return _numbered(make_message(metadata=metadata, content=_content(letter)))


def answer(letter: Envelope, to: Any) -> Any:
    """Return the reply to a message."""
    from flwr.app import Message

    return _numbered(Message(_content(letter), reply_to=to))


def failure(code: int, reason: str, to: Any) -> Any:
    """A reply that says why there is none."""
    from flwr.app import Error, Message

    return _numbered(Message(Error(code, reason), reply_to=to))


def opened(message: Any) -> Envelope:
    """The letter in a message; anything else is refused."""
    from flwr.app import ConfigRecord

    record = message.content.get(_RECORD) if message.has_content() else None
    if not isinstance(record, ConfigRecord) or {"body", "nonce"} != set(record):
        raise DataError("a message that arrived holds no letter; it was not read")
    body, nonce = record["body"], record["nonce"]
    if not isinstance(body, bytes) or not isinstance(nonce, bytes):
        raise DataError("a message that arrived holds no bytes; it was not read")
    return Envelope(body, nonce)


def envelope(message: Any) -> tuple[Any, Any]:
    """Return what is sent before the contents: the message without them, and its tree of parts."""
    from flwr.app.message import remove_content_from_message
    from flwr.common.serde import message_to_proto
    from flwr.supercore.inflatable.inflatable_object import get_object_tree, no_object_id_recompute

    with no_object_id_recompute():
        return message_to_proto(remove_content_from_message(message)), get_object_tree(message)


def parts(message: Any) -> dict[str, bytes]:
    """The contents of a message, by the ids that its tree names."""
    from flwr.supercore.inflatable.inflatable_object import get_all_nested_objects

    return {name: part.deflate() for name, part in get_all_nested_objects(message).items()}


def names(tree: Any) -> list[str]:
    """The ids of a message's parts; a tree of anything else is refused."""
    found: list[str] = []
    open_ = [tree]
    while open_ and len(found) <= _OBJECTS:
        node = open_.pop()
        found.append(str(node.object_id))
        open_.extend(node.children)
    if len(found) > _OBJECTS:
        raise DataError(f"a message that arrived has more than {_OBJECTS} parts; it was not read")
    return found


def assembled(tree: Any, pull: Callable[[str], bytes | None]) -> Any | None:
    """The message of a tree, each part fetched; None while a part is still on its way."""
    from flwr.supercore.inflatable.inflatable_utils import inflate_object_from_contents

    contents: dict[str, bytes] = {}
    for name in names(tree):
        part = pull(name)
        if part is None:
            return None
        contents[name] = part
    try:
        message = inflate_object_from_contents(tree.object_id, contents)
    except Exception:
        raise DataError("a message that arrived is damaged; it was not read") from None
    return _named(message, tree.object_id)


def _content(letter: Envelope) -> Any:
    from flwr.app import ConfigRecord, RecordDict

    return RecordDict({_RECORD: ConfigRecord({"body": letter.body, "nonce": letter.nonce})})


def _numbered(message: Any) -> Any:
    return _named(message, message.object_id)


def _named(message: Any, name: str) -> Any:
    message.metadata.__dict__["_message_id"] = name
    return message
