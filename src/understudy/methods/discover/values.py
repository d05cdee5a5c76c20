"""Categories from released keys: in the type they spell, in order, with a place for all others.

The type that the data declares has no say: in a data frame one empty cell makes reals of whole
numbers, and one word makes texts of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from understudy.facts.column import MOST_LEVELS, Scalar, text_of
from understudy.facts.unlisted import is_catch_all
from understudy.methods.discover.skeleton import Skeleton
from understudy.rows.counting import ReleasedKeys

# What keys may spell besides texts, the narrowest first.
_READERS: tuple[Callable[[str], bool | int | float], ...] = (
    {"true": True, "false": False}.__getitem__,
    int,
    float,
)


@dataclass(frozen=True)
class Leftover:
    """The cells of a column beside its released values, where that was asked.

    Attributes:
        others: whether cells with other values stand out of their noise.
        missing: whether missing cells do.
    """

    others: bool = True
    missing: bool = False


@dataclass(frozen=True)
class FoundValues:
    """The values of a column that were released.

    Attributes:
        values: the values, in order.
        most_frequent: the value of the largest noisy count; None where nothing was released.
    """

    values: tuple[Scalar, ...]
    most_frequent: Scalar | None

    @classmethod
    def of(cls, released: ReleasedKeys, known: Sequence[Scalar] = ()) -> FoundValues:
        """The released values that are not known already."""
        texts = {text_of(value) for value in known}
        keys = [key for key in _largest(released) if key not in texts]
        typed = _typed(keys)
        return cls(tuple(sorted(typed, key=_order)), typed[0] if typed else None)

    @property
    def catch_all(self) -> Scalar | None:
        """The value that means "other" in the data itself; None where there is none."""
        named = (v for v in self.values if isinstance(v, str) and is_catch_all(v))
        return next(named, None)


def listing(
    skeleton: Skeleton, name: str, released: ReleasedKeys, left: Leftover | None = None
) -> dict[str, Any]:
    """A categorical column as it stands in a schema.

    Args:
        skeleton: says where values go that were not released.
        name: of the column.
        released: its keys.
        left: what there is beside them; where it was not asked, other values are expected.
    """
    left = left or Leftover()
    if name in skeleton.prefix_lengths:
        plain = replace(skeleton, prefix_lengths={})
        return {**listing(plain, name, released, left), "prefixes": True}
    always, outside = skeleton.catch_all(name)
    found = FoundValues.of(released, always)
    missing: dict[str, Any] = {"missing": []} if left.missing else {}
    if skeleton.asks_others(name) and found.most_frequent is not None:
        own = FoundValues.of(released)
        return {**_without_surplus(own, skeleton, name, left), **missing}
    values = [*found.values, *always]
    if values:
        return {"values": values, "outside": outside, **missing}
    # A column needs a value: with none released, all rows go to the one that stands in.
    [value] = skeleton.stand_in(name)
    return {"values": [value], "outside": value, **missing}


def _without_surplus(
    found: FoundValues, skeleton: Skeleton, name: str, left: Leftover
) -> dict[str, Any]:
    """The values, with a catch-all only where others stand out and no value means the same.

    Cells that are too few to show count as missing where that is a level. Else they take the most
    frequent value, so that no row is lost and no level is made up. Which of these it is follows
    from the skeleton and from noisy counts.
    """
    values = list(found.values)
    if found.catch_all is not None:
        return {"values": values, "outside": found.catch_all}
    if not left.others:
        counts_as_missing = left.missing or skeleton.has_missing_level(name)
        return {"values": values, "outside": "" if counts_as_missing else found.most_frequent}
    [rest] = skeleton.stand_in(name)
    return {"values": [*found.values, rest], "outside": rest}


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
