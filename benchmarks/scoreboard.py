"""Measured numbers beside their targets: printed for people, written as JSON for the record."""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Line:
    """One claim: what was measured, in which unit, against which target."""

    what: str
    measured: float
    unit: str
    target: float
    at_most: bool = True

    @property
    def met(self) -> bool:
        """Whether the number is on the right side of its target."""
        return self.measured <= self.target if self.at_most else self.measured >= self.target


@dataclass
class Scoreboard:
    """The lines of one benchmark."""

    name: str
    lines: list[Line] = field(default_factory=list)

    def add(
        self, what: str, measured: float, unit: str, target: float, *, at_most: bool = True
    ) -> None:
        """Print a line as soon as it is known."""
        line = Line(what, measured, unit, target, at_most)
        self.lines.append(line)
        sign = "≤" if at_most else "≥"
        verdict = "met" if line.met else "MISSED"
        print(f"{what:<66} {measured:8.3f} {unit:<5} {sign} {target:g} {verdict}", flush=True)

    def write(self) -> None:
        """Keep the numbers with their date and machine."""
        RESULTS.mkdir(exist_ok=True)
        record = {
            "benchmark": self.name,
            "date": datetime.now(UTC).date().isoformat(),
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "lines": [asdict(line) | {"met": line.met} for line in self.lines],
        }
        (RESULTS / f"{self.name}.json").write_text(json.dumps(record, indent=1) + "\n")


def seconds(run: Callable[[], object], *, times: int = 5) -> float:
    """The median wall time of several runs, after one that is not counted."""
    run()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        run()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def side_by_side(
    first: Callable[[], object], second: Callable[[], object], *, times: int = 7
) -> tuple[float, float]:
    """Median wall times of two pieces of work taken in turns, so that both meet the same load."""
    first(), second()
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for run, record in zip((first, second), taken, strict=True):
            started = time.perf_counter()
            run()
            record.append(time.perf_counter() - started)
    return statistics.median(taken[0]), statistics.median(taken[1])
