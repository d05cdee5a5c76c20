"""The promise, computed: what state and answer together can reveal, over all adjacent streams."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from support.streams import (
    Joint,
    Stream,
    adjacent_streams,
    discrete_laplace,
    joint_laws,
    joint_loss,
    paths,
    scripted,
)
from understudy.errors import UsageError
from understudy.stream.design import Design
from understudy.stream.response import (
    WHOLE,
    Response,
    centred_bernoulli,
    dwork,
    laplace,
    optimal_bernoulli,
    quantised_laplace,
    truncated_gaussian,
)

QUARTER = Fraction(1, 4)
# Rounding of logarithms.
SLACK = 1e-9


def _design(estimator: str, epsilon: Fraction, users: int) -> Design:
    return Design.of(users, epsilon=epsilon, estimator=estimator)


def _worst(
    design: Design, scale: float, *, length: int, deletions: bool, absent: bool = False
) -> float:
    """The largest loss over all adjacent streams, times of intrusion, sights and answers.

    Where `absent`, only over those of which one is without user 0.
    """

    @cache
    def laws(stream: Stream) -> list[Joint]:
        return joint_laws(design, stream)

    # Beyond the sums that are possible the ratio no longer changes.
    points = [x / 4 for x in range(-4, 4 * design.sample + 5)]
    return max(
        joint_loss(a, b, discrete_laplace(scale), points)
        for one, other in adjacent_streams(design.sample, length, deletions=deletions)
        if not absent or not all(any(e and e[0] == 0 for e in s) for s in (one, other))
        for a, b in zip(laws(one), laws(other), strict=True)
    )


@pytest.mark.parametrize("estimator", ["bernoulli", "dwork", "quantised"])
@pytest.mark.parametrize("epsilon", [QUARTER, Fraction(1)])
def test_state_and_answer_stay_within_two_epsilon(estimator: str, epsilon: Fraction) -> None:
    """Whatever one user does, any sight of the state and the answer change by e^2ε at most."""
    design = _design(estimator, epsilon, 2)
    scale = float(design.sizing.noise.scale)
    worst = _worst(design, scale, length=2, deletions=True)
    assert 2 * float(epsilon) >= worst - SLACK
    assert float(epsilon) / 2 < worst


@pytest.mark.slow
def test_longer_streams_stay_within_two_epsilon() -> None:
    """Three events of two users, and three users, stay within two ε as well."""
    design = _design("bernoulli", QUARTER, 2)
    assert 0.5 >= _worst(design, 4.0, length=3, deletions=True) - SLACK
    design = _design("bernoulli", QUARTER, 3)
    assert 0.5 >= _worst(design, 4.0, length=2, deletions=False) - SLACK


@pytest.mark.parametrize(("estimator", "expected"), [("bernoulli", 1.59), ("dwork", 3.44)])
def test_the_noise_of_the_seed_exceeds_two_epsilon(estimator: str, expected: float) -> None:
    """Laplace noise of 1/(εm) on the density covers less than one bit of the sum."""
    design = _design(estimator, QUARTER, 1)
    scale = design.response.gap / 0.25
    worst = _worst(design, scale, length=2, deletions=False, absent=True)
    assert pytest.approx(expected, abs=0.005) == worst


def _two_epochs(stream: Stream, cut: int, time: int, design: Design) -> Joint:
    """What is seen when a state is announced as seen after `cut` events, and the next at `time`.

    The sum is that of the live bit; which group it belongs to is part of what was seen.
    """
    found: Joint = defaultdict(Fraction)
    first, second = stream[:cut], stream[cut:]
    for early, chance in paths(design, first):
        for late, more in paths(design, second):
            visits = scripted(design, early + late)
            for event in first:
                if event:
                    visits.update([event[0]])
            sights = [visits.state.tobytes()]
            visits.announce_intrusion()
            for number, event in enumerate((None, *second)):
                if event:
                    visits.update([event[0]])
                if number == time:
                    sights.append(visits.state.tobytes())
            found[tuple(sights), int(visits.state[0])] += chance * more
    return found


@pytest.mark.parametrize("estimator", ["bernoulli", "dwork"])
def test_epochs_and_answer_stay_within_their_sum(estimator: str) -> None:
    """After an announced intrusion a second state costs another ε, and no more."""
    design = _design(estimator, QUARTER, 1)
    worst = max(
        joint_loss(
            _two_epochs(one, 1, time, design),
            _two_epochs(other, 1, time, design),
            discrete_laplace(4.0),
            [x / 4 for x in range(-4, 9)],
        )
        for one, other in adjacent_streams(1, 3, deletions=False)
        for time in (0, 1, 2)
    )
    assert 0.75 >= worst - SLACK
    assert 0.25 < worst


def test_two_sights_of_one_epoch_are_too_many() -> None:
    """A bit seen as 0 and later as 1 was redrawn: its user visited."""
    design = _design("bernoulli", QUARTER, 1)
    changed = {}
    for stream in ((None,), ((0, False),)):
        changed[stream] = sum(
            chance for levels, chance in paths(design, stream) if levels[0] != levels[-1]
        )
    assert changed[(None,)] == 0 < changed[((0, False),)]


def _response_loss(response: Response, epsilon: float) -> float:
    """The largest loss for one user and entries of any number of levels, by their laws only.

    A stream is whether the user visited before the intrusion, and whether after: an entry that is
    not redrawn stays as it was seen.
    """
    laws = [np.array(law) / WHOLE for law in (response.initial, response.updated)]
    reach = response.sensitivity
    values = np.arange(response.levels)
    noise = np.exp(-np.abs(np.arange(reach + 1)[:, None] - values) * epsilon / reach)
    joints = [
        laws[x][:, None] * (noise @ laws[1] if y else noise.T) for x in (0, 1) for y in (0, 1)
    ]
    return max(float(np.abs(np.log(a / b)).max()) for a in joints for b in joints)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), QUARTER, Fraction(1), Fraction(3)])
@pytest.mark.parametrize(
    "make",
    [
        optimal_bernoulli,
        quantised_laplace,
        lambda epsilon: quantised_laplace(epsilon, 5),
        laplace,
        truncated_gaussian,
    ],
)
def test_responses_of_many_levels_stay_within_two_epsilon(make: object, epsilon: Fraction) -> None:
    """Entries cut off at a public interval, and noise of its width, keep the promise too."""
    assert callable(make)
    response = make(epsilon)
    assert 2 * float(epsilon) >= _response_loss(response, float(epsilon)) - SLACK
    assert float(epsilon) >= response.loss - SLACK


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), QUARTER, Fraction(1, 2)])
@pytest.mark.parametrize("centre", [Fraction(501, 1000), Fraction(3, 5), Fraction(4, 5)])
def test_centres_above_one_half_cannot_be_constructed(epsilon: Fraction, centre: Fraction) -> None:
    """The seed allows c up to 4/5; at 0 its ratio is beyond e^ε from ½ on."""
    assert float(epsilon) >= centred_bernoulli(epsilon, Fraction(1, 2)).loss
    with pytest.raises(UsageError, match=r"times likelier|add up to one"):
        centred_bernoulli(epsilon, centre)


def test_laws_are_never_rounded_beyond_epsilon() -> None:
    """One 2⁶⁴th more than the optimal chance is refused, exactly."""
    best = optimal_bernoulli(QUARTER)
    low, high = best.updated
    assert pytest.approx(math.tanh(0.125), rel=1e-15) == best.gap
    with pytest.raises(UsageError, match="times likelier"):
        Response("beyond", QUARTER, (high + 1, low - 1), (low - 1, high + 1))


@pytest.mark.parametrize("epsilon", [Fraction(8, 5), Fraction(2)])
def test_dwork_is_refused_where_it_is_not_private(epsilon: Fraction) -> None:
    """1 − ε/2 falls below e^−ε from about 1.59 on."""
    assert 1.5 > dwork(Fraction(3, 2)).loss
    with pytest.raises(UsageError):
        dwork(epsilon)
