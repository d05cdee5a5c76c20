"""Job of `stream plan`: say how large a sample must be, or how accurate one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from understudy.errors import UsageError
from understudy.jobs.request import JobRequest
from understudy.system.amounts import at_most

if TYPE_CHECKING:
    from fractions import Fraction

    from understudy.stream.sizing import Sizing

# A universe of which no sample is a large part.
_UNBOUNDED = 2**60


@dataclass(frozen=True)
class StreamPlanRequest(JobRequest):
    """The budget of a stream, and the accuracy that its answers should have.

    Attributes:
        epsilon: the privacy loss of the state; the answers cost as much again.
        universe: how many users there are.
        alpha: how far off an answer may be.
        beta: the probability that it is farther off.
        relative: a part of the density itself that an answer may be off; None leaves it out.
        least_density: the smallest density that this is to hold for.
        sample: how many users have an entry.
        answers: how many answers share the second epsilon.
        estimator: how entries answer.
        levels: how many levels an entry has.
    """

    epsilon: str | None = None
    universe: int | None = None
    alpha: float = 0.05
    beta: float = 0.05
    relative: float | None = None
    least_density: float = 0.01
    sample: int | None = None
    answers: int = 1
    estimator: str = "bernoulli"
    levels: int = 2


def plan_stream(request: StreamPlanRequest) -> dict[str, Any]:
    """Forecast the accuracy of a stream's answers; reads and spends nothing."""
    from understudy.privacy.budget import exact
    from understudy.stream.response import response_of
    from understudy.stream.sizing import NarrowSizing

    if request.epsilon is None:
        raise UsageError("epsilon has no default; give it, for example --epsilon 0.25")
    if request.answers < 1:
        raise UsageError(f"answers is {request.answers}; declare at least 1")
    epsilon = exact(request.epsilon, what="epsilon")
    response = response_of(request.estimator, epsilon, request.levels)
    return _forecast(request, NarrowSizing(response, epsilon / request.answers), epsilon)


def _forecast(request: StreamPlanRequest, sizing: Sizing, epsilon: Fraction) -> dict[str, Any]:
    from understudy.stream.entries import bytes_for
    from understudy.stream.sizing import WHOLE_UP_TO

    least = sizing.sample_size(request.alpha, request.beta)
    size = request.universe or _UNBOUNDED
    m = min(request.sample or (size if size <= WHOLE_UP_TO else least), size)
    whole = m == request.universe
    variances = [sizing.variance(m, density, None if whole else size) for density in (0, 0.5, 1)]
    return {
        "estimator": sizing.response.name,
        "epsilon_state": at_most(epsilon),
        "epsilon_answer": at_most(sizing.answer_epsilon),
        "epsilon_total": at_most(2 * epsilon),
        "alpha": request.alpha,
        "beta": request.beta,
        "sample_size": least,
        "m": m,
        "alpha_of_m": sizing.accuracy(m, request.beta, whole=whole),
        "beta_of_m": sizing.miss_chance(request.alpha, m, whole=whole),
        "standard_error": max(variances) ** 0.5,
        "state_bytes": bytes_for(m, sizing.response),
        **_relative(request, sizing),
    }


def _relative(request: StreamPlanRequest, sizing: Sizing) -> dict[str, Any]:
    """The sample whose answers are off by at most a part of the density, where that is asked."""
    if request.relative is None:
        return {}
    asked = request.relative, request.least_density, request.beta
    return {
        "relative": request.relative,
        "least_density": request.least_density,
        "relative_sample_size": sizing.relative_sample(*asked),
    }
