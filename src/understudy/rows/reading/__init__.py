"""Rows in and out: CSV, Parquet, and data frames of any brand through Arrow."""

from understudy.files.frames import ArrowStream, Rows, are_rows, brand_of, in_brand
from understudy.files.parquet import (
    Footer,
    Partition,
    check_alike,
    is_parquet,
    parquet_types,
    partition_blocks,
    partition_files,
    partitions_of,
    read_footer,
)
from understudy.files.reading import (
    SUFFIXES,
    check_suffix,
    column_names,
    read_blocks,
    read_rows,
)
from understudy.files.writing import atomic, check_apart, check_writable, write_rows, writing

__all__ = [
    "SUFFIXES",
    "ArrowStream",
    "Footer",
    "Partition",
    "Rows",
    "are_rows",
    "atomic",
    "brand_of",
    "check_alike",
    "check_apart",
    "check_suffix",
    "check_writable",
    "column_names",
    "in_brand",
    "is_parquet",
    "parquet_types",
    "partition_blocks",
    "partition_files",
    "partitions_of",
    "read_blocks",
    "read_footer",
    "read_rows",
    "write_rows",
    "writing",
]
