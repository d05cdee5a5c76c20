"""Counting inside a database: rows stay there, and only contingency tables come out.

Cells are encoded and rows counted by one query for many tables, and all questions of a run see the
same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.facts.capacity import ensure_tables_fit, in_batches
from understudy.facts.codes import Codes
from understudy.facts.domain import Attributes, Domain
from understudy.rows.counting import Counts, Marginal, ScoreKernel, Scores
from understudy.rows.engines.databases.database import Database
from understudy.rows.engines.databases.dialects import Dialect
from understudy.rows.engines.databases.joint import blocks, joint_query

if TYPE_CHECKING:
    import ibis.expr.types as ir

# A query holds at most so many bytes of tables.
_BYTES = 1 << 26


@dataclass(frozen=True, repr=False)
class DatabaseSource:
    """Rows in a database, counted there.

    Attributes:
        database: where they are.
        codes: the rows as codes, dropped ones left out: one column for each attribute, in order.
        domain: the attributes.
        rows_read: how many rows there are, dropped ones included.
        rows_per_person: the most rows of a person, where that was seen to.
        unfit: the number of rows that do not fit, of each person within the allowance, as an
            expression; None where persons are not known.
        times: the column of the codes that says how many rows are alike; empty where each row
            is there.
    """

    database: Database
    codes: ir.Table
    domain: Domain
    rows_read: int
    rows_per_person: int | None = None
    unfit: ir.Scalar | None = None
    times: str = ""

    @property
    def reading(self) -> str:
        """The meaning of one reading of these rows; public."""
        return self.database.dialect.reading

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact contingency tables, one for each set of attributes."""
        ensure_tables_fit(self.domain, sets)
        return list(self._counted(sets))

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores; the tables of one query are in memory at a time."""
        ensure_tables_fit(self.domain, sets, kept=False)
        return np.array([kernel(marginal) for marginal in self._counted(sets)], np.float64)

    def count_misfits(self) -> int:
        """How many rows did not fit the schema, of each person within the allowance."""
        if self.unfit is None:
            [fitting] = self.count([()])
            return self.rows_read - int(fitting.counts)
        return int(self.database.value(self.unfit) or 0)

    def _counted(self, sets: Sequence[Attributes]) -> Iterator[Marginal]:
        most = self.database.dialect.most_sets
        for batch in in_batches(self.domain, sets, memory=_BYTES):
            for start in range(0, len(batch), most):
                yield from self._count(batch[start : start + most])

    def _count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """One query for these sets; the order of attributes does not matter to it."""
        places = {name: place for place, name in enumerate(self.domain.names)}
        held = [tuple(sorted(attributes, key=places.__getitem__)) for attributes in sets]
        tables = self._tables(list(dict.fromkeys(held)))
        return [
            Marginal(asked, tables[own].transpose([own.index(a) for a in asked]))
            for asked, own in zip(sets, held, strict=True)
        ]

    def _tables(self, sets: Sequence[Attributes]) -> dict[Attributes, Counts]:
        used = [a for a in self.domain.names if any(a in attributes for attributes in sets)]
        cells = _cells(self.database.fetch(self._query(used, sets)), len(used))
        places = {tuple(a in attributes for a in used): attributes for attributes in sets}
        tables: dict[Attributes, Counts] = {
            attributes: np.zeros(self.domain.shape(attributes), np.int64) for attributes in sets
        }
        for grouped, codes, counts in cells:
            # Without attributes there is one cell and one count, and numpy wants it as a number.
            tables[places[grouped]][tuple(codes)] = counts if len(codes) else counts[0]
        return tables

    def _query(self, used: Sequence[str], sets: Sequence[Attributes]) -> str:
        """Rows grouped by every set in one reading; the database passes over columns unused."""
        columns = [name for name in self.codes.columns if name != self.times]
        quoted = map(self.database.dialect.quoted, columns)
        names = dict(zip(self.domain.names, quoted, strict=True))
        groups = [[names[a] for a in attributes] for attributes in sets]
        if self.database.dialect.counts_jointly and all(groups):
            return f"WITH encoded AS ({self._encoded}) {self._jointly(names, used, sets)}"
        grouped = grouping(
            [names[a] for a in used], groups, self.database.dialect, times=self._times
        )
        return f"WITH encoded AS ({self._encoded}) {grouped}"

    def _jointly(
        self, names: Mapping[str, str], used: Sequence[str], sets: Sequence[Attributes]
    ) -> str:
        """Count a few columns together, and add up the tables that were asked for."""
        found = [
            ([names[a] for a in held], [[names[a] for a in each] for each in covered])
            for held, covered in blocks(sets, {name: self.domain[name] for name in names})
        ]
        return joint_query([names[a] for a in used], found, times=self._times)

    @property
    def _times(self) -> str:
        """How often the rows of a group are there; the sum of no rows is null in SQL."""
        name = self.database.dialect.quoted(self.times)
        return f"COALESCE(SUM({name}), 0)" if self.times else "COUNT(*)"

    @cached_property
    def _encoded(self) -> str:
        """The query for all codes; writing it takes long, so it is written once."""
        return self.database.written(self.codes)

    def __repr__(self) -> str:
        return f"DatabaseSource({', '.join(self.domain)}; rows private)"


def grouping(
    columns: Sequence[str],
    groups: Sequence[Sequence[str]],
    dialect: Dialect,
    *,
    rows: str = "encoded",
    times: str = "COUNT(*)",
) -> str:
    """A query that counts rows by every group of columns; a column outside of a group is null."""
    if dialect.grouping_sets and any(groups):
        sets = ", ".join(f"({', '.join(group)})" for group in groups)
        listed = "".join(f"{column}, " for column in columns)
        return f"SELECT {listed}{times} FROM {rows} GROUP BY GROUPING SETS ({sets})"
    return " UNION ALL ".join(_alone(columns, group, rows, times) for group in groups)


def _alone(columns: Sequence[str], group: Sequence[str], rows: str, times: str) -> str:
    listed = "".join(f"{column if column in group else 'NULL'}, " for column in columns)
    by = f" GROUP BY {', '.join(group)}" if group else ""
    return f"SELECT {listed}{times} FROM {rows}{by}"


def _cells(
    rows: list[tuple[Any, ...]], columns: int
) -> Iterator[tuple[tuple[bool, ...], Codes, Counts]]:
    """The cells of a query, set by set: which columns it grouped by, their codes, the counts.

    Codes are never null, so a null marks a column that a set does not group by.
    """
    held = np.array(rows, np.float64).reshape(len(rows), columns + 1)
    grouped = ~np.isnan(held[:, :-1])
    patterns, which = np.unique(grouped, axis=0, return_inverse=True)
    for i, pattern in enumerate(patterns):
        ours = held[which.ravel() == i]
        yield (
            tuple(pattern.tolist()),
            ours[:, :-1][:, pattern].T.astype(np.int64),
            ours[:, -1].astype(np.int64),
        )
