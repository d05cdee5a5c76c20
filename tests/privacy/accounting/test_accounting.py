"""Accounting agrees with dp-accounting, with closed forms, and with itself."""

from __future__ import annotations

import math
from fractions import Fraction

import dp_accounting
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import rdp_privacy_accountant
from scipy.optimize import brentq
from scipy.special import erfc

from support.tiers import slow_but
from understudy.privacy.accounting.composition import (
    NONE,
    PLD,
    PURE,
    ZCDP,
    announced_rho,
    bounds,
    tightest,
)
from understudy.privacy.accounting.conversions import (
    gaussian_delta,
    gaussian_rho,
    largest_rho,
    zcdp_delta,
    zcdp_epsilon,
)
from understudy.privacy.accounting.costs import pure_epsilon, zcdp_rho
from understudy.privacy.accounting.events import (
    ApproximateEvent,
    Charge,
    Event,
    ExactEvent,
    ExponentialEvent,
    GaussianEvent,
    GaussianKeyReleaseEvent,
    KeyReleaseEvent,
    LaplaceEvent,
    PermuteAndFlipEvent,
)
from understudy.privacy.budget import Budget

DELTA = Fraction(1, 10**6)
EVENTS: list[Event] = [
    LaplaceEvent(Fraction(20), Fraction(1)),
    GaussianEvent(Fraction(100), Fraction(1)),
    GaussianEvent(Fraction(100), Fraction(2)),
    PermuteAndFlipEvent(Fraction(40), Fraction(1)),
    ExponentialEvent(Fraction(40), Fraction(1)),
    ApproximateEvent("another mechanism", Fraction(1, 10), Fraction(1, 10**8)),
    KeyReleaseEvent(Fraction(10), Fraction(1), Fraction(200), Fraction(1, 10**8)),
    GaussianKeyReleaseEvent(Fraction(400), Fraction(1), Fraction(120), Fraction(1, 10**8)),
]


@pytest.mark.parametrize(
    ("event", "epsilon"),
    [
        (LaplaceEvent(Fraction(20), Fraction(2)), Fraction(1, 10)),
        (PermuteAndFlipEvent(Fraction(20), Fraction(1)), Fraction(1, 10)),
        (ExponentialEvent(Fraction(20), Fraction(1)), Fraction(1, 10)),
        (ApproximateEvent("any", Fraction(1, 3)), Fraction(1, 3)),
    ],
)
def test_pure_costs(event: Event, epsilon: Fraction) -> None:
    """ε = Δ/b for noise, 2Δ/b for choices, exactly."""
    assert epsilon == pure_epsilon(event)


def test_zcdp_costs() -> None:
    """ρ = Δ²/2σ² for Gaussian noise, ε²/2 for pure events, ε²/8 for the exponential mechanism."""
    assert Fraction(1, 200) == zcdp_rho(GaussianEvent(Fraction(100), Fraction(1)))
    assert Fraction(1, 800) == zcdp_rho(LaplaceEvent(Fraction(20), Fraction(1)))
    assert Fraction(1, 800) == zcdp_rho(PermuteAndFlipEvent(Fraction(40), Fraction(1)))
    assert Fraction(1, 3200) == zcdp_rho(ExponentialEvent(Fraction(40), Fraction(1)))


def test_what_has_no_cost_in_a_measure_says_so() -> None:
    """Gaussian noise is not pure, approximate events are not zCDP, exact answers are neither."""
    assert pure_epsilon(GaussianEvent(Fraction(1), Fraction(1))) is None
    assert zcdp_rho(ApproximateEvent("any", Fraction(1), Fraction(1, 2))) is None
    assert pure_epsilon(ExactEvent()) is zcdp_rho(ExactEvent()) is None


@pytest.mark.parametrize("rho", [1e-6, 1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
def test_zcdp_conversion_agrees_with_dp_accounting(rho: float, delta: float) -> None:
    """Never looser than the RDP accountant's grid of orders, and hardly tighter."""
    orders = [1 + math.exp(x / 20) for x in range(-160, 260)]
    accountant = rdp_privacy_accountant.RdpAccountant(orders)
    accountant.compose(dp_accounting.ZCDpEvent(rho))
    theirs, ours = accountant.get_epsilon(delta), zcdp_epsilon(rho, delta)
    assert ours <= theirs * (1 + 1e-9) + 1e-12
    assert ours >= theirs * 0.99 - 1e-12


@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.5, 10.0])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 30.0])
def test_zcdp_covers_the_gaussian_it_comes_from(rho: float, epsilon: float) -> None:
    """The exact δ of Gaussian noise is never above the converted one."""
    assert gaussian_delta(rho, epsilon) <= zcdp_delta(rho, epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-5])
def test_largest_rho_is_the_inverse(epsilon: float, delta: float) -> None:
    """Converting there and back stays within ε, and wastes next to nothing."""
    rho = largest_rho(epsilon, delta)
    assert 0.999 * epsilon <= zcdp_epsilon(float(rho), delta) <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 8.0, 60.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5])
def test_gaussian_rho_solves_the_printed_equation(epsilon: float, delta: float) -> None:
    """2ρ = 2(√(χ²+ε) − χ)² with erfc(χ) − e^ε erfc(√(χ²+ε)) = 2δ, the form of Zhao et al."""

    def residual(chi: float) -> float:
        return float(erfc(chi) - math.exp(epsilon) * erfc(math.sqrt(chi**2 + epsilon))) - 2 * delta

    chi = brentq(residual, -10, 10, xtol=1e-14)
    printed = (math.sqrt(chi**2 + epsilon) - chi) ** 2
    assert printed == pytest.approx(gaussian_rho(epsilon, delta), rel=1e-5)


def test_gaussian_rho_survives_large_epsilon() -> None:
    """Where e^ε overflows, the solution still satisfies the curve."""
    rho = gaussian_rho(2000.0, 1e-9)
    assert gaussian_delta(rho, 2000.0) == pytest.approx(1e-9, rel=1e-6)


@pytest.mark.parametrize("squared", [1, 2])
def test_gaussian_losses_agree_with_dp_accounting(squared: int) -> None:
    """An announced list of Gaussian tables costs what dp-accounting says when called directly."""
    sigmas = [10.0, 14.0, 31.0]
    events = [GaussianEvent(Fraction(s) ** 2, Fraction(squared)) for s in sigmas]
    direct = None
    for sigma in sigmas * squared:
        one = pld.from_discrete_gaussian_mechanism(sigma)
        direct = one if direct is None else direct.compose(one)
    assert direct is not None
    expected = direct.get_epsilon_for_delta(float(DELTA))
    bound = next(b for b in bounds(events, delta=DELTA, announced=True) if b.accounting == PLD)
    assert expected == pytest.approx(float(bound.epsilon or 0), rel=5e-3)


def test_mixed_losses_agree_with_dp_accounting() -> None:
    """Pure and Gaussian events compose as the dominating pairs do."""
    events: list[Event] = [
        GaussianEvent(Fraction(100), Fraction(1)),
        LaplaceEvent(Fraction(20), Fraction(1)),
    ]
    gaussian = pld.from_discrete_gaussian_mechanism(10.0)
    pure = pld.from_privacy_parameters(dp_accounting.pld.common.DifferentialPrivacyParameters(0.05))
    expected = gaussian.compose(pure).get_epsilon_for_delta(float(DELTA))
    bound = next(b for b in bounds(events, delta=DELTA, announced=True) if b.accounting == PLD)
    assert expected == pytest.approx(float(bound.epsilon or 0), rel=5e-3)


def _exact_delta(sigma: float, epsilon: float, cells: int) -> float:
    """δ(ε) of discrete Gaussian noise on one or two cells that move by one, by summation."""
    reach = math.ceil(14 * sigma)
    mass = [math.exp(-(z**2) / (2 * sigma**2)) for z in range(-reach, reach + 1)]
    total = sum(mass)
    one = {
        z: (mass[z + reach] / total, (1 - 2 * z) / (2 * sigma**2)) for z in range(-reach + 1, reach)
    }
    losses = list(one.values())
    if cells == 2:
        losses = [(p * q, a + b) for p, a in losses for q, b in losses]
    return sum(p * max(0.0, -math.expm1(epsilon - loss)) for p, loss in losses)


@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("sigma", [0.7, 2.0, 5.0])
def test_losses_cover_the_exact_sum(cells: int, sigma: float) -> None:
    """The claimed ε is enough, by the exact likelihood ratio, and not more than 2 % too much."""
    event = GaussianEvent(Fraction(sigma) ** 2, Fraction(cells))
    bound = next(b for b in bounds([event], delta=DELTA, announced=True) if b.accounting == PLD)
    epsilon = float(bound.epsilon or 0)
    assert _exact_delta(sigma, epsilon, cells) <= float(DELTA)
    assert _exact_delta(sigma, epsilon * 0.98, cells) > float(DELTA)


def test_losses_are_claimed_for_announced_lists_only() -> None:
    """Without an announcement the bound is zCDP, which holds for adaptive choices too."""
    events: list[Event] = [GaussianEvent(Fraction(100), Fraction(1))] * 3
    named = {b.accounting for b in bounds(events, delta=DELTA, announced=False)}
    assert {ZCDP} == named
    announced = tightest(events, delta=DELTA, announced=True)
    unannounced = tightest(events, delta=DELTA, announced=False)
    assert PLD == announced.accounting
    assert (announced.epsilon or 0) < (unannounced.epsilon or 0)


def test_norms_without_a_known_distribution_fall_back() -> None:
    """A person with several rows moves cells in ways no one-dimensional loss describes."""
    events: list[Event] = [GaussianEvent(Fraction(100), Fraction(9))]
    assert ZCDP == tightest(events, delta=DELTA, announced=True).accounting


def test_pure_events_need_no_delta() -> None:
    """Pure composition is exact, and nothing beats it at δ = 0."""
    events: list[Event] = [LaplaceEvent(Fraction(3), Fraction(1))] * 3
    bound = tightest(events, delta=Fraction(0), announced=True)
    assert (PURE, Fraction(1), Fraction(0)) == (bound.accounting, bound.epsilon, bound.delta)


def test_exact_answers_end_all_privacy() -> None:
    """One exact answer, and there is no bound."""
    bound = tightest([*EVENTS, ExactEvent()], delta=DELTA, announced=True)
    assert (NONE, None) == (bound.accounting, bound.epsilon)


@pytest.mark.parametrize("squared", slow_but({2}, [1, 2]))
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    slow_but([("1", "1e-9")], [("0.1", "1e-9"), ("1", "1e-9"), ("10", "1e-5")]),
)
def test_announced_plans_use_the_whole_budget(epsilon: str, delta: str, squared: int) -> None:
    """The noise found for a plan keeps (ε, δ), beats zCDP, and leaves less than one per cent."""
    target = Budget.approximate(epsilon, delta)

    def plan(budget: Budget) -> list[Event]:
        parts = budget.split([1, 4, 9])
        return [GaussianEvent(squared / (2 * p.amount), Fraction(squared)) for p in parts]

    rho = announced_rho(plan, target)
    bound = tightest(plan(rho), delta=target.delta, announced=True)
    assert 0.99 * target.amount <= (bound.epsilon or 0) <= target.amount
    assert rho.amount > largest_rho(float(target.amount), float(target.delta))


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: e.mechanism)
def test_charges_survive_being_written_down(event: Event) -> None:
    """A charge read back is the charge written, to the last digit."""
    charge = Charge("counts of a × b", event)
    assert charge == Charge.parse(charge.document())
