"""Memory is estimated before it is taken; what does not fit is refused with the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from understudy.errors import CapacityError
from understudy.facts.domain import Attributes, Domain
from understudy.system.machine import free_memory

_BYTES_PER_CELL = 8
# Counts, their noise and what is computed from them stand in memory together.
_COPIES = 4
# Cells are numbered in 32 bits.
_MOST_CELLS = 2**32
_BYTES_PER_PLACE, _MOST_PLACES = 4, 2**28


def available_bytes() -> int:
    """The memory that can be taken now without swapping."""
    return free_memory()


def bytes_of_tables(cells: int) -> int:
    """Return the bytes that tables of this many cells take while they are worked on."""
    return cells * _BYTES_PER_CELL * _COPIES


def ensure_tables_fit(domain: Domain, sets: Sequence[Attributes], *, kept: bool = True) -> None:
    """Refuse contingency tables that would not fit into the memory that is free now.

    Args:
        domain: the sizes of the attributes.
        sets: the tables asked for.
        kept: whether all tables are in memory together, or one at a time.
    """
    cells = [domain.cells(attributes) for attributes in sets]
    needed = bytes_of_tables(sum(cells) if kept else max(cells, default=0))
    room = available_bytes()
    if needed > room or max(cells, default=0) > _MOST_CELLS:
        widest = max(sets, key=domain.cells)
        raise CapacityError(
            f"table {' × '.join(widest)} has {domain.cells(widest):,} cells; all tables need "
            f"{needed / 2**30:,.1f} GiB and {room / 2**30:,.1f} GiB is free; "
            "use fewer bins or values"
        )


def ensure_rows_fit(rows: int, sets: Sequence[Attributes]) -> None:
    """Refuse to number more rows, in all of these tables, than the memory free now can hold."""
    needed = rows * len(sets) * _BYTES_PER_CELL * _COPIES
    room = available_bytes()
    if needed > room:
        raise CapacityError(
            f"the cells of {rows:,} rows need {needed / 2**30:,.1f} GiB and "
            f"{room / 2**30:,.1f} GiB is free; use fewer rows, or a method that only counts"
        )


def ensure_draws_fit(rows: int, sets: Sequence[Attributes]) -> None:
    """Refuse to draw more rows, numbered in all of these tables, than the free memory can hold."""
    # Each row has a number in every table, and these are unpacked to a code for each attribute.
    numbers = len(sets) * _COPIES + sum(map(len, sets))
    needed = rows * numbers * _BYTES_PER_CELL
    room = available_bytes()
    if needed > room:
        raise CapacityError(
            f"{rows:,} rows of the histogram need {needed / 2**30:,.1f} GiB and "
            f"{room / 2**30:,.1f} GiB is free; ask for fewer rows"
        )


def ensure_pool_fits(domain: Domain, rows: int, sets: Sequence[Attributes]) -> None:
    """Refuse a pool of made-up rows, with the tables compared with it, that would not fit.

    Args:
        domain: the attributes of the rows.
        rows: how many rows the pool has.
        sets: the tables that are compared with it, all in memory together.
    """
    needed, room = bytes_of_pool(domain, rows, sets), available_bytes()
    if needed > room:
        raise CapacityError(
            f"a pool of {rows:,} rows of {len(domain):,} columns, and {len(sets):,} tables beside "
            f"it, need {needed / 2**30:,.1f} GiB and {room / 2**30:,.1f} GiB is free; "
            "use fewer columns, bins or values, or the method nist"
        )


def bytes_of_pool(domain: Domain, rows: int, sets: Sequence[Attributes]) -> int:
    """The most bytes that a pool of made-up rows takes, with the tables compared with it."""
    # Two pools at a time, of codes of two bytes and weights; and the cells of rows in every table,
    # of which at most so many bytes are kept.
    places = min(rows * _BYTES_PER_PLACE * (len(domain) + len(sets)), _MOST_PLACES)
    pools = 2 * rows * (2 * len(domain) + _COPIES * _BYTES_PER_CELL)
    cells = sum(domain.cells(attributes) for attributes in sets)
    return pools + places + cells * _BYTES_PER_CELL


def in_batches(
    domain: Domain, sets: Iterable[Attributes], *, memory: int
) -> Iterator[list[Attributes]]:
    """The sets in turns whose tables fit into some bytes together, one at the least."""
    batch: list[Attributes] = []
    taken = 0
    for attributes in sets:
        more = domain.cells(attributes) * _BYTES_PER_CELL
        if batch and taken + more > memory:
            yield batch
            batch, taken = [], 0
        batch.append(attributes)
        taken += more
    if batch:
        yield batch
