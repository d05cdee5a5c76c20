"""A stand-in for a data frame of a made-up survey: fit, sample, ask and evaluate."""

from __future__ import annotations

import random

import understudy as us

SCHEMA = us.Schema.parse(
    {
        "columns": {
            "age": {"kind": "integer", "min": 18, "max": 90, "bins": 12},
            "region": {"kind": "categorical", "values": ["north", "south", "west"]},
            "owns_car": {"kind": "boolean"},
        }
    }
)


def survey(count: int) -> dict[str, list[object]]:
    """Invent answers: cars are common in the west and among older people."""
    draw = random.Random(1)
    ages = [draw.randint(18, 90) for _ in range(count)]
    regions = [draw.choice(["north", "south", "west"]) for _ in range(count)]
    cars = [
        draw.random() < (0.3 + 0.4 * (region == "west") + 0.2 * (age > 40))
        for age, region in zip(ages, regions, strict=True)
    ]
    return {"age": [*ages], "region": [*regions], "owns_car": [*cars]}


def main() -> None:
    """Make 1,000 synthetic answers at epsilon 1, and say how near they are."""
    private = survey(5_000)
    # `ledger=None` keeps no record, which is right for invented rows alone.
    model = us.AdaptiveMarginals(SCHEMA, epsilon=1, delta=1e-6).fit(private, ledger=None).model_
    synthetic = model.sample(1_000, seed=7)
    print(synthetic.slice(0, 3).to_pylist())
    print(model.ask("P(owns_car | region = west)"))
    print(model.statement.sentence)
    found = us.evaluate(private, synthetic, SCHEMA, classifiers=()).document()
    print("mean distance of pairs of columns:", round(found["tvd"]["2"]["mean"], 3))


if __name__ == "__main__":
    main()
