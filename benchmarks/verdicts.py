"""Verdicts on public tables: at ε = 0.1, 1 and 10, with and without dependence between columns.

Fidelity may only improve with ε, and columns that were drawn independently are never green. Numbers
of the lights are those of `understudy.evaluation.verdict`, colours count 2 for green, 1 for amber
and 0 for red or unknown. The whole page of Adult with three learners is timed too.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet

from benchmarks.measuring import understudy
from benchmarks.real_tables import SHARED, TABLES
from benchmarks.scoreboard import Scoreboard
from understudy.evaluation import evaluate
from understudy.evaluation.verdict import Colour
from understudy.facts.schema import Schema
from understudy.methods.registry import method
from understudy.rows.table import Table

EPSILONS = ("0.1", "1", "10")
DELTA = "1e-6"
_NAMES = ("adult", "cmc", "poker")
_COUNTED = {Colour.GREEN: 2, Colour.AMBER: 1, Colour.RED: 0, Colour.UNKNOWN: 0}
SMALL_PAGE_SECONDS, PAGE_SECONDS = 30.0, 45.0


def run(board: Scoreboard) -> None:
    """The colours of every light, and the time of a whole page."""
    if not SHARED.exists():
        board.leave_out("verdicts on public tables", "the tables are not there")
        return
    names = board.size.pick(_NAMES, ("cmc",))
    for name, maker in itertools.product(names, ("adaptive", "independent")):
        colours = [_judged(board, name, maker, epsilon) for epsilon in EPSILONS]
        what = f"fidelity of {name} by {maker}, ε = {', '.join(EPSILONS)}"
        if maker == "adaptive":
            falls = sum(later < first for first, later in itertools.pairwise(colours))
            board.add(f"{what}: how often a larger ε gets a worse light", falls, "", 0)
        else:
            # Pairs of poker's columns hardly depend on each other: there is nothing to lose.
            target = None if name == "poker" else 1
            board.add(f"{what}: best light (0 red, 1 amber, 2 green)", max(colours), "", target)
    _timed(board, board.size.pick(5_000, 500), SMALL_PAGE_SECONDS)
    _timed(board, board.size.pick(32_561, 1_000), PAGE_SECONDS)


def _judged(board: Scoreboard, name: str, maker: str, epsilon: str) -> int:
    """Judge one stand-in, and keep its lights."""
    schema, real = TABLES[name]()
    fitted = method(maker)(schema, epsilon=epsilon, delta=DELTA).fit(_rows(real), ledger=None)
    found = evaluate(real, fitted.sample(seed=0), schema, classifiers="none")
    verdict = found.verdict(fitted.model_.statement)
    lights = {light.about: [str(light.colour), light.number] for light in verdict.lights}
    board.details.append(
        {"table": name, "method": maker, "epsilon": epsilon, "decision": verdict.decision, **lights}
    )
    return _COUNTED[verdict.fidelity.colour]


def _rows(real: Table) -> Any:
    from understudy.rows.engines.memory import MemorySource

    return MemorySource(real)


def _timed(board: Scoreboard, rows: int, most: float) -> None:
    """CPU seconds of the command that makes Adult's page, its learners' process included.

    That process is kept until the command ends, and only a process that has ended is counted.
    """
    schema = SHARED / "benchmark" / "adult.json"
    real = pyarrow.parquet.read_table(SHARED / "data" / "adult_train.parquet").slice(0, rows)
    with tempfile.TemporaryDirectory() as name:
        files = {n: Path(name) / n for n in ("real.parquet", "model.zip", "rows.csv", "page.html")}
        data, model, synthetic, page = map(str, files.values())
        pyarrow.parquet.write_table(real, data)
        fitted = method("adaptive")(Schema.load(schema), epsilon=1, delta=DELTA)
        fitted.fit(real, ledger=None).model_.save(model)
        understudy("sample", model, "--seed", "0", "-o", synthetic)
        asked = ("--target", "income", "--model", model, "--subgroup", "sex", "-o", page)
        spent = understudy("evaluate", data, synthetic, "--schema", str(schema), *asked)
        size = files["page.html"].stat().st_size
    what = f"page of Adult, {rows:,} rows, with three learners"
    board.add(f"{what}, CPU of all processes", spent.cpu_seconds, "s", most)
    board.add(f"{what}, wall on the machine as it was", spent.wall_seconds, "s")
    board.details.append({"page": size, "wall": spent.wall_seconds})
