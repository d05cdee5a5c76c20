"""Claims by privacy losses hold down to the smallest δ, against sums without transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from support import laws
from support.tiers import slow_but, slow_then_full
from understudy.privacy.accounting.composed_losses import (
    integer_excess,
    loss_epsilon,
    sampled_interval,
)
from understudy.privacy.accounting.composition import PLD, bounds
from understudy.privacy.accounting.conversions import zcdp_delta
from understudy.privacy.accounting.events import (
    ApproximateEvent,
    Event,
    GaussianEvent,
    SampledGaussianEvent,
)
from understudy.privacy.accounting.losses import (
    Losses,
    Series,
    Tilted,
    gaussian_losses,
    stated_losses,
)

Floats = npt.NDArray[np.float64]
# Losses and their chances; sums of chances that are all positive keep their relative precision.
Law = tuple[Floats, Floats]

DELTAS = [1e-3, 1e-8, 1e-12, 1e-15, 1e-20, 1e-30]
# The largest, one at the precision of a double, and one far below it.
LATER = {1e-3, 1e-15, 1e-30}


def _claimed(events: Sequence[Event], delta: float) -> float:
    [found] = [
        b for b in bounds(events, delta=Fraction(delta), announced=True) if b.accounting == PLD
    ]
    return float(found.epsilon or 0)


def _gaussian(sigma_squared: float, times: int) -> Law:
    """The summed loss of equal discrete Gaussians, convolved term by term."""
    reach = math.ceil(math.sqrt(2 * sigma_squared * 200)) + 1
    noise = np.arange(-reach, reach + 1)
    single = np.exp(-(noise**2) / (2 * sigma_squared))
    single /= single.sum()
    chances = np.ones(1)
    for _ in range(times):
        chances = np.convolve(chances, single)
    sums = np.arange(chances.size) - chances.size // 2
    return (times - 2 * sums) / (2 * sigma_squared), chances


def _wide_gaussian(sigma_squared: float, times: int) -> Law:
    """The law when σ is above 3: the sum is discrete Gaussian but for a part of exp(−π²σ²)."""
    total = sigma_squared * times
    reach = math.ceil(math.sqrt(2 * total * 200))
    sums = np.arange(-reach, reach + 1, dtype=np.float64)
    chances = np.exp(-(sums**2) / (2 * total))
    return (times - 2 * sums) / (2 * sigma_squared), chances / chances.sum()


def _together(*parts: Law) -> Law:
    losses, chances = np.zeros(1), np.ones(1)
    for more, of_more in parts:
        losses = np.add.outer(losses, more).ravel()
        chances = np.multiply.outer(chances, of_more).ravel()
    return losses, chances


def _delta(law: Law, epsilon: float) -> float:
    losses, chances = law
    above = losses > epsilon
    return float(chances[above] @ -np.expm1(epsilon - losses[above]))


def _exam(law: Law, events: Sequence[Event], delta: float) -> None:
    """The claim is enough, and a little less would not be."""
    epsilon = _claimed(events, delta)
    assert _delta(law, epsilon) <= delta
    assert _delta(law, epsilon * 0.998 - 2e-6) > delta


def test_errors_of_transforms_are_not_claimed_away() -> None:
    """3,000 tables at δ = 3·10⁻¹⁵: the exact sum keeps the δ that is claimed.

    The parameters make losses fall on the grid; errors of a plain transform are 10⁻¹³ there.
    """
    hair = 1 + Fraction(1, 2**51)
    events: list[Event] = [GaussianEvent(64 * hair, Fraction(1))] * 3000
    delta = zcdp_delta(3000 / 128, 78.125 - 5e-7)
    assert _delta(_wide_gaussian(64.0, 3000), _claimed(events, delta)) <= delta


@pytest.mark.parametrize("delta", slow_then_full(DELTAS[1:2], LATER, DELTAS))
@pytest.mark.parametrize(("sigma_squared", "times"), [("1/2", 30), ("4", 1), ("4", 2), ("25", 8)])
def test_claims_against_sums_term_by_term(sigma_squared: str, times: int, delta: float) -> None:
    """Equal tables, few to many, from large δ to far below the precision of a double."""
    square = Fraction(sigma_squared)
    law = _gaussian(float(square), times)
    _exam(law, [GaussianEvent(square, Fraction(1))] * times, delta)


@pytest.mark.parametrize("delta", slow_then_full(DELTAS[:1], LATER, DELTAS))
@pytest.mark.parametrize(
    ("square", "times"), slow_but({(100, 50)}, [(100, 50), (400, 1000), (10**6, 10**4)])
)
def test_claims_for_long_lists(square: int, times: int, delta: float) -> None:
    """Up to ten thousand tables, whose sum is a discrete Gaussian again."""
    events: list[Event] = [GaussianEvent(Fraction(square), Fraction(1))] * times
    _exam(_wide_gaussian(float(square), times), events, delta)


@pytest.mark.parametrize("delta", DELTAS)
def test_claims_for_unlike_events(delta: float) -> None:
    """Tables of different noise, one moved in two cells, and a stated ε together."""
    loss = 0.3
    stated = np.array([-loss, loss]), np.array([1, math.exp(loss)]) / (1 + math.exp(loss))
    law = _together(_gaussian(9.0, 1), _gaussian(16.0, 2), stated)
    events: list[Event] = [
        GaussianEvent(Fraction(9), Fraction(1)),
        GaussianEvent(Fraction(16), Fraction(2)),
        ApproximateEvent("another", Fraction(3, 10)),
    ]
    _exam(law, events, delta)


def test_the_referee_agrees_with_a_hundred_digits() -> None:
    """Three tables at σ² = 2: the sum in doubles is that of exact fractions at δ = 10⁻²⁰."""
    noise = range(-40, 41)
    weights = [laws.exponential(Fraction(z * z, 4)) for z in noise]
    single = [float(weight / sum(weights)) for weight in weights]
    exact = [Fraction(chance) for chance in single]
    for _ in range(2):
        exact = [
            sum(
                (
                    exact[i] * Fraction(single[s - i])
                    for i in range(max(0, s - 80), min(s, len(exact) - 1) + 1)
                ),
                Fraction(0),
            )
            for s in range(len(exact) + 80)
        ]
    epsilon = 11.0
    total = sum(
        chance * (1 - laws.exponential(Fraction(3 - 2 * (s - 120), 4) - Fraction(epsilon)))
        for s, chance in enumerate(exact)
        if Fraction(3 - 2 * (s - 120), 4) > epsilon
    )
    assert float(total) == pytest.approx(_delta(_gaussian(2.0, 3), epsilon), rel=1e-12)


@pytest.mark.parametrize("delta", [1e-5, 1e-12, 1e-16, 1e-20])
def test_sampled_sums_are_convolved_as_term_by_term(delta: float) -> None:
    """Six steps of private training, in both directions, without a transform."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    from understudy.privacy.accounting.losses import losses_of

    interval = 2.0**-8
    single = losses_of(
        pld.from_gaussian_mechanism(1.5, sampling_prob=0.25, value_discretization_interval=interval)
    )
    for losses in single:
        dense = np.zeros(int(np.ptp(losses.steps)) + 1)
        dense[losses.steps - losses.steps.min()] = losses.chances
        chances = np.ones(1)
        for _ in range(6):
            chances = np.convolve(chances, dense)
        law = (np.arange(chances.size) + 6 * losses.steps.min()) * interval, chances
        epsilon = Series([(losses, 6)], interval).epsilon(delta)
        left = delta - 6 * losses.infinite
        assert _delta(law, epsilon) <= left
        assert _delta(law, epsilon * 0.9999) > left


def test_computed_chances_are_within_the_error_allowed() -> None:
    """The Euclidean distance from sums term by term is below the bound, and not by nothing."""
    interval, times, tilt = 0.01, 40, 3.0
    losses = gaussian_losses(Fraction(25), interval, 1e-6)
    series = Series([(losses, times)], interval)
    tilted = Tilted.of(series, tilt, 1e-6)
    dense = np.zeros(int(np.ptp(losses.steps)) + 1)
    dense[losses.steps - losses.steps.min()] = series.tilted(losses, tilt)
    chances = np.ones(1)
    for _ in range(times):
        chances = np.convolve(chances, dense)
    low = times * int(losses.steps.min())
    places = np.rint(tilted.losses / interval).astype(np.int64) - low
    expected = np.where(
        (places >= 0) & (places < chances.size), chances[places % chances.size], 0.0
    )
    # What lies outside the window goes round, so that it can only add.
    outside = 1 - expected.sum()
    assert -1e-12 < outside < 1e-6
    distance = float(np.linalg.norm(np.maximum(expected - tilted.chances, 0)))
    assert distance < tilted.error < 1e-10


@pytest.mark.parametrize("interval", [1e-4, 1e-2, 2.0**-5])
def test_losses_on_the_grid_keep_both_tables(interval: float) -> None:
    """A loss is split so that the chances of both tables stay, but for a hair upwards."""
    for losses in (
        gaussian_losses(Fraction(9), interval, 1e-6),
        stated_losses(Fraction(1, 3), Fraction(1, 1000), interval),
    ):
        other = float(losses.chances @ np.exp(-losses.steps * interval))
        total = float(losses.chances.sum()) + losses.infinite
        assert total == pytest.approx(1, abs=1e-12)
        assert other <= 1 + 1e-12
    cells = Losses.on_grid(np.array([0.123]), np.ones(1), 0.0, interval)
    assert float(cells.chances @ np.exp(-cells.steps * interval)) == pytest.approx(math.exp(-0.123))


@pytest.mark.parametrize("delta", [0.05, 0.3, 0.6, 0.99])
def test_large_deltas_are_no_exception(delta: float) -> None:
    """The claim holds, and it is zero where δ alone covers the difference."""
    law = _gaussian(4.0, 3)
    epsilon = Series([(gaussian_losses(Fraction(4), 1e-3, delta), 3)], 1e-3).epsilon(delta)
    assert _delta(law, epsilon) <= delta
    assert (0 == epsilon) == (_delta(law, 0.0) <= delta)


def test_a_stated_delta_is_a_loss_without_bound() -> None:
    """No ε is found below it."""
    series = Series([(stated_losses(Fraction(1), Fraction(1, 1000), 0.01), 1)], 0.01)
    assert math.isinf(series.epsilon(1e-4))
    assert math.isfinite(series.epsilon(1e-2))


@pytest.mark.slow
def test_every_sampled_event_adds_what_integers_cost() -> None:
    """The excess is that of all thousand steps, however the list of events is kept."""
    square = Fraction(10**8)
    event = SampledGaussianEvent(square, square, Fraction(1, 100), Fraction(10))
    events: list[Event] = [event] * 1000
    interval = sampled_interval({event: 1000}, 1e-5)
    reals = loss_epsilon({event: 1000}, delta=1e-5 * (1 - 2**-10), interval=interval)
    assert reals is not None
    excess = integer_excess(events, epsilon=reals, delta=1e-5)
    assert excess > 1e-4
    assert reals + excess == pytest.approx(_claimed(events, 1e-5), abs=2e-6)
