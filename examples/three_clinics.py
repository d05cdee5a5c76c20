"""One model of three clinics that share no rows, all in one process."""

from __future__ import annotations

import random
import tempfile
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

from understudy import Budget, Ledger, Schema, open_source
from understudy.federated import Analyst, Collaboration, Holder, LocalChannel, Policy

SCHEMA = Schema.parse(
    {"columns": {name: {"kind": "boolean"} for name in ("smoker", "coughs", "visits_often")}}
)
CLINICS = {"north": 0.2, "south": 0.3, "west": 0.5}


def write_clinic(path: Path, smokers: float) -> None:
    """Invent a clinic's patients; smokers cough, and those who cough come often."""
    draw = random.Random(path.stem)
    lines = ["smoker,coughs,visits_often"]
    for _ in range(2_000):
        smoker = draw.random() < smokers
        coughs = draw.random() < (0.6 if smoker else 0.1)
        lines.append(f"{smoker},{coughs},{draw.random() < (0.7 if coughs else 0.2)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Let every clinic answer through its own ledger, and ask the common model."""
    plan = Collaboration(
        SCHEMA, protocol="adaptive", epsilon=1, delta="1e-6", neighbours="add-remove"
    )
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        folder, holders = Path(place), {}
        for name, smokers in CLINICS.items():
            write_clinic(folder / f"{name}.csv", smokers)
            holders[name] = Holder(
                stack.enter_context(open_source(folder / f"{name}.csv", SCHEMA)),
                SCHEMA,
                plan.unit,
                ledger=Ledger(folder / f"{name}.jsonl"),
                dataset=name,
                limit=Budget.approximate(2, "1e-5"),
                policy=Policy(most_epsilon=Fraction(1), most_delta=Fraction(1, 10**6)),
                store=folder / f"{name}-answers",
                name=name,
            )
        model = Analyst(LocalChannel(holders), plan).learn()
    print(model.ask("P(coughs | smoker = true)"))
    print(model.statement.sentence)


if __name__ == "__main__":
    main()
