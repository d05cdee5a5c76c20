"""The independent method at Adult's size, warm and as a command."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.measuring import in_turns, understudy
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import adult_shaped, write_uniform
from understudy.methods import Independent


def run(board: Scoreboard) -> None:
    """Wall seconds of fitting and sampling, then from process start to file closed."""
    rows, schema, rounds = board.size.pick(48_842, 2_000), adult_shaped(), board.size.pick(5, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, columns = folder / "adult.csv", folder / "schema.toml"
        write_uniform(schema, rows, table)
        schema.dump(columns)
        fit = in_turns(
            {"fit": lambda: Independent(schema, epsilon=1).fit(table, ledger=None).sample()},
            rounds=rounds,
            clock=time.perf_counter,
        )
        board.add("independent fit and sample at Adult's size, warm, wall", fit["fit"], "s", 2)
        arguments = ["synth", str(table), "--schema", str(columns), "--epsilon", "1", "--force"]
        places = ["-o", str(folder / "out.csv"), "--ledger", str(folder / "ledger.jsonl")]
        whole = min(understudy(*arguments, *places).wall_seconds for _ in range(rounds))
    board.add("a synth command at Adult's size, start to file closed, wall", whole, "s", 2)
