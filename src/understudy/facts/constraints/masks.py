"""Sets of codes, and cells of tables that constraints forbid, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from understudy.facts.constraints.constraint import Nogood
from understudy.facts.constraints.meaning import CodeSet

Masks = npt.NDArray[np.bool_]


def flags(codes: CodeSet, size: int) -> Masks:
    """For every code below a size, whether a set holds it.

    Example:
        >>> flags(0b101, 4).tolist()
        [True, False, True, False]
    """
    packed = np.frombuffer(codes.to_bytes(-(-size // 8), "little"), np.uint8)
    return np.unpackbits(packed, count=size, bitorder="little").astype(bool)


def set_of(held: Masks) -> CodeSet:
    """The set that holds the codes of which this is true: the inverse of `flags`.

    Example:
        >>> bin(set_of(np.array([True, False, True, False])))
        '0b101'
    """
    return int.from_bytes(np.packbits(held, bitorder="little").tobytes(), "little")


def forbidden_cells(
    nogoods: Iterable[Nogood], attributes: Sequence[str], shape: Sequence[int]
) -> Masks:
    """The cells of a table that no allowed row can have, by each nogood on its own."""
    forbidden = np.zeros(shape, bool)
    sizes = dict(zip(attributes, shape, strict=True))
    for nogood in nogoods:
        told = dict(nogood)
        if told.keys() <= sizes.keys():
            sides = (flags(told[a], n) if a in told else np.ones(n, bool) for a, n in sizes.items())
            forbidden[np.ix_(*sides)] = True
    return forbidden
