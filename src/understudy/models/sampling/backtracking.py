"""Rows from noisy tables that were not made to agree: an empty line is answered by stepping back.

Tables of families are drawn from one after the other. Under parents that one table drew, another
may hold nothing. Then the family before is drawn again, in the hope of a different value; after ten
empty lines of the same family one step further is taken, after ten more another, down to the first
family. What is empty even then, or after a thousand empty lines in one row, is drawn from the
attribute's own sums over all parents, and where these are empty too, all its codes are alike: a row
of d attributes takes less than 1,001·d draws, whatever the tables hold.

Source: NIST section 3.3.1; the bound is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.facts.codes import Codes, code_type
from understudy.models.network import Family, Network
from understudy.system.arrays import Floats, Integers
from understudy.system.jit import kernel

# Empty lines of a family before one more step back is taken, and those of a row in all.
_PATIENCE, _MOST_EMPTY = 10, 1000


@dataclass(frozen=True)
class _Lines:
    """All tables in one array, line by line, each line as running sums.

    Of family i, `starts[i]` is where its lines start, `own[i]` where the line is that takes the
    place of an empty one, `sizes[i]` how long lines are. `strides[i, j]` says by how many lines
    one code of the j-th attribute moves.
    """

    sums: Floats
    starts: Integers
    own: Integers
    sizes: Integers
    strides: Integers


def step_back_codes(
    network: Network,
    tables: Mapping[str, Integers | Floats],
    rows: int,
    generator: np.random.Generator,
) -> dict[str, Codes]:
    """Rows from the tables of a network's families, which need not agree.

    Args:
        network: the families, drawn from in this order.
        tables: for each attribute the table of its family, counts or any weights that are not
            negative: an axis for each parent, its own the last.
        rows: how many.
        generator: what the draws are made from.

    Returns:
        The codes of every attribute, in the network's order.

    Privacy: post-processing of released tables; costs nothing.

    Example:
        >>> network = Network.from_parents({"age": [], "grade": ["age"]})
        >>> tables = {"age": np.array([5, 10]), "grade": np.array([[2, 3], [0, 0]])}
        >>> codes = step_back_codes(network, tables, 3, np.random.default_rng(4))
        >>> codes["age"].tolist()
        [0, 0, 0]
    """
    if rows < 0:
        raise UsageError(f"rows is {rows}; ask for none or more")
    sizes = _sizes(network, tables)
    types = [code_type(sizes[attribute]) for attribute in network.order]
    lines = _lines_of(network, tables, sizes)
    drawn = np.empty((len(network.families), rows), np.uint16)
    _step_back(lines.sums, lines.starts, lines.own, lines.sizes, lines.strides, generator, drawn)
    named = zip(network.order, drawn, types, strict=True)
    return {attribute: codes.astype(kind, copy=False) for attribute, codes, kind in named}


def _sizes(network: Network, tables: Mapping[str, Integers | Floats]) -> dict[str, int]:
    """The number of codes of each attribute, after making sure that all tables say the same."""
    sizes: dict[str, int] = {}
    for family in network:
        table = tables.get(family.child)
        if table is None:
            raise UsageError(f"attribute {family.child!r} has no table; give one for each family")
        _check(family, table)
        sizes[family.child] = table.shape[-1]
        if table.shape != tuple(sizes[attribute] for attribute in family.attributes):
            raise UsageError(f"table of {family.child!r}: sizes differ from its parents' tables")
    return sizes


def _check(family: Family, table: Integers | Floats) -> None:
    if table.ndim != len(family.attributes) or 0 in table.shape:
        raise UsageError(f"table of {family.child!r}: axes do not match its family")
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise UsageError(
            f"table of {family.child!r} has cells below 0 or no numbers; "
            "set those to 0, as by numpy.maximum(table, 0)"
        )


def _lines_of(
    network: Network, tables: Mapping[str, Integers | Floats], sizes: Mapping[str, int]
) -> _Lines:
    sums, starts, own, reached = [], [], [], 0
    for family in network:
        size = sizes[family.child]
        lines = np.asarray(tables[family.child], np.float64).reshape(-1, size)
        instead = lines.sum(axis=0) if lines.any() else np.ones(size)
        sums += [lines.cumsum(axis=1).ravel(), instead.cumsum()]
        starts.append(reached)
        own.append(reached + lines.size)
        reached += lines.size + size
    strides = np.array([_strides(family, network, sizes) for family in network], np.int64)
    lengths = [sizes[attribute] for attribute in network.order]
    return _Lines(np.concatenate(sums), np.array(starts), np.array(own), np.array(lengths), strides)


def _strides(family: Family, network: Network, sizes: Mapping[str, int]) -> list[int]:
    strides, lines = dict.fromkeys(network.order, 0), 1
    for parent in reversed(family.parents):
        strides[parent] = lines
        lines *= sizes[parent]
    return list(strides.values())


@kernel
def _step_back(
    sums: Floats,
    starts: Integers,
    own: Integers,
    sizes: Integers,
    strides: Integers,
    generator: np.random.Generator,
    drawn: npt.NDArray[np.uint16],
) -> None:
    """Fill in rows, one column of `drawn` each.

    `empty[i]` counts the empty lines that family i has met in this row; it never falls, so that
    every family steps back at most ten times for each family before it.
    """
    attributes = sizes.size
    empty = np.zeros(attributes, np.int64)
    for row in range(drawn.shape[1]):
        empty[:] = 0
        all_empty = 0
        i = 0
        while i < attributes:
            line = 0
            for j in range(i):
                line += strides[i, j] * np.int64(drawn[j, row])
            start = starts[i] + line * sizes[i]
            last = start + sizes[i] - 1
            if sums[last] <= 0:
                back = 1 + empty[i] // _PATIENCE
                if back <= i and all_empty < _MOST_EMPTY:
                    empty[i] += 1
                    all_empty += 1
                    i -= back
                    continue
                start = own[i]
                last = start + sizes[i] - 1
            place = generator.random() * sums[last]
            code = start
            # Rounding may carry a place to the whole sum; the last code with a weight takes it.
            while code < last and sums[code] <= place and sums[code] < sums[last]:
                code += 1
            drawn[i, row] = code - start
            i += 1
