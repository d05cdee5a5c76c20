"""A public file with all of its columns, as it is: texts of CSV stay texts."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from understudy.errors import DataError, UsageError
from understudy.rows.reading.files import column_names
from understudy.system.files.refusals import reading
from understudy.system.files.suffixes import CSV, PARQUET, check_suffix


def read_whole(path: Path) -> pa.Table:
    """Return all columns of a public CSV or Parquet file.

    Privacy: for files that are public or synthetic; cells are passed on unchanged.
    """
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    if check_suffix(path).suffix not in (CSV, PARQUET):
        raise UsageError(f"{path}: gaps are filled in .csv and .parquet files; convert it first")
    if path.suffix != CSV:
        with reading(path):
            return pq.read_table(path, partitioning=None)
    names = column_names(path)
    convert = pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), null_values=[])
    parse = pc.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1)
    with reading(path):
        try:
            return pc.read_csv(path, parse_options=parse, convert_options=convert)
        except pa.ArrowInvalid:
            raise DataError(
                f"{path}: a line has another number of fields than the header; "
                "quote fields that hold commas"
            ) from None
