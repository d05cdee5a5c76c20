"""Outside referees: SDMetrics, SDNist and Anonymeter judge the same two tables as we do.

All of them get the coded rows: unordered values as texts, numbers and dates as the middle of their
bin, so that everybody measures the same thing. Distances must then be equal. Attacks are drawn at
random by each tool, and their rates may differ by chance; they are compared in standard errors, for
a stand-in, and for half of the real rows, copied: a leak made on purpose.
"""

from __future__ import annotations

import itertools
import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.environments import (
    ANONYMETER,
    SDMETRICS,
    SDNIST,
    Peer,
    Unavailable,
    environment,
    run_peer,
)
from benchmarks.real_tables import SHARED, TABLES
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import adult_shaped
from understudy.evaluation import Evaluation, evaluate
from understudy.evaluation.disclosure.controlled import ControlledAttack
from understudy.evaluation.disclosure.leaks import leaked
from understudy.evaluation.disclosure.linkage import linkage
from understudy.evaluation.disclosure.singling_out import COLUMNS, singling_out
from understudy.evaluation.marginals.association import is_ordered
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.evaluation.raw.columns import kolmogorov
from understudy.evaluation.sheets import EvaluationTable, load
from understudy.facts.column import BinnedColumn
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods.registry import method
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy_studies.census import dependent

SAME = 1e-6
STANDARD_ERRORS = 3.5
"""Rates of two tools that draw their own guesses differ by less, but for chance (1 in 2,000)."""
GUESSES = 500


def run(board: Scoreboard) -> None:
    """Distances by SDMetrics and SDNist, and attacks by Anonymeter, beside ours."""
    referees = [(peer, judge) for peer, judge in _REFEREES if _is_here(board, peer)]
    if not referees:
        return
    with tempfile.TemporaryDirectory() as folder:
        pair = _Tables.of(Path(folder), board.size.pick(10_000, 600))
        for peer, judge in referees:
            judge(board, pair)
            board.peers |= peer.recorded


def _is_here(board: Scoreboard, peer: Peer) -> bool:
    """Whether a referee has an environment; a run of full size makes it first."""
    try:
        environment(peer, may_make=board.size.pick(True, False))
    except Unavailable as reason:
        board.leave_out(peer.name, str(reason))
        return False
    return True


@dataclass(frozen=True, repr=False, eq=False)
class _Tables:
    """Real, synthetic, held-out and leaked rows, as sheets and as files."""

    schema: Schema
    sheets: dict[str, EvaluationTable]
    folder: Path

    @classmethod
    def of(cls, folder: Path, rows: int) -> _Tables:
        schema, table = TABLES["adult"]() if SHARED.exists() else _made_up(2 * rows)
        order = np.random.default_rng(1).permutation(table.rows)
        real, control = (_taken(table, order[at : at + rows]) for at in (0, rows))
        maker = method("adaptive")(schema, epsilon=1, delta="1e-9")
        made = maker.fit(MemorySource(real), ledger=None).sample(rows, seed=1)
        given = {"real": real, "control": control, "synthetic": made}
        sheets = {name: load(data, schema, side=name, seed=0) for name, data in given.items()}
        sheets = {name: _middles(sheet, schema) for name, sheet in sheets.items()}
        found = cls(schema, {**sheets, "leak": leaked(sheets["real"], 0)}, folder)
        for name in found.sheets:
            pyarrow.csv.write_csv(found.written(name), found.path(name))
        return found

    def path(self, name: str) -> str:
        """Return the path of the file of a table."""
        return str(self.folder / f"{name}.csv")

    def written(self, name: str) -> pa.Table:
        """Return a table as every referee gets it."""
        sheet = self.sheets[name]
        return pa.table(
            {
                column: sheet.numbers[column]
                if column in self.numbers
                else [f"v{code}" for code in sheet.table.codes[column]]
                for column in self.schema.learned
            }
        )

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers and dates without missing cells."""
        return [
            name
            for name, column in self.schema.learned.items()
            if isinstance(column, BinnedColumn) and column.missing_code is None
        ]


def _made_up(rows: int) -> tuple[Schema, Table]:
    schema = adult_shaped()
    return schema, dependent(Domain.of(schema), rows)


def _taken(table: Table, places: Any) -> Table:
    codes = {name: column[places] for name, column in table.codes.items()}
    return Table(table.domain, codes, len(places))


def _middles(sheet: EvaluationTable, schema: Schema) -> EvaluationTable:
    """The codes alone: numbers at the middle of their bin, on every side."""
    return load(sheet.table, schema, side="coded", seed=0)


def _judged(pair: _Tables) -> Evaluation:
    real, made = (pair.sheets[name].table for name in ("real", "synthetic"))
    return evaluate(real, made, pair.schema, classifiers="none")


def _asked(peer: Peer, job: str, *arguments: str) -> dict[str, Any]:
    spent = run_peer(peer, job, *arguments)
    found: dict[str, Any] = json.loads(spent.output.splitlines()[-1])
    return found


def _sdmetrics(board: Scoreboard, pair: _Tables) -> None:
    files = (pair.path("real"), pair.path("synthetic"), ",".join(pair.numbers))
    theirs = _asked(SDMETRICS, "run_sdmetrics.py", *files)
    found = _judged(pair)
    real, made = (pair.sheets[name] for name in ("real", "synthetic"))
    ours = {
        "one": {each.column: 1 - each.distance for each in found.distributions},
        "two": _pairs(pair, real, made),
        "smirnov": {
            name: 1 - (kolmogorov(*(np.sort(s.numbers[name]) for s in (real, made))) or 0.0)
            for name in pair.numbers
        },
    }
    for name in ("Pearson", "Spearman"):
        theirs[name] = theirs["correlation"][name]
        ours[name] = _correlations(pair, found, name)
    titles = {
        "one": "TVComplement of {} columns",
        "two": "ContingencySimilarity of {} pairs",
        "smirnov": "KSComplement of {} numbers",
        "Pearson": "CorrelationSimilarity (Pearson) of {} pairs",
        "Spearman": "CorrelationSimilarity (Spearman) of {} pairs",
    }
    for name, title in titles.items():
        apart = max(abs(theirs[name][key] - value) for key, value in ours[name].items())
        what = f"SDMetrics, {title.format(len(ours[name]))}: largest difference from ours"
        board.add(what, apart, "", SAME)


def _pairs(pair: _Tables, real: EvaluationTable, made: EvaluationTable) -> dict[str, float]:
    pairs = list(itertools.combinations(pair.schema.learned, 2))
    distances = total_variation(real.table, made.table, pairs).tolist()
    return {",".join(names): 1 - apart for names, apart in zip(pairs, distances, strict=True)}


def _correlations(pair: _Tables, found: Evaluation, name: str) -> dict[str, float]:
    matrix = found.associations[name.lower()]
    places = {column: place for place, column in enumerate(matrix.columns)}
    scores = {}
    for a, b in itertools.combinations(pair.numbers, 2):
        real, made = (m[places[a]][places[b]] for m in (matrix.real, matrix.synthetic))
        if real is not None and made is not None:
            scores[f"{a},{b}"] = 1 - abs(real - made) / 2
    return scores


def _sdnist(board: Scoreboard, pair: _Tables) -> None:
    files = (pair.path("real"), pair.path("synthetic"))
    theirs = _asked(SDNIST, "run_sdnist.py", *files)["k-marginal"]
    ours = 1000 * (1 - (_judged(pair).variations[1].mean.value or 0.0))
    board.add(
        "SDNist, k-marginal score of 1,000: difference from ours", abs(theirs - ours), "", SAME
    )
    board.details.append({"k-marginal": {"SDNist": theirs, "ours": ours}})


def _anonymeter(board: Scoreboard, pair: _Tables) -> None:
    """Two attacks with the stand-in and with the leak; the same guesses are not made by both."""
    known = [name for name in pair.schema.learned if is_ordered(pair.schema.learned[name])]
    known = known[: len(pair.schema.learned) // 2] or list(pair.schema.learned)[:1]
    for attack, columns in (("singling-out", str(COLUMNS)), ("linkage", ",".join(known))):
        for table in ("synthetic", "leak"):
            files = (pair.path("real"), pair.path(table), pair.path("control"))
            theirs = _asked(
                *(ANONYMETER, "run_anonymeter.py", attack, *files),
                *(columns, str(GUESSES), "0"),
            )
            ours = _ours(pair, attack, table, known)
            _compare(board, attack, table, theirs, ours)


def _ours(pair: _Tables, attack: str, table: str, known: list[str]) -> ControlledAttack:
    real, control, made = (pair.sheets[name] for name in ("real", "control", table))
    if attack == "linkage":
        return linkage(pair.schema, known=known, real=real, control=control, synthetic=made)
    return singling_out(pair.schema, real=real, control=control, synthetic=made)


def _compare(
    board: Scoreboard, attack: str, table: str, theirs: dict[str, Any], ours: ControlledAttack
) -> None:
    """Rates on real and on control rows, in standard errors of their difference."""
    with_words = {"synthetic": "the stand-in", "leak": "copied rows"}[table]
    board.details.append(
        {"attack": attack, "with": with_words, "Anonymeter": theirs, "ours": ours.document()}
    )
    board.add(f"risk by {attack} with {with_words}, ours", ours.risk or 0.0, "")
    board.add(f"risk by {attack} with {with_words}, Anonymeter's", theirs["risk"], "")
    for side, count in (("real", "successes"), ("control", "control_successes")):
        rate = theirs[count] / max(theirs["guesses"], 1)
        value = getattr(ours, side) or 0.0
        spread = sum(r * (1 - r) / n for r, n in ((rate, theirs["guesses"]), (value, ours.guesses)))
        apart = abs(rate - value) / math.sqrt(spread) if spread > 0 else 0.0
        what = f"{attack} with {with_words}, success on {side} rows, standard errors apart"
        board.add(what, apart, "", STANDARD_ERRORS)


_REFEREES = ((SDMETRICS, _sdmetrics), (SDNIST, _sdnist), (ANONYMETER, _anonymeter))
