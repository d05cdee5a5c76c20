"""Which document has which blocks."""

from __future__ import annotations

from pathlib import Path

from benchmarks.report import ROOT, filled
from pages.assurances import assurance_table
from pages.exit_codes import exit_code_table
from pages.methods import methods_table
from pages.papers import rows_table
from pages.promises import promise_table
from understudy.privacy.statements.assurance import MECHANISMS, METHODS, RELEASES


def blocks() -> dict[str, dict[str, str]]:
    """Every block by its document and name."""
    return {
        "README.md": {"methods": methods_table()},
        "docs/guides/methods.md": {"methods": methods_table()},
        "docs/reference/commands.md": {"exit codes": exit_code_table()},
        "docs/promise.md": {"promises": promise_table()},
        "docs/studies/README.md": {"rows": rows_table()},
        "docs/assurance.md": {
            "methods": assurance_table("method", METHODS),
            "releases": assurance_table("release", RELEASES),
            "mechanisms": assurance_table("mechanism", MECHANISMS),
        },
    }


def texts() -> dict[Path, str]:
    """Every document that has such blocks, as it must read."""
    return {
        ROOT / name: filled((ROOT / name).read_text(encoding="utf-8"), found)
        for name, found in blocks().items()
    }
