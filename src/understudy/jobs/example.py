"""The built-in example: a made-up clinic, public by construction, shaped like real tables.

Its columns depend on each other, some cells are missing, and every kind of column occurs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.facts.schema import Schema

ROWS = 20_000

_REGIONS = ("North", "East", "South", "West")
_DIAGNOSES = ("none", "asthma", "diabetes", "hypertension", "heart disease")

DOCUMENT: dict[str, Any] = {
    "name": "clinic",
    "note": "a made-up clinic; every row is invented",
    "columns": {
        "patient": {"kind": "id", "prefix": "P"},
        "age": {"kind": "integer", "min": 0, "max": 99, "bins": 20},
        "sex": {"kind": "categorical", "values": ["female", "male"]},
        "region": {"kind": "categorical", "values": list(_REGIONS)},
        "smoker": {"kind": "boolean", "missing": []},
        "bmi": {"kind": "float", "min": 12.0, "max": 52.0, "bins": 20, "missing": []},
        "visits": {"kind": "integer", "min": 0, "max": 12},
        "admitted": {"kind": "date", "min": "2023-01-01", "max": "2025-12-31", "bins": 36},
        "diagnosis": {"kind": "categorical", "values": list(_DIAGNOSES), "missing": ["unknown"]},
    },
}


def schema() -> Schema:
    """Return the example's schema."""
    from understudy.facts.schema import Schema

    return Schema.parse(DOCUMENT)


def rows(count: int = ROWS) -> pa.Table:
    """Make the example's rows, which are the same on every machine."""
    import numpy as np
    import pyarrow as pa

    generator = np.random.default_rng(20_260_101)
    age = np.clip(generator.normal(47, 22, count), 0, 99).astype(int)
    female = generator.random(count) < 0.52
    region = generator.choice(4, count, p=[0.4, 0.15, 0.3, 0.15])
    smoker = generator.random(count) < np.where((age > 17) & (age < 70), 0.12 + 0.05 * region, 0.02)
    bmi = np.clip(generator.normal(21 + 0.09 * age, 4, count), 12, 52).round(1)
    risk = (age / 99) ** 2 * 2 + (bmi - 20) / 20 + smoker
    severity = np.clip((risk + generator.gumbel(0, 0.5, count)) * 1.6, 0, 4.99).astype(int)
    visits = np.minimum(generator.poisson(0.7 + severity), 12)
    day = (generator.beta(1.6, 1.2, count) * 1096).astype("timedelta64[D]")
    return pa.table(
        {
            "patient": [f"P{number}" for number in range(1, count + 1)],
            "age": age,
            "sex": np.where(female, "female", "male"),
            "region": np.array(_REGIONS)[region],
            "smoker": pa.array(smoker, mask=generator.random(count) < 0.04),
            "bmi": pa.array(bmi, mask=generator.random(count) < 0.08),
            "visits": visits,
            "admitted": pa.array(np.datetime64("2023-01-01") + day),
            "diagnosis": np.where(
                generator.random(count) < 0.03, "unknown", np.array(_DIAGNOSES)[severity]
            ),
        }
    )
