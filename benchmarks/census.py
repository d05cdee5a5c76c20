"""The whole nist job on 98 columns with the codes of the NIST challenge's census table."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measuring import Work, apart
from benchmarks.real_tables import SHARED
from benchmarks.scoreboard import Scoreboard
from understudy.facts.codec import Codec
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import Nist
from understudy.models.row_writing import write_rows
from understudy.models.sampling import sample_blocks
from understudy.rows.engines.memory import MemorySource
from understudy_studies.census import SPECIFICATION, census_schema, dependent
from understudy_studies.tables import DataFolder

_SPECIFICATION = SHARED / SPECIFICATION


def run(board: Scoreboard) -> None:
    """Seconds on the clock and peak memory of fitting, sampling as many rows, and writing."""
    rows, columns = board.size.pick((662_000, 98), (5_000, 12))
    shape = f"{rows:,} × {columns}"
    if not _SPECIFICATION.exists():
        board.leave_out(f"the census job, {shape}", "the specification is not there")
        return
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "out.parquet")
        found = apart(prepare, output, str(rows), str(columns))
    board.add(f"nist fit and as many sampled rows, {shape}, wall", found["seconds"], "s", 90)
    board.add(f"the same, peak memory, {shape}", found["peak"] / 1e9, "GB", 2)


def prepare(output: str, rows: str, columns: str) -> Work:
    """Rows of a random network over the census codes, ready to be fitted."""
    schema = census_schema(DataFolder(SHARED), int(columns))
    source = MemorySource(dependent(Domain.of(schema), int(rows)))
    return partial(_job, schema, source, output)


def _job(schema: Schema, source: MemorySource, output: str) -> None:
    model = Nist(schema, epsilon=1, delta=1e-9).fit(source, ledger=None).model_
    write_rows(sample_blocks(model, source.table.rows), output, Codec(schema))
