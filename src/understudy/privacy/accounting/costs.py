"""Compute the cost of one event: in pure ε, in ε and δ, and in approximate zCDP."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from understudy.privacy.accounting.events import (
    ApproximateEvent,
    Event,
    ExponentialEvent,
    FineGaussianEvent,
    GaussianEvent,
    GaussianKeyReleaseEvent,
    KeyReleaseEvent,
    LaplaceEvent,
    PermuteAndFlipEvent,
    SmoothedHistogramEvent,
)
from understudy.privacy.budget import Measure


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
    if isinstance(event, GaussianEvent | FineGaussianEvent):
        # Canonne, Kamath, Steinke 2020, Theorem 4: the discrete Gaussian costs what the
        # continuous one does, also where both are scaled by one factor.
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

    A key release is, outside an event of chance δ, a vector of Laplace or of Gaussian noise.
    """
    if isinstance(event, GaussianKeyReleaseEvent):
        return Concentrated(event.sensitivity_squared / (2 * event.sigma_squared), event.delta)
    if isinstance(event, KeyReleaseEvent):
        return Concentrated((event.sensitivity / event.scale) ** 2 / 2, event.delta)
    rho = zcdp_rho(event)
    return None if rho is None else Concentrated(rho)


def cost(event: Event, measure: Measure) -> Fraction | None:
    """Give the cost of an event in a measure that adds up; None when it has none in it."""
    if measure is Measure.GAUSSIAN and not isinstance(event, FineGaussianEvent):
        return None
    return pure_epsilon(event) if measure is Measure.PURE else zcdp_rho(event)
