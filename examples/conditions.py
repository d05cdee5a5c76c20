"""Rows that fit conditions, and a rule that no synthetic row breaks."""

from __future__ import annotations

import random

import understudy as us

SCHEMA = us.Schema.parse(
    {
        "columns": {
            "age": {"kind": "integer", "min": 0, "max": 99, "bins": 20},
            "employed": {"kind": "boolean"},
            "retired": {"kind": "boolean"},
        },
        "constraints": ["if age < 15 then employed = false", "if retired = true then age >= 50"],
    }
)


def people(count: int) -> dict[str, list[object]]:
    """Invent people who keep the two rules."""
    draw = random.Random(2)
    ages = [draw.randint(0, 99) for _ in range(count)]
    retired = [age >= 60 and draw.random() < 0.8 for age in ages]
    working = [
        age >= 15 and not over and draw.random() < 0.7
        for age, over in zip(ages, retired, strict=True)
    ]
    return {"age": [*ages], "employed": [*working], "retired": [*retired]}


def main() -> None:
    """Sample pensioners, and check the rules on rows that nobody chose."""
    model = us.Nist(SCHEMA, epsilon=1, delta=1e-6).fit(people(5_000), ledger=None).model_
    pensioners = model.sample(100, where="retired = true, age >= 70", seed=3)
    print(pensioners.num_rows, "rows, the youngest is", min(pensioners["age"].to_pylist()))
    rows = model.sample(2_000, seed=4).to_pylist()
    broken = [row for row in rows if row["age"] < 15 and row["employed"]]
    print(len(broken), "children have a job")


if __name__ == "__main__":
    main()
