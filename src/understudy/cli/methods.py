"""The methods that `--method` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.schema import Schema
    from understudy.synthesizers import Synthesizer

METHODS = ("auto", "independent", "random")


def build(
    method: str,
    schema: Schema,
    *,
    epsilon: str | None,
    delta: str,
    neighbours: str | None,
    rows: int | None,
) -> Synthesizer:
    """The synthesizer asked for; an impossible combination is refused before anything is read."""
    from understudy.synthesizers import Independent, Random

    if method not in METHODS:
        raise UsageError(f"method {method!r} is unknown; use one of {', '.join(METHODS)}")
    if epsilon is None and not (method == "random" and rows is not None):
        raise UsageError(
            "epsilon is not given; say how much privacy loss is allowed, as --epsilon 1"
        )
    amount = epsilon or "0"
    synthesizer: Synthesizer
    if method == "random":
        synthesizer = Random(schema, epsilon=amount, delta=delta, neighbours=neighbours, rows=rows)
    else:
        synthesizer = Independent(schema, epsilon=amount, delta=delta, neighbours=neighbours)
    _ = synthesizer.budget, synthesizer.unit
    return synthesizer
