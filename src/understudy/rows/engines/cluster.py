"""Counting on a Dask cluster: partitions of Parquet are encoded and counted where workers see them.

Workers run the code that counts files on one machine. Only tables summed over all partitions come
back, and they are the same, cell by cell, as with all rows in memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from understudy.errors import DataError
from understudy.facts.codec import Codec
from understudy.facts.domain import Attributes
from understudy.rows.counting import Marginal
from understudy.rows.engines.batched import BatchedSource
from understudy.rows.engines.chunked import count_blocks
from understudy.rows.engines.cluster_connection import DEFAULT_TIMEOUT, Cluster
from understudy.rows.engines.cluster_start import connected
from understudy.rows.reading import (
    Footer,
    Partition,
    check_alike,
    partition_blocks,
    partition_files,
    partitions_of,
    read_footer,
)

# A worker holds its own tables, those it adds up, and what it sends of them.
_COPIES_ON_WORKER = 16


@dataclass(frozen=True, repr=False, kw_only=True)
class ClusterSource(BatchedSource):
    """Parquet that the workers of a cluster see under the same path.

    Attributes:
        cluster: whose workers count.
        path: a folder of partitions, or one file, which is cut at its row groups.
        codec: encodes the rows.
        memory: how many bytes the tables of one reading may take.
        ignore_extra: pass over columns that the schema does not speak of instead of refusing.
    """

    cluster: Cluster
    path: Path
    codec: Codec
    memory: int
    ignore_extra: bool = False

    def check(self) -> None:
        """Read everything once, so that whatever cannot be counted is refused before it costs."""
        seen = self.cluster.on_every_worker(os.path.exists, str(self.path))
        if not all(seen):
            raise DataError(
                f"{self.path}: {seen.count(False)} of {len(seen)} workers of cluster "
                f"{self.cluster.address} cannot see it; check the path, and make it available "
                "at the same place on every worker"
            )
        _ = self.rows_read

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """Return the partitions that workers share: all of one table, with columns that fit."""
        [files] = self.cluster.each(_files, [self.path], None)
        footers = dict(zip(files, self.cluster.each(_footer, files, None), strict=True))
        types = {file: footer.types for file, footer in footers.items()}
        check_alike(types, self.codec, ignore_extra=self.ignore_extra)
        return tuple(p for file, footer in footers.items() for p in partitions_of(file, footer))

    @cached_property
    def rows_read(self) -> int:
        """How many rows were read, dropped ones included."""
        return self.cluster.total(_rows, self.partitions, self.codec, _added)

    def _count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        question = _TablesToCount(self.codec, tuple(sets))
        return self.cluster.total(_tables, self.partitions, question, _summed)


@dataclass(frozen=True)
class _TablesToCount:
    """The tables to be counted in every partition."""

    codec: Codec
    sets: tuple[Attributes, ...]


def _files(path: Path, _: None) -> list[Path]:
    return partition_files(path)


def _footer(path: Path, _: None) -> Footer:
    return read_footer(path)


def _rows(partition: Partition, codec: Codec) -> int:
    rows, _ = count_blocks(partition_blocks(partition, codec), codec, [])
    return rows


def _added(parts: list[int]) -> int:
    return sum(parts)


def _tables(partition: Partition, question: _TablesToCount) -> list[Marginal]:
    codec = question.codec
    _, tables = count_blocks(partition_blocks(partition, codec), codec, question.sets)
    return [Marginal(attributes, counts) for attributes, counts in tables.items()]


def _summed(parts: list[list[Marginal]]) -> list[Marginal]:
    """Tables of the same sets, added cell by cell."""
    first, *others = parts
    totals = [marginal.counts.copy() for marginal in first]
    for tables in others:
        for total, marginal in zip(totals, tables, strict=True):
            total += marginal.counts
    return [Marginal(m.attributes, total) for m, total in zip(first, totals, strict=True)]


@contextmanager
def open_cluster(
    address: str,
    path: str | os.PathLike[str],
    codec: Codec,
    *,
    memory: int,
    ignore_extra: bool = False,
    timeout: float = DEFAULT_TIMEOUT,
) -> Iterator[ClusterSource]:
    """Parquet behind a cluster, checked to its last row before anything is paid for."""
    place = Path(os.path.abspath(path))
    with connected(address, timeout=timeout) as cluster:
        room = cluster.memory
        batch = memory if room is None else min(memory, room // _COPIES_ON_WORKER)
        source = ClusterSource(
            cluster=cluster, path=place, codec=codec, memory=batch, ignore_extra=ignore_extra
        )
        source.check()
        yield source
