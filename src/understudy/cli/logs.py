"""Logs for machines: with `--log json` every message on stderr is one JSON object in a line.

Privacy: what goes to stderr in a script quotes no cell, and a log adds nothing to it but the
command's name, its exit code and times. Nobody is taken to look on: exact losses and copies, which
are for the owner at a terminal, are not shown, and no question is asked.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import IO, Any

from understudy.system.printable import printable
from understudy.system.version import __version__

LOG = "--log"
_ERROR = "error: "
_STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def wanted_log(arguments: Sequence[str]) -> str:
    """The format of messages that is asked for before the command."""
    for place, argument in enumerate(arguments):
        if argument == LOG:
            return "".join(arguments[place + 1 : place + 2])
        if argument.startswith(f"{LOG}="):
            return argument.removeprefix(f"{LOG}=")
        if not argument.startswith("-"):
            break
    return "text"


class JsonLog(io.TextIOBase):
    """A stream that writes each line it is given as a JSON object."""

    def __init__(self, stream: IO[str], command: str) -> None:
        self._stream, self._command, self._rest = stream, command, ""

    def write(self, text: str) -> int:
        """Take a text; whole lines of it are written at once."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._message(line)
        return len(text)

    def flush(self) -> None:
        """Hand on what was written; a line that is not finished waits."""
        self._stream.flush()

    def fileno(self) -> int:
        """Return the number of the stream behind."""
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Nobody looks on."""
        return False

    def begin(self) -> None:
        """Write that the command begins."""
        self._write(level="info", event="begin", version=__version__, process=os.getpid())

    def end(self, code: int) -> None:
        """Write the exit code."""
        self._message(self._rest)
        self._rest = ""
        self._write(level="error" if code else "info", event="end", exit_code=int(code))

    def _message(self, line: str) -> None:
        said = printable(_STYLES.sub("", line)).strip()
        if said.startswith(_ERROR):
            self._write(level="error", event="error", message=said.removeprefix(_ERROR))
        elif said:
            self._write(level="info", event="message", message=said)

    def _write(self, **fields: Any) -> None:
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"time": time, "command": self._command, **fields}
        self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._stream.flush()


@contextmanager
def logged(command: str) -> Iterator[JsonLog]:
    """Write all messages of a command as JSON, with its beginning; its end is said by `end`.

    Args:
        command: its name, and nothing that follows it: paths and values may be private.
    """
    before = sys.stderr
    log = JsonLog(before, command)
    sys.stderr = log
    try:
        log.begin()
        yield log
    finally:
        sys.stderr = before
