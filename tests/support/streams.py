"""Streams of a few users, run along every path that their randomness can take."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from understudy.privacy.budget import Budget
from understudy.privacy.noise.system import SystemNoise
from understudy.privacy.spending.grant import Grant
from understudy.stream.density import DensityEstimator
from understudy.stream.design import Design
from understudy.stream.response import WHOLE, Response
from understudy.stream.state import State
from understudy.system.arrays import Integers

Event = tuple[int, bool] | None
"""A user who comes by, or goes away where it is true; None where nothing happens."""
Stream = tuple[Event, ...]
Sight = tuple[bytes, ...]
Joint = dict[tuple[Sight, int], Fraction]
"""The chance of what an intruder saw, together with the exact sum behind the answer."""


class Script:
    """A source of randomness that leads entries to given levels, one after another."""

    def __init__(self, levels: Sequence[int], response: Response) -> None:
        self._levels = iter(levels)
        self._response = response
        self._second = False

    def __call__(self, size: int) -> bytes:
        """Leading bytes that decide as given, then bytes that nothing depends on."""
        if self._response.levels > 2:
            raise NotImplementedError("entries of bytes are scripted by their words")
        # Bits ask for leading bytes and then for the rest, which these leading bytes never need.
        self._second = not self._second
        if not self._second:
            return bytes(size)
        return bytes(0 if next(self._levels) else 255 for _ in range(size))


class NoNoise(SystemNoise):
    """Leaves the sum as it is, so that a test can put the noise's law there instead."""

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """Zeros."""
        del scale
        return np.zeros(size, np.int64)


def paths(design: Design, stream: Stream) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every outcome of the draws of a stream, with its exact chance."""
    response = design.response
    laws = [response.initial] * design.sample
    laws += [response.initial if event[1] else response.updated for event in stream if event]
    for levels in itertools.product(range(response.levels), repeat=len(laws)):
        chances = (law[level] for law, level in zip(laws, levels, strict=True))
        yield levels, math.prod((Fraction(c, WHOLE) for c in chances), start=Fraction(1))


def joint_laws(design: Design, stream: Stream) -> list[Joint]:
    """For an intrusion before any event, after the first and so on: what is seen, and the sum."""
    found: list[Joint] = [defaultdict(Fraction) for _ in range(len(stream) + 1)]
    for levels, chance in paths(design, stream):
        estimator = scripted(design, levels)
        sights = [estimator.state.tobytes()]
        for event in stream:
            if event:
                (estimator.delete if event[1] else estimator.update)([event[0]])
            sights.append(estimator.state.tobytes())
        total = exact_sum(estimator)
        for time, seen in enumerate(sights):
            found[time][(seen,), total] += chance
    return found


def scripted(design: Design, levels: Sequence[int]) -> DensityEstimator:
    """The real estimator on a script."""
    state = State.start(design, Script(levels, design.response))
    return DensityEstimator.over(state, Grant(Budget.pure(1000)), noise=NoNoise())


def exact_sum(estimator: DensityEstimator) -> int:
    """The sum behind an answer without noise."""
    response, sample = estimator.design.response, estimator.design.sample
    return round((estimator.answer().density * response.gap + response.mean) * sample)


def discrete_laplace(scale: float) -> Callable[[float], float]:
    """The law of the noise that is drawn, up to a constant."""
    return lambda z: math.exp(-abs(z) / scale)


def joint_loss(
    one: Mapping[tuple[Sight, int], Fraction],
    other: Mapping[tuple[Sight, int], Fraction],
    noise: Callable[[float], float],
    points: Sequence[float],
) -> float:
    """The largest |ln| of the ratio of the chances of any (sight, answer) on two streams."""
    worst = 0.0
    for seen in {seen for seen, _ in (*one, *other)}:
        for point in points:
            chances = [
                sum(
                    float(chance) * noise(point - s)
                    for (sight, s), chance in law.items()
                    if sight == seen
                )
                for law in (one, other)
            ]
            worst = max(worst, abs(math.log(chances[0] / chances[1])) if min(chances) else math.inf)
    return worst


def adjacent_streams(
    users: int, length: int, *, deletions: bool
) -> Iterator[tuple[Stream, Stream]]:
    """All pairs of streams that differ in what user 0 does, and in nothing else."""
    kinds = (False, True) if deletions else (False,)
    others: list[Event] = [None, *((u, k) for u in range(1, users) for k in kinds)]
    own: list[Event] = [None, *((0, k) for k in kinds)]
    for frame in itertools.product(others, repeat=length):
        free = [i for i, event in enumerate(frame) if event is None]
        filled = []
        for choice in itertools.product(own, repeat=len(free)):
            stream = list(frame)
            for place, event in zip(free, choice, strict=True):
                stream[place] = event
            filled.append(tuple(stream))
        yield from itertools.combinations(filled, 2)
