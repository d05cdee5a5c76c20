"""Several tables of one grouping: rows are counted by a few columns together, and those counts
are added up inside of the database.

A database that groups rows by each set of columns reads all rows for each. Counted once by four or
five columns together, they become a few thousand cells, and the tables of all pairs among these
columns are sums of cells. Only the tables that were asked for come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from understudy.facts.domain import Attributes

# So many cells fit into the fast table that Spark groups by.
MOST_CELLS = 1 << 15


def blocks(
    sets: Sequence[Attributes], sizes: Mapping[str, int], *, most: int = MOST_CELLS
) -> list[tuple[Attributes, list[Attributes]]]:
    """Columns to count together, each with the sets whose tables follow from that count.

    A block begins with the first set that no block has, and takes in columns as long as they bring
    further sets and its cells stay few.

    Example:
        >>> sets = [("a", "b"), ("a", "c"), ("b", "c")]
        >>> blocks(sets, dict.fromkeys("abc", 5))
        [(('a', 'b', 'c'), [('a', 'b'), ('a', 'c'), ('b', 'c')])]
    """
    left, found = list(dict.fromkeys(sets)), []
    while left:
        held = _grown(left, sizes, most)
        covered = [each for each in left if set(each) <= set(held)]
        found.append((held, covered))
        left = [each for each in left if each not in set(covered)]
    return found


def _grown(left: Sequence[Attributes], sizes: Mapping[str, int], most: int) -> Attributes:
    """The first set, with columns that bring the most further sets."""
    held = left[0]
    while True:
        cells = prod(sizes[name] for name in held)
        gains = _gains(left, held, sizes, most // max(cells, 1))
        if not gains:
            return held
        held = (*held, max(gains, key=gains.__getitem__))


def _gains(
    left: Iterable[Attributes], held: Attributes, sizes: Mapping[str, int], room: int
) -> dict[str, int]:
    """How many sets lack one column alone, by that column, where there is room for it."""
    gains: dict[str, int] = {}
    for each in left:
        lacking = [name for name in each if name not in held]
        if len(lacking) == 1 and sizes[lacking[0]] <= room:
            gains[lacking[0]] = gains.get(lacking[0], 0) + 1
    return gains


def joint_query(
    columns: Sequence[str],
    groups: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]],
    *,
    rows: str = "encoded",
    times: str = "COUNT(*)",
) -> str:
    """A query for the tables of all blocks; a column outside of a set is null.

    Args:
        columns: all columns in order, quoted.
        groups: the columns of each block, and its sets.
        rows: the relation that is counted.
        times: the number of rows in a group, in the words of SQL.
    """
    return " UNION ALL ".join(_block(columns, *group, rows, times) for group in groups)


def _block(
    columns: Sequence[str],
    held: Sequence[str],
    sets: Sequence[Sequence[str]],
    rows: str,
    times: str,
) -> str:
    by = ", ".join(held)
    counted = f"SELECT {by}, {times} AS understudy_count FROM {rows} GROUP BY {by}"
    listed = "".join(f"{name if name in held else 'NULL'}, " for name in columns)
    grouped = ", ".join(f"({', '.join(each)})" for each in sets)
    return (
        f"SELECT {listed}SUM(understudy_count) FROM ({counted}) GROUP BY GROUPING SETS ({grouped})"
    )
