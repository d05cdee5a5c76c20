"""The figures of TUC-1, chapter 4, as numbers: with the noise as printed there, and corrected.

Streams are made up here, so nothing is protected and nothing is charged. Rows are plain
dictionaries, a point of a curve each.

| figure | function |
|---|---|
| 4.1, 4.5 sample sizes | `sample_sizes` |
| 4.2, 4.3, 4.4, 4.7 what the state takes of its budget | `state_losses` |
| 4.6 the two Laplace laws | `laws` |
| none: what state and answer reveal together | `joint_losses` |
| 4.8, 4.9 mean squared error | `squared_errors` |
| 4.10, 4.11 probability of error | `miss_chances` |
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.privacy.noise import SystemNoise
from understudy.stream.design import Design
from understudy.stream.response import ESTIMATORS, WHOLE, Response
from understudy.stream.sizing import Sizing
from understudy.stream.state import State

Row = dict[str, Any]
Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

USERS = 10**5


class PrintedSizing(Sizing):
    """The same estimator with Laplace noise of scale 1/(εm) on the density: not private enough."""

    @property
    def scale(self) -> float:
        """On the sum of the entries."""
        return self.response.gap / float(self.answer_epsilon)

    @property
    def noise_variance(self) -> float:
        """Of continuous Laplace noise."""
        return 2 * self.scale**2

    @property
    def noise_tail(self) -> tuple[float, float]:
        """P(|Z| ≥ t) = e^(−t/scale)."""
        return 1.0, 1 / self.scale


def sample_sizes(
    epsilons: Iterable[Fraction], *, alpha: float = 0.05, beta: float = 0.05
) -> Iterator[Row]:
    """m* of every estimator over ε, and Roth's 128/(ε²α²)·ln(1/β) beside it."""
    for epsilon, name, sizing, printed in _each(epsilons):
        yield {
            "epsilon": float(epsilon),
            "estimator": name,
            "corrected": sizing.sample_size(alpha, beta),
            "printed": printed.sample_size(alpha, beta),
            "roth": math.ceil(128 / (float(epsilon) * alpha) ** 2 * math.log(1 / beta)),
        }


def state_losses(epsilons: Iterable[Fraction]) -> Iterator[Row]:
    """The least and largest ratio of the two laws, and the ε that they come to."""
    for epsilon, name, sizing, _ in _each(epsilons):
        response = sizing.response
        ratios = [u / i for i, u in zip(response.initial, response.updated, strict=True)]
        yield {
            "epsilon": float(epsilon),
            "estimator": name,
            "least_ratio": min(ratios),
            "largest_ratio": max(ratios),
            "spent": response.loss,
        }


def laws(estimator: str, epsilon: Fraction) -> Iterator[Row]:
    """The chances of every level, before a user comes by and after."""
    response = ESTIMATORS[estimator](epsilon)
    for level, (initial, updated) in enumerate(zip(*_laws(response), strict=True)):
        yield {"level": level, "initial": initial, "updated": updated, "ratio": updated / initial}


def joint_losses(epsilons: Iterable[Fraction]) -> Iterator[Row]:
    """What state and answer reveal together about one user who came by or did not, exactly."""
    for epsilon, name, sizing, printed in _each(epsilons):
        yield {
            "epsilon": float(epsilon),
            "estimator": name,
            "promised": 2 * float(epsilon),
            "corrected": joint_loss(sizing.response, float(sizing.noise.scale)),
            "printed": joint_loss(sizing.response, printed.scale),
        }


def joint_loss(response: Response, scale: float) -> float:
    """The largest loss of (entry seen, answer) between an absent user and one who came by.

    The user came by before the entry was seen, after, or both; an absent one's entry stays as it
    was seen. Between whole numbers the ratio of two answers' chances is monotone, so that these
    are enough.
    """
    initial, updated = _laws(response)
    values = np.arange(response.levels)
    noise = np.exp(-np.abs(values[:, None] - values) / scale)
    absent = initial[:, None] * noise
    redrawn = noise @ updated
    came = (updated[:, None] * noise, np.outer(initial, redrawn), np.outer(updated, redrawn))
    return max(float(np.abs(np.log(present / absent)).max()) for present in came)


@dataclass(frozen=True)
class Made:
    """A made-up stream: as long as its universe is large, uniform or by Zipf's law."""

    kind: str
    ids: Ids

    @classmethod
    def of(cls, kind: str, *, users: int = USERS, seed: int = 0) -> Made:
        """The stream, the same for the same seed."""
        generator = np.random.default_rng(seed)
        if kind == "uniform":
            return cls(kind, generator.integers(0, users, users))
        if kind == "zipf":
            weights = 1 / np.arange(1, users + 1)
            return cls(kind, generator.choice(users, users, p=weights / weights.sum()))
        raise UsageError(f"stream {kind!r} is not known; choose uniform or zipf")

    @property
    def density(self) -> float:
        """The part of the universe that came by."""
        return np.unique(self.ids).size / self.ids.size


def squared_errors(
    stream: Made, epsilons: Iterable[Fraction], *, sample: int, runs: int = 300
) -> Iterator[Row]:
    """Mean squared errors of many runs beside the exact variance, for both noises."""
    users, density = stream.ids.size, stream.density
    for epsilon, name, sizing, printed in _each(epsilons):
        found = _estimates(stream, epsilon, name, sample, runs)
        yield {
            "epsilon": float(epsilon),
            "estimator": name,
            "corrected": float(((found[0] - density) ** 2).mean()),
            "corrected_theory": sizing.variance(sample, density, users),
            "printed": float(((found[1] - density) ** 2).mean()),
            "printed_theory": printed.variance(sample, density, users),
        }


def miss_chances(
    stream: Made, epsilons: Iterable[Fraction], *, alpha: float, sample: int, runs: int = 1000
) -> Iterator[Row]:
    """How often answers are off by α or more, beside the bound, for both noises."""
    whole = sample == stream.ids.size
    for epsilon, name, sizing, printed in _each(epsilons):
        found = np.abs(_estimates(stream, epsilon, name, sample, runs) - stream.density) >= alpha
        yield {
            "epsilon": float(epsilon),
            "estimator": name,
            "corrected": float(found[0].mean()),
            "corrected_bound": sizing.miss_chance(alpha, sample, whole=whole),
            "printed": float(found[1].mean()),
            "printed_bound": printed.miss_chance(alpha, sample, whole=whole),
        }


def _estimates(stream: Made, epsilon: Fraction, name: str, sample: int, runs: int) -> Floats:
    """Estimates of many runs, a fresh state and sample each: corrected noise, printed noise."""
    users = stream.ids.size
    totals = np.empty(runs)
    for run in range(runs):
        design = Design.of(users, epsilon=epsilon, estimator=name, sample=sample)
        state = State.start(design)
        state.live.redraw(design.universe.places(stream.ids))
        totals[run] = state.live.total
    printed = PrintedSizing(design.response, epsilon).scale
    # The thesis adds real numbers; streams are made up here, so that nothing hangs on it.
    noise = np.array(
        [
            SystemNoise().laplace(design.sizing.noise.scale, runs),
            np.random.default_rng().laplace(scale=printed, size=runs),
        ]
    )
    response = design.response
    return np.asarray((totals + noise - sample * response.mean) / (sample * response.gap))


def _each(epsilons: Iterable[Fraction]) -> Iterator[tuple[Fraction, str, Sizing, PrintedSizing]]:
    for epsilon in epsilons:
        for name, make in ESTIMATORS.items():
            response = make(epsilon)
            yield epsilon, name, Sizing(response, epsilon), PrintedSizing(response, epsilon)


def _laws(response: Response) -> tuple[Floats, Floats]:
    return np.array(response.initial) / WHOLE, np.array(response.updated) / WHOLE
