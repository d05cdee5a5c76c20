"""What events cost: exact composition, tight conversions, privacy-loss distributions.

Four bounds are known here, each with its name; the tightest proven one is claimed.

- *basic composition*: epsilons and deltas add up, for mechanisms that have a δ of their own.
- *pure composition*: epsilons add up, also when each mechanism is chosen after seeing the last.
- *zCDP*: rhos add up, also adaptively; converted to (ε, δ) by the optimal order
  (Canonne, Kamath, Steinke 2020, Proposition 12).
- *privacy-loss distribution*: the discrete distributions themselves, convolved (`losses`).
  Proved for a list of events fixed in advance, so claimed only when the list was announced.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from understudy.privacy.budget import Budget, Measure
from understudy.privacy.events import (
    ApproximateEvent,
    Event,
    ExactEvent,
    ExponentialEvent,
    GaussianEvent,
    KeyReleaseEvent,
    LaplaceEvent,
    PermuteAndFlipEvent,
    SampledGaussianEvent,
    SmoothedHistogramEvent,
)
from understudy.privacy.losses import Losses, Series, gaussian_losses, losses_of, stated_losses

BASIC = "basic composition"
PURE = "pure composition"
ZCDP = "zCDP"
PLD = "privacy-loss distribution"
NONE = "none: exact answers"

# Claimed epsilons from numerical bounds are rounded up to this.
_GRID = Fraction(1, 10**6)
# Beyond this a loss distribution takes minutes and gigabytes, to gain a few per cent.
_WIDEST_SIGMA = 10_000
# Sampled sums are claimed for at a little less δ; the rest is for what integers differ from reals.
_KEPT_BACK = 2.0**-10
# A plan's ρ is searched for until its ε is so near to what is allowed, or so often.
_CLOSE_ENOUGH = Fraction(999, 1000)
_TRIALS = 8


@dataclass(frozen=True)
class Bound:
    """An (ε, δ) that has been proved, and the name of the argument; no ε means no privacy."""

    accounting: str
    epsilon: Fraction | None
    delta: Fraction


def pure_epsilon(event: Event) -> Fraction | None:
    """The ε of one event under pure differential privacy; None when it has none."""
    match event:
        case LaplaceEvent(scale, sensitivity):
            return sensitivity / scale
        case PermuteAndFlipEvent(scale, sensitivity) | ExponentialEvent(scale, sensitivity):
            return 2 * sensitivity / scale
        case SmoothedHistogramEvent(epsilon):
            return epsilon
        case ApproximateEvent(_, epsilon, delta):
            return epsilon if delta == 0 else None
        case _:
            return None


def approximate_cost(event: Event) -> tuple[Fraction, Fraction] | None:
    """The (ε, δ) of one event as it stands; None when it has none."""
    match event:
        case ApproximateEvent(_, epsilon, delta):
            return epsilon, delta
        case KeyReleaseEvent(scale, sensitivity, _, delta):
            return sensitivity / scale, delta
        case _:
            pure = pure_epsilon(event)
            return None if pure is None else (pure, Fraction(0))


def zcdp_rho(event: Event) -> Fraction | None:
    """The ρ of one event under zero-concentrated differential privacy; None when it has none."""
    if isinstance(event, GaussianEvent):
        # Canonne, Kamath, Steinke 2020, Theorem 4: the discrete Gaussian costs what the
        # continuous one does.
        return event.sensitivity_squared / (2 * event.sigma_squared)
    epsilon = pure_epsilon(event)
    if epsilon is None:
        return None
    # An ε-DP mechanism is ε²/2-zCDP (Bun, Steinke 2016); the exponential mechanism, of bounded
    # range, is ε²/8-zCDP (Cesar, Rogers 2021).
    return epsilon**2 / (8 if isinstance(event, ExponentialEvent) else 2)


@dataclass(frozen=True)
class Concentrated:
    """A cost in δ-approximate ρ-zCDP; both numbers add up, also adaptively.

    Source: Bun, Steinke 2016, section 8; Whitehouse, Ramdas, Rogers, Wu 2023 for costs that are
    chosen after seeing earlier answers.
    """

    rho: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: Concentrated) -> Concentrated:
        return Concentrated(self.rho + other.rho, self.delta + other.delta)

    def within(self, most: Concentrated) -> bool:
        """Whether neither number exceeds the other cost's."""
        return self.rho <= most.rho and self.delta <= most.delta


def concentrated(event: Event) -> Concentrated | None:
    """The cost of one event in approximate zCDP; None when it has none.

    A key release is, outside an event of chance δ, a vector of Laplace noise.
    """
    if isinstance(event, KeyReleaseEvent):
        return Concentrated((event.sensitivity / event.scale) ** 2 / 2, event.delta)
    rho = zcdp_rho(event)
    return None if rho is None else Concentrated(rho)


def cost(event: Event, measure: Measure) -> Fraction | None:
    """What one event costs in a measure that adds up; None when it cannot be paid for in it."""
    return pure_epsilon(event) if measure is Measure.PURE else zcdp_rho(event)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """The δ at which ρ-zCDP implies (ε, δ)-DP: minimum over orders, every order being valid."""
    if rho <= 0:
        return 0.0
    low, high = 1 + 2.0**-40, (epsilon + 1) / (2 * rho) + 2
    for _ in range(200):
        order = (low + high) / 2
        slope = (2 * order - 1) * rho - epsilon + math.log1p(-1 / order)
        low, high = (order, high) if slope < 0 else (low, order)
    log_delta = (high - 1) * (high * rho - epsilon) + high * math.log1p(-1 / high)
    return math.exp(min(log_delta - math.log(high - 1), 0.0))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The smallest ε for which ρ-zCDP implies (ε, δ)-DP, rounded up."""
    if rho <= 0:
        return 0.0
    highest = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    return _bisect(lambda epsilon: zcdp_delta(rho, epsilon) <= delta, 0.0, highest)[1]


@lru_cache
def largest_rho(epsilon: float, delta: float) -> Fraction:
    """The largest ρ-zCDP that implies (ε, δ)-DP, rounded down."""
    high = 1.0
    while zcdp_delta(high, epsilon) <= delta:
        high *= 2
    return _at_most(_bisect(lambda rho: zcdp_delta(rho, epsilon) > delta, 0.0, high)[0])


def rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """As `largest_rho`, for exact amounts, which are rounded down to floating-point numbers."""
    return largest_rho(_float_below(epsilon), _float_below(delta))


def gaussian_delta(rho: float, epsilon: float) -> float:
    """The exact δ of *continuous* Gaussian noise of total cost ρ (Balle, Wang 2018, Theorem 8).

    With the discrete Gaussian this is a forecast, not a claim.
    """
    from scipy.special import log_ndtr

    if rho <= 0:
        return 0.0
    distance = math.sqrt(2 * rho)
    first = float(log_ndtr(distance / 2 - epsilon / distance))
    second = epsilon + float(log_ndtr(-distance / 2 - epsilon / distance))
    return max(0.0, -math.expm1(second - first) * math.exp(first))


def gaussian_rho(epsilon: float, delta: float) -> float:
    """The ρ that continuous Gaussian noise may spend within (ε, δ): half of NIST's f(ε, δ)."""
    high = 1.0
    while gaussian_delta(high, epsilon) <= delta:
        high *= 2
    return _bisect(lambda rho: gaussian_delta(rho, epsilon) > delta, 0.0, high)[0]


def loss_epsilon(events: Mapping[Event, int], *, delta: float, interval: float) -> float | None:
    """The ε at δ of the composed privacy losses; None when an event has no known ones."""
    directions: list[list[tuple[Losses, int]]] = [[], []]
    for event, times in events.items():
        found = _single_losses(event, interval, delta)
        if found is None:
            return None
        for direction, (losses, several) in zip(directions, found, strict=True):
            direction.append((losses, several * times))
    both = directions if directions[0] != directions[1] else directions[:1]
    return max(Series(parts, interval).epsilon(delta) for parts in both)


def _single_losses(
    event: Event, interval: float, delta: float
) -> tuple[tuple[Losses, int], tuple[Losses, int]] | None:
    """The loss of one event and how often it counts: of a unit that goes, and of one that comes."""
    if isinstance(event, GaussianEvent):
        # An integer vector of squared norm 1 or 2 moves one or two cells by one, and so
        # composes as many one-dimensional discrete Gaussians.
        if event.sensitivity_squared not in (1, 2) or event.sigma_squared > _WIDEST_SIGMA**2:
            return None
        cell = gaussian_losses(event.sigma_squared, interval, delta)
        return ((cell, int(event.sensitivity_squared)),) * 2
    if isinstance(event, SampledGaussianEvent):
        gone, come = losses_of(_sampled_loss(event, interval))
        return (gone, 1), (come, 1)
    cost = approximate_cost(event)
    if cost is None:
        return None
    return ((stated_losses(*cost, interval), 1),) * 2


def _sampled_loss(event: SampledGaussianEvent, interval: float) -> Any:
    """The loss of continuous noise under Poisson sampling; `integer_excess` covers the rest."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    ratio = math.sqrt(event.sigma_squared / event.sensitivity_squared)
    return pld.from_gaussian_mechanism(
        math.nextafter(ratio, 0),
        sampling_prob=min(math.nextafter(float(event.rate), 2), 1.0),
        value_discretization_interval=interval,
    )


def sampled_guess(events: Mapping[Event, int], delta: float) -> float:
    """About the ε of many sampled sums, at once; no bound.

    Source: Bu, Dong, Long, Su 2020: near a Gaussian of μ² = Σ rate²·(exp(1/ratio²) − 1), and never
    above that of the same sums without sampling, Σ 1/ratio².
    """
    square = 0.0
    for event, times in events.items():
        if isinstance(event, SampledGaussianEvent):
            whole = float(event.sensitivity_squared / event.sigma_squared)
            sampled = float(event.rate) ** 2 * math.expm1(min(whole, 50.0))
            square += times * min(whole, sampled)
    rho = square / 2
    highest = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    return _bisect(lambda epsilon: gaussian_delta(rho, epsilon) <= delta, 0.0, highest)[1]


def sampled_interval(events: Mapping[Event, int], delta: float) -> float:
    """How finely losses of sampled sums are told apart: fine against ε, in not too many steps."""
    squares = [
        float(event.sensitivity_squared / event.sigma_squared)
        for event in events
        if isinstance(event, SampledGaussianEvent)
    ]
    spread = max(square / 2 + 10 * math.sqrt(square) for square in squares)
    return max(sampled_guess(events, delta) / 3000, spread / 10**5)


def integer_excess(events: Iterable[Event], *, epsilon: float, delta: float) -> float:
    """How much ε discrete noise on sampled sums may cost beyond rounded continuous noise.

    Source: docs/proofs/dpgan.md: with N cells in all and t² = 2(ε + ln(2N/δ) + 15), the excess is
    Σ cells/σ² · (1/8 + (t² + 1)/24), when a part of 2⁻¹⁰ of δ is kept back.
    """
    sampled = [event for event in events if isinstance(event, SampledGaussianEvent)]
    cells = float(sum(event.cells for event in sampled))
    if not cells:
        return 0.0
    square = 2 * (epsilon + math.log(2 * cells / delta) + 15)
    weight = sum(float(event.cells / event.sigma_squared) for event in sampled)
    # The argument needs noise that is wide against the integers.
    return weight * (1 / 8 + (square + 1) / 24) if weight < _KEPT_BACK / 4 else math.inf


def bounds(events: Sequence[Event], *, delta: Fraction, announced: bool) -> list[Bound]:
    """Every bound that is proved for these events at this δ.

    Args:
        events: what was drawn.
        delta: the δ at which to state the bound.
        announced: whether the list was fixed before anything was drawn.
    """
    return counted_bounds(Counter(events), delta=delta, announced=announced)


def counted_bounds(events: Mapping[Event, int], *, delta: Fraction, announced: bool) -> list[Bound]:
    """As `bounds`, for events each of which was drawn so many times."""
    if any(isinstance(event, ExactEvent) for event in events):
        return [Bound(NONE, None, Fraction(0))]
    found = []
    epsilons = [(pure_epsilon(event), times) for event, times in events.items()]
    if all(epsilon is not None for epsilon, _ in epsilons):
        total = sum((epsilon * times for epsilon, times in epsilons if epsilon), Fraction(0))
        found.append(Bound(PURE, total, Fraction(0)))
    if delta > 0:
        found += _numerical_bounds(tuple(events.items()), delta, announced=announced)
    return found


# The same fit made many times, as audits and studies do, asks for the same bounds. Events of one
# kind are counted, so that an entry is short however long the run was.
@lru_cache(maxsize=32)
def _numerical_bounds(
    events: tuple[tuple[Event, int], ...], delta: Fraction, *, announced: bool
) -> tuple[Bound, ...]:
    found = []
    rhos = [(zcdp_rho(event), times) for event, times in events]
    rho = sum((r * times for r, times in rhos if r is not None), Fraction(0))
    if all(r is not None for r, _ in rhos):
        epsilon = zcdp_epsilon(float(rho), float(delta))
        found.append(Bound(ZCDP, _rounded_up(epsilon), delta))
    if announced and events:
        interval = _interval(dict(events), found, delta)
        by_losses = _epsilon_by_losses(dict(events), float(delta), interval)
        if by_losses is not None and math.isfinite(by_losses):
            found.append(Bound(PLD, _rounded_up(by_losses), delta))
    return tuple(found)


def _interval(events: Mapping[Event, int], found: Sequence[Bound], delta: Fraction) -> float:
    """How finely losses are told apart: fine against an ε that is known to hold."""
    if any(isinstance(event, SampledGaussianEvent) for event in events):
        return sampled_interval(events, float(delta))
    guess = float(found[0].epsilon or 1) if found else 1.0
    return min(max(guess / 10**4, 1e-7), 1e-2)


def _epsilon_by_losses(events: Mapping[Event, int], delta: float, interval: float) -> float | None:
    """The ε of composed losses, with what integer noise on sampled sums adds to it."""
    if not any(isinstance(event, SampledGaussianEvent) for event in events):
        return loss_epsilon(events, delta=delta, interval=interval)
    epsilon = loss_epsilon(events, delta=delta * (1 - _KEPT_BACK), interval=interval)
    if epsilon is None:
        return None
    drawn = Counter(events).elements()
    return epsilon + integer_excess(drawn, epsilon=epsilon, delta=delta)


def tightest(events: Sequence[Event], *, delta: Fraction, announced: bool) -> Bound:
    """The smallest ε among the proved bounds."""
    found = bounds(events, delta=delta, announced=announced)
    return min(found, key=lambda bound: math.inf if bound.epsilon is None else bound.epsilon)


def announced_rho(plan: Callable[[Budget], Sequence[Event]], target: Budget) -> Budget:
    """The largest ρ found for which an announced list of events stays within (ε, δ).

    Args:
        plan: the whole list of events for a given ρ; depends on public facts alone.
        target: the (ε, δ) to stay within.
    """
    epsilon, delta = target.amount, target.delta
    best = trial = largest_rho(float(epsilon), float(delta))
    for _ in range(_TRIALS):
        bound = tightest(plan(Budget.zcdp(trial)), delta=delta, announced=True)
        if bound.epsilon is None or bound.epsilon <= 0:
            break
        if bound.epsilon <= epsilon:
            best = max(best, trial)
            if bound.epsilon >= _CLOSE_ENOUGH * epsilon:
                break
        # Near the target ε grows like the square root of ρ; aim a hair below it.
        ratio = float(epsilon / bound.epsilon)
        trial = _at_most(float(trial) * ratio**2 * (1 - 2e-4))
    return Budget.zcdp(best)


def _bisect(above: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Neighbouring floats around the point where a monotone condition turns true."""
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if above(middle) else (middle, high)
    return low, high


def _float_below(value: Fraction) -> float:
    """The largest floating-point number not above the value."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def _at_most(value: float) -> Fraction:
    """A short fraction not above the value, within one part in 2^30."""
    if value <= 0:
        return Fraction(0)
    scale = 30 - math.frexp(value)[1]
    return Fraction(math.floor(Fraction(value) * Fraction(2) ** scale)) / Fraction(2) ** scale


def _rounded_up(epsilon: float) -> Fraction:
    return math.ceil(Fraction(epsilon) / _GRID) * _GRID
