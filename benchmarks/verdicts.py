"""Verdicts on public tables: at ε = 0.1, 1 and 10, with and without dependence between columns.

Fidelity may only improve with ε, and columns that were drawn independently are never green. Numbers
of the lights are those of `understudy.evaluation.verdict`, colours count 2 for green, 1 for amber
and 0 for red or unknown. The whole page of Adult with three learners is timed too.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

from benchmarks.real_tables import SHARED, TABLES
from benchmarks.scoreboard import Scoreboard
from understudy.evaluation import evaluate
from understudy.evaluation.report import Subject, evaluation_page
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
    """CPU seconds of Adult's page, the processes of its learners included."""
    import resource

    import pyarrow.parquet

    schema = Schema.load(SHARED / "benchmark" / "adult.json")
    real = pyarrow.parquet.read_table(SHARED / "data" / "adult_train.parquet").slice(0, rows)
    fitted = method("adaptive")(schema, epsilon=1, delta=DELTA).fit(real, ledger=None)
    synthetic = fitted.sample(seed=0)
    before = _cpu(resource)
    started = time.perf_counter()
    found = evaluate(real, synthetic, schema, target="income")
    subject = Subject(real="adult", synthetic="stand-in", statement=fitted.model_.statement)
    page = evaluation_page(found, subject)
    what = f"page of Adult, {rows:,} rows, with three learners"
    board.add(f"{what}, CPU of all processes", _cpu(resource) - before, "s", most)
    board.details.append({"page": len(page), "wall": time.perf_counter() - started})


def _cpu(resource: Any) -> float:
    """CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return float(sum(each.ru_utime + each.ru_stime for each in used))
