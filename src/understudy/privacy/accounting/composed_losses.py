"""The ε of many events together, from the composed distributions of their privacy losses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from understudy.privacy.accounting.conversions import bisect, gaussian_delta
from understudy.privacy.accounting.costs import approximate_cost
from understudy.privacy.accounting.events import Event, GaussianEvent, SampledGaussianEvent
from understudy.privacy.accounting.losses import (
    Losses,
    Series,
    gaussian_losses,
    losses_of,
    stated_losses,
)

# Beyond this a loss distribution takes minutes and gigabytes, to gain a few per cent.
_WIDEST_SIGMA = 10_000

# Sampled sums are claimed for at a little less δ; the rest is for what integers differ from reals.
KEPT_BACK = 2.0**-10


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
    return bisect(lambda epsilon: gaussian_delta(rho, epsilon) <= delta, 0.0, highest)[1]


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
    return weight * (1 / 8 + (square + 1) / 24) if weight < KEPT_BACK / 4 else math.inf
