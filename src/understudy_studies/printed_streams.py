"""The common part of the studies of TUC-1, chapter 4: streams, runs, and the printed noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from understudy.errors import UsageError
from understudy.stream.design import Design
from understudy.stream.response import ESTIMATORS, WHOLE, Response
from understudy.stream.sizing import Sizing
from understudy.stream.state import State
from understudy.stream.universe import Range
from understudy.system.arrays import Floats, Integers
from understudy.testing import SeededNoise

# The noise of an answer: as it must be, and as the thesis has it.
CORRECTED, PRINTED = "corrected", "printed"


class PrintedSizing(Sizing):
    """The same estimator with Laplace noise of scale 1/(εm) on the density: not private enough."""

    @property
    def scale(self) -> float:
        """On the sum of the entries."""
        return self.response.gap / float(self.answer_epsilon)

    @property
    def noise_variance(self) -> float:
        """Return the variance of continuous Laplace noise."""
        return 2 * self.scale**2

    @property
    def noise_tail(self) -> tuple[float, float]:
        """P(|Z| ≥ t) = e^(−t/scale)."""
        return 1.0, 1 / self.scale


@dataclass(frozen=True)
class MadeUpStream:
    """A made-up stream: as long as its universe is large, uniform or by Zipf's law."""

    kind: str
    ids: Integers = field(repr=False)

    @classmethod
    def of(cls, kind: str, *, users: int, seed: int = 0) -> MadeUpStream:
        """The stream, the same for the same seed.

        Example:
            >>> round(MadeUpStream.of("uniform", users=100_000).density, 2)
            0.63
        """
        generator = np.random.default_rng(seed)
        if kind == "uniform":
            return cls(kind, generator.integers(0, users, users))
        if kind == "zipf":
            weights = 1 / np.arange(1, users + 1)
            return cls(kind, generator.choice(users, users, p=weights / weights.sum()))
        raise UsageError(f"stream {kind!r} is not known; choose uniform or zipf")

    @property
    def users(self) -> int:
        """Return the size of the universe."""
        return self.ids.size

    @property
    def density(self) -> float:
        """Return the part of the universe that was seen."""
        return np.unique(self.ids).size / self.users


@dataclass(frozen=True)
class Experiment:
    """Many runs of one estimator over one stream, a fresh state and sample each."""

    stream: MadeUpStream
    estimator: str
    epsilon: Fraction
    sample: int

    @property
    def sizings(self) -> dict[str, Sizing]:
        """The accuracy of an answer with either noise."""
        response = ESTIMATORS[self.estimator](self.epsilon)
        return {
            CORRECTED: Sizing(response, self.epsilon),
            PRINTED: PrintedSizing(response, self.epsilon),
        }

    def estimates(self, runs: int, generator: np.random.Generator) -> dict[str, Floats]:
        """Densities with either noise on the same states."""
        design = Design.of(
            self.stream.users, epsilon=self.epsilon, estimator=self.estimator, sample=self.sample
        )
        totals = np.array([self._total(design, generator) for _ in range(runs)])
        sizings = self.sizings
        response, corrected = sizings[CORRECTED].response, sizings[CORRECTED].noise
        noise = SeededNoise(int(generator.integers(2**62)))
        printed = np.sqrt(sizings[PRINTED].noise_variance / 2)
        sums = {
            CORRECTED: totals + noise.laplace(corrected.scale, runs),
            # The thesis adds real numbers; streams are made up, so that nothing hangs on it.
            PRINTED: totals + generator.laplace(scale=printed, size=runs),
        }
        spread = self.sample * response.gap
        centre = self.sample * response.mean
        return {name: np.asarray((noisy - centre) / spread) for name, noisy in sums.items()}

    def _total(self, design: Design, generator: np.random.Generator) -> int:
        """The sum of the entries after one run."""
        users, sampled = self.stream.users, self.sample < self.stream.users
        order = Range(users, sampled=sampled, key=generator.bytes(32).hex())
        state = State.start(design, generator.bytes)
        state.live.redraw(order.places(self.stream.ids))
        return state.live.total


def sizings(epsilon: Fraction) -> Iterator[tuple[str, Sizing, PrintedSizing]]:
    """Every estimator with either noise."""
    for name, make in ESTIMATORS.items():
        response = make(epsilon)
        yield name, Sizing(response, epsilon), PrintedSizing(response, epsilon)


def joint_loss(response: Response, scale: float) -> float:
    """The largest loss of (entry seen, answer) between an absent user and one who visited.

    The user visited before the entry was seen, after, or both; an absent one's entry stays as it
    was seen. Between whole numbers the ratio of two answers' chances is monotone, so that these
    are enough.
    """
    initial, updated = laws(response)
    values = np.arange(response.levels)
    noise = np.exp(-np.abs(values[:, None] - values) / scale)
    absent = initial[:, None] * noise
    redrawn = noise @ updated
    came = (updated[:, None] * noise, np.outer(initial, redrawn), np.outer(updated, redrawn))
    return max(float(np.abs(np.log(present / absent)).max()) for present in came)


def laws(response: Response) -> tuple[Floats, Floats]:
    """The chances of every level, before a user is seen and after."""
    return np.array(response.initial) / WHOLE, np.array(response.updated) / WHOLE
