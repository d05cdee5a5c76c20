"""Categories from released keys: in the data's own type, in order, with a place for all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from understudy.column import MOST_LEVELS, Scalar, text_of
from understudy.counting import ReleasedKeys
from understudy.discover.skeleton import Skeleton


def listing(
    skeleton: Skeleton, name: str, released: ReleasedKeys, kind: type[Scalar]
) -> dict[str, Any]:
    """A categorical column as it stands in a schema.

    Args:
        skeleton: says where values go that were not released.
        name: of the column.
        released: its keys.
        kind: what the data declares the column to hold.
    """
    always, outside = skeleton.catch_all(name)
    known = {text_of(value) for value in always}
    found = [_typed(key, kind) for key in _largest(released) if key not in known]
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


def _typed(key: str, kind: type[Scalar]) -> Scalar:
    """A key in the type that the data declares, where that spells it the same way."""
    if kind is str:
        return key
    value: Scalar = key == "true" if kind is bool else int(key) if kind is int else float(key)
    return value if text_of(value) == key else key


def _order(value: Scalar) -> tuple[bool, float, str]:
    """Numbers by size, then texts by letter."""
    if isinstance(value, str):
        return True, 0.0, value
    return False, float(value), ""
