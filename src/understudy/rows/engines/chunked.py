"""Counting files of any size: rows come in blocks, are encoded, counted and forgotten.

Memory holds a block, the next one, and the tables asked for; where those would be too
many, the file is read again for the next ones. The first reading, which has to be made anyway to
see that all can be read, counts all pairs where they fit, and no question about so few attributes
needs another. Counts are the same, cell by cell, as with all rows in memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from understudy.facts.axes import Axes
from understudy.facts.capacity import in_batches
from understudy.facts.codec import Codec
from understudy.facts.domain import Attributes
from understudy.rows.counting import Counts, Marginal
from understudy.rows.engines.ahead import one_ahead
from understudy.rows.engines.batched import BatchedSource
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.system.progress import ProgressCallback, unwatched

_CountsBySet = dict[Attributes, Counts]


def count_blocks(
    blocks: Iterable[pa.Table],
    codec: Codec,
    sets: Sequence[Attributes],
    *,
    total: int | None = None,
    watch: ProgressCallback = unwatched,
) -> tuple[int, _CountsBySet]:
    """One reading: how many rows there are, and their tables.

    Args:
        blocks: the rows, a block at a time.
        codec: encodes them.
        sets: the attributes of each table.
        total: how many rows there are, where that is known.
        watch: called with the rows done, and their total.
    """
    tables: _CountsBySet = {s: np.zeros(codec.domain.shape(s), np.int64) for s in sets}
    done = 0
    watch(done, total)
    for block in one_ahead(_encoded(blocks, codec)):
        for marginal in MemorySource(block).each(sets):
            tables[marginal.attributes] += marginal.counts
        done += block.rows_read
        watch(done, total)
    return done, tables


def _encoded(blocks: Iterable[pa.Table], codec: Codec) -> Generator[Table]:
    for block in blocks:
        yield Table.of(codec.encode(block))


@dataclass(frozen=True, repr=False)
class ChunkedSource(BatchedSource):
    """Rows that are read again for every question.

    Attributes:
        blocks: starts reading, and gives the rows a block at a time; always the same rows.
        codec: encodes them.
        memory: how many bytes the tables of one reading may take.
        kept: how many bytes the tables of the first reading may take, which are kept.
        watch: called with how many rows a reading has done, of how many; private.
        reading: what one reading of the rows means where they are; None for files.
    """

    blocks: Callable[[], Iterator[pa.Table]]
    codec: Codec
    memory: int
    kept: int = 0
    watch: ProgressCallback = unwatched
    reading: str | None = None

    def check(self) -> None:
        """Read everything once, so that a file that cannot be read is refused before it costs."""
        _ = self._first

    @property
    def rows_read(self) -> int:
        """How many rows were read, dropped ones included."""
        return self._first[0]

    @cached_property
    def _first(self) -> tuple[int, _CountsBySet]:
        """Return the results of the first reading: the number of rows, and small tables."""
        return self._read(self._few(), total=None)

    def _few(self) -> list[Attributes]:
        """No attribute, each one and each pair, as far as their tables may be kept."""
        names = self.domain.attributes
        few = (s for k in range(3) for s in itertools.combinations(names, k))
        return next(in_batches(self.domain, few, memory=self.kept))

    def number_rows(self, sets: Sequence[Attributes]) -> Counts:
        """A line for each row read, in its place, block after block."""
        blocks = _encoded(self.blocks(), self.codec)
        return np.concatenate([MemorySource(block).number_rows(sets) for block in blocks])

    def _count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """These sets by what is known and, where that is not enough, one reading of all rows."""
        rows, kept = self._first
        new = [s for s in sets if self._as_kept(s) not in kept]
        read = self._read(new, total=rows)[1] if new else {}
        return [Marginal(s, read[s] if s in read else self._seen(s)) for s in sets]

    def _as_kept(self, attributes: Attributes) -> Attributes:
        """The attributes themselves, in the order in which a first reading would count them."""
        places = {attribute: place for place, attribute in enumerate(self.domain)}
        return tuple(sorted(map(self.domain.base, attributes), key=places.__getitem__))

    def _seen(self, attributes: Attributes) -> Counts:
        """A table by what the first reading kept of its attributes."""
        held = Axes(self._as_kept(attributes))
        return held.project(self._first[1][held], attributes, self.domain)

    def _read(self, sets: Sequence[Attributes], *, total: int | None) -> tuple[int, _CountsBySet]:
        return count_blocks(self.blocks(), self.codec, sets, total=total, watch=self.watch)
