"""The table of methods, made from their classes."""

from __future__ import annotations

from understudy.methods import registry
from understudy.methods.abilities import Abilities

_HEADS = ("method", "learns", "budget", "whole persons", "extra")


def methods_table() -> str:
    """Return a line for each method: what it learns, its budget, and what else it can do."""
    rows = [f"| {' | '.join(_HEADS)} |", "|---" * len(_HEADS) + "|"]
    for entry in registry.BUILT_IN:
        kind = entry.load()
        cells = (f"`{entry.name}`", kind.summary, *_cells(kind.abilities))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _cells(found: Abilities) -> tuple[str, str, str]:
    kinds = {"pure ε": found.pure, "(ε, δ)": found.approximate}
    budget = " or ".join(words for words, taken in kinds.items() if taken)
    return budget, "yes" if found.persons else "no", f"`{found.extra}`" if found.extra else "none"
