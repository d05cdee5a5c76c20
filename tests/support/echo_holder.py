"""A holder without rows, as a process: it notes what it is asked, and echoes, waits or dies."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from understudy.federated.wire.node import Link, Node


def main() -> None:
    """Serve a link until the closing message: address, key, roots, and a file of questions."""
    address, key, roots, notes = sys.argv[1:]
    link = Link(address, Path(key), Path(roots), wait=60)
    answers = Node(link, lambda body: _echo(body, Path(notes)), _say).serve()
    sys.stdout.write(str(answers))


def _echo(body: bytes, notes: Path) -> bytes:
    with notes.open("ab") as file:
        file.write(body + b"\n")
    if body.startswith(b"die"):
        os._exit(9)
    if body.startswith(b"wait"):
        _wait_for(Path(body.removeprefix(b"wait ").decode()))
    if body.startswith(b"fail"):
        raise ValueError(body.decode())
    return b"echo " + body


def _wait_for(place: Path) -> None:
    """Until there is a file, and no longer than a minute."""
    for _ in range(6000):
        if place.exists():
            return
        time.sleep(0.01)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    main()
