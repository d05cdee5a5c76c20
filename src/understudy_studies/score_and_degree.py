"""TUC-2 section 3.7: the scores I, F and R, and a degree by θ-usefulness, against fixed ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from understudy.facts.schema import Schema
from understudy.facts.workload import distances, workload
from understudy.methods import PrivBayes
from understudy.models.pictures.charts import Line, Panel
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.system.arrays import Probabilities
from understudy.testing import seeded
from understudy_studies import copula
from understudy_studies.accuracy import FILES
from understudy_studies.cells import CellValues, Results, Setting, Size, Spread
from understudy_studies.study import JudgedClaim, Reproduction, Study, StudyTable
from understudy_studies.tables import Coded, DataFolder, described, integer_schema

BINARY = "copula"
# Under θ = 4 an average cell holds four times its noise, as in the papers; a θ near 0 caps nothing.
RULES: Mapping[str, dict[str, Any]] = {
    "θ = 4": {"theta": 4.0},
    "k = 1": {"theta": 1e-9, "degree": 1},
    "k = 2": {"theta": 1e-9, "degree": 2},
}
OURS = "price of cells"
SCORES = ("MI", "F", "R")


class ScoreAndDegree(Study):
    """Distances of 3-way tables for each score and each rule on the degree, over ε."""

    title = "Scores and degrees of private networks: I, F and R, θ-usefulness and fixed k"
    source = "TUC-2 section 3.7, the future work it names; PrivBayes"
    claim = (
        "The scores F and R give better networks than mutual information, and a degree that "
        "follows from θ-usefulness is better than a fixed one."
    )
    words = (
        "`privbayes` is fitted under replaced rows with each score and with each rule on tables: "
        "θ = 4, which bounds the cells of a table and so the degree; a fixed degree of 1 or 2 "
        "without a bound; and the package's own price of cells, which only R has, since bits are "
        "not rows. F is for two-valued columns, so that it is tried on AAU's copula alone (five "
        "columns, 10,000 rows). Distances are mean total variation distances of all 3-way tables "
        "(at most 300), of synthetic rows from real ones. A distance is told from another where "
        "two standard errors of the fits lie between them."
    )
    reduced = "three fits for each setting; two fixed degrees"
    across = 3
    files = (*FILES["adult"], *FILES["poker"])
    methods = ("privbayes",)

    def settings(self, size: Size) -> list[Setting]:
        """Return a setting for each table, ε, score and rule that go together."""
        tables = size.pick(smoke=[BINARY], quick=[BINARY], full=[BINARY, "poker", "adult"])
        epsilons = size.pick(smoke=["1"], quick=["0.1", "1"], full=["0.1", "0.3", "1", "3"])
        plan = [
            {"table": table, "epsilon": epsilon, "score": score, "rule": rule}
            for table in tables
            for epsilon in epsilons
            for score in (SCORES if table == BINARY else ("MI", "R"))
            for rule in (*RULES, *([OURS] if score == "R" else []))
        ]
        rows, runs = (
            size.pick(smoke=500, quick=10_000, full=10_000),
            size.pick(smoke=1, quick=2, full=3),
        )
        return [
            {**each, "rows": rows, "runs": runs, "seed": seed} for seed, each in enumerate(plan)
        ]

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """The distance of every fit, and how many parents attributes had on average."""
        schema, table = _table(setting, shelf)
        seed = int(setting["seed"])
        found = [
            _fitted(setting, schema, table, [seed, run]) for run in range(int(setting["runs"]))
        ]
        spread = Spread.of([distance for distance, _ in found])
        return {
            "mean": spread.mean,
            "deviation": spread.deviation,
            "parents": float(np.mean([parents for _, parents in found])),
        }

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Return the two claims on every table."""
        return [
            found for table in results.values("table") for found in _judged(str(table), results)
        ]

    def sentence(self, results: Results) -> str:
        """Say how the scores and the rules compare."""
        said = [f"{found.claim}: {found.measured}." for found in self.findings(results)]
        return " ".join([*said, *(_own_rule(str(t), results) for t in results.values("table"))])

    def summary(self, results: Results) -> StudyTable:
        """Return a line for each setting."""
        names = ("table", "epsilon", "score", "rule")
        lines = [
            (
                *(cell.setting[name] for name in names),
                cell.numbers["mean"],
                cell.numbers["deviation"],
                f"{cell.numbers['parents']:.1f}",
            )
            for cell in results
        ]
        columns = ("table", "ε", "score", "rule", "3-way distance", "±", "parents")
        return StudyTable(columns, lines)

    def panels(self, results: Results) -> Sequence[Panel]:
        """Distances over ε: a panel for each table, a line for each score and rule."""
        return [_panel(str(table), results.where(table=table)) for table in results.values("table")]


def _table(setting: Setting, shelf: DataFolder) -> Coded:
    if setting["table"] == BINARY:
        rows = copula.correlated(int(setting["rows"]), np.random.default_rng(7))
        return integer_schema(dict.fromkeys(copula.NAMES, 2)), rows
    return _public(str(setting["table"]), shelf)


@cache
def _public(name: str, shelf: DataFolder) -> Coded:
    return described(shelf, *FILES[name])


def _fitted(
    setting: Setting, schema: Schema, table: Table, seeds: Sequence[int]
) -> tuple[float, float]:
    """The 3-way distance of one fit, and its mean number of parents."""
    rule = RULES.get(str(setting["rule"]), {})
    method = PrivBayes(
        schema,
        epsilon=str(setting["epsilon"]),
        neighbours="replace",
        score=str(setting["score"]),
        **rule,
    )
    noise, draws = np.random.default_rng(seeds).integers(2**62, size=2)
    model = seeded(method, int(noise)).fit(MemorySource(table), ledger=None).model_
    codes = model.law.draw(table.rows, np.random.default_rng(int(draws)))
    made = Table(table.domain, codes, table.rows)
    sets = workload(table.domain, 3)
    off = distances(*(_shares(each, sets) for each in (table, made)))
    return float(off.mean()), float(np.mean([len(f.parents) for f in model.network]))


def _shares(table: Table, sets: Sequence[tuple[str, ...]]) -> list[Probabilities]:
    return [m.counts / max(table.rows, 1) for m in MemorySource(table).count(sets)]


def _distance(results: Results, **wanted: Any) -> Spread:
    cell = results.where(**wanted).cells[0]
    numbers, runs = cell.numbers, int(cell.setting["runs"])
    return Spread(float(numbers["mean"]), float(numbers["deviation"]), runs)


def _judged(table: str, results: Results) -> list[JudgedClaim]:
    own = results.where(table=table)
    scores = [str(s) for s in own.values("score")]
    of_score = {s: _distances(own, score=s, rule="θ = 4") for s in scores}
    of_rule = {rule: _distances(own, score="R", rule=rule) for rule in RULES}
    others = " and ".join(score for score in scores if score != "MI")
    give = "give" if len(scores) > 2 else "gives"
    claims = (
        (f"{others} {give} smaller distances than mutual information", of_score, "MI", True),
        ("a degree by θ = 4 is better than a fixed one", of_rule, "θ = 4", False),
    )
    return [
        compared(f"On {table} {claim}", found, name, larger=larger)
        for claim, found, name, larger in claims
    ]


def _distances(results: Results, **wanted: Any) -> dict[str, Spread]:
    """Return the distances over ε."""
    return {str(e): _distance(results, epsilon=e, **wanted) for e in results.values("epsilon")}


def compared(
    claim: str, found: Mapping[str, Mapping[str, Spread]], name: str, *, larger: bool
) -> JudgedClaim:
    """Judge whether one line is above all others, or below them, by more than fits scatter."""
    epsilons = [*found[name]]
    sides: dict[str, list[str]] = {"held": [], "against": [], "open": []}
    for epsilon in epsilons:
        sides[_side(found, name, epsilon, larger=larger)].append(epsilon)
    shown = "; ".join(
        f"{n} {' '.join(f'{d.mean:.3f}' for d in values.values())}" for n, values in found.items()
    )
    measured = f"3-way distance at ε = {', '.join(epsilons)}: {shown}"
    words = {"held": "it is so", "against": "it is not so", "open": "these fits do not decide it"}
    reason = "; ".join(f"{words[s]} at ε = {', '.join(at)}" for s, at in sides.items() if at)
    if len(sides["held"]) == len(epsilons):
        return JudgedClaim(claim, measured, Reproduction.REPRODUCED)
    if sides["against"]:
        verdict = Reproduction.PARTLY if sides["held"] else Reproduction.CONTRADICTED
    else:
        verdict = Reproduction.PARTLY if sides["held"] else Reproduction.NOT_COMPARABLE
    return JudgedClaim(claim, measured, verdict, reason)


def _side(
    found: Mapping[str, Mapping[str, Spread]], name: str, epsilon: str, *, larger: bool
) -> str:
    """Say whether a line is beyond all others at one ε, behind one of them, or neither."""
    own, sign = found[name][epsilon], 1 if larger else -1
    others = [values[epsilon] for n, values in found.items() if n != name]
    leads = [(sign * (own.mean - o.mean), 2 * math.hypot(own.error, o.error)) for o in others]
    if all(lead > error for lead, error in leads):
        return "held"
    return "against" if any(-lead > error for lead, error in leads) else "open"


def _own_rule(table: str, results: Results) -> str:
    """Say how the package's own price of cells compares with the rules of the papers."""
    own = results.where(table=table)
    price = " ".join(f"{d.mean:.3f}" for d in _distances(own, score="R", rule=OURS).values())
    return f"On {table} the package's own price of cells has {price}."


def _panel(table: str, results: Results) -> Panel:
    lines = []
    for score in results.values("score"):
        for rule in results.where(score=score).values("rule"):
            cells = results.where(score=score, rule=rule)
            over = [float(e) for e in cells.values("epsilon")]
            lines.append(Line(f"{score}, {rule}", over, [float(c.numbers["mean"]) for c in cells]))
    return Panel(table, "ε", "3-way distance", lines, log_across=True, log_up=True)


STUDY = ScoreAndDegree()
