"""Categories from released keys: in the type they spell, in order, with a place for all others.

The type that the data declares has no say: in a data frame one empty cell makes reals of whole
numbers, and one word makes texts of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from understudy.facts.column import MOST_LEVELS, Scalar, text_of
from understudy.methods.discover.skeleton import Skeleton
from understudy.rows.counting import ReleasedKeys

# What keys may spell besides texts, the narrowest first.
_READERS: tuple[Callable[[str], bool | int | float], ...] = (
    {"true": True, "false": False}.__getitem__,
    int,
    float,
)


def listing(skeleton: Skeleton, name: str, released: ReleasedKeys) -> dict[str, Any]:
    """A categorical column as it stands in a schema.

    Args:
        skeleton: says where values go that were not released.
        name: of the column.
        released: its keys.
    """
    always, outside = skeleton.catch_all(name)
    known = {text_of(value) for value in always}
    found = _typed([key for key in _largest(released) if key not in known])
    values = [*sorted(found, key=_order), *always]
    if values:
        return {"values": values, "outside": outside}
    # A column needs a value: with none released, all rows go to the one that stands in.
    [value] = skeleton.stand_in(name)
    return {"values": [value], "outside": value}


def _largest(released: ReleasedKeys) -> Sequence[str]:
    """As many keys as codes can number, those of the largest noisy counts."""
    keys = sorted(released.counts, key=lambda key: -released.counts[key])
    return keys[: MOST_LEVELS - 2]


def _typed(keys: Sequence[str]) -> list[Scalar]:
    """The keys in the first type that spells all of them as they are; else as texts."""
    for reader in _READERS:
        try:
            values = [reader(key) for key in keys]
        except (KeyError, ValueError, OverflowError):
            continue
        if all(map(math.isfinite, values)) and list(keys) == [text_of(v) for v in values]:
            return [*values]
    return list(keys)


def _order(value: Scalar) -> tuple[bool, float, str]:
    """Numbers by size, then texts by letter."""
    if isinstance(value, str):
        return True, 0.0, value
    return False, float(value), ""
