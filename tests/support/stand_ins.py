"""Stand-ins made good and bad on purpose, for the rules of the verdict.

Six made-up populations. Two fixed the rules, two tested them, and two more were written when the
rules had been fixed. Each has honest stand-ins, which are fresh rows of the same population, and
spoiled ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from understudy.facts.schema import Schema
from understudy.system.arrays import Array

Columns = dict[str, Array]
ROWS = 2_000


def _clinic(generator: np.random.Generator, rows: int) -> Columns:
    age = np.clip(generator.normal(50, 18, rows), 0, 99).astype(int)
    weight = np.clip(generator.normal(60 + age / 4, 12, rows), 30, 150)
    region = generator.choice(["N", "E", "S", "W", "far"], rows, p=[0.3, 0.3, 0.2, 0.12, 0.08])
    smoker = generator.random(rows) < np.where(region == "far", 0.6, 0.15 + age / 400)
    ill = generator.random(rows) < 1 / (1 + np.exp(-(age - 60) / 8 - smoker))
    return {"age": age, "weight": weight, "region": region, "smoker": smoker, "ill": ill}


def _census(generator: np.random.Generator, rows: int) -> Columns:
    education = generator.choice(["low", "middle", "high", "top"], rows, p=[0.25, 0.4, 0.25, 0.1])
    level = np.array([["low", "middle", "high", "top"].index(e) for e in education])
    income = np.exp(generator.normal(9.5 + 0.4 * level, 0.5, rows))
    hours = np.clip(generator.normal(36 + 2 * level, 8, rows), 0, 80)
    sex = generator.choice(["f", "m"], rows)
    rich = income * np.where(sex == "m", 1.3, 1.0) > 26_000
    job = np.where(level > 1, "office", np.where(sex == "m", "craft", "service"))
    return {
        "education": education,
        "income": np.clip(income, 0, 200_000),
        "hours": hours,
        "sex": sex,
        "job": np.where(generator.random(rows) < 0.1, "other", job),
        "rich": rich,
    }


def _survey(generator: np.random.Generator, rows: int) -> Columns:
    kind = generator.choice(list("abcdef"), rows, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    shift = np.array(["abcdef".index(k) for k in kind])
    answers = {
        f"q{i}": (shift * (i % 2) + generator.binomial(4, 0.3 + 0.05 * i, rows)).clip(0, 6)
        for i in range(1, 5)
    }
    score = answers["q1"] + answers["q3"] + generator.normal(0, 1.5, rows)
    return {
        "kind": kind,
        **answers,
        "score": score.clip(-5, 20),
        "agree": score > 5,
    }


def _sensor(generator: np.random.Generator, rows: int) -> Columns:
    heat = generator.normal(0, 1, rows)
    load = 0.8 * heat + 0.6 * generator.normal(0, 1, rows)
    noise = generator.exponential(1.0, rows).clip(0, 8)
    state = np.where(heat > 1, "hot", np.where(load < -1.2, "idle", "normal"))
    fails = generator.random(rows) < 1 / (1 + np.exp(-2 * heat - 1.5 * load + 1))
    return {
        "heat": heat.clip(-4, 4),
        "load": load.clip(-4, 4),
        "noise": noise,
        "state": state,
        "site": generator.choice(["A", "B", "C", "D"], rows, p=[0.5, 0.3, 0.15, 0.05]),
        "fails": fails,
    }


def _orders(generator: np.random.Generator, rows: int) -> Columns:
    shop = generator.choice(["web", "phone", "street"], rows, p=[0.7, 0.18, 0.12])
    goods = generator.choice(["book", "food", "tool", "toy", "wear"], rows)
    pieces = 1 + generator.poisson(np.where(goods == "food", 4.0, 0.7))
    cost = {"book": 12, "food": 4, "tool": 45, "toy": 20, "wear": 35}
    each = np.array([cost[g] for g in goods]) * np.exp(generator.normal(0, 0.4, rows))
    express = generator.random(rows) < np.where(shop == "web", 0.35, 0.1)
    late = generator.random(rows) < np.where(express, 0.05, 0.3)
    returned = generator.random(rows) < 0.05 + 0.3 * (goods == "wear") + 0.25 * late
    return {
        "shop": shop,
        "goods": goods,
        "pieces": pieces.clip(1, 20),
        "amount": (pieces * each).clip(0, 1_000),
        "express": express,
        "late": late,
        "returned": returned,
    }


def _school(generator: np.random.Generator, rows: int) -> Columns:
    talent = generator.normal(0, 1, rows)
    track = np.where(talent + generator.normal(0, 1, rows) > 0.8, "upper", "main")
    track = np.where(generator.random(rows) < 0.06, "special", track)
    absent = generator.negative_binomial(1, 0.15, rows).clip(0, 60)
    maths = 12 + 3 * talent - 0.08 * absent + generator.normal(0, 2, rows)
    words = 12 + 2 * talent + generator.normal(0, 3, rows)
    return {
        "track": track,
        "year": generator.integers(1, 7, rows),
        "absent": absent,
        "maths": np.rint(maths).clip(0, 20).astype(int),
        "words": words.clip(0, 20),
        "meals": generator.random(rows) < 0.3 - 0.1 * (talent > 0),
        "passed": maths + words > 22,
    }


_SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "clinic": {
        "age": {"kind": "integer", "min": 0, "max": 99, "bins": 10},
        "weight": {"kind": "float", "min": 30.0, "max": 150.0, "bins": 12},
        "region": {"kind": "categorical", "values": ["N", "E", "S", "W", "far"]},
        "smoker": {"kind": "boolean"},
        "ill": {"kind": "boolean"},
    },
    "census": {
        "education": {"kind": "categorical", "values": ["low", "middle", "high", "top"]},
        "income": {"kind": "float", "min": 0.0, "max": 200_000.0, "bins": 40},
        "hours": {"kind": "float", "min": 0.0, "max": 80.0, "bins": 16},
        "sex": {"kind": "categorical", "values": ["f", "m"]},
        "job": {"kind": "categorical", "values": ["office", "craft", "service", "other"]},
        "rich": {"kind": "boolean"},
    },
    "survey": {
        "kind": {"kind": "categorical", "values": list("abcdef")},
        **{f"q{i}": {"kind": "integer", "min": 0, "max": 6} for i in range(1, 5)},
        "score": {"kind": "float", "min": -5.0, "max": 20.0, "bins": 25},
        "agree": {"kind": "boolean"},
    },
    "sensor": {
        "heat": {"kind": "float", "min": -4.0, "max": 4.0, "bins": 16},
        "load": {"kind": "float", "min": -4.0, "max": 4.0, "bins": 16},
        "noise": {"kind": "float", "min": 0.0, "max": 8.0, "bins": 16},
        "state": {"kind": "categorical", "values": ["hot", "idle", "normal"]},
        "site": {"kind": "categorical", "values": ["A", "B", "C", "D"]},
        "fails": {"kind": "boolean"},
    },
    "orders": {
        "shop": {"kind": "categorical", "values": ["web", "phone", "street"]},
        "goods": {"kind": "categorical", "values": ["book", "food", "tool", "toy", "wear"]},
        "pieces": {"kind": "integer", "min": 1, "max": 20},
        "amount": {"kind": "float", "min": 0.0, "max": 1_000.0, "bins": 50},
        "express": {"kind": "boolean"},
        "late": {"kind": "boolean"},
        "returned": {"kind": "boolean"},
    },
    "school": {
        "track": {"kind": "categorical", "values": ["main", "upper", "special"]},
        "year": {"kind": "integer", "min": 1, "max": 6},
        "absent": {"kind": "integer", "min": 0, "max": 60, "bins": 20},
        "maths": {"kind": "integer", "min": 0, "max": 20},
        "words": {"kind": "float", "min": 0.0, "max": 20.0, "bins": 20},
        "meals": {"kind": "boolean"},
        "passed": {"kind": "boolean"},
    },
}
_MAKERS: Mapping[str, Callable[[np.random.Generator, int], Columns]] = {
    "clinic": _clinic,
    "census": _census,
    "survey": _survey,
    "sensor": _sensor,
    "orders": _orders,
    "school": _school,
}
TARGETS = {
    "clinic": "ill",
    "census": "rich",
    "survey": "agree",
    "sensor": "fails",
    "orders": "returned",
    "school": "passed",
}
_GROUPS = {
    "clinic": "region",
    "census": "education",
    "survey": "kind",
    "sensor": "site",
    "orders": "shop",
    "school": "track",
}
_COLLAPSED = {
    "clinic": "age",
    "census": "job",
    "survey": "q2",
    "sensor": "state",
    "orders": "goods",
    "school": "absent",
}
_STRETCHED = {
    "clinic": "weight",
    "census": "income",
    "survey": "score",
    "sensor": "noise",
    "orders": "amount",
    "school": "absent",
}
FIXED_ON, TESTED_ON, WRITTEN_LATER = (
    ("clinic", "sensor"),
    ("census", "survey"),
    ("orders", "school"),
)
"""The populations on which the rules were fixed, those on which they were tested, and those that
were written afterwards and judged once."""


def schema_of(population: str) -> Schema:
    """The public description of a population."""
    columns = dict(_SCHEMAS[population])
    return Schema.parse({"target": TARGETS[population], "columns": columns})


def rows_of(population: str, seed: int, rows: int = ROWS) -> Columns:
    """Rows of a population."""
    return _MAKERS[population](np.random.default_rng([seed, 77]), rows)


def _taken(rows: Columns, places: Array) -> Columns:
    return {name: values[places] for name, values in rows.items()}


def _honest(population: str, real: Columns) -> Columns:
    del real
    return rows_of(population, 1)


def _independent(population: str, real: Columns) -> Columns:
    generator = np.random.default_rng(3)
    return {name: generator.permutation(values) for name, values in real.items()}


def _copied(population: str, real: Columns) -> Columns:
    return _taken(real, np.random.default_rng(4).integers(0, ROWS, ROWS))


def _collapsed(population: str, real: Columns) -> Columns:
    made, name = rows_of(population, 1), _COLLAPSED[population]
    values, counts = np.unique(made[name], return_counts=True)
    return made | {name: np.repeat(values[counts.argmax()], ROWS)}


def _shifted(population: str, real: Columns) -> Columns:
    """The target is turned on in a fifth of the rows where it was off."""
    made, name = rows_of(population, 1), TARGETS[population]
    turned = np.random.default_rng(5).random(ROWS) < 0.2
    return made | {name: made[name] | turned}


def _lost_group(population: str, real: Columns) -> Columns:
    """The smallest group of a column is not there."""
    made, name = rows_of(population, 1, 2 * ROWS), _GROUPS[population]
    values, counts = np.unique(made[name], return_counts=True)
    kept = np.flatnonzero(made[name] != values[counts.argmin()])
    return _taken(made, kept[:ROWS])


def _memorised(population: str, real: Columns) -> Columns:
    """One row of twenty is a real one."""
    made = {name: values.copy() for name, values in rows_of(population, 1).items()}
    for name, values in made.items():
        values[: ROWS // 20] = real[name][: ROWS // 20]
    return made


def _out_of_range(population: str, real: Columns) -> Columns:
    """One number of twenty is as far beyond the largest real one as the real ones are wide."""
    made, name = rows_of(population, 1), _STRETCHED[population]
    low, high = real[name].min(), real[name].max()
    beyond = np.random.default_rng(6).random(ROWS) < 0.05
    return made | {name: np.where(beyond, 2 * high - low, made[name])}


FLAWS: Mapping[str, tuple[Callable[[str, Columns], Columns], tuple[str, ...]]] = {
    "independent columns": (_independent, ("fidelity", "usefulness")),
    "copied rows": (_copied, ("privacy",)),
    "collapsed values": (_collapsed, ("fidelity",)),
    "shifted target": (_shifted, ("fidelity",)),
    "lost group": (_lost_group, ("fidelity",)),
    "memorised rows": (_memorised, ("privacy",)),
    "values out of range": (_out_of_range, ("fidelity",)),
}
"""How a stand-in is spoiled, and the lights that must be red for it."""


def honest(population: str) -> tuple[Columns, Columns]:
    """Real rows, and fresh rows of the same population."""
    return rows_of(population, 0), rows_of(population, 1)


def spoiled(population: str, flaw: str) -> tuple[Columns, Columns]:
    """Real rows, and a stand-in with a flaw."""
    real = rows_of(population, 0)
    return real, FLAWS[flaw][0](population, real)
