"""Messages: what is written is read, and nothing else is."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.federated import ONE, RUN
from understudy.errors import MessageError
from understudy.federated.messages import VERSION, Chosen, MeasureTables, Message, Tables

ARRAYS: tuple[np.ndarray[Any, Any], ...] = (
    np.arange(-3, 3, dtype=np.int64).reshape(2, 3),
    np.array([0.5, -1.25]),
    np.array([[1, -1]], np.int16),
    np.array(7),
    np.zeros((0, 4), np.int64),
)


def _with_header(document: object, rest: bytes = b"", *, version: int = 1) -> bytes:
    text = json.dumps(document).encode()
    return struct.pack("<4sBI", b"UNDF", version, len(text)) + text + rest


def _header(**other: object) -> dict[str, object]:
    return {"run": RUN, "request": ONE, "arrays": [], "body": {"kind": "tables"}} | other


def test_messages_come_back_as_they_were() -> None:
    """Fields, types, shapes and numbers survive the way."""
    body = MeasureTables(share="1/3", tables=(("a", "b"), ()), weights=(1, 2))
    sent = Message(RUN, ONE, body, ARRAYS)
    read = Message.decoded(sent.encoded())
    assert (RUN, ONE, body) == (read.run, read.request, read.body)
    for there, here in zip(ARRAYS, read.arrays, strict=True):
        assert (there.dtype, there.shape, there.tolist()) == (here.dtype, here.shape, here.tolist())
    assert sent.encoded() == read.encoded()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"UNDF",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x80\x04\x95pickle",
        Message(RUN, ONE, Tables()).encoded() + b"x",
        Message(RUN, ONE, Tables(), ARRAYS).encoded()[:-1],
        _with_header(_header(), version=2),
        _with_header([]),
        _with_header(_header(run="../../etc/passwd")),
        _with_header(_header(run="a" * 31 + "\n")),
        _with_header(_header(request="A" * 32)),
        _with_header(_header(more=1)),
        _with_header(_header(body={"kind": "run", "code": "print()"})),
        _with_header(_header(body={"kind": "tables", "more": 1})),
        _with_header(_header(body={"kind": "chosen", "index": -1})),
        _with_header(_header(body={"kind": "chosen", "index": "1"})),
        _with_header(_header(body={"kind": "measure", "share": "1e9", "tables": [["a"]]})),
        _with_header(_header(arrays=[{"type": "|O", "shape": [1]}]), b"x" * 8),
        _with_header(_header(arrays=[{"type": "<i8", "shape": [-1]}])),
        _with_header(_header(arrays=[{"type": "<i8", "shape": [2**31, 2**31]}])),
        _with_header(_header(arrays=[{"type": "<f8", "shape": [1]}]), struct.pack("<d", np.nan)),
        _with_header(_header(arrays=[{"type": "<f8", "shape": [1]}]), struct.pack("<d", np.inf)),
    ],
)
def test_anything_else_is_refused(data: bytes) -> None:
    """What is cut, longer, of another version, type, shape or kind is not a message."""
    with pytest.raises(MessageError):
        Message.decoded(data)


def test_messages_have_a_largest_size() -> None:
    """Beyond it nothing is parsed."""
    data = Message(RUN, ONE, Tables(), (np.zeros(1000),)).encoded()
    with pytest.raises(MessageError, match="the most is 1000"):
        Message.decoded(data, most_bytes=1000)


@given(st.binary(max_size=200), st.integers(0, 400), st.integers(1, 255))
def test_damage_is_refused_or_harmless(noise: bytes, place: int, change: int) -> None:
    """Random bytes, and messages with a byte changed, are read or refused with our own error."""
    sent = bytearray(Message(RUN, ONE, Chosen(index=3), ARRAYS).encoded())
    sent[place % len(sent)] = (sent[place % len(sent)] + change) % 256
    for data in (noise, bytes(sent)):
        try:
            read = Message.decoded(data)
        except MessageError:
            continue
        assert isinstance(read, Message)


def test_a_header_of_very_many_values_is_not_parsed() -> None:
    """Sixteen megabytes of empty lists would take thirty times as much in memory."""
    many = b"[" + b",".join([b"[]"] * 3_000_000) + b"]"
    text = b'{"run": ' + many + b"}"
    data = b"UNDF" + struct.pack("<BI", VERSION, len(text)) + text
    with pytest.raises(MessageError, match="header holds too many values; ask for less"):
        Message.decoded(data)
