"""Encoded tables as raw rows, for engines that do the encoding themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

from understudy.facts.schema import Schema
from understudy.rows.counting import CountSource
from understudy.rows.table import Table


@dataclass(frozen=True)
class Engine:
    """A way to put a table behind an engine, and what its pace allows.

    Attributes:
        open: puts a table behind the engine.
        examples: how many examples of a property it is given.
        most_rows: the largest table that it is given; larger ones are about blocks of rows.
    """

    open: Callable[[Table], CountSource]
    examples: int = 100
    most_rows: int | None = None

    def check_size(self, rows: int) -> None:
        """Skip a test about the size of blocks where the engine has none and is slow to fill."""
        if self.most_rows is not None and rows > self.most_rows:
            pytest.skip("the engine has no blocks of rows, and is slow to fill")


def raw_rows(table: Table) -> tuple[Schema, pa.Table]:
    """A schema of whole numbers, one bin a value, and rows whose encoding by it is the table.

    Rows that were read and not kept are in their places, as rows that the schema drops.
    """
    columns = {
        name: {"kind": "integer", "min": 0, "max": size - 1, "bins": size, "outside": "drop"}
        for name, size in table.domain.sizes.items()
    }
    rows = {name: np.full(table.rows_read, -1, np.int64) for name in table.codes}
    for name, codes in table.codes.items():
        rows[name][table.kept] = codes
    return Schema.parse({"columns": columns}), pa.table(rows)
