"""Counting and sampling near the machine's limit, each beside its target.

Run: python benchmarks/scale.py [--millions 100]

CPU seconds unless a line says otherwise; what is compared is measured in the same run. The largest
file has 100 million rows and takes about 2 GB of a temporary folder.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import first_table
from scoreboard import Scoreboard
from understudy.cli.options import bytes_of
from understudy.codec import Codec
from understudy.conditional import Conditional
from understudy.domain import Domain
from understudy.engines.memory import MemorySource
from understudy.files import read_rows, write_rows
from understudy.learn.greedy import greedy_network
from understudy.learn.scores import mutual_information
from understudy.learn.weighing import Weighing
from understudy.model import Model
from understudy.network import Family
from understudy.privacy.accounting import PURE, Bound
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.grant import Grant
from understudy.privacy.statement import Statement
from understudy.privacy.unit import Neighbours, Unit
from understudy.sample import deal_codes, sample_blocks, sample_codes
from understudy.schema import Schema
from understudy.sources import Access, open_source
from understudy.synthesizers import Nist, Random
from understudy.table import Codes, Table, code_type
from utility import SHARED

ROWS, COLUMNS = 662_000, 98
SAMPLED = 1 << 20
SPECIFICATION = SHARED / "data" / "nist2018_match3_docs" / "colorado-specs.json"
# Fixed bounds of the credit card table's columns; the others are standardised components.
BOUNDS = {"Time": (0.0, 172_800.0), "Amount": (0.0, 500.0), "Class": (0.0, 2.0)}


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


def counting(board: Scoreboard) -> None:
    """All pairs of a wide table, against numpy."""
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


def sampling(board: Scoreboard) -> None:
    """Cells a second of both samplers."""
    model = deep_model()
    cells = SAMPLED * len(model.domain) / 1e6
    generator = np.random.default_rng(1)
    forward = cells / cpu_seconds(lambda: sample_codes(model, SAMPLED, generator))
    dealt = cells / cpu_seconds(lambda: deal_codes(model, SAMPLED, generator))
    board.add("forward sampling, million cells a second", forward, "M/s", 100, at_most=False)
    board.add("without replacement, times slower than forward", forward / dealt, "×", 10)


def structure(board: Scoreboard) -> None:
    """Greedy networks without privacy on the credit card table, 20 bins a column."""
    path = SHARED / "data" / "creditcard_fraud.parquet"
    if not path.exists():
        print(f"{path} is not there: greedy networks on it are not measured")
        return
    source = MemorySource(credit_card(path))
    rows = source.rows_read
    for degree, target in ((2, 5), (3, 30)):
        curator = Curator(source, Unit(Neighbours.REPLACE), Grant(Budget.unlimited()))
        score = mutual_information(rows, binary=False)
        free = Weighing(0.0, 10**7)
        started = time.perf_counter()
        greedy_network(curator, Budget.unlimited(), score=score, weighing=free, degree=degree)
        what = f"greedy network of degree {degree}, {rows:,} × {len(source.domain)}"
        board.add(what, time.perf_counter() - started, "s", target)


def credit_card(path: Path) -> Table:
    """The table cut into 20 equal bins between fixed bounds, the class kept."""
    rows = pq.read_table(path)
    codes: dict[str, Codes] = {}
    for name in rows.column_names:
        values = rows[name].to_numpy().astype(float)
        low, high = BOUNDS.get(name, (-5.0, 5.0))
        size = 2 if name == "Class" else 20
        cut = np.clip((values - low) / (high - low) * size, 0, size - 1)
        codes[name] = cut.astype(np.uint8)
    sizes = {name: 2 if name == "Class" else 20 for name in codes}
    return Table(Domain(sizes), codes, rows.num_rows)


def whole_job(board: Scoreboard, folder: Path) -> None:
    """Read, fit, sample and write a million rows, against numpy counting their pairs alone."""
    schema = first_table.schema()
    codec, path = Codec(schema), folder / "million.parquet"
    model = Random(schema, epsilon=1, rows=10**6).fit({n: [] for n in schema.columns}).model_
    write_rows(sample_blocks(model, seed=1), path, codec)

    def job() -> None:
        fitted = Nist(schema, epsilon=1, delta=1e-9).fit(path)
        write_rows(sample_blocks(fitted.model_), folder / "out.parquet", codec)

    table = codec.encode(read_rows(path, codec))

    def pairs() -> None:
        for a, b in itertools.combinations(table.domain.attributes, 2):
            keys = table.codes[a].astype(np.int64) * table.domain[b] + table.codes[b]
            np.bincount(keys, minlength=table.domain.cells((a, b)))

    ratio = cpu_seconds(job) / cpu_seconds(pairs)
    board.add("whole nist job, 1,000,000 × 15, times numpy's pairs alone", ratio, "×", 10)


def blocks(board: Scoreboard, folder: Path, millions: int) -> None:
    """Files read in blocks: speed beside the memory engine, and memory as files grow."""
    small, large = folder / "small.parquet", folder / "large.parquet"
    million = pq.read_table(folder / "million.parquet")
    for path, times in ((small, 10), (large, millions)):
        with pq.ParquetWriter(path, million.schema, compression="zstd") as writer:
            for _ in range(times):
                writer.write_table(million)
    at_once, in_blocks = fit_apart(small, "1TB"), fit_apart(small, "200MB")
    grown = fit_apart(large, "200MB")
    speed = at_once["seconds"] / in_blocks["seconds"]
    board.add(
        "10 million rows in blocks, speed of the memory engine", speed, "×", 0.6, at_most=False
    )
    more = grown["peak"] / in_blocks["peak"]
    board.add(f"peak memory of {millions} million rows, times that of 10", more, "×", 1.1)


def census(board: Scoreboard, folder: Path) -> None:
    """The whole nist job on 98 columns with the NIST challenge's codes, cut to 100 bins."""
    if not SPECIFICATION.exists():
        print(f"{SPECIFICATION} is not there: the census job is not measured")
        return
    found = apart("--census", str(folder / "census.parquet"))
    rows = f"{ROWS:,} × {COLUMNS}"
    board.add(f"nist fit and as many sampled rows, {rows}, wall", found["seconds"], "s", 90)
    board.add(f"the same, peak memory, {rows}", found["peak"] / 1e9, "GB", 2)


def census_here(output: Path) -> None:
    """Fit rows of a random network over the census codes, sample as many, write them."""
    entries = json.loads(SPECIFICATION.read_text())
    columns = {
        name: {"kind": "integer", "min": 0, "max": most, "bins": min(most + 1, 100)}
        for name, most in ((n, max(int(e["maxval"]), 1)) for n, e in entries.items())
    }
    schema = Schema.parse({"columns": columns})
    source = MemorySource(random_rows(Domain.of(schema)))
    started = time.perf_counter()
    model = Nist(schema, epsilon=1, delta=1e-9).fit(source).model_
    write_rows(sample_blocks(model, ROWS), output, Codec(schema))
    report(time.perf_counter() - started)


def random_rows(domain: Domain) -> Table:
    """Each attribute half of the time a function of an earlier one, else skewed noise."""
    generator = np.random.default_rng(0)
    codes: dict[str, Codes] = {}
    for place, (name, size) in enumerate(domain.sizes.items()):
        own = np.minimum(generator.zipf(1.7, ROWS) - 1, size - 1)
        earlier = list(codes.values())[int(generator.integers(0, place))] if place else own
        copied = (earlier.astype(np.int64) * 7 + place) % size
        mixed = np.where(generator.random(ROWS) < 0.5, copied, own)
        codes[name] = mixed.astype(code_type(size))
    return Table(domain, codes, ROWS)


def fit_apart(path: Path, memory: str) -> dict[str, float]:
    """CPU seconds and peak bytes of one fit in a process of its own."""
    return apart("--fit", str(path), "--memory", memory)


def apart(*arguments: str) -> dict[str, float]:
    """What this script reports when run with some arguments in a process of its own."""
    command = [sys.executable, __file__, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(ran.stdout)
    return found


def fit_here(path: Path, memory: str) -> None:
    """Fit a file and print what it took."""
    schema = first_table.schema()
    started = time.process_time()
    with open_source(path, schema, Access(memory=bytes_of(memory))) as source:
        Nist(schema, epsilon=1, delta=1e-9).fit(source)
    report(time.process_time() - started)


def report(seconds: float) -> None:
    """Print the seconds and this process's peak memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peak": peak}))


def main() -> None:
    """Measure counting, sampling, structure, the whole job, and files in blocks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fit", type=Path)
    parser.add_argument("--census", type=Path)
    parser.add_argument("--memory", default="1TB")
    parser.add_argument("--millions", type=int, default=100)
    arguments = parser.parse_args()
    if arguments.fit:
        fit_here(arguments.fit, arguments.memory)
        return
    if arguments.census:
        census_here(arguments.census)
        return
    board = Scoreboard("scale")
    counting(board)
    sampling(board)
    structure(board)
    with tempfile.TemporaryDirectory() as folder:
        whole_job(board, Path(folder))
        census(board, Path(folder))
        blocks(board, Path(folder), arguments.millions)
    board.write()


if __name__ == "__main__":
    main()
