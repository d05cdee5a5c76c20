"""How near the synthetic rows come: four real tables and a generated one, worst first.

Run: python benchmarks/utility.py [--runs 5] [--tables adult,cmc]

Tables are those of the shared folder ($UNDERSTUDY_SHARED, else ../shared). Adult is the coded
training split that other tools were measured on; the rest are coded by the schemas below, made
from their published descriptions. Distances are means over all 1- and 2-way marginals and up to
300 fixed 3-way ones.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet

from scoreboard import RESULTS
from understudy.codec import Codec
from understudy.conditional import Conditional
from understudy.domain import Domain
from understudy.engines.memory import MemorySource
from understudy.evaluate.fidelity import total_variation, workload
from understudy.files import read_rows
from understudy.model import Model
from understudy.network import Family
from understudy.sample import deal_codes, sample_codes
from understudy.schema import Schema
from understudy.synthesizers import Independent, Nist, PrivBayes, Random, Synthesizer
from understudy.table import Codes, Table, code_type

SHARED = Path(os.environ.get("UNDERSTUDY_SHARED", Path(__file__).parents[2] / "shared"))
EPSILONS = ("0.1", "1", "10")
DELTA = "1e-9"

METHODS: dict[str, Callable[[Schema, str], Synthesizer]] = {
    "nist": lambda schema, epsilon: Nist(schema, epsilon=epsilon, delta=DELTA),
    "privbayes": lambda schema, epsilon: PrivBayes(schema, epsilon=epsilon),
    "independent": lambda schema, epsilon: Independent(schema, epsilon=epsilon, delta=DELTA),
}
# What Adult must reach with nist, and the best PrivBayes among other tools.
TARGETS = {
    ("nist", "0.1"): 0.165,
    ("nist", "1"): 0.082,
    ("nist", "10"): 0.050,
    ("privbayes", "0.1"): 0.2735,
    ("privbayes", "1"): 0.1183,
    ("privbayes", "10"): 0.0869,
}


def adult() -> tuple[Schema, Table]:
    """The coded training split of the Adult benchmark."""
    schema = Schema.load(SHARED / "benchmark" / "adult.json")
    rows = pyarrow.parquet.read_table(SHARED / "benchmark" / "adult_train_coded.parquet")
    codes: dict[str, Codes] = {
        name: rows[name].to_numpy().astype(code_type(size))
        for name, size in schema.attributes.items()
    }
    return schema, Table(Domain.of(schema), codes, rows.num_rows)


def generated() -> tuple[Schema, Table]:
    """Rows of a random network: 20 attributes of 2 to 12 values, up to three parents each."""
    generator = np.random.default_rng(2)
    sizes = {f"a{i}": int(generator.integers(2, 13)) for i in range(20)}
    columns = {n: {"kind": "integer", "min": 0, "max": s - 1} for n, s in sizes.items()}
    schema, names = Schema.parse({"columns": columns}), list(sizes)
    conditionals = []
    for i, child in enumerate(names):
        count = min(i, int(generator.integers(0, 4)))
        parents = tuple(generator.choice(names[:i], count, replace=False).tolist()) if count else ()
        shape = [sizes[a] for a in parents]
        table = generator.dirichlet(np.full(sizes[child], 0.5), shape)
        conditionals.append(Conditional(Family(child, parents), table))
    empty = Random(schema, epsilon=1, rows=50_000).fit({name: [] for name in names}).model_
    model = Model(schema, tuple(conditionals), 50_000, empty.statement)
    return schema, Table(Domain.of(schema), sample_codes(model, 50_000, generator), 50_000)


def described(stem: str, data: str) -> tuple[Schema, Table]:
    """A table coded by its description file; columns without a published domain are left out."""
    description = json.loads((SHARED / "data" / f"{stem}.json").read_text())
    columns = {c["name"]: _column(c) for c in description["columns"]}
    schema = Schema.parse({"columns": {name: c for name, c in columns.items() if c is not None}})
    codec = Codec(schema)
    return schema, codec.encode(read_rows(SHARED / "data" / data, codec, ignore_extra=True))


def _column(description: dict[str, Any]) -> dict[str, Any] | None:
    """A column of our schema from one of a description file; None for ids and unlisted values."""
    marker = description.get("missing")
    missing = (
        {"missing": [] if marker is None else [str(marker)]} if "missing" in description else {}
    )
    kind = description["type"]
    if kind in ("integer", "float") and description.get("min") is not None:
        bounds = {"min": description["min"], "max": description["max"]}
        return {"kind": kind, **bounds, **missing}
    values = description.get("values")
    if kind != "categorical" or not values or description.get("domain_source") == "from_data":
        return None
    listed = [v for v in values if str(v) not in missing.get("missing", [])]
    return {"kind": "categorical", "values": listed, **missing}


TABLES: dict[str, Callable[[], tuple[Schema, Table]]] = {
    "adult": adult,
    "cmc": lambda: described("cmc", "cmc.csv"),
    "generated": generated,
    "diabetes": lambda: described("diabetes_130us", "diabetes_130us.parquet"),
    "poker": lambda: described("poker_hand_train", "poker_hand_train.parquet"),
}


def measure(schema: Schema, table: Table, method: str, epsilon: str, runs: int) -> dict[str, Any]:
    """Mean distances and seconds of several runs."""
    distances, fit_seconds = [], []
    for run in range(runs):
        started = time.process_time()
        model = METHODS[method](schema, epsilon).fit(MemorySource(table)).model_
        fit_seconds.append(time.process_time() - started)
        codes = deal_codes(model, max(model.rows, 1), np.random.default_rng(run))
        made = Table(table.domain, codes, model.rows)
        ways = [total_variation(table, made, workload(table.domain, k)).mean() for k in (1, 2, 3)]
        distances.append(ways)
    mean, spread = np.mean(distances, axis=0), np.std(distances, axis=0)
    names = ("1-way", "2-way", "3-way")
    return {
        **{name: float(value) for name, value in zip(names, mean, strict=True)},
        "3-way spread": float(spread[2]),
        "fit CPU s": float(np.median(fit_seconds)),
    }


def main() -> None:
    """Measure every table, method and budget, and print the worst first."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tables", default=",".join(TABLES))
    arguments = parser.parse_args()
    lines: list[dict[str, Any]] = []
    for name in arguments.tables.split(","):
        schema, table = TABLES[name]()
        for method in METHODS:
            for epsilon in EPSILONS:
                found = measure(schema, table, method, epsilon, arguments.runs)
                about = {"table": name, "rows": table.rows, "columns": len(table.domain)}
                target = TARGETS.get((method, epsilon)) if name == "adult" else None
                lines.append(
                    {**about, "method": method, "epsilon": epsilon, **found, "target": target}
                )
                print(_shown(lines[-1]), flush=True)
    print("\nworst first:")
    for line in sorted(lines, key=lambda line: -line["3-way"]):
        print(_shown(line))
    RESULTS.mkdir(exist_ok=True)
    record = {"date": datetime.now(UTC).date().isoformat(), "runs": arguments.runs, "lines": lines}
    (RESULTS / "utility.json").write_text(json.dumps(record, indent=1) + "\n")


def _shown(line: dict[str, Any]) -> str:
    verdict = ""
    if line["target"] is not None:
        met = "met" if line["3-way"] <= line["target"] else "MISSED"
        verdict = f"  target {line['target']:g} {met}"
    return (
        f"{line['table']:<9} {line['rows']:>7,} × {line['columns']:<3} {line['method']:<12} "
        f"ε = {line['epsilon']:<4} 1-way {line['1-way']:.4f}  2-way {line['2-way']:.4f}  "
        f"3-way {line['3-way']:.4f} ± {line['3-way spread']:.4f}  "
        f"{line['fit CPU s']:.2f} s{verdict}"
    )


if __name__ == "__main__":
    main()
