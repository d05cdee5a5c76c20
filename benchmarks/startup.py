"""From nothing to the first answer: start-up, and the demo on a machine that compiled nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measuring import Spent, understudy
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import adult_shaped, write_uniform

_ROWS = 32_561
"""As many as Adult has."""


def run(board: Scoreboard) -> None:
    """Wall seconds of processes of their own."""
    help_times = [understudy("--help").wall_seconds for _ in range(board.size.pick(5, 1))]
    board.add("understudy --help, wall, best of 5", min(help_times), "s", 0.5)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Compiled kernels are kept where this says: an empty folder has none.
        kernels = board.size.pick({"NUMBA_CACHE_DIR": str(folder / "kernels")}, {})
        demo = understudy("demo", "--folder", str(folder / "demo"), environment=kernels)
        _commands(board, folder)
    board.add("demo, kernels not yet compiled, wall", demo.wall_seconds, "s", 60)


def _commands(board: Scoreboard, folder: Path) -> None:
    """Commands at Adult's size in processes of their own, with kernels compiled before."""
    schema = adult_shaped()
    rows, declared, model = (folder / name for name in ("rows.csv", "schema.toml", "m.zip"))
    write_uniform(schema, board.size.pick(_ROWS, 500), rows)
    declared.write_text(schema.text_for(declared))
    own = ("--schema", str(declared))
    paid = (*own, "--epsilon", "1", "--ledger", str(folder / "ledger.jsonl"))
    understudy("fit", str(rows), *paid, "--delta", "1e-6", "-o", str(model))
    asked = f"P({next(iter(schema.columns))})"
    out = ("-o", str(folder / "out.csv"), "--force")
    commands = {
        "synth --method independent": ("synth", str(rows), *paid, "--method", "independent", *out),
        "sample 500 rows": ("sample", str(model), "--rows", "500", *out),
        "query": ("query", str(model), asked),
        "check": ("check", str(rows), *own),
    }
    for name, command in commands.items():
        taken = [understudy(*command) for _ in range(board.size.pick(5, 1))]
        target = 1.5 if name.startswith("synth") else 1.0
        board.add(f"{name}, wall, best of 5", min(t.wall_seconds for t in taken), "s", target)
        board.add(f"{name}, CPU, best of 5", min(map(_cpu, taken)), "s")


def _cpu(spent: Spent) -> float:
    return spent.cpu_seconds
