"""The error with coarser copies of large attributes, beside leaving those without parents.

On Diabetes with its three diagnoses, columns of 1,390 ICD-9 codes, and on a made-up table with a
place of 5,000 that says much about income and home, both at ε = 1. Distances are means over fixed
marginals: all attributes by twos and threes, and the large ones, coarsened, beside each other.

Pure ε = 1 shared by the 47 attributes of Diabetes leaves no table with a diagnosis that is worth
its noise, coarsened or not, so that privbayes has nothing to gain there; its number is shown.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from benchmarks.real_tables import SHARED, described
from benchmarks.scoreboard import Scoreboard
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.codec import Codec
from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.facts.workload import workload
from understudy.methods import Nist, PrivBayes, Synthesizer
from understudy.models.sampling import deal_codes
from understudy.rows.engines.memory import MemorySource
from understudy.rows.reading import read_rows
from understudy.rows.table import Table

PLACES = 5000
METHODS: dict[str, Callable[[Schema], Synthesizer]] = {
    "nist": lambda schema: Nist(schema, epsilon=1, delta="1e-9"),
    "privbayes": lambda schema: PrivBayes(schema, epsilon=1),
}


def run(board: Scoreboard) -> None:
    """Both tables and methods, with and without coarser copies; means of five runs."""
    tables = {"a 5,000-value column": places(board.size.pick(50_000, 5000))}
    if SHARED.exists() and board.size.pick(True, False):
        tables = {"Diabetes": diabetes(), **tables}
    else:
        board.leave_out("distances on Diabetes", "the table is not there, or too large")
    for (name, (schema, table)), method in itertools.product(tables.items(), METHODS):
        plain = replace(table, domain=table.domain.without_hierarchies())
        runs = board.size.pick(5, 1)
        found = distances(schema, table, table, method, runs)
        alone = distances(schema, plain, table, method, runs)
        board.details.append({"table": name, "method": method, "copies": found, "without": alone})
        for what in ("large attributes coarsened", "3-way"):
            ratio = found[what] / alone[what]
            target = 1.0 if method == "nist" else None
            said = f"{what}, {name}, {method}: distance with hierarchies, times that without"
            board.add(said, ratio, "×", target)


def distances(
    schema: Schema, fitted: Table, real: Table, method: str, runs: int
) -> Mapping[str, float]:
    """Mean distances over several fits."""
    domain = real.domain
    sets = {"2-way": workload(domain, 2), "3-way": workload(domain, 3)}
    sets["large attributes coarsened"] = coarsened_pairs(domain)
    found: dict[str, list[float]] = {name: [] for name in sets}
    for number in range(runs):
        model = METHODS[method](schema).fit(MemorySource(fitted), ledger=None).model_
        codes = deal_codes(model, model.rows, np.random.default_rng(number))
        made = Table(domain, codes, model.rows)
        for name, asked in sets.items():
            found[name].append(float(total_variation(real, made, asked).mean()))
    return {name: float(np.mean(values)) for name, values in found.items()}


def coarsened_pairs(domain: Domain) -> list[Attributes]:
    """All pairs with a large attribute, each at its coarsest."""
    pairs = itertools.combinations(domain, 2)
    coarsest = ((domain.levels(a)[-1], domain.levels(b)[-1]) for a, b in pairs)
    return [pair for pair in coarsest if any(name in domain.coarser for name in pair)]


def diabetes() -> tuple[Schema, Table]:
    """The Diabetes table with its diagnoses, by the published list of ICD-9 categories."""
    document = described("diabetes_130us", "diabetes_130us.parquet")[0].document()
    column = {"kind": "categorical", "values": icd9(), "missing": ["?"], "outside": "?"}
    document["columns"] |= {f"diag_{number}": column for number in (1, 2, 3)}
    schema = Schema.parse(document)
    codec = Codec(schema)
    rows = read_rows(SHARED / "data" / "diabetes_130us.parquet", codec, ignore_extra=True)
    return schema, Table.of(codec.encode(rows))


def icd9() -> list[str]:
    """Categories in the order of the book; diabetes, 250, with its subclassification."""
    below = [f"250.{digits:02}".rstrip("0") for digits in range(1, 100)]
    numbers = [[str(n), *(below if n == 250 else [])] for n in range(1, 1000)]
    codes = [code for group in numbers for code in group]
    return list(dict.fromkeys([*codes, *(f"V{n:02}" for n in range(1, 92)), *_external()]))


def _external() -> list[str]:
    return [f"E{number}" for number in range(800, 1000)]


def places(rows: int) -> tuple[Schema, Table]:
    """Places of unequal size in 50 districts, on which income and home depend."""
    generator = np.random.default_rng(5)
    sizes = {"place": PLACES, "income": 10, "home": 6, "car": 4, "job": 12, "age": 16, "sex": 2}
    columns = {n: {"kind": "integer", "min": 0, "max": s - 1, "bins": s} for n, s in sizes.items()}

    def drawn(given: np.ndarray[tuple[int], np.dtype[np.int64]], kinds: int, name: str) -> Codes:
        lines = generator.dirichlet(np.full(sizes[name], 0.4), kinds).cumsum(axis=1)
        codes = (lines[given] < generator.random((rows, 1))).sum(axis=1)
        found: Codes = np.minimum(codes, sizes[name] - 1).astype(code_type(sizes[name]))
        return found

    place = generator.choice(PLACES, rows, p=generator.dirichlet(np.full(PLACES, 0.5)))
    codes: dict[str, Codes] = {"place": place.astype(np.uint16)}
    codes["income"] = drawn(place // 100, 50, "income")
    codes["home"] = drawn(place // 500 * 10 + codes["income"], 100, "home")
    codes["car"] = drawn(codes["income"] * np.int64(6) + codes["home"], 60, "car")
    codes["sex"] = drawn(np.zeros(rows, np.int64), 1, "sex")
    codes["job"] = drawn(codes["income"] * np.int64(2) + codes["sex"], 20, "job")
    codes["age"] = drawn(np.zeros(rows, np.int64), 1, "age")
    schema = Schema.parse({"columns": columns})
    return schema, Table(Domain.of(schema), {name: codes[name] for name in sizes}, rows)
