"""The tables of how much each method and mechanism is proven."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from understudy.privacy.statements.assurance import Assurance


def assurance_table(kind: str, found: Mapping[str, Assurance]) -> str:
    """A line for each: proofs, replays, attacks, referees, and the verdict."""
    rows = [f"| {kind} | proof | replay | attack | outside referee | verdict |", "|---" * 6 + "|"]
    rows += [f"| `{name}` | {_cells(each)} |" for name, each in found.items()]
    return "\n".join(rows)


def _cells(each: Assurance) -> str:
    proofs = ", ".join(f"[{name}](proofs/{name}.md)" for name in each.proofs)
    tests = [_linked(paths) for paths in (each.replays, each.attacks, each.referees)]
    said = each.missing or each.limits
    verdict = f"{each.level}: {said}" if said else str(each.level)
    return " | ".join([proofs, *tests, verdict])


def _linked(paths: tuple[str, ...]) -> str:
    links = [f"[{PurePosixPath(path).stem.removeprefix('test_')}](../{path})" for path in paths]
    return ", ".join(links) or "none"
