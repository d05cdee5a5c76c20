"""An analyst in this process and holders in processes of their own, over TLS on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from understudy.federated.wire import hub, keys
from understudy.federated.wire.channel import FlowerChannel

NAMES = ("north", "south", "west")


@dataclass
class Site:
    """A folder of keys and certificates, and what holders noted that they were asked."""

    folder: Path
    said: list[str] = field(default_factory=list)

    @classmethod
    def made(cls, folder: Path, names: Sequence[str] = NAMES) -> Site:
        """New keys for each name, and a certificate for loopback."""
        keys.make_certificate(folder, ["127.0.0.1"])
        for name in names:
            keys.make_holder_key(folder / name)
        return cls(folder)

    @contextmanager
    def analyst(self, names: Sequence[str] = NAMES) -> Iterator[FlowerChannel]:
        """A channel that knows these holders' keys."""
        place = hub.Listening(
            "127.0.0.1", 0, self.folder / "analyst.crt", self.folder / "analyst.key"
        )
        known = {name: self.folder / f"{name}.pub" for name in names}
        with hub.opened(place, known, say=self.said.append) as channel:
            yield channel

    def start(self, name: str, address: str) -> subprocess.Popen[str]:
        """A holder's process."""
        arguments = [address, self.folder / name, self.folder / "roots.crt", self.notes(name)]
        return subprocess.Popen(
            [sys.executable, "-m", "support.echo_holder", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    @contextmanager
    def holders(
        self, channel: FlowerChannel, names: Sequence[str] = NAMES
    ) -> Iterator[dict[str, subprocess.Popen[str]]]:
        """Processes that have joined; whatever is left of them in the end is killed."""
        with ExitStack() as stack:
            running = {name: self.start(name, channel.address) for name in names}
            for process in running.values():
                stack.callback(_end, process)
            channel.wait_for(len(names), seconds=60)
            yield running

    def notes(self, name: str) -> Path:
        """Where a holder writes what it is asked."""
        return self.folder / f"{name}.notes"

    def asked(self, name: str) -> list[str]:
        """What a holder's handler was given."""
        notes = self.notes(name)
        return notes.read_text().splitlines() if notes.exists() else []


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.kill()
    process.communicate()
