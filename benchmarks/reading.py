"""Reading and encoding a CSV file, against the reader alone."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pyarrow.csv

from benchmarks.measuring import in_turns
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import adult_shaped, write_uniform
from understudy.facts.codec import Codec
from understudy.rows.reading import read_rows
from understudy.rows.table import Table


def run(board: Scoreboard) -> None:
    """Codes in at most twice the wall time that pyarrow takes to read the text."""
    rows, schema = board.size.pick(10**6, 20_000), adult_shaped()
    codec = Codec(schema)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_uniform(schema, rows, path)
        works = {
            "alone": lambda: pyarrow.csv.read_csv(path),
            "ours": lambda: Table.of(codec.encode(read_rows(path, codec))),
        }
        least = in_turns(works, rounds=board.size.pick(7, 1), clock=time.perf_counter)
    what = f"reading and encoding {rows:,} × {len(schema.columns)}, speed of read_csv alone, wall"
    board.add(what, least["alone"] / least["ours"], "×", 0.5, at_most=False)
