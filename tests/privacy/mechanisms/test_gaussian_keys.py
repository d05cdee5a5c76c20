"""Keys released by Gaussian noise: δ by the exact law, ρ by exact Rényi divergences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

import pytest

from understudy.errors import BudgetExceeded, UsageError
from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.accounting.composition import APPROXIMATE_ZCDP, tightest
from understudy.privacy.accounting.conversions import rho_within
from understudy.privacy.accounting.costs import Concentrated, approximate_cost, concentrated
from understudy.privacy.accounting.events import ApproximateEvent, Charge
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms import keys
from understudy.privacy.mechanisms.keys import GaussianKeyRelease
from understudy.privacy.noise.laws import gaussian_tail
from understudy.privacy.noise.system import SystemNoise
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.pricing import ConcentratedSums
from understudy.rows.counting import KeyCounts

ROW = Unit(Neighbours.ADD_REMOVE)
REPLACED = Unit(Neighbours.REPLACE)
PERSONS = [Unit(Neighbours.ADD_REMOVE, rows) for rows in (2, 3, 5, 8)]
UNITS = [ROW, REPLACED, *PERSONS]
AMOUNTS = [("1e-2", "1e-8"), ("1/200", "1e-7"), ("1/2", "1e-6"), ("2", "0.01"), ("12", "1e-9")]


def _name(unit: Unit) -> str:
    return f"{unit.neighbours} {unit.rows_per_person}"


def _weights(sigma_squared: Fraction) -> dict[int, float]:
    """The discrete Gaussian, not normalised, as far as doubles show it."""
    reach = math.ceil(38 * math.sqrt(sigma_squared)) + 1
    doubled = 2 * float(sigma_squared)
    return {z: math.exp(-(z**2) / doubled) for z in range(-reach, reach + 1)}


def _tail(weights: Mapping[int, float], least: int) -> float:
    above = math.fsum(weight for z, weight in weights.items() if z >= least)
    return above / math.fsum(weights.values())


def _partitions(rows: int, most: int) -> Iterator[list[int]]:
    """Every way in which rows can share keys."""
    if rows == 0:
        yield []
    for first in range(min(rows, most), 0, -1):
        yield from ([first, *rest] for rest in _partitions(rows - first, first))


def _worst_chance(mechanism: GaussianKeyRelease, rows: int) -> float:
    """The chance that a key is released which nobody else has, the worst way of sharing keys."""
    weights = _weights(mechanism.sigma_squared)
    tails = {j: _tail(weights, mechanism.threshold - j) for j in range(1, rows + 1)}
    return max(sum(tails[j] for j in counts) for counts in _partitions(rows, rows))


@pytest.mark.parametrize(("rho", "delta"), AMOUNTS)
@pytest.mark.parametrize("unit", UNITS, ids=_name)
def test_keys_of_one_unit_alone_are_seldom_released(unit: Unit, rho: str, delta: str) -> None:
    """The exact chance is within δ; the proved bound on it costs one step of the threshold."""
    mechanism = GaussianKeyRelease.costing(Fraction(rho), Fraction(delta), unit)
    assert _worst_chance(mechanism, unit.new_rows) <= mechanism.delta
    lower = GaussianKeyRelease(
        sigma_squared=mechanism.sigma_squared,
        sensitivity_squared=mechanism.sensitivity_squared,
        new_rows=1,
        threshold=mechanism.threshold - 2,
        delta=Fraction(9, 10),
    )
    assert _worst_chance(lower, unit.new_rows) > mechanism.delta


@pytest.mark.parametrize("unit", UNITS, ids=_name)
def test_a_threshold_lower_by_three_is_found_out(
    unit: Unit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check can fail: a mechanism that forgets three rows breaks its δ."""
    honest = keys.gaussian_new_key_chance
    monkeypatch.setattr(
        keys, "gaussian_new_key_chance", lambda sigma, height, rows: honest(sigma, height + 3, rows)
    )
    careless = GaussianKeyRelease.costing(Fraction(1, 2), Fraction(1, 10**6), unit)
    assert _worst_chance(careless, unit.new_rows) > careless.delta


@pytest.mark.parametrize("sigma_squared", ["1/4", "1", "30", "10000"])
@pytest.mark.parametrize("least", [1, 2, 5, 17])
def test_tails_are_bounded_from_above(sigma_squared: str, least: int) -> None:
    """Never below the true chance, and at most the chance of one step less."""
    weights = _weights(Fraction(sigma_squared))
    bound = float(gaussian_tail(Fraction(sigma_squared), least))
    assert _tail(weights, least) <= bound
    assert bound <= max(_tail(weights, least - 1) * (1 + 1e-6), 1e-249)
    assert 1 == gaussian_tail(Fraction(sigma_squared), 0)


Outcomes = dict[int | None, float]


def _outcomes(mechanism: GaussianKeyRelease, count: int) -> Outcomes:
    """The chance of everything that may be seen of one key: nothing, or a noisy count."""
    if count == 0:
        return {None: 1.0}
    weights = _weights(mechanism.sigma_squared)
    whole = math.fsum(weights.values())
    seen = {count + z: weight / whole for z, weight in weights.items()}
    passed: Outcomes = {n: chance for n, chance in seen.items() if n >= mechanism.threshold}
    passed[None] = math.fsum(chance for n, chance in seen.items() if n < mechanism.threshold)
    return passed


def _pairs(
    mechanism: GaussianKeyRelease, here: Mapping[str, int], there: Mapping[str, int]
) -> Iterator[tuple[float, float]]:
    """The chances of all that may be seen of two keys, on both tables."""
    p = [_outcomes(mechanism, here.get(key, 0)) for key in "ab"]
    q = [_outcomes(mechanism, there.get(key, 0)) for key in "ab"]
    for x in p[0]:
        for y in p[1]:
            yield p[0][x] * p[1][y], q[0].get(x, 0.0) * q[1].get(y, 0.0)


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
@pytest.mark.parametrize(("rho", "delta"), [("0.1", "0.05"), ("0.5", "0.01"), ("2", "0.003")])
def test_the_whole_mechanism_keeps_rho_and_delta(
    unit: Unit, here: dict[str, int], there: dict[str, int], rho: str, delta: str
) -> None:
    """Summed over all that may be seen: the (ε, δ) that accounting states, in both directions."""
    mechanism = GaussianKeyRelease.costing(Fraction(rho), Fraction(delta), unit)
    for beyond in (Fraction(1, 10), Fraction(1, 1000)):
        whole = Fraction(delta) + beyond
        bound = tightest([mechanism.event], delta=whole, announced=False)
        assert APPROXIMATE_ZCDP == bound.accounting
        growth = math.exp(float(bound.epsilon or 0))
        for one, other in ((here, there), (there, here)):
            seen = _pairs(mechanism, one, other)
            assert math.fsum(max(0.0, p - growth * q) for p, q in seen) <= float(whole) * (1 + 1e-9)


def test_the_exact_divergence_can_fail() -> None:
    """A third of the noise for a replaced row does not keep what is stated."""
    less = GaussianKeyRelease.costing(Fraction(2), Fraction(1, 200), ROW)
    stated = Fraction(2) / 9
    growth = math.exp(0.5)
    assert stated < concentrated(less.event).rho  # type: ignore[union-attr]
    seen = _pairs(less, {"a": 8, "b": 6}, {"a": 7, "b": 7})
    assert math.fsum(max(0.0, p - growth * q) for p, q in seen) > 0.1


def test_costs_are_rho_and_delta() -> None:
    """Exactly what was asked, and there is no (ε, δ) without a conversion."""
    event = GaussianKeyRelease.costing(Fraction(1, 3), Fraction(1, 10**7), PERSONS[1]).event
    assert Concentrated(Fraction(1, 3), Fraction(1, 10**7)) == concentrated(event)
    assert approximate_cost(event) is None


def test_differences_of_keys_are_counted_in_l2() -> None:
    """A replaced row moves two keys by one; a person's three rows move one key by three."""
    replaced = GaussianKeyRelease.costing(Fraction(1), Fraction(1, 10**6), REPLACED)
    assert replaced.covers(KeyCounts({"a": 3, "b": 1}) - KeyCounts({"a": 4}))
    assert not replaced.covers(KeyCounts({"a": 3}) - KeyCounts({"a": 1}))
    person = GaussianKeyRelease.costing(Fraction(1), Fraction(1, 10**6), PERSONS[1])
    assert person.covers(KeyCounts({"a": 3}) - KeyCounts({}))
    assert not person.covers(KeyCounts({"a": 4}) - KeyCounts({}))


def test_releases_happen_as_often_as_the_closed_form_says() -> None:
    """Four thousand keys at one count: as many leave as the law says, within five deviations."""
    mechanism = GaussianKeyRelease.costing(Fraction(1, 50), Fraction(1, 100), ROW)
    for count in (mechanism.threshold - 4, mechanism.threshold, mechanism.threshold + 4):
        chance = mechanism.chance(count)
        exact = KeyCounts({str(i): count for i in range(4000)})
        left = len(mechanism.release(exact, SystemNoise()).counts)
        assert abs(left - 4000 * chance) < 5 * math.sqrt(4000 * chance * (1 - chance))


# --- the grant that counts it ---------------------------------------------------------------------

BUDGET = Budget.approximate("1/2", "1e-6")
KEYS = Fraction(1, 2 * 10**6)


def _charge(rho: Fraction, delta: Fraction) -> Charge:
    return Charge("keys", GaussianKeyRelease.costing(rho, delta, ROW).event)


def test_a_run_may_use_rho_and_the_delta_of_keys_and_no_more() -> None:
    """Both sums are held to; the whole grant is what the run states."""
    rho = rho_within(Fraction(1, 2), BUDGET.delta - KEYS)
    grant = Grant(BUDGET, pricing=ConcentratedSums(KEYS))
    grant.charge([_charge(rho / 2, KEYS / 2)])
    with pytest.raises(BudgetExceeded, match="asked for rho"):
        grant.charge([_charge(rho * Fraction(51, 100), KEYS / 2)])
    with pytest.raises(BudgetExceeded, match="delta"):
        grant.charge([_charge(rho / 2, KEYS * Fraction(51, 100))])
    grant.charge([_charge(rho / 2, KEYS / 2)])
    bound = grant.bound()
    assert (APPROXIMATE_ZCDP, BUDGET.amount, BUDGET.delta) == (
        *(bound.accounting, bound.epsilon, bound.delta),
    )
    assert Concentrated(rho, KEYS) == grant.spent == grant.reserve


def test_the_stated_grant_is_what_its_charges_prove() -> None:
    """Forty columns' keys, composed by accounting, stay within the ε of the grant."""
    rho = rho_within(Fraction(1, 2), BUDGET.delta - KEYS)
    events = [_charge(rho / 40, KEYS / 40).event] * 40
    bound = tightest(events, delta=BUDGET.delta, announced=False)
    assert bound.epsilon is not None
    assert bound.epsilon <= BUDGET.amount + Fraction(1, 10**6)
    assert bound.epsilon > BUDGET.amount * Fraction(99, 100)


def test_what_has_no_rho_cannot_be_paid_for() -> None:
    """A mechanism known by its (ε, δ) alone is refused, and nothing is stated before a charge."""
    grant = Grant(BUDGET, pricing=ConcentratedSums(KEYS))
    with pytest.raises(UsageError, match="cannot be paid for"):
        grant.charge([Charge("x", ApproximateEvent("any", Fraction(1, 9), Fraction(1, 10**9)))])
    with pytest.raises(UsageError, match="takes no plan"):
        grant.announce(lambda budget: [])
    assert 0 == grant.bound().epsilon
