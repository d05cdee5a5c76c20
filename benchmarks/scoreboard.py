"""Measured numbers beside their targets: printed for people, written as JSON for the record."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.machine import machine, versions

RESULTS = Path(__file__).parent / "results"

Choice = TypeVar("Choice")


class Size(Enum):
    """How much work a run is: all that is claimed, or a few seconds that show that it runs."""

    FULL = "full"
    SMOKE = "smoke"

    def pick(self, full: Choice, smoke: Choice) -> Choice:
        """The one of two choices that belongs to this size."""
        return full if self is Size.FULL else smoke


@dataclass(frozen=True)
class Line:
    """One number: what was measured, in which unit, against which target if there is one."""

    what: str
    measured: float
    unit: str
    target: float | None = None
    at_most: bool = True

    @property
    def met(self) -> bool | None:
        """Whether the number is on the right side of its target; None where there is none."""
        if self.target is None:
            return None
        return self.measured <= self.target if self.at_most else self.measured >= self.target


@dataclass
class Scoreboard:
    """The lines of one benchmark, what was left out, and what else it found.

    Attributes:
        folder: where its record will be written, for what is kept run by run; None keeps nothing.
        only: patterns that select parts of a benchmark that has parts.
    """

    name: str
    size: Size = Size.FULL
    folder: Path | None = None
    only: tuple[str, ...] = ()
    lines: list[Line] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    details: list[dict[str, Any]] = field(default_factory=list)
    peers: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, str] = field(default_factory=dict)

    def add(
        self,
        what: str,
        measured: float,
        unit: str,
        target: float | None = None,
        *,
        at_most: bool = True,
    ) -> None:
        """Print a line as soon as it is known."""
        line = Line(what, measured, unit, target, at_most)
        self.lines.append(line)
        print(f"{what:<76} {measured:9.3f} {unit:<5} {self._verdict(line)}", flush=True)

    def leave_out(self, what: str, reason: str) -> None:
        """Say what could not be measured, and why."""
        self.left_out.append(f"{what}: {reason}")
        print(f"not measured: {what}: {reason}", flush=True)

    def write(self, folder: Path, *, seconds: float, arguments: list[str]) -> Path:
        """Keep the numbers with their date, machine, versions and command."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, picture in self.pictures.items():
            (folder / name).write_text(picture)
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps(self._record(seconds, arguments), indent=1) + "\n")
        return path

    @property
    def missed(self) -> list[Line]:
        """The lines on the wrong side of their targets; small sizes have no targets."""
        return self.size.pick([line for line in self.lines if line.met is False], [])

    def _verdict(self, line: Line) -> str:
        if line.target is None:
            return "for comparison"
        bound = f"{'≤' if line.at_most else '≥'} {line.target:g}"
        return f"{bound} {self.size.pick('met' if line.met else 'MISSED', 'at full size')}"

    def _record(self, seconds: float, arguments: list[str]) -> dict[str, Any]:
        return {
            "benchmark": self.name,
            "size": self.size.value,
            "command": shlex.join(["python", "-m", "benchmarks", *arguments]),
            "date": datetime.now(UTC).date().isoformat(),
            "machine": machine(),
            "load": round(os.getloadavg()[0], 2),
            "versions": versions() | self.peers,
            "seconds": round(seconds, 1),
            "lines": [asdict(line) | {"met": line.met} for line in self.lines],
            "left_out": self.left_out,
            "details": self.details,
        }
