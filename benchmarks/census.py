"""The whole job of nist and adaptive on 98 columns with the codes of the NIST challenge's table.

Clustering is the challenge's first task. The page also has fresh rows of the law that the
table was drawn from, real rows drawn with replacement, and columns drawn each by itself.
"""

from __future__ import annotations

import tempfile
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.measuring import Work, apart
from benchmarks.real_tables import SHARED
from benchmarks.scoreboard import Scoreboard
from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.nist import clustering
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.codec import Codec
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import AdaptiveMarginals, Nist, Synthesizer
from understudy.methods.registry import method
from understudy.models.row_writing import write_rows
from understudy.models.sampling import deal_codes, sample_blocks
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy_studies.census import SPECIFICATION, census_schema, dependent
from understudy_studies.tables import DataFolder

_SPECIFICATION = SHARED / SPECIFICATION


# Clustering that is asked for, of 1,000.
_CLUSTERING = {"0.5": 935, "4": 945, "100": 948}
# By so much of 1,000 adaptive may be below the tree.
_BELOW_TREE = 2.0


def run(board: Scoreboard) -> None:
    """Seconds and memory of whole jobs, then clustering over ε."""
    rows, columns = board.size.pick((662_000, 98), (5_000, 12))
    shape = f"{rows:,} × {columns}"
    if not _SPECIFICATION.exists():
        board.leave_out(f"the census job, {shape}", "the specification is not there")
        return
    found = _job_of("nist", rows, columns)
    board.add(f"nist fit and as many sampled rows, {shape}, wall", found["seconds"], "s", 90)
    board.add(f"the same, peak memory, {shape}", found["peak"] / 1e9, "GB", 2)
    found = _job_of("adaptive", rows, columns)
    what = f"adaptive fit and as many sampled rows, {shape}"
    board.add(f"{what}, CPU", found["cpu_seconds"], "s", 120)
    board.add(f"{what}, wall", found["seconds"], "s")
    board.add(f"{what}, peak memory", found["peak"] / 1e9, "GB", 3)
    _clusterings(board, rows, columns)


def _job_of(name: str, rows: int, columns: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "out.parquet")
        return apart(prepare, name, output, str(rows), str(columns))


def _clusterings(board: Scoreboard, rows: int, columns: int) -> None:
    """Lines of clustering: the stand-ins, then adaptive and its tree over ε."""
    schema = census_schema(DataFolder(SHARED), columns)
    table = dependent(Domain.of(schema), rows)
    for name, other in beside(table).items():
        board.add(f"clustering of {name}", clustering_of(schema, table, other), "")
    ours: list[float] = []
    for epsilon, least in _CLUSTERING.items():
        tree = Nist(schema, epsilon=epsilon, delta=1e-9, degree=1)
        below = clustering_of(schema, table, _made(tree, table))
        adaptive = AdaptiveMarginals(schema, epsilon=epsilon, delta=1e-9)
        ours.append(clustering_of(schema, table, _made(adaptive, table)))
        what = f"clustering of adaptive, ε = {epsilon}"
        board.add(what, ours[-1], "", least, at_most=False)
        board.add(f"{what}, below its tree", below - ours[-1], "", _BELOW_TREE)
    falls = max(less - more for less, more in pairwise(ours))
    board.add("clustering of adaptive, its largest fall as ε grows", falls, "", 0.0)


def beside(table: Table) -> dict[str, Table]:
    """Fresh rows of the table's law, its rows drawn with replacement, and its columns apart."""
    random, rows = np.random.default_rng(1), table.rows
    same = random.integers(0, rows, rows)
    again = {name: codes[same] for name, codes in table.codes.items()}
    apart_ = {name: codes[random.permutation(rows)] for name, codes in table.codes.items()}
    fresh = dependent(table.domain, rows, seed=1).codes
    found = {"fresh rows of the law": fresh, "resampled rows": again, "independent columns": apart_}
    return {name: Table(table.domain, codes, rows) for name, codes in found.items()}


def clustering_of(schema: Schema, real: Table, other: Table) -> float:
    """The score of the challenge's first task, of 1,000."""
    sheets = [
        EvaluationTable(table=each, numbers={}, read=each.rows, fitting=each.rows)
        for each in (real, other)
    ]
    comparison = Comparison(
        schema=schema, real=sheets[0], synthetic=sheets[1], resampled=(), independent=(), seed=0
    )
    return float(clustering(comparison).value or 0.0) / 1_000


def _made(chosen: Synthesizer, table: Table) -> Table:
    model = chosen.fit(MemorySource(table), ledger=None).model_
    codes = model.law.draw(table.rows, np.random.default_rng(0), sampler=deal_codes)
    return Table(table.domain, {name: codes[name] for name in table.domain}, table.rows)


def prepare(name: str, output: str, rows: str, columns: str) -> Work:
    """Rows of a random network over the census codes, ready to be fitted by a method."""
    schema = census_schema(DataFolder(SHARED), int(columns))
    source = MemorySource(dependent(Domain.of(schema), int(rows)))
    return partial(_job, method(name), schema, source, output)


def _job(kind: type[Synthesizer], schema: Schema, source: MemorySource, output: str) -> None:
    model = kind(schema, epsilon=1, delta=1e-9).fit(source, ledger=None).model_
    write_rows(sample_blocks(model, source.table.rows), output, Codec(schema))
