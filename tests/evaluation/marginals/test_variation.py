"""Distances of marginals: by hand, by plain Python, and beside draws from real rows."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.sheets import coded, comparison, drawn, listed
from understudy.evaluation.marginals import marginals
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.evaluation.marginals.marginals import joints
from understudy.evaluation.marginals.subsample import (
    CountFrequencies,
    absolute_deviation,
    equivalent,
)
from understudy.evaluation.marginals.variation import variation
from understudy.facts.schema import Schema
from understudy.facts.workload import workload
from understudy.rows.table import Table

SCHEMA = listed(a=2, b=3, c=4)


def _plain_distance(real: Table, synthetic: Table, attributes: tuple[str, ...]) -> float:
    """Total variation by counting rows one by one."""
    counted = []
    for table in (real, synthetic):
        rows = zip(*(table.codes[name].tolist() for name in attributes), strict=True)
        counted.append(Counter(rows))
    cells = set(counted[0]) | set(counted[1])
    shares = [(counted[0][c] / real.rows, counted[1][c] / synthetic.rows) for c in cells]
    return sum(abs(p - q) for p, q in shares) / 2


def test_means_and_worst_by_hand() -> None:
    """a agrees; b is (¾, ¼, 0) and (½, 0, ½): ½ apart, and the worst."""
    schema = listed(a=2, b=3)
    real = coded(schema, {"a": [0, 0, 1, 1], "b": [0, 1, 0, 0]})
    synthetic = coded(schema, {"a": [0, 1], "b": [0, 2]})
    found = variation(comparison(schema, real, synthetic), 1)
    assert (0.25, 0.5) == (found.mean.value, found.largest.value)
    assert [("b",), ("a",)] == [distance.columns for distance in found.worst]
    assert [0.5, 0.0] == [distance.distance for distance in found.worst]


@pytest.mark.parametrize("ways", [1, 2, 3])
def test_distances_are_those_of_plain_python(ways: int) -> None:
    """Every marginal agrees with counting row by row, and so does the mean."""
    real, synthetic = drawn(SCHEMA, 70, 1), drawn(SCHEMA, 50, 2)
    sets = list(itertools.combinations(SCHEMA.attributes, ways))
    expected = [_plain_distance(real, synthetic, s) for s in sets]
    found = variation(comparison(SCHEMA, real, synthetic), ways)
    assert sum(expected) / len(sets) == pytest.approx(found.mean.value)
    assert max(expected) == pytest.approx(found.largest.value)
    assert dict(zip(sets, expected, strict=True)) == pytest.approx(
        {distance.columns: distance.distance for distance in found.worst}
    )


def test_large_tables_are_compared_by_sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells found by sorting rows give the counts of the engine."""
    tables = [drawn(SCHEMA, 70, 1), drawn(SCHEMA, 50, 2), drawn(SCHEMA, 0, 3)]
    sets = workload(tables[0].domain, 2)
    dense = list(joints(tables, sets))
    monkeypatch.setattr(marginals, "_MOST_CELLS", 7)
    sparse = list(joints(tables, sets))
    assert [d.attributes for d in dense] == [s.attributes for s in sparse]
    for one, other in zip(dense, sparse, strict=True):
        assert one.cells.tolist() == other.cells.tolist()
        assert one.counts.tolist() == other.counts.tolist()


def test_columns_of_the_largest_size_can_be_compared() -> None:
    """Three columns of 65,535 values have 2⁴⁸ cells; no table of them is made."""
    schema = Schema.parse(
        {
            "columns": {
                n: {"kind": "integer", "min": 0, "max": 65_534, "bins": 65_535} for n in "abc"
            }
        }
    )
    real = coded(schema, {n: [0, 65_534, 7, 7] for n in "abc"})
    synthetic = coded(schema, {n: [0, 65_534, 8, 8] for n in "abc"})
    assert 0.5 == variation(comparison(schema, real, synthetic), 3).mean.value


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 1000))
def test_distances_keep_their_range(real_rows: int, synthetic_rows: int, seed: int) -> None:
    """Between 0 and 1, symmetric, and as the function of two tables says."""
    real, synthetic = drawn(SCHEMA, real_rows, seed), drawn(SCHEMA, synthetic_rows, seed + 1)
    sets = workload(real.domain, 2)
    there = [float(joint.variation()[0]) for joint in joints([real, synthetic], sets)]
    back = [float(joint.variation()[0]) for joint in joints([synthetic, real], sets)]
    assert all(0 <= distance <= 1 for distance in there)
    assert back == pytest.approx(there)
    assert total_variation(real, synthetic, sets).tolist() == pytest.approx(there)


def test_the_same_rows_are_nearer_than_a_resample() -> None:
    """Distance 0, below the floor; the floor is below the ceiling where columns depend."""
    schema = listed(a=4, b=4)
    codes = [i % 4 for i in range(400)]
    real = coded(schema, {"a": codes, "b": codes})
    found = variation(comparison(schema, real, real), 2)
    assert 0.0 == found.mean.value
    assert found.mean.resampled is not None
    assert found.mean.independent is not None
    assert 0 < found.mean.resampled < 0.1 < 0.7 < found.mean.independent


def test_floor_and_ceiling_are_as_expected_of_chance() -> None:
    """The floor is de Moivre's expectation; independent halves are ½ from a diagonal of two."""
    schema = listed(a=2, b=2)
    codes = [i % 2 for i in range(20_000)]
    real = coded(schema, {"a": codes, "b": codes})
    found = variation(comparison(schema, real, real), 2)
    expected = math.sqrt(1 / (2 * math.pi * 20_000))
    assert found.mean.resampled is not None
    assert expected / 5 < found.mean.resampled < 5 * expected
    assert 0.5 == pytest.approx(found.mean.independent, abs=0.02)


def test_draws_depend_on_the_seed_alone() -> None:
    """The same seed gives the same floor, another another."""
    real, synthetic = drawn(SCHEMA, 70, 1), drawn(SCHEMA, 50, 2)
    floors = [
        variation(comparison(SCHEMA, real, synthetic, seed=seed), 2).mean.resampled
        for seed in (0, 0, 1)
    ]
    assert floors[0] == floors[1] != floors[2]


def test_empty_tables_are_told_apart() -> None:
    """No synthetic rows are 1 away; no real rows leave nothing to draw from."""
    empty, real = drawn(SCHEMA, 0, 1), drawn(SCHEMA, 30, 1)
    assert 1.0 == variation(comparison(SCHEMA, real, empty), 2).mean.value
    found = variation(comparison(SCHEMA, empty, real), 2)
    assert (1.0, None, None) == (found.mean.value, found.mean.resampled, found.mean.independent)
    assert found.equivalent.reason is not None


def test_too_few_columns_are_a_reason() -> None:
    """Two columns have no 3-way marginal."""
    schema = listed(a=2, b=2)
    found = variation(comparison(schema, drawn(schema, 5, 0), drawn(schema, 5, 1)), 3)
    assert (None, "the schema has fewer than 3 columns") == (found.mean.value, found.mean.reason)


def test_divergence_by_hand() -> None:
    """p = (¾, ¼), q = (1 + 1, 3 + 1)/(4 + 2): ¾·log₂(¾·3) + ¼·log₂(¼·3/2)."""
    schema = listed(a=2)
    real, synthetic = coded(schema, {"a": [0, 0, 0, 1]}), coded(schema, {"a": [0, 1, 1, 1]})
    found = variation(comparison(schema, real, synthetic), 1)
    lost = 0.75 * math.log2(0.75 * 3) + 0.25 * math.log2(0.25 * 1.5)
    entropy = -0.75 * math.log2(0.75) - 0.25 * math.log2(0.25)
    assert lost == pytest.approx(found.divergence.value)
    assert lost + entropy == pytest.approx(found.cross_entropy.value)
    assert entropy == pytest.approx(found.cross_entropy.metric.perfect)


def test_deviations_are_those_of_the_binomial() -> None:
    """De Moivre's form equals the sum over all outcomes, at the ends too."""
    for rows, share in itertools.product((1, 2, 7, 30), (0.01, 0.25, 0.5, 0.9, 1.0)):
        law = [math.comb(rows, x) * share**x * (1 - share) ** (rows - x) for x in range(rows + 1)]
        expected = sum(chance * abs(x / rows - share) for x, chance in enumerate(law))
        assert expected == pytest.approx(absolute_deviation(np.array([share]), rows)[0])


@pytest.mark.parametrize("rows", [3, 50, 400, 2_500])
def test_the_equivalent_of_a_resample_is_its_size(rows: int) -> None:
    """A distance that a resample of n rows is expected to have gives n back."""
    cells = CountFrequencies.of([np.array([300, 150, 50]), np.array([499, 1])], 500)
    found = equivalent(cells, cells.expected_distance(rows))
    assert rows == pytest.approx(found.rows, rel=0.003, abs=1)
    assert rows / 500 == pytest.approx(found.fraction, rel=0.02)


def test_a_drawn_subsample_reads_as_itself() -> None:
    """A tenth of the rows, drawn again, is read as about a tenth."""
    schema = listed(a=6, b=6, c=6)
    real = drawn(schema, 20_000, 1)
    places = np.random.default_rng(3).integers(0, 20_000, 2_000)
    part = coded(schema, {name: codes[places].tolist() for name, codes in real.codes.items()})
    found = variation(comparison(schema, real, part), 3).equivalent
    assert 0.1 == pytest.approx(found.fraction, rel=0.25)


def test_what_no_resample_matches_has_a_reason() -> None:
    """The same rows are nearer than any, rows of no shared cell farther than one."""
    cells = CountFrequencies.of([np.array([300, 200])], 500)
    same, far = equivalent(cells, 0.0), equivalent(cells, 1.0)
    assert (None, "nearer than a resample of 1,000 times the real rows") == (same.rows, same.reason)
    assert (None, "one resampled row is as near, or nearer") == (far.rows, far.reason)
