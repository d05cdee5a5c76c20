"""Is the noise what the statement says: of its scale, centred, and drawn again for every question?

The audit knows the exact answers, so it sees the noise itself. Every draw is turned into its place
within the law that its event names: a number with mean zero that is bounded, whatever the scale.
Sums of such numbers, and of products of two of them, stay near zero when the noise is as claimed
and independent. How far they may stray by chance follows from Bernstein's inequality, which holds
for any number of draws; it asks for no normal law. All tests share one family-wise error.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.privacy.mechanisms.additive import (
    DiscreteGaussian,
    DiscreteLaplace,
    FineGaussian,
)
from understudy.privacy.mechanisms.histogram import DROPPED, SmoothedHistogram
from understudy.privacy.mechanisms.mechanism import Mechanism
from understudy.privacy.mechanisms.sampled import LineGaussian, SampledGaussian
from understudy.privacy.mechanisms.selection import Exponential, PermuteAndFlip
from understudy.system.arrays import Floats

# So many cells of an answer are looked at, and so many answers of a run.
_CELLS = 256
QUESTIONS = 16
# Beyond this variance the discrete Gaussian law is the continuous one to six digits.
_WIDE = 10_000
# The largest variance of a number spread over an interval of length one as its law spreads it.
# Cells of one answer are compared that are so many places apart at the most.
_APART = 11
_SPREAD = 1 / 12


@dataclass(frozen=True, eq=False, kw_only=True)
class Draws:
    """The noise on one answer, as places within the law that was claimed.

    Attributes:
        size: by how much each draw is larger than the law's middle one, from −1/2 to 1/2.
        side: the same with the draw's sign, where it has one.
        noise: the draws themselves, where they are whole numbers added to the answer.
        equal: the chance that another draw of the law is equal to one, at most.
        at_least: whether the noise may be larger than the law without a fault.
    """

    size: Floats
    side: Floats | None = None
    noise: npt.NDArray[np.int64] | None = None
    equal: float = 1.0
    at_least: bool = False


def draws_of(mechanism: Mechanism[Any, Any], exact: Any, released: Any) -> Draws | None:
    """The noise of one answer; None where a mechanism adds none or has no law here."""
    match mechanism:
        case DiscreteLaplace() | DiscreteGaussian() if released.shape == exact.shape:
            return _added(mechanism, released - exact)
        case FineGaussian() if released.shape == exact.shape:
            return _added(mechanism.in_steps, np.rint((released - exact) * mechanism.finer))
        case LineGaussian() if mechanism.sigma_squared and released.shape == exact.shape:
            law = DiscreteGaussian(mechanism.sigma_squared, mechanism.sigma_squared)
            return _added(law, released - exact * mechanism.finer)
        case SampledGaussian() if mechanism.sigma_squared:
            # The batch adds its own chance to the noise, and so can only widen it.
            mean = exact.total(np.arange(exact.rows)) * float(mechanism.rate) * mechanism.finer
            law = DiscreteGaussian(mechanism.sigma_squared, mechanism.sigma_squared)
            return _added(law, np.rint(released - mean).astype(np.int64), at_least=True)
        case PermuteAndFlip() | Exponential() if exact.size > 1:
            return Draws(
                size=np.array([_rank(mechanism.probabilities(exact), exact, int(released))])
            )
        case SmoothedHistogram() if mechanism.smoothing and len(exact):
            return Draws(size=_from_table(mechanism, exact, released))
        case _:
            return None


def _added(
    law: DiscreteLaplace | DiscreteGaussian, noise: npt.NDArray[Any], *, at_least: bool = False
) -> Draws:
    """Noise that was added to an answer, cell by cell."""
    flat = noise.reshape(-1)[:_CELLS].astype(np.int64)
    within = _middle(law, np.abs(flat))
    return Draws(
        size=within - 0.5,
        side=np.sign(flat) * within / 2,
        noise=flat,
        equal=_twice(law),
        at_least=at_least,
    )


def _middle(law: DiscreteLaplace | DiscreteGaussian, size: npt.NDArray[np.int64]) -> Floats:
    """P(|Z| < k) + P(|Z| = k)/2 for each k: its mean over the law is one half."""
    if isinstance(law, DiscreteLaplace):
        falling = np.exp(-size / float(law.scale))
        at_zero = math.tanh(0.5 / float(law.scale)) / 2
        return np.where(size == 0, at_zero, 1 - falling)
    if law.sigma_squared > _WIDE:
        from scipy.special import erf

        return np.asarray(erf(size / math.sqrt(2 * float(law.sigma_squared))), np.float64)
    table = _gaussian(float(law.sigma_squared))[0]
    return np.asarray(table[np.minimum(size, table.size - 1)])


@lru_cache(maxsize=256)
def _gaussian(sigma_squared: float) -> tuple[Floats, float]:
    """Compute for a discrete Gaussian the middle place of sizes, and how likely equal draws are."""
    reach = np.arange(math.ceil(12 * math.sqrt(sigma_squared)) + 2)
    chances = np.exp(-(reach**2) / (2 * sigma_squared))
    chances[1:] *= 2
    chances /= chances.sum()
    signed = np.concatenate([chances[:1], np.repeat(chances[1:] / 2, 2)])
    return np.cumsum(chances) - chances / 2, float((signed**2).sum())


def _twice(law: DiscreteLaplace | DiscreteGaussian) -> float:
    """The chance that two draws of a law are equal."""
    if isinstance(law, DiscreteLaplace):
        q = math.exp(-1 / float(law.scale))
        return ((1 - q) / (1 + q)) ** 2 * (1 + q * q) / (1 - q * q) if q > 0 else 1.0
    if law.sigma_squared > _WIDE:
        return 1 / math.sqrt(4 * math.pi * float(law.sigma_squared))
    return _gaussian(float(law.sigma_squared))[1]


def _rank(chances: Floats, scores: npt.NDArray[np.int64], chosen: int) -> float:
    """The place of a choice among candidates from the best on; less noise comes out lower."""
    order = np.lexsort([np.arange(scores.size), -scores])
    before = order[: int(np.flatnonzero(order == chosen)[0])]
    return float(chances[before].sum() + chances[chosen] / 2 - 0.5)


def _from_table(mechanism: SmoothedHistogram, exact: Any, released: Any) -> Floats:
    """For each row drawn whether the table holds it; less smoothing comes out lower."""
    held = np.unique(exact[exact[:, 0] != DROPPED], axis=0)
    chance = float(sum(mechanism.chances(exact, held))) if len(held) else 0.0
    found = np.array([bool((held == line).all(axis=1).any()) for line in released])
    return np.where(found, chance / 2 - 0.5, chance / 2)


@dataclass
class Tally:
    """Sums over many runs, for every test; those of several processes can be added."""

    sums: dict[tuple[str, int, int], list[float]] = field(default_factory=dict)
    equal: dict[tuple[str, int, int], list[float]] = field(default_factory=dict)
    names: dict[int, Counter[str]] = field(default_factory=dict)
    whole: Counter[bytes] = field(default_factory=Counter)
    rarest: float = 0.0
    wider: set[int] = field(default_factory=set)
    _before: Sequence[Draws | None] = ()

    def add_run(self, names: Sequence[str], run: Sequence[Draws | None]) -> None:
        """Count the noise of one run: each question's own, each two's, and beside the last run."""
        seen = [(i, d) for i, d in enumerate(run[:QUESTIONS]) if d is not None]
        for i, draws in seen:
            self.names.setdefault(i, Counter())[names[i]] += 1
            self._own(i, draws)
            before = self._before[i] if i < len(self._before) else None
            if before is not None:
                self._two("next", i, i, before, draws)
        for (i, one), (j, other) in combinations(seen, 2):
            self._two("pair", i, j, one, other)
        self._keep_whole([d for _, d in seen])
        self._before = run

    def _own(self, i: int, draws: Draws) -> None:
        self._sum(("size", i, i), draws.size, 0.5, _SPREAD)
        if draws.at_least:
            # The batch moves all cells together.
            self.wider.add(i)
        elif draws.side is not None:
            self._sum(("side", i, i), draws.side, 0.5, _SPREAD)
            for apart in range(1, min(draws.side.size, _APART + 1)):
                products = draws.side[apart:] * draws.side[:-apart]
                self._sum((f"within {apart}", i, i), products, 0.25, _SPREAD**2)

    def _two(self, kind: str, i: int, j: int, one: Draws, other: Draws) -> None:
        if one.side is None or other.side is None:
            if one.size.size == other.size.size:
                self._sum((kind, i, j), one.size * other.size, 0.25, _SPREAD**2)
            return
        cells = min(one.side.size, other.side.size)
        self._sum((kind, i, j), one.side[:cells] * other.side[:cells], 0.25, _SPREAD**2)
        if not one.at_least and not other.at_least:
            # In any order: the means of both answers.
            spread = _SPREAD**2 / (one.side.size * other.side.size)
            means = np.array([one.side.mean() * other.side.mean()])
            self._sum((f"{kind} means", i, j), means, 0.25, spread)
        if one.noise is not None and other.noise is not None:
            hits = int((one.noise[:cells] == other.noise[:cells]).sum())
            held = self.equal.setdefault((kind, i, j), [0.0, 0.0, 0.0])
            # Two laws meet no more often than by Cauchy and Schwarz.
            chance = math.sqrt(one.equal * other.equal)
            for place, added in enumerate((hits, cells, cells * chance)):
                held[place] += added

    def _sum(
        self, key: tuple[str, int, int], values: Floats, bound: float, variance: float
    ) -> None:
        held = self.sums.setdefault(key, [0.0, 0.0, bound])
        held[0] += float(values.sum())
        held[1] += variance * values.size

    def _keep_whole(self, seen: Iterable[Draws]) -> None:
        """A digest of all the noise of a run: no two runs should have the same."""
        added = [d for d in seen if d.noise is not None]
        if added:
            chance = sum(d.size.size * math.log(d.equal) for d in added)
            self.rarest = max(self.rarest, math.exp(max(chance, -700.0)))
            joined = b"|".join(d.noise.tobytes() for d in added if d.noise is not None)
            self.whole[hashlib.sha256(joined).digest()] += 1

    def merge(self, other: Tally) -> None:
        """Add what another tally holds."""
        for mine, theirs in ((self.sums, other.sums), (self.equal, other.equal)):
            for key, (*numbers, last) in theirs.items():
                held = mine.setdefault(key, [0.0, 0.0, last if mine is self.sums else 0.0])
                for place, number in enumerate(numbers):
                    held[place] += number
                if mine is self.equal:
                    held[2] += last
        for i, counted in other.names.items():
            self.names.setdefault(i, Counter()).update(counted)
        self.whole.update(other.whole)
        self.rarest = max(self.rarest, other.rarest)
        self.wider |= other.wider

    def verdict(self, error: float) -> NoiseVerdict:
        """All tests together, at one family-wise error."""
        tests = list(self._tests())
        faults = [
            NoiseFault(kind, questions, chance * len(tests))
            for kind, questions, chance in tests
            if chance * len(tests) <= error
        ]
        faults.sort(key=lambda fault: fault.chance)
        return NoiseVerdict(len(tests), tuple(faults))

    def _tests(self) -> Iterator[tuple[str, tuple[str, ...], float]]:
        """Kind, questions, and the chance that noise without fault strays as far."""
        for (kind, i, j), (total, variance, bound) in self.sums.items():
            if kind == "size" and i in self.wider and total > 0:
                yield "scale", self._asked(i), 1.0
            else:
                yield _named(kind), self._asked(i, j), _strays(total, variance, bound)
        yield from self._pooled()
        for (kind, i, j), (hits, cells, expected) in self.equal.items():
            yield _EQUAL[kind], self._asked(i, j), _exceeds(hits, cells, expected)
        if self.whole:
            runs = self.whole.total()
            pairs = sum(times * (times - 1) // 2 for times in self.whole.values())
            chance = min(1.0, self.rarest * runs * (runs - 1) / 2) if pairs else 1.0
            yield "repeated runs", (), chance

    def _pooled(self) -> Iterator[tuple[str, tuple[str, ...], float]]:
        """Scales of all questions together, and all products of two."""
        for kind in ("size", "pair"):
            held = [v for (k, i, _), v in self.sums.items() if k == kind and i not in self.wider]
            total, variance = sum(v[0] for v in held), sum(v[1] for v in held)
            bound = max((v[2] for v in held), default=0.5)
            yield _KINDS[kind], (), _strays(total, variance, bound)

    def _asked(self, *places: int) -> tuple[str, ...]:
        """Name some questions in the usual way."""
        return tuple(self.names[i].most_common(1)[0][0] for i in dict.fromkeys(places))


_KINDS = {
    "size": "scale",
    "side": "centre",
    "within": "independence of cells",
    "pair": "independence of questions",
    "pair means": "independence of questions",
    "next": "independence of runs",
    "next means": "independence of runs",
}


def _named(kind: str) -> str:
    """The quantity that a test looks at; cells are compared at several distances."""
    return _KINDS["within" if kind.startswith("within") else kind]


_EQUAL = {"pair": "equal noise in two questions", "next": "equal noise in two runs"}

_SENTENCES = {
    "scale": "its scale is not the one that is charged for",
    "centre": "it is not centred on the answer",
    "independence of cells": "cells share it",
    "independence of questions": "questions share it",
    "independence of runs": "runs share it",
    "equal noise in two questions": "it is the same in several questions",
    "equal noise in two runs": "it is the same in several runs",
    "repeated runs": "all of it came twice",
}


@dataclass(frozen=True)
class NoiseFault:
    """A test that noise failed.

    Attributes:
        kind: what was tested.
        questions: whose noise; none where all were tested together.
        chance: how likely noise without fault fails any test as clearly, at most.
    """

    kind: str
    questions: tuple[str, ...]
    chance: float

    @property
    def sentence(self) -> str:
        """Say in words what is wrong."""
        where = " and on ".join(self.questions) or "all questions together"
        return f"the noise on {where}: {_SENTENCES[self.kind]}"


@dataclass(frozen=True)
class NoiseVerdict:
    """How many tests the noise was put to, and those that it failed."""

    tests: int
    faults: tuple[NoiseFault, ...]

    def document(self) -> dict[str, Any]:
        """Make a JSON object of the verdict."""
        return {
            "tests": self.tests,
            "faults": [
                {"test": f.kind, "questions": list(f.questions), "chance_at_most": f.chance}
                for f in self.faults
            ],
        }


def _strays(total: float, variance: float, bound: float) -> float:
    """Bernstein: P(|S| ≥ t) ≤ 2·exp(−t² / 2(v + bt/3)) for a sum of centred bounded numbers."""
    if variance == 0:
        return 1.0
    return min(1.0, 2 * math.exp(-(total**2) / (2 * (variance + bound * abs(total) / 3))))


def _exceeds(hits: float, trials: float, expected: float) -> float:
    """Chernoff: P(H ≥ h) ≤ exp(−n·KL(h/n, p)), p the mean chance of the n trials."""
    if trials == 0 or hits <= expected:
        return 1.0
    found, chance = hits / trials, max(expected / trials, 1e-300)
    divergence = found * math.log(found / chance)
    if found < 1:
        divergence += (1 - found) * math.log((1 - found) / (1 - chance))
    return math.exp(-min(trials * divergence, 700.0))
