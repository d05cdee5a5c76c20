"""Compose events: find every bound that is proven for them, and claim the tightest.

Six bounds are known here, each with its name.

- *basic composition*: epsilons and deltas add up, for mechanisms that have a δ of their own.
- *pure composition*: epsilons add up, also when each mechanism is chosen after seeing the last.
- *zCDP*: rhos add up, also adaptively; converted to (ε, δ) by the optimal order
  (Canonne, Kamath, Steinke 2020, Proposition 12).
- *approximate zCDP*: rhos add up, and so do the deltas of key releases, which are taken off δ
  before the rest converts ρ (Bun, Steinke 2016, section 8).
- *Gaussian curve*: for Gaussian noise on fine grids alone; rhos add up, also adaptively, and
  the (ε, δ) is that of one Gaussian round (`gaussian_curve`).
- *privacy-loss distribution*: the discrete distributions themselves, convolved (`losses`).
  Proved for a list of events fixed in advance, so claimed only when the list was announced.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from understudy.privacy.accounting.composed_losses import (
    KEPT_BACK,
    integer_excess,
    loss_epsilon,
    sampled_interval,
)
from understudy.privacy.accounting.conversions import (
    float_below,
    largest_rho,
    short_fraction_below,
    zcdp_epsilon,
)
from understudy.privacy.accounting.costs import concentrated, pure_epsilon, zcdp_rho
from understudy.privacy.accounting.events import (
    Event,
    ExactEvent,
    FineGaussianEvent,
    SampledGaussianEvent,
)
from understudy.privacy.accounting.gaussian_curve import curve_epsilon
from understudy.privacy.budget import Budget

BASIC = "basic composition"
PURE = "pure composition"
ZCDP = "zCDP"
APPROXIMATE_ZCDP = "approximate zCDP"
CURVE = "Gaussian curve"
PLD = "privacy-loss distribution"
NONE = "none: exact answers"

# Claimed epsilons from numerical bounds are rounded up to this.
_GRID = Fraction(1, 10**6)

# A plan's ρ is searched for until its ε is so near to what is allowed, or so often.
_CLOSE_ENOUGH = Fraction(999, 1000)
_TRIALS = 8


@dataclass(frozen=True)
class Bound:
    """An (ε, δ) that has been proved, and the name of the argument; no ε means no privacy."""

    accounting: str
    epsilon: Fraction | None
    delta: Fraction


def bounds(events: Sequence[Event], *, delta: Fraction, announced: bool) -> list[Bound]:
    """Every bound that is proved for these events at this δ.

    Args:
        events: what was drawn.
        delta: the δ at which to state the bound.
        announced: whether the list was fixed before anything was drawn.
    """
    return counted_bounds(Counter(events), delta=delta, announced=announced)


def counted_bounds(events: Mapping[Event, int], *, delta: Fraction, announced: bool) -> list[Bound]:
    """As `bounds`, for events with the number of times that each was drawn."""
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
    found += _with_own_deltas(events, delta)
    if all(isinstance(event, FineGaussianEvent) for event, _ in events):
        by_curve = curve_epsilon(float(rho), float(delta))
        if math.isfinite(by_curve):
            found.append(Bound(CURVE, _rounded_up(by_curve), delta))
    if announced and events:
        interval = _interval(dict(events), found, delta)
        by_losses = _epsilon_by_losses(dict(events), float(delta), interval)
        if by_losses is not None and math.isfinite(by_losses):
            found.append(Bound(PLD, _rounded_up(by_losses), delta))
    return tuple(found)


def _with_own_deltas(events: tuple[tuple[Event, int], ...], delta: Fraction) -> list[Bound]:
    """The bound in approximate zCDP, where some events have a δ and something is left of it."""
    costs = [(concentrated(event), times) for event, times in events]
    known = [(cost, times) for cost, times in costs if cost is not None]
    own = sum((cost.delta * times for cost, times in known), Fraction(0))
    if len(known) < len(costs) or not 0 < own < delta:
        return []
    rho = sum((cost.rho * times for cost, times in known), Fraction(0))
    epsilon = zcdp_epsilon(float(rho), float_below(delta - own))
    return [Bound(APPROXIMATE_ZCDP, _rounded_up(epsilon), delta)]


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
    epsilon = loss_epsilon(events, delta=delta * (1 - KEPT_BACK), interval=interval)
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
        trial = short_fraction_below(float(trial) * ratio**2 * (1 - 2e-4))
    return Budget.zcdp(best)


def _rounded_up(epsilon: float) -> Fraction:
    return math.ceil(Fraction(epsilon) / _GRID) * _GRID
