"""Measure the code of this repository: `scripts/measure`, `scripts/measure --list homonyms`.

The docstring of `pages.measures` says how each number is counted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pages.measures import Measures, measured
from pages.modules import ROOT

LISTS = ("homonyms", "positional", "long", "undocumented", "untyped", "top_floor")
_SHARES = ("typed", "documented", "documented_modules")


def table(found: Measures) -> str:
    """Write all measures as a Markdown table of one line for each."""
    rows = [
        f"| {name.replace('_', ' ')} | {_shown(name, n)} |" for name, n in found.numbers().items()
    ]
    return "\n".join(["| measure | value |", "|---|---:|", *rows])


def listed(found: Measures, name: str) -> list[str]:
    """List what one measure counts, each with its place."""
    if name == "homonyms":
        return [f"{each}: {', '.join(places)}" for each, places in found.homonyms.items()]
    return list(getattr(found, name))


def main(arguments: Sequence[str]) -> int:
    """Print the table, one list, or either of them as JSON."""
    parser = argparse.ArgumentParser(prog="scripts/measure", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--list", choices=LISTS, help="print what one measure counts, with places")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository to measure")
    given = parser.parse_args(arguments)
    found = measured(given.root)
    if given.json:
        print(json.dumps(listed(found, given.list) if given.list else found.numbers(), indent=2))
    else:
        print("\n".join(listed(found, given.list)) if given.list else table(found))
    return 0


def _shown(name: str, number: float) -> str:
    if name in _SHARES:
        return f"{number:.1%}"
    return f"{number:,}" if isinstance(number, int) else f"{number:,.2f}".rstrip("0").rstrip(".")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
