"""Private rows from files of many formats, whole or in blocks."""

from understudy.rows.reading.files import column_names, declared_types, read_blocks, read_rows
from understudy.rows.reading.parquet import (
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

__all__ = [
    "Footer",
    "Partition",
    "check_alike",
    "column_names",
    "declared_types",
    "is_parquet",
    "parquet_types",
    "partition_blocks",
    "partition_files",
    "partitions_of",
    "read_blocks",
    "read_footer",
    "read_rows",
]
