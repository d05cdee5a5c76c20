"""Disclosure risk: GCAP of a whole table, distances of members, and SBA's attack on Adult.

GCAP is taken beside the equation as it is printed: every real row compared with every other one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from benchmarks.measuring import in_turns
from benchmarks.real_tables import SHARED
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import adult_shaped
from understudy.evaluation import disclosure_risk
from understudy.evaluation.disclosure.attribution import attribution
from understudy.evaluation.disclosure.membership import membership
from understudy.evaluation.sheets import load
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import Nist
from understudy.rows.table import Table
from understudy_studies.census import dependent

GCAP_SECONDS = 2.0
MEMBERSHIP_SECONDS = 30.0
ATTACK_SECONDS = 600.0
KEY = ("age", "work", "job", "origin", "sex")
# SBA, table VIII, the second scenario.
ADULT_KEYS = ("age", "workclass", "occupation", "race", "sex")


def run(board: Scoreboard) -> None:
    """GCAP and membership of tables of Adult's shape, then every attack on Adult itself."""
    rows = board.size.pick(48_842, 2_000)
    schema = adult_shaped()
    real = dependent(Domain.of(schema), rows)
    shuffled = _shuffled(real)
    _gcap(board, real, shuffled)
    _membership(board, schema, real, shuffled)
    if SHARED.exists():
        _attacks(board)
    else:
        board.leave_out("attacks on Adult", "the table is not there")


def _shuffled(table: Table) -> Table:
    """Every column by itself: many keys of one table are then not in the other."""
    generator = np.random.default_rng(1)
    codes: dict[str, Codes] = {n: generator.permutation(c) for n, c in table.codes.items()}
    return Table(table.domain, codes, table.rows)


def _gcap(board: Scoreboard, real: Table, other: Table) -> None:
    works: dict[str, Callable[[], object]] = {
        "five": lambda: attribution(real, other, sensitive="role", key=KEY),
        "plain": lambda: _one_with_all(real, other, "role", KEY),
        "nine": lambda: attribution(real, other, sensitive="role", key=_longer(real)),
    }
    least = in_turns(works, rounds=board.size.pick(2, 1), clock=time.perf_counter)
    found = attribution(real, other, sensitive="role", key=KEY)
    # The same number, or neither is to be believed.
    assert found.gcap is not None
    assert abs(found.gcap - _one_with_all(real, other, "role", KEY)) < 1e-9
    what = f"GCAP of {real.rows:,} rows by 5 keys"
    board.add(f"{what}, wall", least["five"], "s", GCAP_SECONDS)
    board.add(f"{what}, times the speed of comparing all rows", least["plain"] / least["five"], "×")
    board.add(f"GCAP of {real.rows:,} rows by 9 keys, wall", least["nine"], "s")


def _longer(table: Table) -> tuple[str, ...]:
    return tuple(name for name in table.domain if name != "role")[:9]


def _one_with_all(real: Table, other: Table, sensitive: str, key: tuple[str, ...]) -> float:
    """SBA equation 1 with every real row compared with every other one, some rows at a time."""
    total, step = 0.0, 200
    for start in range(0, real.rows, step):
        part = slice(start, start + step)
        apart = sum(
            (real.codes[n][part, None] != other.codes[n][None, :]).astype(np.uint8) for n in key
        )
        near = apart == np.min(apart, axis=1)[:, None]
        same = real.codes[sensitive][part, None] == other.codes[sensitive][None, :]
        total += float(((near & same).sum(axis=1) / near.sum(axis=1)).sum())
    return total / real.rows


def _membership(board: Scoreboard, schema: Schema, real: Table, other: Table) -> None:
    sheets = [load(table, schema, side="either", seed=0) for table in (real, other)]

    def told() -> object:
        return membership(schema, members=sheets[0], others=sheets[1], synthetic=sheets[0])

    least = in_turns({"it": told}, rounds=1, clock=time.perf_counter)["it"]
    what = f"members told by distance from {real.rows:,} × {len(real.domain)} rows, wall"
    board.add(what, least, "s", MEMBERSHIP_SECONDS)


def _attacks(board: Scoreboard) -> None:
    """The second scenario of SBA, an ordinary stand-in beside the original."""
    rows = board.size.pick(48_842, 500)
    schema = Schema.load(SHARED / "benchmark" / "adult.json")
    parts = [SHARED / "data" / f"adult_{part}.parquet" for part in ("train", "test")]
    real = pa.concat_tables([pyarrow.parquet.read_table(path) for path in parts]).slice(0, rows)
    stand_in = Nist(schema, epsilon=1, delta="1e-9").fit(real, ledger=None).sample(seed=0)
    started = time.perf_counter()
    found = disclosure_risk(
        real,
        {"nist": stand_in},
        schema,
        sensitive="relationship",
        keys=ADULT_KEYS,
        classifiers=board.size.pick("sba", "naive-bayes"),
    )
    attacks = len(found.averaged_over)
    what = f"{attacks} attacks on {rows:,} rows of Adult, with two tables, wall"
    board.add(what, time.perf_counter() - started, "s", ATTACK_SECONDS)
    board.details += [{"baseline": found.baseline}, *found.document()["tables"]]
