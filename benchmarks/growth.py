"""How CPU time grows with rows, attributes, parents and values, and utility with ε and width.

The job is a fit of nist or adaptive at ε = 1 and as many rows sampled and written, from encoded
rows; pairs are all pairs counted; parents are a greedy network without noise; a round is the raking
of a pool to tables, which should grow with its rows and with the tables and not faster. One thing
grows at a time, and times have fitted exponents.
"""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks import width
from benchmarks.greedy import learn
from benchmarks.measuring import Work, cpu_seconds
from benchmarks.plot import Curve, picture
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import integers
from understudy.facts.codec import Codec
from understudy.facts.domain import Domain
from understudy.methods import AdaptiveMarginals, Nist
from understudy.models.model import Model
from understudy.models.row_writing import write_rows
from understudy.models.sampling import sample_blocks
from understudy.models.weighted.pool import Pool
from understudy.models.weighted.raking import Aim, raked
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy_studies.census import dependent

_ROWS, _ATTRIBUTES, _VALUES = 100_000, 15, 10


def run(board: Scoreboard) -> None:
    """A curve for each thing that may grow; the fitted and the last exponent of each."""
    curves = measure(board)
    for curve in curves:
        board.add(f"{curve.title}, exponent over {curve.axis}", curve.exponent, "")
        points = {"over": curve.over, "seconds": curve.seconds}
        exponents = {"exponent": curve.exponent, "last_exponent": curve.last_exponent}
        board.details.append({"curve": curve.title, "axis": curve.axis} | points | exponents)
    board.pictures["growth.svg"] = picture(curves)
    width.measure(board)


def measure(board: Scoreboard) -> list[Curve]:
    """All curves; the nist job and the pairs of the same tables, and greedy networks."""
    pick, rows = board.size.pick, board.size.pick(_ROWS, 2_000)
    grown: dict[str, tuple[Sequence[int], Callable[[int], Table]]] = {
        "rows": (pick((10**4, 10**5, 10**6, 10**7), (1_000, 4_000)), made),
        "attributes": (pick((10, 20, 50, 100, 200), (5, 10)), lambda d: made(rows, attributes=d)),
        "values": (pick((2, 4, 8, 16, 32, 64), (2, 4)), lambda v: made(rows, values=v)),
    }
    works: dict[str, Callable[[Table], object]] = {"nist job": job, "all pairs": pairs}
    curves = [
        _curve(title, axis, points, make, work)
        for title, work in works.items()
        for axis, (points, make) in grown.items()
    ]
    adaptive = [
        _curve("adaptive job", axis, points, make, adaptive_job)
        for axis, points, make in (
            ("rows", pick((10**4, 10**5, 10**6), (1_000, 4_000)), made),
            ("attributes", pick((10, 20, 50, 100, 200), (5, 10)), grown["attributes"][1]),
        )
    ]
    pooled, asked = pick((25_000, 50_000, 100_000, 200_000), (1_000, 4_000)), pick(100, 5)
    over_rows = {n: (n, asked) for n in pooled}
    over_tables = {t: (pick(100_000, 2_000), t) for t in pick((25, 50, 100, 200), (5, 10))}
    rounds = [_round("rows of the pool", over_rows), _round("tables", over_tables)]
    return [*curves, *adaptive, *rounds, _over_parents(made(rows), pick((1, 2, 3), (1, 2)))]


def _round(axis: str, points: Mapping[int, tuple[int, int]]) -> Curve:
    """The raking of pools to tables of pairs; rows and tables for every point."""
    seconds = [cpu_seconds(raking(*shape)) for shape in points.values()]
    return Curve("round of adaptive", axis, tuple(points), tuple(seconds))


def raking(rows: int, tables: int) -> Work:
    """Bring a pool near to this number of pair tables, as after a round of adaptive."""
    wide = next(d for d in itertools.count(3) if math.comb(d, 2) >= tables)
    table = made(rows, attributes=wide)
    pool = Pool.of(table.domain, dict(table.codes), float(rows))
    pairs = itertools.islice(itertools.combinations(table.domain.attributes, 2), tables)
    aims = [Aim.of(pair, pool.project(pair), 100.0) for pair in pairs]
    return partial(raked, pool, aims, sweeps=20)


def _curve(
    title: str,
    axis: str,
    points: Sequence[int],
    make: Callable[[int], Table],
    work: Callable[[Table], object],
) -> Curve:
    seconds = [cpu_seconds(partial(work, make(point))) for point in points]
    return Curve(title, axis, tuple(points), tuple(seconds))


def _over_parents(table: Table, degrees: Sequence[int]) -> Curve:
    """Greedy networks over the families there are at most: d·C(d − 1, k) for degree k."""
    count = len(table.domain)
    families = tuple(count * math.comb(count - 1, degree) for degree in degrees)
    seconds = tuple(cpu_seconds(partial(learn, table, degree)) for degree in degrees)
    named = ", ".join(str(degree) for degree in degrees)
    return Curve("greedy network", f"families of degree {named}", families, seconds)


def made(rows: int, *, attributes: int = _ATTRIBUTES, values: int = _VALUES) -> Table:
    """Rows of attributes of equal size that depend on one another."""
    sizes = {f"a{i}": values for i in range(attributes)}
    return dependent(Domain.of(integers(sizes)), rows)


def job(table: Table) -> None:
    """Fit, sample as many rows, write them."""
    schema = integers(dict(table.domain.sizes))
    _written(Nist(schema, epsilon=1, delta=1e-9).fit(MemorySource(table), ledger=None).model_)


def _written(model: Model) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_rows(sample_blocks(model), Path(folder) / "out.parquet", Codec(model.schema))


def adaptive_job(table: Table) -> None:
    """Fit adaptive, sample as many rows, write them."""
    schema = integers(dict(table.domain.sizes))
    method = AdaptiveMarginals(schema, epsilon=1, delta=1e-9)
    _written(method.fit(MemorySource(table), ledger=None).model_)


def pairs(table: Table) -> None:
    """All pairs, from encoded rows."""
    MemorySource(table).count(list(itertools.combinations(table.domain.attributes, 2)))
