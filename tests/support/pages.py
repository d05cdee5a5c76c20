"""Evaluations for pages: of an ordinary table, of one hard to draw, and of one that says little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from understudy.evaluation import Evaluation, evaluate
from understudy.evaluation.disclosure.disclosure import disclosure_risk
from understudy.evaluation.disclosure.exposure import Disclosure
from understudy.evaluation.released.summary import Summarizer
from understudy.evaluation.released.yardsticks import yardsticks
from understudy.evaluation.report import Release, Subject
from understudy.evaluation.report.disclosures import STAND_IN
from understudy.evaluation.sheets import load
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.methods import Independent, Nist
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

HOSTILE = '<script>alert("x")</script>&amp;'
_LONG = "Verwaltungsangestelltenversicherungspflichtgrenze_ohne_jede_Trennung_2024"

CLINIC = Schema.parse(
    {
        "target": "ill",
        "columns": {
            "age": {"kind": "integer", "min": 0, "max": 99, "bins": 20, "missing": []},
            "weight": {"kind": "float", "min": 30.0, "max": 150.0, "bins": 60},
            "seen": {"kind": "date", "min": "2020-01-01", "max": "2024-12-31", "bins": 24},
            "town": {
                "kind": "categorical",
                "values": [f"town {i}" for i in range(30)],
                "missing": ["?"],
            },
            "grade": {
                "kind": "categorical",
                "values": ["low", "middle", "high", _LONG],
                "ordered": True,
            },
            "ill": {"kind": "boolean"},
        },
    }
)


def clinic_rows(count: int, seed: int) -> pa.Table:
    """Rows in which illness, weight and grade depend on age."""
    generator = np.random.default_rng(seed)
    age = generator.integers(0, 100, count)
    grade = np.array(["low", "middle", "high", _LONG])
    days = np.datetime64("2020-01-01") + generator.integers(0, 1_826, count)
    return pa.table(
        {
            "age": pa.array(age, mask=generator.random(count) < 0.05),
            "weight": np.clip(60 + age / 5 + generator.normal(0, 12, count), 30, 150),
            "seen": days.astype("datetime64[D]"),
            "town": [f"town {i}" for i in np.minimum(generator.geometric(0.2, count), 29)],
            "grade": grade[np.minimum(age // 30, 3)],
            "ill": age + generator.integers(-30, 30, count) > 60,
        }
    )


def clinic(*, classifiers: Any = "none") -> tuple[Evaluation, Subject]:
    """An ordinary table with everything that a page can have."""
    real = clinic_rows(600, 1)
    synthesizer = Nist(CLINIC, epsilon=2, delta="1e-6").fit(real, ledger=None)
    found = evaluate(real, synthesizer.sample(seed=1), CLINIC, classifiers=classifiers)
    model = synthesizer.model_
    return found, Subject(
        real="clinic.csv", synthetic="synthetic.csv", statement=model.statement, model=model
    )


def clinic_attacked() -> Disclosure:
    """Attacks on the ordinary table's illness, by two keys, members among them."""
    stand_in = clinic_rows(400, 2)
    return disclosure_risk(
        clinic_rows(300, 1),
        {STAND_IN: stand_in},
        CLINIC,
        sensitive="ill",
        keys=["age", "grade"],
        holdout=clinic_rows(200, 3),
        classifiers="none",
    )


def hard(columns: int = 100, rows: int = 200) -> tuple[Evaluation, Subject]:
    """A hundred columns, with names and values that break what does not expect them."""
    odd = [HOSTILE, _LONG, "日本語の列名", "naïve ﷽ عمود", "a" * 120, "🙂 emoji", "ΔΣΩ"]
    names = [*odd, *(f"column {i}" for i in range(columns - len(odd)))]
    kinds: list[dict[str, Any]] = [
        {"kind": "categorical", "values": [HOSTILE, _LONG, "短い", "x"]},
        {"kind": "integer", "min": -1_000_000_000, "max": 1_000_000_000, "bins": 200},
        {"kind": "boolean"},
    ]
    schema = Schema.parse({"columns": {n: kinds[i % 3] for i, n in enumerate(names)}})
    real, synthetic = (_hard_rows(schema, rows, seed) for seed in (1, 2))
    return evaluate(real, synthetic, schema), Subject(real=HOSTILE, synthetic=f"{_LONG}.csv")


def _hard_rows(schema: Schema, rows: int, seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    kinds: dict[str, Any] = {
        "categorical": lambda: generator.choice([HOSTILE, _LONG, "短い", "x"], rows).tolist(),
        "integer": lambda: generator.integers(-(10**9), 10**9, rows),
        "boolean": lambda: generator.random(rows) < 0.5,
    }
    return {name: kinds[column.kind]() for name, column in schema.learned.items()}


def little() -> tuple[Evaluation, Subject]:
    """One column that never varies, and nothing promised."""
    schema = Schema.parse({"columns": {"one": {"kind": "categorical", "values": ["always"]}}})
    rows = {"one": ["always"] * 20}
    model = Independent(schema, epsilon=1).fit(rows, ledger=None).model_
    return evaluate(rows, rows, schema), Subject(
        real="a.csv", synthetic="b.csv", statement=None, model=model
    )


def released() -> Release:
    """What may leave of an ordinary comparison, at epsilon 1."""
    real, synthetic = (
        MemorySource(Table.of(Codec(CLINIC).encode(clinic_rows(count, seed))))
        for count, seed in ((300, 1), (200, 2))
    )
    summary = Summarizer(CLINIC, 1).run(real, synthetic, ledger=None)
    sheet = load(clinic_rows(200, 2), CLINIC, side="synthetic", seed=0)
    held = yardsticks(CLINIC, sheet, seed=0)
    return Release(
        summary,
        Subject(real="real.csv", synthetic="synthetic.csv", statement=summary.statement),
        held,
    )
