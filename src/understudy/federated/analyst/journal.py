"""The journal of an analyst's questions and replies, from which a run that was cut off resumes.

A file of records, each with its length and a digest before it; a record that was cut short ends
the file. Everything in it was released by holders, so it may be kept as freely as the model.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from understudy.errors import DataError, OutputError, UsageError
from understudy.system.files.descriptors import flush

_START = struct.Struct("<I32s")
_FORMAT = "understudy-journal-1"


class Journal:
    """A record of one run; without a path it is kept in memory alone.

    Args:
        path: the file; a new one is begun where there is none.
        about: what the run is; a file about another is refused.
        begin: facts of a new run, such as its name, which a resumed one finds again.
    """

    def __init__(self, path: Path | None, about: str, begin: dict[str, Any]) -> None:
        self._path = path
        self._requests: dict[tuple[int, str], bytes] = {}
        self._replies: dict[tuple[int, str], bytes] = {}
        self.dropped: dict[str, int] = {}
        self.facts = begin
        if path is None or not path.exists() or not self._read(path, about):
            self._write({"what": "begin", "format": _FORMAT, "about": about, "facts": begin})

    def request(self, number: int, holder: str) -> bytes | None:
        """Return the request that a holder got in some question, if it did."""
        return self._requests.get((number, holder))

    def reply(self, number: int, holder: str) -> bytes | None:
        """Return a holder's answer to some question, if there is one."""
        return self._replies.get((number, holder))

    def keep_request(self, number: int, holder: str, data: bytes) -> None:
        """Remember a request before it is sent."""
        self._requests[number, holder] = data
        self._write({"what": "request", "number": number, "holder": holder}, data)

    def keep_reply(self, number: int, holder: str, data: bytes) -> None:
        """Remember a reply that was found good."""
        self._replies[number, holder] = data
        self._write({"what": "reply", "number": number, "holder": holder}, data)

    def keep_dropped(self, number: int, holder: str) -> None:
        """Remember that a holder is left out from some question on."""
        self.dropped[holder] = number
        self._write({"what": "dropped", "number": number, "holder": holder})

    def _write(self, header: dict[str, Any], data: bytes = b"") -> None:
        if self._path is None:
            return
        payload = json.dumps(header).encode() + b"\n" + data
        record = _START.pack(len(payload), hashlib.sha256(payload).digest()) + payload
        try:
            with open(self._path, "ab") as file:
                file.write(record)
                file.flush()
                flush(file.fileno())
        except OSError as error:
            raise OutputError(f"journal {self._path}: {error.strerror}; choose another") from None

    def _read(self, path: Path, about: str) -> bool:
        """Take in all whole records, and cut off what follows; whether there was a first one."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise DataError(f"journal {path}: {error.strerror}; check the path") from None
        end = 0
        for header, body, after in _records(data):
            self._take(path, about, header, body)
            end = after
        if data and not end:
            raise DataError(
                f"{path}: is not a journal, or its first record is damaged; name another"
            )
        if end < len(data):
            os.truncate(path, end)
        return end > 0

    def _take(self, path: Path, about: str, header: dict[str, Any], body: bytes) -> None:
        match header["what"]:
            case "begin":
                if header["format"] != _FORMAT or header["about"] != about:
                    raise UsageError(
                        f"journal {path}: is about another run; resume with the same plan and "
                        "holders, or name a new journal"
                    )
                self.facts = header["facts"]
            case "request":
                self._requests[header["number"], header["holder"]] = body
            case "reply":
                self._replies[header["number"], header["holder"]] = body
            case "dropped":
                self.dropped[header["holder"]] = header["number"]


def _records(data: bytes) -> Iterator[tuple[dict[str, Any], bytes, int]]:
    """Every whole record from the start on: header, body, and where it ends."""
    place = 0
    while place + _START.size <= len(data):
        length, check = _START.unpack_from(data, place)
        place += _START.size
        payload = data[place : place + length]
        place += length
        if len(payload) < length or hashlib.sha256(payload).digest() != check:
            return
        text, _, body = payload.partition(b"\n")
        yield json.loads(text), body, place
