"""The page of `understudy evaluate`: Adult without predictions, a wide table, and many rows."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measuring import understudy
from benchmarks.real_tables import SHARED
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import adult_shaped, integers, write_uniform
from understudy.facts.schema import Schema

SECONDS = 20.0


def run(board: Scoreboard) -> None:
    """Wall seconds of the command, from process start to page closed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _adult(board, folder)
        rows = board.size.pick(20_000, 500)
        wide = integers({f"column {i}": 8 for i in range(100)})
        _made_up(board, folder, f"a page of {rows:,} × 100", wide, rows)
        rows = board.size.pick(10_000_000, 5_000)
        _made_up(board, folder, f"a page of {rows:,} × 15", adult_shaped(), rows)


def _adult(board: Scoreboard, folder: Path) -> None:
    data, schema = SHARED / "data" / "adult_train.parquet", SHARED / "benchmark" / "adult.json"
    if not data.exists():
        board.leave_out("the page of Adult", "the table is not there")
        return
    model, rows, ledger = (folder / n for n in ("model.zip", "synthetic.csv", "ledger.jsonl"))
    spending = ("--epsilon", "1", "--delta", "1e-9", "--ledger", str(ledger))
    understudy("fit", str(data), "--schema", str(schema), *spending, "-o", str(model), "--force")
    understudy("sample", str(model), "--seed", "0", "-o", str(rows))
    page = ("--model", str(model), "--classifiers", "none", "-o", str(folder / "adult.html"))
    spent = understudy("evaluate", str(data), str(rows), "--schema", str(schema), *page)
    what = "the page of Adult without predictions, start to file closed"
    board.add(f"{what}, wall", spent.wall_seconds, "s", SECONDS)
    board.add(f"{what}, CPU", spent.cpu_seconds, "s")
    board.details.append({"page": "Adult", "bytes": (folder / "adult.html").stat().st_size})


def _made_up(board: Scoreboard, folder: Path, what: str, schema: Schema, rows: int) -> None:
    """Real and synthetic rows are the same: what they hold does not matter here."""
    data, columns, page = (folder / n for n in ("rows.parquet", "schema.json", "page.html"))
    write_uniform(schema, rows, data)
    schema.dump(columns)
    options = ("--schema", str(columns), "--classifiers", "none", "-o", str(page))
    spent = understudy("evaluate", str(data), str(data), *options)
    board.add(f"{what}, start to file closed, wall", spent.wall_seconds, "s")
    board.add(f"{what}, start to file closed, CPU", spent.cpu_seconds, "s")
    board.details.append({"page": what, "bytes": page.stat().st_size})
