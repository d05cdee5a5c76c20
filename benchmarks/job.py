"""The whole nist job on a million rows, against numpy counting their pairs alone."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

from benchmarks.counting import by_bincount
from benchmarks.measuring import in_turns
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import adult_shaped, write_uniform
from understudy.facts.codec import Codec
from understudy.methods import Nist
from understudy.models.row_writing import write_rows
from understudy.models.sampling import sample_blocks
from understudy.rows.reading import read_rows
from understudy.rows.table import Table


def run(board: Scoreboard) -> None:
    """Read, fit, sample and write in at most ten times what counting all pairs takes numpy."""
    rows, schema = board.size.pick(10**6, 20_000), adult_shaped()
    codec = Codec(schema)
    with tempfile.TemporaryDirectory() as folder:
        path, output = Path(folder) / "rows.parquet", Path(folder) / "out.parquet"
        write_uniform(schema, rows, path)
        table = Table.of(codec.encode(read_rows(path, codec)))
        pairs = list(itertools.combinations(table.domain.attributes, 2))

        def job() -> None:
            fitted = Nist(schema, epsilon=1, delta=1e-9).fit(path, ledger=None)
            write_rows(sample_blocks(fitted.model_), output, codec)

        taken = in_turns({"job": job, "pairs": lambda: by_bincount(table, pairs)}, rounds=2)
    what = f"whole nist job, {rows:,} × {len(schema.columns)}, times numpy's pairs alone"
    board.add(what, taken["job"] / taken["pairs"], "×", 10)
