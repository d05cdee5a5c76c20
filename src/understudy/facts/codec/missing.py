"""Cells that hold no declared value: missing, unreadable, or outside the bounds.

The three are kept apart. A null, an empty cell, NaN or a declared marker is *missing*. A text that
cannot be read as a number or date is *unreadable*. A readable value that the schema does not allow
is *outside*.
Missing cells take the missing level where there is one; all others go where `outside` says, and
a row with a cell that has nowhere to go is dropped. Each row's fate depends on that row alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from understudy.facts.codes import Codes, Mask


@dataclass(frozen=True)
class Encoded:
    """One column as codes; `dropped` marks cells whose rows must go, None when there are none."""

    codes: Codes
    dropped: Mask | None = None


def either(first: Mask | None, second: Mask | None) -> Mask | None:
    """The union of two masks, either of which may be absent."""
    if first is None or second is None:
        return second if first is None else first
    return first | second


def assign(codes: Codes, cells: Mask | None, code: int | None) -> Mask | None:
    """Give the marked cells a code; with no code to give, hand them back to be dropped."""
    if cells is None or not cells.any():
        return None
    if code is None:
        return cells
    codes[cells] = code
    return None
