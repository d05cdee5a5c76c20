"""The Gaussian curve for noise on grids: never below what exact sums and referees find."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

from understudy.privacy.accounting.composition import CURVE, ZCDP, bounds
from understudy.privacy.accounting.conversions import gaussian_delta, largest_rho
from understudy.privacy.accounting.costs import zcdp_rho
from understudy.privacy.accounting.events import Event, FineGaussianEvent, GaussianEvent
from understudy.privacy.accounting.gaussian_curve import curve_epsilon, curve_rho, excess, is_within
from understudy.system.arrays import Floats

ONE = Fraction(1)


def _fine(sigma_squared: Fraction, squared: int = 1, *, moved: int = 1) -> FineGaussianEvent:
    finer = Fraction(1024 * math.ceil(math.sqrt(max(moved / squared, 1))))
    return FineGaussianEvent(sigma_squared, Fraction(squared), Fraction(moved), finer)


# --- the curve of continuous noise -----------------------------------------------------------


@pytest.mark.parametrize("sigma", [0.05, 0.3, 1.0, 4.0, 60.0, 3000.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-4, 0.01, 1.0, 10.0])
def test_the_curve_is_that_of_dp_accounting(sigma: float, epsilon: float) -> None:
    """One continuous Gaussian answer, computed by someone else."""
    theirs = GaussianPrivacyLoss(sigma).get_delta_for_epsilon(epsilon)
    ours = gaussian_delta(1 / (2 * sigma**2), epsilon)
    assert theirs == pytest.approx(ours, rel=1e-6, abs=1e-13)


@pytest.mark.parametrize("rho", [1e-14, 1e-9, 1e-4, 0.02, 1.0, 40.0, 2000.0])
@pytest.mark.parametrize("spread", [0.0, 1.0, 6.0, 12.0])
def test_the_curve_is_rounded_up(rho: float, spread: float) -> None:
    """Against sixty digits: never below, also where both terms are nearly equal or e^ε is huge."""
    epsilon = rho + spread * math.sqrt(2 * rho)
    with mpmath.workdps(60):
        mu, exact = mpmath.sqrt(2 * mpmath.mpf(rho)), mpmath.mpf(epsilon)
        true = mpmath.ncdf(mu / 2 - exact / mu) - mpmath.exp(exact) * mpmath.ncdf(
            -mu / 2 - exact / mu
        )
        found = mpmath.mpf(gaussian_delta(rho, epsilon))
        assert found >= true
        assert found <= true * (1 + mpmath.mpf(10) ** -3)


def test_no_noise_is_needed_for_nothing() -> None:
    """With ρ = 0 nothing is released, and without a δ nothing can be."""
    assert 0 == curve_rho(ONE, Fraction(0))
    assert 0 == gaussian_delta(0.0, 1.0) == curve_epsilon(0.0, 1e-9) == excess(0.0, 1.0, 1e-9)


# --- what is gained ---------------------------------------------------------------------------


@pytest.mark.parametrize("delta", ["1e-12", "1e-9", "1e-6"])
@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", "1", "10", "100"])
def test_the_largest_rho_is_the_inverse(epsilon: str, delta: str) -> None:
    """It stays within (ε, δ), wastes next to nothing, and is more than zCDP allows."""
    target, chance = Fraction(epsilon), Fraction(delta)
    rho = curve_rho(target, chance)
    assert 0.9999 * target < curve_epsilon(float(rho), float(chance)) <= target
    assert rho > largest_rho(float(target), float(chance))


def test_the_gain_over_zcdp_is_the_promised_one() -> None:
    """10.6 % more budget at (1, 1e-9)."""
    gain = curve_rho(ONE, Fraction("1e-9")) / largest_rho(1.0, 1e-9)
    assert 1.1057 < gain < 1.1058


def test_beyond_the_proof_nothing_is_claimed() -> None:
    """Neither for so much ρ that its noise is coarse, nor more of it however large ε is."""
    assert math.inf == curve_epsilon(2049.0, 1e-9)
    assert 2048 == curve_rho(Fraction(10**6), Fraction("1e-9"))
    assert not is_within(0.5, 10.0, 1e-5, fineness=1)


# --- noise on grids, by exact sums ------------------------------------------------------------


def _law(finer: int, sigma: float) -> tuple[Floats, Floats]:
    """The steps of a grid that matter, in units, and the chances of the noise."""
    reach = math.ceil(11 * sigma * finer)
    noise = np.arange(-reach, reach + 1) / finer
    weights = np.exp(-(noise**2) / (2 * sigma**2))
    return noise, weights / weights.sum()


def _joined(parts: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Losses and chances of independent answers together."""
    losses, chances = np.zeros(1), np.ones(1)
    for more, weights in parts:
        losses = np.add.outer(losses, more).reshape(-1)
        chances = np.multiply.outer(chances, weights).reshape(-1)
    return losses, chances


def _losses(finer: int, sigma: float, shift: int) -> tuple[Floats, Floats]:
    """The loss of one cell that moves by a number of units, and its chances."""
    noise, chances = _law(finer, sigma)
    return (shift**2 + 2 * shift * noise) / (2 * sigma**2), chances


def _delta(losses: Floats, chances: Floats, epsilon: float) -> float:
    """Σ P·(1 − e^(ε − loss)) over losses above ε: the exact δ."""
    return float(chances @ np.maximum(-np.expm1(np.minimum(epsilon - losses, 0.0)), 0.0))


CELLS = {"one row": (1,), "a replaced row": (1, -1), "a person in one cell": (3,)}


@pytest.mark.parametrize("shifts", CELLS.values(), ids=CELLS)
@pytest.mark.parametrize(("finer", "sigma"), [(32, 2.0), (16, 5.0), (64, 1.5)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_the_claim_covers_exact_sums(
    shifts: tuple[int, ...], finer: int, sigma: float, delta: float
) -> None:
    """One round, its likelihood ratios added up cell by cell; a hundredth less would not do."""
    squared = sum(shift**2 for shift in shifts)
    rho = squared / (2 * sigma**2)
    epsilon = curve_epsilon(rho, delta, fineness=finer**2)
    losses, chances = _joined([_losses(finer, sigma, abs(shift)) for shift in shifts])
    assert _delta(losses, chances, epsilon) <= delta
    assert _delta(losses, chances, epsilon * 0.97) > delta


Scales = Callable[[Floats], Floats]
SCALES: dict[str, Scales] = {
    "wide after a large answer": lambda seen: np.where(seen > 0.3, 4.0, 1.2),
    "narrow after a large answer": lambda seen: np.where(seen > 0.3, 1.2, 4.0),
    "stops after a large answer": lambda seen: np.where(seen > 0.3, np.inf, 1.2),
}
FIRST = 2.0


def _adaptive(finer: int, second: Scales) -> tuple[Floats, Floats]:
    """Exact losses of two rounds, where the scale of the second follows from the first answer."""
    noise, chances = _law(finer, FIRST)
    before = (1 + 2 * noise) / (2 * FIRST**2)
    found = []
    for sigma in np.unique(second(1 + noise)):
        here = second(1 + noise) == sigma
        after, weights = (
            _losses(finer, float(sigma), 1) if np.isfinite(sigma) else (np.zeros(1), np.ones(1))
        )
        found.append(_joined([(before[here], chances[here]), (after, weights)]))
    return np.concatenate([losses for losses, _ in found]), np.concatenate([p for _, p in found])


@pytest.mark.parametrize("second", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-8])
def test_the_claim_covers_scales_that_follow_from_answers(second: Scales, delta: float) -> None:
    """Two rounds, whose largest sum was fixed: every transcript is looked at."""
    most = (1 / FIRST**2 + 1 / 1.2**2) / 2
    losses, chances = _adaptive(16, second)
    assert 1 == pytest.approx(float(chances.sum()))
    assert _delta(losses, chances, curve_epsilon(most, delta, fineness=256)) <= delta


@pytest.mark.parametrize("delta", [1e-2, 1e-5])
def test_a_sum_beyond_the_fixed_one_is_not_covered(delta: float) -> None:
    """The exam can fail: a branch that spends a tenth too much gives more away than is claimed."""
    losses, chances = _adaptive(16, SCALES["narrow after a large answer"])
    less = (1 / FIRST**2 + 1 / 1.2**2) / 2 / 1.1
    assert _delta(losses, chances, curve_epsilon(less, delta, fineness=256)) > delta


@pytest.mark.parametrize(("sigma", "most"), [(1.0, 1.8), (2.0, 1.15)])
def test_integers_are_not_covered_by_the_bare_curve(sigma: float, most: float) -> None:
    """Without a fine grid the curve's δ is exceeded, at σ = 1 by a factor of 1.8."""
    losses, chances = _losses(1, sigma, 1)
    worst = max(
        _delta(losses, chances, e) / gaussian_delta(1 / (2 * sigma**2), e)
        for e in np.linspace(0.1, 9 / (1 + sigma), 400)
    )
    assert worst > most
    assert math.inf == curve_epsilon(1 / (2 * sigma**2), 1e-6, fineness=1)


def test_an_understated_number_of_moved_cells_is_not_covered() -> None:
    """Eight cells that move by one step each are not one cell that moves by the root of eight."""
    losses, chances = _joined([_losses(1, 0.5, 1)] * 4)
    kept, places = np.unique(np.rint(losses / 2), return_inverse=True)
    half = np.asarray(kept * 2, np.float64), np.asarray(np.bincount(places, chances), np.float64)
    worst = max(
        _delta(*_joined([half, half]), e) / gaussian_delta(16.0, e) for e in np.linspace(16, 48, 99)
    )
    assert worst > 1.5


# --- both bounds of the proof, cell by cell ---------------------------------------------------


@pytest.mark.parametrize("sigma", [1.0, 3.0, 16.0])
def test_rounded_and_discrete_noise_are_as_near_as_the_proof_says(sigma: float) -> None:
    """D ≤ e^(1/8s²)·R everywhere, and R ≤ Θ·D·e^(z²/24s⁴), in steps of the grid."""
    with mpmath.workdps(40):
        steps = range(-int(8 * sigma), int(8 * sigma) + 1)
        norm = mpmath.fsum(
            mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * sigma**2)) for k in range(-200, 201)
        )
        theta = norm / (sigma * mpmath.sqrt(2 * mpmath.pi))
        for z in steps:
            discrete = mpmath.exp(-(mpmath.mpf(z) ** 2) / (2 * sigma**2)) / norm
            rounded = mpmath.ncdf((z + 0.5) / sigma) - mpmath.ncdf((z - 0.5) / sigma)
            assert discrete <= mpmath.exp(1 / (8 * mpmath.mpf(sigma) ** 2)) * rounded
            lifted = theta * discrete * mpmath.exp(mpmath.mpf(z) ** 2 / (24 * sigma**4))
            assert rounded <= lifted * (1 + mpmath.mpf(10) ** -30)


@pytest.mark.parametrize("sigma", [1.0, 3.0, 16.0])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.49])
def test_squares_of_discrete_noise_have_the_moments_of_continuous_ones(
    sigma: float, share: float
) -> None:
    """E exp(v·z²/2s²) ≤ (1 − v)^(−1/2) ≤ e^v, for v up to one half."""
    noise, chances = _law(1, sigma)
    moment = float(chances @ np.exp(share * noise**2 / (2 * sigma**2)))
    assert moment <= (1 - share) ** -0.5 * (1 + 1e-9) <= math.exp(share)


# --- events -----------------------------------------------------------------------------------


@pytest.mark.parametrize("finer", [16, 256])
@pytest.mark.parametrize("squared", [1, 2], ids=["one row", "a replaced row"])
def test_the_claim_is_not_below_dp_accounting(finer: int, squared: int) -> None:
    """The same list, each cell a discrete Gaussian on the grid, composed by someone else."""
    sigmas, delta = [3.0, 5.0, 8.0], 1e-6
    cells = [
        pld.from_discrete_gaussian_mechanism(
            sigma * finer,
            sensitivity=finer,
            value_discretization_interval=1e-4,
            pessimistic_estimate=False,
        ).self_compose(squared)
        for sigma in sigmas
    ]
    least = cells[0].compose(cells[1]).compose(cells[2]).get_epsilon_for_delta(delta)
    rho = sum(squared / (2 * sigma**2) for sigma in sigmas)
    assert least <= curve_epsilon(rho, delta, fineness=finer**2) <= least * 1.01


def test_fine_events_are_claimed_by_the_curve_also_for_persons() -> None:
    """Rhos add up and the curve is the tightest bound; integers of the same noise have none."""
    fine: list[Event] = [_fine(Fraction(900), 9, moved=9), _fine(Fraction(400), 9, moved=9)]
    coarse: list[Event] = [GaussianEvent(Fraction(900), Fraction(9)), fine[1]]
    delta = Fraction("1e-6")
    found = {b.accounting: b.epsilon for b in bounds(fine, delta=delta, announced=False)}
    assert {ZCDP, CURVE} == set(found)
    assert (found[CURVE] or 0) < (found[ZCDP] or 0)
    assert {ZCDP} == {b.accounting for b in bounds(coarse, delta=delta, announced=False)}


def test_rho_is_that_of_the_units() -> None:
    """Δ²/2σ², whatever the grid."""
    assert Fraction(1, 200) == zcdp_rho(_fine(Fraction(100)))
    assert Fraction(9, 200) == zcdp_rho(_fine(Fraction(100), 9, moved=3))
