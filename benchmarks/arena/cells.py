"""The cells of the arena: which entrant meets which table at which ε, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from benchmarks.arena.entrants import CONTROLS, ENTRANTS, OURS, PEERS
from benchmarks.arena.tables import ENTRIES

_SMOKE = ("resampled", "shuffled", "nist", "independent", "datasynthesizer")


@dataclass(frozen=True)
class Cell:
    """One entrant on one table at one ε, with all of its runs."""

    table: str
    entrant: str
    epsilon: str

    @property
    def name(self) -> str:
        """As `--only` selects it."""
        return f"{self.table}/{self.entrant}/{self.epsilon}"


def full_cells() -> Iterator[Cell]:
    """Controls and ours first, then other tools, each on one table after another.

    Of another tool every table has its first ε before any has its second, so that a stop leaves
    as many tables as it can.
    """
    for entrant in (*CONTROLS, *OURS):
        for table in ENTRIES:
            yield from (Cell(table, entrant.name, epsilon) for epsilon in entrant.epsilons)
    for peer in PEERS:
        for epsilon in peer.epsilons:
            yield from (Cell(table, peer.name, epsilon) for table in ENTRIES)


def smoke_cells() -> Iterator[Cell]:
    """The few cells of a small run: the made-up table, and the first ε of each entrant."""
    for name in _SMOKE:
        yield Cell("xor", name, ENTRANTS[name].epsilons[0])


def chosen(every: Iterable[Cell], only: Sequence[str]) -> Iterator[Cell]:
    """The cells whose names fit one of some patterns; all without patterns.

    A pattern is TABLE, TABLE/ENTRANT or TABLE/ENTRANT/EPSILON, each part with `*` and `?`.
    """
    for cell in every:
        if not only or any(_fits(cell, pattern) for pattern in only):
            yield cell


def _fits(cell: Cell, pattern: str) -> bool:
    wanted = [*pattern.split("/"), "*", "*"][:3]
    has = (cell.table, cell.entrant, cell.epsilon)
    return all(fnmatchcase(each, part) for each, part in zip(has, wanted, strict=True))
