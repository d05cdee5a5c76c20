"""TUC-2's future work: rows by private adversarial networks, beside Bayesian ones at equal ε."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.variation import variation
from understudy.evaluation.prediction.prediction import Settings, learn
from understudy.evaluation.sheets import EvaluationTable, load
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.gan.backend import one_thread
from understudy.gan.tables import DPGAN, NoiseGAN
from understudy.gan.training import Hyperparameters as Training
from understudy.methods import Independent, Nist, PrivBayes, Synthesizer
from understudy.models.pictures.charts import Line, Panel
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.system.extras import require
from understudy.testing import seeded
from understudy_studies.cells import Cell, CellValues, Results, Setting, Size
from understudy_studies.census import dependent
from understudy_studies.study import JudgedClaim, Reproduction, Study, StudyTable
from understudy_studies.tables import (
    ADULT,
    Coded,
    DataFolder,
    described,
    integer_schema,
    parted,
)

REAL = "real rows"
_TRAINED: dict[str, type[DPGAN | NoiseGAN]] = {"dpgan": DPGAN, "noise-gan": NoiseGAN}
_WITHOUT_LESSONS = {"dpgan": "dpgan without lessons"}
_NETWORKS = ("nist", "privbayes", "independent")
_METHODS = (*_NETWORKS, *_TRAINED)
_TARGETS = {"adult": "income", "small": "c3"}
_CLASSIFIERS = "decision-tree random-forest xgboost"
_DELTA = "1e-9"
_HELD_OUT, _SECONDS = 0.2, 120.0


class PrivateRows(Study):
    """Accuracy learnt from rows, and distance of their marginals, by method."""

    title = "Rows by private adversarial networks beside Bayesian networks, at equal ε"
    source = "TUC-2 section 5.4, the future work it names"
    claim = (
        "Adversarial networks that learn under differential privacy could be used for tables of "
        "categories and numbers too; the thesis leaves this to others."
    )
    words = (
        "A fifth of Adult's rows is held out. Each method gets the others and the same ε (δ = "
        f"{_DELTA}; `privbayes` and `independent` need none), makes as many rows, and three "
        "classifiers learn the income from these rows and are tested on those held out. The "
        "adversarial methods are given the income as a target, so that rows of either income are "
        "made to order, and `dpgan` has no start (`--lessons 0`). *3-way* is the mean total "
        "variation over triples of columns. `privbayes` "
        "and `noise-gan` promise for replaced rows, the others for added and removed ones. The "
        "baseline names the most frequent income. Seconds are of one core, fitting alone."
    )
    reduced = "one split; classifiers learn from 5,000 rows at most"
    files = ADULT

    def made_by(self, setting: Setting) -> Sequence[str]:
        """Return the method of synthetic rows, whose law is another without lessons."""
        method = str(setting["method"])
        return [] if method == REAL else [_WITHOUT_LESSONS.get(method, method)]

    def check(self, size: Size, shelf: DataFolder) -> None:
        """Refuse a run without PyTorch, or without the packages that hold the classifiers."""
        super().check(size, shelf)
        for module, extra in (("torch", "gan"), ("sklearn", "evaluate"), ("xgboost", "evaluate")):
            if find_spec(module) is None:
                require(module, extra=extra)

    def settings(self, size: Size) -> list[Setting]:
        """The real rows, then every ε and method."""
        epsilons = size.pick(smoke=("1",), quick=("1",), full=("1", "10"))
        methods = size.pick(smoke=("nist", "dpgan"), quick=_METHODS, full=_METHODS)
        same = {
            "table": size.pick(smoke="small", quick="adult", full="adult"),
            "classifiers": size.pick(
                smoke="decision-tree", quick="decision-tree xgboost", full=_CLASSIFIERS
            ),
            "most_rows": size.pick(smoke=300, quick=2_000, full=5_000),
        }
        plan: list[dict[str, Any]] = [{"method": REAL, "epsilon": REAL, **same}]
        for epsilon in epsilons:
            for method in methods:
                epochs = size.pick(smoke=1, quick=1, full=20) if method in _TRAINED else 0
                plan.append({"method": method, "epsilon": epsilon, **same, "epochs": epochs})
        return [{**setting, "seed": seed} for seed, setting in enumerate(plan)]

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """The accuracy of every classifier, their mean, and the distance of triples."""
        name = str(setting["table"])
        schema, table = _table(name, shelf)
        train, test = parted(table, _HELD_OUT, 0)
        started = time.process_time()
        with one_thread():
            rows = train if setting["method"] == REAL else _synthetic(schema, train, setting)
        seconds = time.process_time() - started
        accuracy = _accuracy(schema, rows, test, setting)
        ways = min(3, len(table.domain))
        comparison = Comparison(
            schema=schema,
            real=_sheet(train, schema),
            synthetic=_sheet(rows, schema),
            resampled=(),
            independent=(),
            seed=0,
        )
        most = np.bincount(train.codes[_TARGETS[name]]).argmax()
        return {
            "accuracy": accuracy,
            "mean": float(np.mean(list(accuracy.values()))),
            "baseline": float((test.codes[_TARGETS[name]] == most).mean()),
            "distance": variation(comparison, ways).mean.value,
            "rows": train.rows,
            "seconds": round(seconds, 1),
        }

    def sentence(self, results: Results) -> str:
        """The best network beside the best adversarial method, for every ε."""
        real = results.where(method=REAL).cells[0].numbers
        parts = [
            f"Real rows teach {100 * real['mean']:.1f} % (baseline {100 * real['baseline']:.1f} %)."
        ]
        epsilons = [epsilon for epsilon in results.values("epsilon") if epsilon != REAL]
        return " ".join([*parts, *(_about(results.where(epsilon=e)) for e in epsilons)])

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Return the claim, which the thesis did not measure."""
        reason = "the thesis leaves it to others, and this is the answer on Adult"
        return [
            JudgedClaim(self.claim, self.sentence(results), Reproduction.NOT_COMPARABLE, reason)
        ]

    def summary(self, results: Results) -> StudyTable:
        """A line for each method and ε."""
        columns = (
            *("method", "ε", "mean accuracy", "baseline", "3-way distance"),
            *("rows", "passes", "seconds"),
        )
        return StudyTable(columns, [_line(cell) for cell in results])

    def panels(self, results: Results) -> Sequence[Panel]:
        """Accuracy and distance over ε."""
        return [
            _panel(results, "mean", "mean accuracy"),
            _panel(results, "distance", "3-way distance"),
        ]


@cache
def _table(name: str, shelf: DataFolder) -> Coded:
    if name != "small":
        return described(shelf, *ADULT)
    schema = integer_schema({"c0": 4, "c1": 3, "c2": 5, "c3": 2})
    return schema, dependent(Domain.of(schema), 500)


def _synthetic(schema: Schema, train: Table, setting: Setting) -> Table:
    seed = int(setting["seed"])
    model = seeded(_method(schema, setting), seed).fit(MemorySource(train), ledger=None).model_
    generator = np.random.default_rng(seed)
    codes = model.law.draw(train.rows, generator)
    return Table(train.domain, {name: codes[name] for name in train.domain}, train.rows)


def _method(schema: Schema, setting: Setting) -> Synthesizer:
    method, epsilon = str(setting["method"]), str(setting["epsilon"])
    if method in _TRAINED:
        return _TRAINED[method](
            schema,
            epsilon=epsilon,
            delta=_DELTA,
            target=_TARGETS[str(setting["table"])],
            settings=Training(epochs=float(setting["epochs"])),
        )
    if method == "nist":
        return Nist(schema, epsilon=epsilon, delta=_DELTA)
    if method == "privbayes":
        return PrivBayes(schema, epsilon=epsilon, neighbours="replace")
    return Independent(schema, epsilon=epsilon)


def _sheet(table: Table, schema: Schema) -> EvaluationTable:
    return load(table, schema, side="real", seed=0)


def _accuracy(schema: Schema, rows: Table, test: Table, setting: Setting) -> dict[str, float]:
    """By classifier; of rows of a single class each of them would learn to name it."""
    target = _TARGETS[str(setting["table"])]
    names = str(setting["classifiers"]).split()
    only = rows.codes[target][:1]
    if np.ptp(rows.codes[target]) == 0:
        return dict.fromkeys(names, float((test.codes[target] == only).mean()))
    asked = Settings(names, _SECONDS, int(setting["most_rows"]), seed=0)
    sheets = [_sheet(part, schema) for part in (rows, test)]
    found = learn(schema, rows=sheets[0], test=sheets[1], target=target, settings=asked)
    scores = {name: trained.scores.get("accuracy") for name, trained in found.items()}
    return {name: value for name, value in scores.items() if value is not None}


def _about(results: Results) -> str:
    """One ε: what networks and adversarial methods reach at best."""
    best = []
    for methods in (_NETWORKS, tuple(_TRAINED)):
        cells = [cell for cell in results if cell.setting["method"] in methods]
        first = max(cells, key=lambda cell: float(cell.numbers["mean"]))
        near = min(cells, key=lambda cell: float(cell.numbers["distance"]))
        best.append(
            f"{first.setting['method']} teaches {100 * first.numbers['mean']:.1f} % and "
            f"{near.setting['method']} is {near.numbers['distance']:.3f} away"
        )
    epsilon = results.values("epsilon")[0]
    return f"At ε = {epsilon}, of networks {best[0]}; of adversarial methods {best[1]}."


def _line(cell: Cell) -> tuple[object, ...]:
    setting, numbers = cell.setting, cell.numbers
    real = setting["method"] == REAL
    return (
        *(setting["method"], "" if real else setting["epsilon"]),
        *(numbers["mean"], numbers["baseline"], None if real else numbers["distance"]),
        *(numbers["rows"], setting.get("epochs") or None, None if real else numbers["seconds"]),
    )


def _panel(results: Results, key: str, title: str) -> Panel:
    lines = []
    for method in _METHODS:
        cells = results.where(method=method)
        across = [float(cell.setting["epsilon"]) for cell in cells]
        if across:
            lines.append(Line(method, across, cells.numbers(key)))
    return Panel(title, "ε", title, lines, log_across=True)


STUDY = PrivateRows()
