"""Counting and sampling near the machine's limit, each beside its target.

Run: python benchmarks/scale.py

CPU seconds of one thread; what is compared is measured in turns in the same run.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from scoreboard import Scoreboard
from understudy.conditional import Conditional
from understudy.domain import Domain
from understudy.engines.memory import MemorySource
from understudy.model import Model
from understudy.network import Family
from understudy.privacy.accounting import PURE, Bound
from understudy.privacy.statement import Statement
from understudy.privacy.unit import Neighbours, Unit
from understudy.sample import deal_codes, sample_codes
from understudy.schema import Schema
from understudy.table import Codes, Table

ROWS, COLUMNS = 662_000, 98
SAMPLED = 1 << 20


def wide_table() -> Table:
    """The shape of the NIST challenge's census table: 98 skewed columns of 2 to 100 values."""
    generator = np.random.default_rng(0)
    drawn = np.exp(generator.normal(2, 0.95, COLUMNS))
    sizes = {f"c{i}": int(np.clip(round(size), 2, 100)) for i, size in enumerate(drawn)}
    codes: dict[str, Codes] = {
        name: np.minimum(generator.zipf(1.6, ROWS) - 1, size - 1).astype(np.uint8)
        for name, size in sizes.items()
    }
    return Table(Domain(sizes), codes, ROWS)


def deep_model() -> Model:
    """Fifteen attributes of ten values with two parents each."""
    generator = np.random.default_rng(0)
    names = [f"a{i}" for i in range(15)]
    columns = {name: {"kind": "integer", "min": 0, "max": 9} for name in names}
    conditionals = []
    for i, name in enumerate(names):
        parents = tuple(names[max(0, i - 2) : i])
        chances = generator.dirichlet(np.ones(10), [10] * len(parents))
        conditionals.append(Conditional(Family(name, parents), chances))
    bound = Bound(PURE, Fraction(0), Fraction(0))
    statement = Statement("none", bound, Unit(Neighbours.ADD_REMOVE), ())
    return Model(Schema.parse({"columns": columns}), tuple(conditionals), SAMPLED, statement)


def cpu_seconds(run: Callable[[], object]) -> float:
    """The CPU seconds of one run, after one that is not counted."""
    run()
    started = time.process_time()
    run()
    return time.process_time() - started


def main() -> None:
    """Measure counting and sampling."""
    board = Scoreboard("scale")
    table = wide_table()
    pairs = list(itertools.combinations(table.domain.attributes, 2))
    ours = cpu_seconds(lambda: MemorySource(table).count(pairs))

    def by_bincount() -> None:
        for a, b in pairs[::40]:
            keys = table.codes[a].astype(np.int64) * table.domain[b] + table.codes[b]
            np.bincount(keys, minlength=table.domain.cells((a, b)))

    theirs = cpu_seconds(by_bincount) * len(pairs) / len(pairs[::40])
    what = f"all {len(pairs):,} pairs of {ROWS:,} × {COLUMNS}, speed of numpy's bincount"
    board.add(what, theirs / ours, "×", 10, at_most=False)

    model = deep_model()
    cells = SAMPLED * len(model.domain) / 1e6
    generator = np.random.default_rng(1)
    forward = cells / cpu_seconds(lambda: sample_codes(model, SAMPLED, generator))
    dealt = cells / cpu_seconds(lambda: deal_codes(model, SAMPLED, generator))
    board.add("forward sampling, million cells a second", forward, "M/s", 100, at_most=False)
    board.add("without replacement, times slower than forward", forward / dealt, "×", 10)
    board.write()


if __name__ == "__main__":
    main()
