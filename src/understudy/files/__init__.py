"""Rows in and out: CSV, Parquet, and data frames of any brand through Arrow."""

from understudy.files.frames import ArrowStream, Rows, are_rows, brand_of, in_brand
from understudy.files.reading import (
    check_suffix,
    column_names,
    parquet_types,
    read_blocks,
    read_rows,
)
from understudy.files.writing import atomic, check_apart, check_writable, write_rows, writing

__all__ = [
    "ArrowStream",
    "Rows",
    "are_rows",
    "atomic",
    "brand_of",
    "check_apart",
    "check_suffix",
    "check_writable",
    "column_names",
    "in_brand",
    "parquet_types",
    "read_blocks",
    "read_rows",
    "write_rows",
    "writing",
]
