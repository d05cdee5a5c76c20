"""Damage to bytes and to documents, drawn from a seeded generator."""

from __future__ import annotations

import copy
import json
import struct
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

MOST_BYTES = 1 << 18

# What parsers trip over: ends of ranges, brackets without end, bytes that are no text, magic words.
TOKENS: tuple[bytes, ...] = (
    *(b"", b"\0", b"\n", b"\r", b"\r\n", b",", b'"', b"'", b'"""', b"'''", b"#", b"=", b":", b"\\"),
    *(b"null", b"NaN", b"-Infinity", b"inf", b"true", b"0", b"-1", b"-0", b"1e999", b"1e999999999"),
    *(b"1e-999999999", b"1/0", b"0x" + b"f" * 4000, b"9" * 5000, b"0." + b"9" * 5000),
    *(b"9223372036854775807", b"18446744073709551616", b"65535", b"65536", b"4294967295"),
    *(b"[" * 3000, b'{"a":' * 3000, b"{a=" * 3000, b"a." * 3000, b"]" * 9, b"}" * 9, b"[[", b"[]"),
    *(b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"\xc0\x80", b"\x7f"),
    *(b"1970-01-01", b"0001-01-01", b"9999-12-31T23:59:59-12:00", b"0000-00-00", b"24:00:00"),
    *(b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PAR1", b"ARROW1", b"unreviewed = true\n"),
    *(struct.pack("<I", n) for n in (1, 2**31 - 1, 2**31, 2**32 - 1)),
    *(struct.pack("<q", n) for n in (1, -1, 2**31, 2**62, 2**63 - 1, -(2**63))),
    *(b"\x80" * 9 + b"\x01", b"\xff" * 16, b"\0" * 64, b"x" * 5000),
)

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 65535, 65536, 2**31, 2**62, 2**63, 2**64, 10**400, -(2**63)),
    *(0.5, -0.0, 1e308, 1e-320, 1e999, float("nan"), -1e999, [], {}, [[]], [None], {"": {}}, ""),
    *(" ", "a", "\0", "\n", "\ud800", "é", "x" * 5000, "1/0", "1/3", "1e999999999", "-1", "nan"),
    *("true", "drop", "clip", "id", "integer", "categorical", "boolean", "float", "date"),
    *("datetime", "2020-02-30", "0001-01-01", "9999-12-31", "9999-12-31T23:59:59-12:00", "now"),
    *("%d %d", "%Y", "a|b", "(", "string", "number", "numerical", "9" * 5000, "٣", "1_0"),
)


def mutated(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    """The bytes after one to some injuries."""
    for _ in range(1 + min(int(draw.expovariate(0.7)), 8)):
        data = draw.choice(_INJURIES)(data, others, draw)
    return data[:MOST_BYTES]


def _place(data: bytes, draw: Random) -> int:
    return draw.randrange(len(data) + 1)


def _part(data: bytes, draw: Random) -> tuple[int, int]:
    """A range, mostly a short one."""
    start = _place(data, draw)
    longest = draw.choice((1, 4, 16, 256, len(data)))
    return start, min(len(data), start + draw.randint(0, max(longest, 1)))


def _flipped(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    if not data:
        return data
    place = draw.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1 :]


def _replaced(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    start, stop = _part(data, draw)
    return data[:start] + draw.randbytes(stop - start) + data[stop:]


def _cut(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    return data[: _place(data, draw)]


def _removed(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    start, stop = _part(data, draw)
    return data[:start] + data[stop:]


def _repeated(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    start, stop = _part(data, draw)
    return data[:stop] + data[start:stop] * draw.choice((1, 1, 2, 50)) + data[stop:]


def _inserted(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    place = _place(data, draw)
    return data[:place] + draw.choice(TOKENS) + data[place:]


def _overwritten(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    place, token = _place(data, draw), draw.choice(TOKENS)
    return data[:place] + token + data[place + len(token) :]


def _spliced(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    other = draw.choice(others)
    return data[: _place(data, draw)] + other[_place(other, draw) :]


def _moved(data: bytes, others: Sequence[bytes], draw: Random) -> bytes:
    start, stop = _part(data, draw)
    rest = data[:start] + data[stop:]
    place = _place(rest, draw)
    return rest[:place] + data[start:stop] + rest[place:]


_INJURIES: tuple[Callable[[bytes, Sequence[bytes], Random], bytes], ...] = (
    *(_flipped, _flipped, _replaced, _cut, _removed, _repeated),
    *(_inserted, _inserted, _overwritten, _spliced, _moved),
)


def mutated_document(text: str, draw: Random) -> Any:
    """A JSON document after some of its values were replaced, removed, renamed or nested."""
    document = json.loads(text)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        document = _changed(document, draw)
    return document


def _changed(node: Any, draw: Random) -> Any:
    """Walk down at random and change what is there."""
    if not isinstance(node, dict | list) or not node or draw.random() < 0.15:
        return _exchanged(node, draw)
    keys: list[Any] = list(node) if isinstance(node, dict) else list(range(len(node)))
    key = draw.choice(keys)
    if draw.random() < 0.1:
        del node[key]
    elif draw.random() < 0.1:
        node[draw.choice(keys)] = node[key]
    elif isinstance(node, dict) and draw.random() < 0.1:
        node[draw.choice(("", " ", "kind", "missing", "edges", "outside", "\ud800", "x"))] = node[
            key
        ]
    else:
        node[key] = _changed(node[key], draw)
    return node


def _exchanged(node: Any, draw: Random) -> Any:
    choice = draw.random()
    if choice < 0.1:
        return [node]
    if choice < 0.15:
        return [node] * 300
    if choice < 0.2:
        return _nested(node, draw.choice((10, 100, 300)))
    return copy.deepcopy(draw.choice(VALUES))


def _nested(node: Any, depth: int) -> Any:
    for _ in range(depth):
        node = [node]
    return node
