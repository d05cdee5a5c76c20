"""The gradients of single examples of a critic: clipped, on a grid, summed in chunks.

The gradient of each example is taken by itself, so that its length can be bounded. A
chunk always has the same number of places, the last one filled up, and so every example takes the
same way through floating point whoever is beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.gan.backend import Parameters, Tensor, torch
from understudy.gan.perceptrons import Critic
from understudy.privacy.mechanisms.sampled import UNIT
from understudy.system.arrays import Integers, Singles
from understudy.system.jit import kernel

Squares = npt.NDArray[np.float64]

CHUNK = 16
"""Examples whose gradients are held at a time."""

# Keeps rounding from carrying a clipped gradient beyond its bound.
_MARGIN = 1 - 2.0**-12


class Examples(Protocol):
    """Private examples, as a critic takes them."""

    @property
    def rows(self) -> int:
        """How many there are."""

    def batch(self, places: Integers) -> tuple[Tensor, Tensor]:
        """Some of them, with their labels."""


@dataclass(frozen=True)
class TensorExamples:
    """Examples held as tensors, generated ones among them."""

    examples: Tensor
    labels: Tensor

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self.labels.shape[0])

    def batch(self, places: Integers) -> tuple[Tensor, Tensor]:
        """Some of them, with their labels."""
        chosen = torch().from_numpy(np.ascontiguousarray(places))
        return self.examples[chosen], self.labels[chosen]


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class ScoreGradients:
    """The gradients of single examples' scores by the critic's parameters, of norm 1 at most.

    Attributes:
        clip: the norm at which gradients are cut off, and which counts as 1 afterwards.

    Privacy: an example's contribution depends on that example and on the released parameters.
    """

    critic: Critic
    parameters: Parameters
    masks: tuple[Tensor, ...]
    examples: Examples
    clip: float

    @property
    def rows(self) -> int:
        """How many examples there are."""
        return self.examples.rows

    @property
    def cells(self) -> int:
        """How many parameters there are."""
        return sum(value.numel() for value in self.parameters.values())

    def total(self, rows: Integers) -> Integers:
        """The sum of contributions of some rows, in whole units."""
        sums = [np.zeros(value.numel(), np.int64) for value in self.parameters.values()]
        for start in range(0, len(rows), CHUNK):
            chosen = rows[start : start + CHUNK]
            filled = np.concatenate([chosen, np.repeat(chosen[:1], CHUNK - len(chosen))])
            gradients = self._by_parameter(filled)
            factors = self.factors(gradients)[: len(chosen)]
            for lines, summed in zip(gradients, sums, strict=True):
                add_whole(lines.numpy(), factors, summed)
        return np.concatenate(sums)

    def each(self, rows: Integers) -> Tensor:
        """The plain gradients of some rows, a line each."""
        return torch().cat(self._by_parameter(rows), dim=1)

    def factors(self, gradients: Sequence[Tensor]) -> Singles:
        """Return the factor that gives each line a norm of `UNIT` at most.

        A gradient that is not a number says nothing, and its effect on a sum is unbounded: its
        factor is 0.
        """
        squares = np.zeros(len(gradients[0]), np.float64)
        for lines in gradients:
            add_squares(lines.numpy(), squares)
        norms = np.sqrt(squares)
        found = (UNIT * _MARGIN) / np.maximum(norms, self.clip)
        return np.where(np.isfinite(norms), found, 0.0).astype(np.float32)

    def _by_parameter(self, rows: Integers) -> list[Tensor]:
        examples, labels = self.examples.batch(rows)
        found = self.critic.gradients(self.parameters, examples, labels, self.masks)
        return [found[name] for name in self.parameters]

    def __sub__(self, other: object) -> Integers:
        if not isinstance(other, ScoreGradients):
            raise UsageError("gradients are compared with gradients of the same critic")
        here, there = (g.total(np.arange(g.rows)) for g in (self, other))
        return here - there

    def __repr__(self) -> str:
        return "ScoreGradients(private)"


@kernel
def add_squares(lines: Singles, squares: Squares) -> None:
    """Add each line's squared length to its sum, in double precision.

    A single number's square is exact there, and a sum of d of them is too small by d·2⁻⁵³ of itself
    at most: far within the margin, however many cells a critic has.
    """
    for i in range(squares.size):
        # Four sums side by side, for each addition waits for the one before it.
        first = second = third = fourth = 0.0
        cells = lines.shape[1]
        even = cells - cells % 4
        for j in range(0, even, 4):
            first += np.float64(lines[i, j]) * np.float64(lines[i, j])
            second += np.float64(lines[i, j + 1]) * np.float64(lines[i, j + 1])
            third += np.float64(lines[i, j + 2]) * np.float64(lines[i, j + 2])
            fourth += np.float64(lines[i, j + 3]) * np.float64(lines[i, j + 3])
        for j in range(even, cells):
            first += np.float64(lines[i, j]) * np.float64(lines[i, j])
        squares[i] += first + second + third + fourth


@kernel
def add_whole(lines: Singles, factors: Singles, summed: Integers) -> None:
    """Add lines, each times its factor and rounded towards zero, to a sum of whole numbers."""
    for i in range(factors.size):
        factor = factors[i]
        if factor > 0:
            for j in range(summed.size):
                summed[j] += np.int32(lines[i, j] * factor)


def split(flat: Tensor, like: Parameters) -> Parameters:
    """A vector as long as all parameters, cut into their shapes."""
    sizes = [value.numel() for value in like.values()]
    parts = flat.split(sizes)
    return {
        name: part.reshape(value.shape)
        for (name, value), part in zip(like.items(), parts, strict=True)
    }
