"""Keys that one unit alone brought in are released as seldom as δ says, by the exact law."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
import pytest

from support.laws import ERROR, exponential
from understudy.errors import UsageError
from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.accounting.costs import approximate_cost, pure_epsilon, zcdp_rho
from understudy.privacy.mechanisms import keys
from understudy.privacy.mechanisms.keys import KeyRelease
from understudy.privacy.noise.laws import laplace_tail
from understudy.privacy.noise.system import SystemNoise
from understudy.rows.counting import KeyCounts

ROW = Unit(Neighbours.ADD_REMOVE)
REPLACED = Unit(Neighbours.REPLACE)
PERSONS = [Unit(Neighbours.ADD_REMOVE, rows) for rows in (2, 3, 5, 8)]
UNITS = [ROW, REPLACED, *PERSONS]
AMOUNTS = [("0.01", "1e-6"), ("1/15", "1e-7"), ("1", "1e-6"), ("1", "0.2"), ("5", "1e-9")]


def _name(unit: Unit) -> str:
    return f"{unit.neighbours} {unit.rows_per_person}"


def _tail(scale: Fraction, least: int) -> Fraction:
    """P(Z ≥ least) of discrete Laplace noise, to a hundred digits."""
    assert least >= 1
    return exponential(least / scale) / (1 + exponential(1 / scale))


def _partitions(rows: int, most: int) -> Iterator[list[int]]:
    """Every way in which rows can share keys."""
    if rows == 0:
        yield []
    for first in range(min(rows, most), 0, -1):
        yield from ([first, *rest] for rest in _partitions(rows - first, first))


def _worst_chance(mechanism: KeyRelease, rows: int) -> Fraction:
    """The chance that a key is released which nobody else has, the worst way of sharing keys."""
    return max(
        sum((_tail(mechanism.scale, mechanism.threshold - j) for j in counts), Fraction(0))
        for counts in _partitions(rows, rows)
    )


@pytest.mark.parametrize(("epsilon", "delta"), AMOUNTS)
@pytest.mark.parametrize("unit", UNITS, ids=_name)
def test_keys_of_one_unit_alone_are_seldom_released(unit: Unit, epsilon: str, delta: str) -> None:
    """The exact chance is within δ, and no threshold that is one lower would do."""
    mechanism = KeyRelease.costing(Fraction(epsilon), Fraction(delta), unit)
    lower = KeyRelease(
        scale=mechanism.scale,
        sensitivity=mechanism.sensitivity,
        new_rows=1,
        threshold=mechanism.threshold - 1,
        delta=Fraction(1, 2),
    )
    assert _worst_chance(mechanism, unit.new_rows) <= mechanism.delta
    assert _worst_chance(lower, unit.new_rows) > mechanism.delta * (1 - Fraction(1, 10**12))


@pytest.mark.parametrize("unit", UNITS, ids=_name)
def test_a_threshold_lower_by_two_is_found_out(unit: Unit, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: a mechanism that forgets two rows breaks its δ."""
    honest = keys.new_key_chance
    monkeypatch.setattr(
        keys,
        "new_key_chance",
        lambda scale, threshold, rows: honest(scale, threshold + 2, rows),
    )
    careless = KeyRelease.costing(Fraction(1), Fraction(1, 10**6), unit)
    assert _worst_chance(careless, unit.new_rows) > careless.delta


@pytest.mark.parametrize("unit", UNITS, ids=_name)
def test_a_threshold_below_its_delta_cannot_be_built(unit: Unit) -> None:
    """Threshold and δ are checked against each other wherever they come from."""
    good = KeyRelease.costing(Fraction(1), Fraction(1, 10**6), unit)
    with pytest.raises(UsageError, match="too low"):
        KeyRelease(
            scale=good.scale,
            sensitivity=good.sensitivity,
            new_rows=good.new_rows,
            threshold=good.threshold - 1,
            delta=good.delta,
        )


@pytest.mark.parametrize(("epsilon", "delta"), AMOUNTS)
@pytest.mark.parametrize("unit", [ROW, REPLACED], ids=_name)
def test_the_threshold_is_within_one_of_the_formula(unit: Unit, epsilon: str, delta: str) -> None:
    """1 + scale·ln(1/2δ), rounded up, is for continuous noise; ours is that or one more."""
    mechanism = KeyRelease.costing(Fraction(epsilon), Fraction(delta), unit)
    formula = 1 + float(mechanism.scale) * math.log(1 / (2 * float(mechanism.delta)))
    assert mechanism.threshold - math.ceil(formula) in (0, 1)


def test_rows_under_one_key_count_together() -> None:
    """δ/c for each of c keys is not enough at a large ε: all rows may have one key."""
    unit, epsilon, delta = Unit(Neighbours.ADD_REMOVE, 5), 5, 1e-9
    mechanism = KeyRelease.costing(Fraction(epsilon), Fraction(1, 10**9), unit)
    shared_out = math.ceil(1 + 5 / epsilon * math.log(5 / (2 * delta))) + 1
    assert mechanism.threshold > shared_out
    assert _tail(mechanism.scale, shared_out - 5) > mechanism.delta


@pytest.mark.parametrize("scale", ["1/50", "1", "7.5", "1000/3"])
@pytest.mark.parametrize("least", [1, 2, 17, 300])
def test_tails_are_enclosed_from_above(scale: str, least: int) -> None:
    """Never below the true chance, and above it by next to nothing."""
    exact, bound = _tail(Fraction(scale), least), laplace_tail(Fraction(scale), least)
    assert bound >= exact - ERROR
    assert bound <= exact * (1 + Fraction(1, 2**59)) + Fraction(1, 2**60) * exact + ERROR


Outcomes = dict[int | None, float]


def _outcomes(mechanism: KeyRelease, count: int) -> Outcomes:
    """The chance of everything that may be seen of one key: nothing, or a noisy count."""
    if count == 0:
        return {None: 1.0}
    q = math.exp(-1 / float(mechanism.scale))
    seen = range(mechanism.threshold, mechanism.threshold + 150)
    chances: Outcomes = {z: (1 - q) / (1 + q) * q ** abs(z - count) for z in seen}
    chances[None] = 1 - mechanism.chance(count)
    return chances


def _divergence(mechanism: KeyRelease, here: Mapping[str, int], there: Mapping[str, int]) -> float:
    """Σ max(0, P − e^ε·Q) over all that may be seen of two keys: the exact δ."""
    growth = math.exp(float(mechanism.sensitivity / mechanism.scale))
    p = [_outcomes(mechanism, here.get(key, 0)) for key in "ab"]
    q = [_outcomes(mechanism, there.get(key, 0)) for key in "ab"]
    return sum(
        max(0.0, p[0][x] * p[1][y] - growth * q[0].get(x, 0.0) * q[1].get(y, 0.0))
        for x in p[0]
        for y in p[1]
    )


PAIRS = [
    (ROW, {"a": 3}, {"a": 3, "b": 1}),
    (ROW, {}, {"b": 1}),
    (ROW, {"a": 6}, {"a": 7}),
    (REPLACED, {"a": 1}, {"b": 1}),
    (REPLACED, {"a": 2}, {"a": 1, "b": 1}),
    (REPLACED, {"a": 5, "b": 6}, {"a": 6, "b": 5}),
    (PERSONS[0], {}, {"a": 2}),
    (PERSONS[0], {}, {"a": 1, "b": 1}),
    (PERSONS[0], {"a": 4}, {"a": 5, "b": 1}),
]


@pytest.mark.parametrize(("unit", "here", "there"), PAIRS)
@pytest.mark.parametrize(("epsilon", "delta"), [("0.7", "0.05"), ("2", "0.01"), ("4", "0.003")])
def test_the_whole_mechanism_keeps_epsilon_and_delta(
    unit: Unit, here: dict[str, int], there: dict[str, int], epsilon: str, delta: str
) -> None:
    """Summed over everything that may be seen, in both directions."""
    mechanism = KeyRelease.costing(Fraction(epsilon), Fraction(delta), unit)
    for one, other in ((here, there), (there, here)):
        assert _divergence(mechanism, one, other) <= float(mechanism.delta) * (1 + 1e-9)


def test_the_exact_divergence_can_fail() -> None:
    """Half the noise for a replaced row does not keep ε and δ."""
    half = KeyRelease.costing(Fraction(2), Fraction(1, 20), ROW)
    assert _divergence(half, {"a": 8, "b": 3}, {"a": 7, "b": 4}) > float(half.delta)


def test_only_keys_that_occur_and_reach_the_threshold_leave() -> None:
    """A key far above leaves, one far below does not, and one with no rows cannot."""
    mechanism = KeyRelease.costing(Fraction(1), Fraction(1, 10**6), ROW)
    released = mechanism.release(KeyCounts({"x" * 5000: 9000, "few": 1, "none": 0}), SystemNoise())
    assert {"x" * 5000} == set(released.counts)
    assert all(count >= mechanism.threshold for count in released.counts.values())


def test_releases_happen_as_often_as_the_closed_form_says() -> None:
    """Four thousand keys at one count: as many leave as the law says, within five deviations."""
    mechanism = KeyRelease.costing(Fraction(1, 4), Fraction(1, 100), ROW)
    for count in (mechanism.threshold - 4, mechanism.threshold, mechanism.threshold + 4):
        keys = KeyCounts({str(i): count for i in range(4000)})
        chance = mechanism.chance(count)
        left = len(mechanism.release(keys, SystemNoise()).counts)
        assert abs(left - 4000 * chance) < 5 * math.sqrt(4000 * chance * (1 - chance))


def test_keys_cost_epsilon_and_delta() -> None:
    """Exactly what was asked; neither pure ε nor ρ can pay for it."""
    event = KeyRelease.costing(Fraction(1, 3), Fraction(1, 10**7), PERSONS[1]).event
    assert (Fraction(1, 3), Fraction(1, 10**7)) == approximate_cost(event)
    assert (None, None) == (pure_epsilon(event), zcdp_rho(event))


def test_differences_of_keys_are_counted_in_l1() -> None:
    """A key in one table alone counts as much as one that changed."""
    mechanism = KeyRelease.costing(Fraction(1), Fraction(1, 10**6), REPLACED)
    moved = KeyCounts({"a": 3, "b": 1}) - KeyCounts({"a": 4})
    assert {"a": -1, "b": 1} == moved.counts
    assert mechanism.covers(moved)
    assert not mechanism.covers(KeyCounts({"a": 3}) - KeyCounts({}))
    assert "3" not in repr(KeyCounts({"a": 3}))


@pytest.mark.parametrize("delta", [0, 1])
def test_keys_need_a_delta(delta: int) -> None:
    """Without a chance to fail no threshold is high enough."""
    with pytest.raises(UsageError):
        KeyRelease(
            scale=Fraction(1),
            sensitivity=Fraction(1),
            new_rows=1,
            threshold=100,
            delta=Fraction(delta),
        )


def test_no_key_no_draw() -> None:
    """An empty column releases nothing."""
    mechanism = KeyRelease.costing(Fraction(1), Fraction(1, 10**6), ROW)
    assert {} == mechanism.release(KeyCounts({}), SystemNoise()).counts
    assert np.isclose(1, mechanism.chance(10**6))
