"""Build the site: `python -m pages.site -o FOLDER`. Warnings are errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pages.site.staging import stage


def main(arguments: Sequence[str]) -> int:
    """Lay out the pages, and have Sphinx make HTML of them."""
    parser = argparse.ArgumentParser(prog="scripts/site", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("site"), help="the folder")
    parser.add_argument("--stage-only", action="store_true", help="write only the sources")
    asked = parser.parse_args(arguments)
    source = asked.output / "source"
    stage(source)
    return 0 if asked.stage_only else _built(source, asked.output / "html")


def _built(source: Path, html: Path) -> int:
    """Run Sphinx with two processes; it returns 1 if anything was warned about."""
    from sphinx.cmd.build import main as sphinx

    options = ["-W", "--keep-going", "-q", "-j", "2", "-b", "html"]
    trees = str(html.parent / "doctrees")
    return int(sphinx([*options, "-d", trees, str(source), str(html)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
