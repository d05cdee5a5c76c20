"""Lines that a test has shown after the run, also where another process ran it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# The name of the property that a test records: `record_property(SHOWN, line)`. Properties travel
# with the report of a test; what a worker of pytest-xdist prints does not.
SHOWN = "shown"


def shown(reports: Iterable[Any]) -> list[str]:
    """Return the lines that the tests of some reports recorded, below the name of their test."""
    lines: list[str] = []
    for report in reports:
        if getattr(report, "when", "") != "call":
            continue
        recorded = [str(value) for name, value in report.user_properties if name == SHOWN]
        lines += [report.nodeid, *recorded] if recorded else []
    return lines
