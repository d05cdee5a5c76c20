"""Events from a Redis stream: a consumer group, entries of many ids, nothing left behind.

An entry holds many ids: whole numbers of 64 bits under `ids`, lowest byte first, or lines of text
under `texts` or under a field that the caller names. Entries are acknowledged and deleted in one
step once they are taken in. A process that dies in between gets them again, which changes nothing
where users are only inserted: a user who visits twice is drawn again from the same law
(docs/proofs/pan_private.md). Deletions of users would need each event once and in order, and are
refused.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from understudy.errors import DataError, UsageError
from understudy.stream.reading import Wait, forever
from understudy.stream.texts import Texts
from understudy.stream.universe import Ids, ids_of
from understudy.system.extras import require

SCHEMES = ("redis://", "rediss://", "unix://")

_IDS, _TEXTS = b"ids", b"texts"
_ENTRIES = 100
_SECONDS = 10.0
_LONGEST_READ = 1.0
_NEW, _PENDING = b">", b"0"


@dataclass(frozen=True)
class Place:
    """A stream on a Redis server, and who reads it.

    Attributes:
        address: such as redis://host:6379/0.
        stream: the key of the stream.
        group: of consumers, among which entries are shared out.
        consumer: whose unacknowledged entries come again.
        column: the field of an entry that holds an id, or lines of them; `ids` or `texts` unless
            given.
    """

    address: str
    stream: str
    group: str = "understudy"
    consumer: str = "understudy"
    column: str | None = None

    def __str__(self) -> str:
        # An address may hold a password.
        parts = urlsplit(self.address)
        where = parts.hostname or parts.path
        return f"stream {self.stream!r} at {where}" + (f":{parts.port}" if parts.port else "")


class RedisEvents:
    """Batches of ids as they come, each acknowledged and deleted when the next is asked for."""

    def __init__(self, place: Place, *, entries: int = _ENTRIES) -> None:
        self._place = place
        self._entries = entries
        self._client = _client(place)
        with reaching(place):
            self._join()

    def _join(self) -> None:
        """Make the group where it is not there yet; it begins with the first entry."""
        errors = require("redis.exceptions", extra="stream")
        try:
            self._client.xgroup_create(
                self._place.stream, self._place.group, id=_PENDING, mkstream=True
            )
        except errors.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    def check(self) -> None:
        """Refuse entries that cannot be read, as far as some are there, before anything is paid."""
        with reaching(self._place):
            found = self._client.xrange(self._place.stream, count=self._entries)
        _joined(self._place, found)

    def batches(self, *, idle: float | None = None, wait: Wait = forever) -> Iterator[Ids]:
        """Entries left from before, then new ones.

        Args:
            idle: end after this many seconds without an entry; never, unless given.
            wait: within how many seconds a batch must come, be it empty; asked each time.
        """
        yield from self._left_over()
        # Only waiting is silence: what is done with a batch may take as long as it likes.
        silence = 0.0
        while idle is None or silence < idle:
            due, began = wait(), time.monotonic()
            pause = min(x for x in (idle, due, _LONGEST_READ) if x is not None)
            found = self._read(_NEW, block=max(int(pause * 1000), 1)) if pause > 0 else []
            silence = 0.0 if found else silence + time.monotonic() - began
            if found or due is not None:
                yield _joined(self._place, found)
            self._forget(found)

    def _left_over(self) -> Iterator[Ids]:
        while found := self._read(_PENDING, block=None):
            yield _joined(self._place, found)
            self._forget(found)

    def _read(self, after: bytes, *, block: int | None) -> Sequence[tuple[bytes, Any]]:
        place = self._place
        with reaching(place):
            answer = self._client.xreadgroup(
                place.group, place.consumer, {place.stream: after}, self._entries, block
            )
        return list(answer[0][1]) if answer else []

    def _forget(self, entries: Sequence[tuple[bytes, Any]]) -> None:
        """Acknowledge and delete what was taken in, both or neither."""
        if not entries:
            return
        names = [name for name, _ in entries]
        with reaching(self._place):
            steps = self._client.pipeline(transaction=True)
            steps.xack(self._place.stream, self._place.group, *names)
            steps.xdel(self._place.stream, *names)
            steps.execute()

    def close(self) -> None:
        """Leave the server; entries that were not acknowledged stay there."""
        self._client.close()


def publish(address: str, stream: str, ids: Any, *, per_entry: int = 1000) -> None:
    """Append ids to a stream, many to an entry."""
    place, given = Place(address, stream), ids_of(ids)
    if isinstance(given, Texts):
        raise UsageError("texts are published as lines: XADD a field `texts`; give numbers here")
    client = _client(place)
    try:
        with reaching(place):
            steps = client.pipeline(transaction=False)
            for start in range(0, given.size, per_entry):
                part = given[start : start + per_entry].astype("<i8")
                steps.xadd(stream, {_IDS: part.tobytes()})
            steps.execute()
    finally:
        client.close()


@contextmanager
def reaching(place: Place) -> Iterator[None]:
    """Failures of the server in our words, without an address's password."""
    errors = require("redis.exceptions", extra="stream")
    try:
        yield
    except (errors.ConnectionError, errors.TimeoutError):
        raise DataError(
            f"{place}: the server went away or cannot be reached; the state is whole, and entries "
            "that were not acknowledged come again: run this again"
        ) from None
    except errors.RedisError:
        raise DataError(f"{place}: the server refuses; is this key a stream?") from None


def _client(place: Place) -> Any:
    redis = require("redis", extra="stream")
    if not place.address.startswith(SCHEMES):
        raise UsageError("a Redis address begins with redis://, rediss:// or unix://")
    try:
        return redis.Redis.from_url(place.address, socket_timeout=_SECONDS)
    except ValueError:
        raise UsageError("this is not a Redis address; write redis://host:port/number") from None


def _joined(place: Place, entries: Sequence[tuple[bytes, Mapping[bytes, bytes] | None]]) -> Ids:
    """The ids of several entries; an entry deleted by others in the meantime has none."""
    fields = [field for _, field in entries if field]
    if place.column is not None:
        return _named(place, place.column, fields)
    if any(_IDS not in field and _TEXTS not in field for field in fields):
        raise DataError(
            f"{place}: an entry has neither a field `ids` nor `texts`; name the field that holds "
            "ids with --column"
        )
    if all(_IDS in field for field in fields):
        block = b"".join(field[_IDS] for field in fields)
        if len(block) % 8:
            raise DataError(
                f"{place}: `ids` of an entry are not numbers of 64 bits; write such numbers, or "
                "texts, and name their field with --column"
            )
        return np.frombuffer(block, "<i8").astype(np.int64, copy=False)
    return Texts.lines(np.frombuffer(b"\n".join(map(_lines, fields)), np.uint8))


def _named(place: Place, column: str, fields: Sequence[Mapping[bytes, bytes]]) -> Ids:
    """The texts under a field of every entry, each an id or lines of them."""
    name = column.encode()
    if any(name not in field for field in fields):
        raise DataError(
            f"{place}: an entry has no field {column!r}; name the field that holds ids in all of "
            "them with --column"
        )
    return Texts.lines(np.frombuffer(b"\n".join(field[name] for field in fields), np.uint8))


def _lines(field: Mapping[bytes, bytes]) -> bytes:
    """An entry as lines, whichever way it was written."""
    if _TEXTS in field:
        return field[_TEXTS]
    numbers = np.frombuffer(field[_IDS], "<i8").tolist()
    return "\n".join(map(str, numbers)).encode()
