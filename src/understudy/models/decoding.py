"""From coded rows to what a user gets: an Arrow table, and a file of it.

Most kinds of distributions decode their codes by the schema alone. A kind whose rows are more than
columns, such as images, has a decoder of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from understudy.facts.codec import Codec
from understudy.facts.column import Ordinate
from understudy.facts.schema import Schema
from understudy.models.distribution import CodedRows
from understudy.models.row_writing import write_rows
from understudy.models.sheet_writing import check_statistics_names
from understudy.system.extras import require
from understudy.system.files.suffixes import EXCEL, STATISTICS, check_written, suffix_of


class Decoder(ABC):
    """Makes tables of coded rows, and files of tables.

    Attributes:
        noun: what a sentence calls the rows.
    """

    noun: ClassVar[str] = "rows"

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """Return the public sizes of the rows, for machines."""

    @abstractmethod
    def decode(
        self, codes: CodedRows, *, generator: np.random.Generator, first_row: int = 1
    ) -> pa.Table:
        """Decode some rows.

        Args:
            codes: the rows as codes.
            generator: what is drawn from wherever a code stands for several values.
            first_row: the number of the first of these rows, for columns that count them.
        """

    def filling(self, fills: Mapping[str, Ordinate]) -> Decoder:
        """Return a decoder that fills missing cells of some columns; most kinds have none.

        Args:
            fills: for each such column its number or, where values are listed, its code.
        """
        del fills
        return self

    @abstractmethod
    def check_output(self, path: Path) -> Path:
        """Return the path of a file, if these rows can be written to such a file."""

    @abstractmethod
    def write(self, blocks: Iterable[pa.Table], path: Path) -> int:
        """Write decoded rows to one file, whole or not at all; return how many there were."""


@dataclass(frozen=True)
class ColumnDecoder(Decoder):
    """Decodes every column by the schema, and writes files of rows.

    Attributes:
        codec: the codec of the schema.
    """

    codec: Codec

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return the number of columns."""
        return {"columns": len(self.codec.schema.columns)}

    def decode(
        self, codes: CodedRows, *, generator: np.random.Generator, first_row: int = 1
    ) -> pa.Table:
        """Decode some rows to legal, typed values."""
        return self.codec.decode(codes, generator=generator, first_row=first_row)

    def filling(self, fills: Mapping[str, Ordinate]) -> ColumnDecoder:
        """Return a decoder that fills missing cells of some columns."""
        return replace(self, codec=replace(self.codec, fills=fills)) if fills else self

    def check_output(self, path: Path) -> Path:
        """Return the path of a file that rows can be written to."""
        return check_rows_output(path, self.codec.schema)

    def write(self, blocks: Iterable[pa.Table], path: Path) -> int:
        """Write decoded rows to a file in the format of its suffix."""
        return write_rows(blocks, path, self.codec)


def check_rows_output(path: Path, schema: Schema) -> Path:
    """The path, if rows of this schema can be written to such a file; asked before spending."""
    suffix = suffix_of(check_written(path))
    if suffix == EXCEL:
        require("openpyxl", extra="excel")
    if suffix in STATISTICS:
        require("pyreadstat", extra="statistics")
        check_statistics_names(path, schema.columns)
    return path
