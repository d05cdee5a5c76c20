"""From a public schema to a first private table: start-up, reading, and the independent method.

Run: python benchmarks/first_table.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.csv

from scoreboard import Scoreboard, seconds, side_by_side
from understudy.codec import Codec
from understudy.files import read_rows, write_rows
from understudy.sample import sample_blocks
from understudy.schema import Schema
from understudy.synthesizers import Independent, Random

ROWS = 1_000_000
ADULT_ROWS = 48_842

# The shape of the Adult census table: fifteen columns, nine of them categorical.
SIZES = {
    "age": 74, "work": 9, "weight": 1_500_000, "school": 16, "years": 16, "married": 7, "job": 15,
    "role": 6, "origin": 5, "sex": 2, "gain": 99_999, "loss": 4_500, "hours": 99, "country": 42,
    "income": 2,
}  # fmt: skip
NUMBERS = ("age", "weight", "years", "gain", "loss", "hours")


def schema() -> Schema:
    """The example's schema: numbers in 16 to 32 bins, categories of realistic length."""
    columns: dict[str, object] = {}
    for name, size in SIZES.items():
        if name in NUMBERS:
            columns[name] = {"kind": "integer", "min": 0, "max": size, "bins": min(size, 20)}
        else:
            values = [f"{name}-value-{i}" for i in range(size)]
            columns[name] = {"kind": "categorical", "values": values}
    return Schema.parse({"columns": columns})


def make_table(rows: int, path: Path) -> None:
    """A CSV file of random legal rows."""
    model = Random(schema(), epsilon=1, rows=rows).fit({name: [] for name in SIZES}).model_
    write_rows(sample_blocks(model, seed=1), path, Codec(schema()))


def run_understudy(*arguments: str, cold: bool = False) -> float:
    """Wall seconds of one command in a process of its own."""
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as cache:
        if cold:
            environment["NUMBA_CACHE_DIR"] = cache
        command = [sys.executable, "-m", "understudy.cli.main", *arguments]
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=environment)
        return time.perf_counter() - started


def main() -> None:
    """Measure every claim about the first table."""
    board = Scoreboard("first_table")
    help_time = min(run_understudy("--help") for _ in range(5))
    board.add("understudy --help, best of 5", help_time, "s", 0.5)
    with tempfile.TemporaryDirectory() as folder:
        cold = run_understudy("demo", "--folder", folder, cold=True)
        board.add("demo, kernels not yet compiled", cold, "s", 60)

        large = Path(folder) / "large.csv"
        make_table(ROWS, large)
        codec = Codec(schema())
        alone, ours = side_by_side(
            lambda: pyarrow.csv.read_csv(large),
            lambda: codec.encode(read_rows(large, codec)),
        )
        speed = alone / ours
        what = f"reading and encoding {ROWS:,} × {len(SIZES)}, speed of read_csv alone"
        board.add(what, speed, "×", 0.5, at_most=False)

        adult = Path(folder) / "adult.csv"
        make_table(ADULT_ROWS, adult)
        fit = seconds(lambda: Independent(schema(), epsilon=1).fit(adult).sample())
        board.add("independent fit + sample at Adult's size, warm", fit, "s", 2)
        arguments = ("synth", str(adult), "--epsilon", "1", "-o", f"{folder}/out.csv")
        schema().dump(f"{folder}/schema.toml")
        ledger = ("--ledger", f"{folder}/ledger.jsonl", "--schema", f"{folder}/schema.toml")
        whole = min(run_understudy(*arguments, *ledger) for _ in range(5))
        board.add("the same as a command, process start to file closed", whole, "s", 2)
    board.write()


if __name__ == "__main__":
    main()
