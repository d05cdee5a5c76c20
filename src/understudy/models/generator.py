"""A generator of rows: a small network that turns random numbers into codes.

It was trained elsewhere; here it is only run, by numpy, so that a model can be sampled without the
packages that trained it. Its numbers are released, and drawing from it costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.errors import UsageError
from understudy.facts.codes import code_type
from understudy.facts.domain import Domain
from understudy.models.archive import GENERATOR, Parts
from understudy.models.distribution import CodedRows, Distribution
from understudy.models.sampling.ways import How, Sieve
from understudy.models.trained import read_trained, trained_bytes

if TYPE_CHECKING:
    from understudy.models.inference import Evidence
    from understudy.models.sampling.ways import Sampler, Way

Weights = npt.NDArray[np.float32]

SLOPE = 0.2
"""Of the leaky rectifier below zero."""

# Rows that pass the network together.
_BLOCK = 8192


@dataclass(frozen=True, eq=False, repr=False)
class RowGenerator(Distribution):
    """Layers from random numbers, and a drawn target, to scores of every code of every attribute.

    Attributes:
        domain: the attributes.
        weights: `w0`, `b0`, `w1`, and so on, the last ones giving the scores.
        target: the attribute that is drawn first and given to the network, if any.
        chances: how often each code of the target is drawn.
    """

    kind: ClassVar[str] = "generator"
    without_probabilities: ClassVar[str] = "is a generator and has no probabilities"

    domain: Domain
    weights: Mapping[str, Weights]
    target: str | None
    chances: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse numbers that do not fit together, or do not fit the attributes."""
        domain = self.domain
        sizes = [array.shape for array in self._layers(0)] if self.depth else []
        inputs = sum(domain.sizes.values())
        whole = {f"{kind}{i}" for i in range(self.depth) for kind in "wb"}
        fits = set(self.weights) == whole and len(sizes) > 0
        fits = fits and self.weights[f"b{self.depth - 1}"].shape == (inputs,)
        for i in range(self.depth if fits else 0):
            matrix, offset = self._layers(i)
            fits = fits and matrix.ndim == 2 and offset.shape == (matrix.shape[1],)
            fits = fits and bool(np.isfinite(matrix).all() and np.isfinite(offset).all())
            fits = fits and (i == 0 or matrix.shape[0] == self.weights[f"w{i - 1}"].shape[1])
        known = 0 if self.target is None else domain.sizes.get(self.target, -1)
        fits = fits and len(self.chances) == known and self.latent > 0
        if not fits or not _are_chances(self.chances):
            raise UsageError("the generator's numbers do not fit its attributes")

    @property
    def rows_note(self) -> str:
        """Say that the rows are made by a generator."""
        return "rows by default, made by a generator"

    @property
    def depth(self) -> int:
        """How many layers there are."""
        return len(self.weights) // 2

    @property
    def latent(self) -> int:
        """How many random numbers a row is made of."""
        return int(self.weights["w0"].shape[0]) - len(self.chances)

    def draw(
        self, rows: int, generator: np.random.Generator, *, sampler: Sampler | None = None
    ) -> CodedRows:
        """Make some rows, each independent of the others."""
        del sampler
        blocks = [
            self._block(min(_BLOCK, rows - start), generator)
            for start in range(0, max(rows, 1), _BLOCK)
        ]
        return {a: np.concatenate([block[a] for block in blocks]) for a in self.domain}

    def _block(self, rows: int, generator: np.random.Generator) -> CodedRows:
        hidden = generator.standard_normal((rows, self.latent), np.float32)
        target = np.zeros(rows, np.int64)
        if self.target is not None:
            target = generator.choice(len(self.chances), rows, p=self.chances)
            known = np.eye(len(self.chances), dtype=np.float32)[target]
            hidden = np.concatenate([hidden, known], axis=1)
        scores = self._scores(hidden)
        # The best after Gumbel noise is a draw by the softmax of the scores.
        scores += generator.gumbel(size=scores.shape)
        codes: CodedRows = {}
        start = 0
        for attribute, size in self.domain.sizes.items():
            found = scores[:, start : start + size].argmax(axis=1)
            chosen = target if attribute == self.target else found
            codes[attribute] = chosen.astype(code_type(size))
            start += size
        return codes

    def _scores(self, hidden: Weights) -> npt.NDArray[np.float64]:
        for i in range(self.depth):
            matrix, offset = self._layers(i)
            hidden = hidden @ matrix + offset
            if i < self.depth - 1:
                hidden = np.where(hidden > 0, hidden, np.float32(SLOPE) * hidden)
        return hidden.astype(np.float64)

    def _layers(self, i: int) -> tuple[Weights, Weights]:
        return self.weights[f"w{i}"], self.weights[f"b{i}"]

    def way(self, evidence: Evidence, how: How | str | None, *, sampler: Sampler) -> Way:
        """Make rows until enough of them fit; a generator takes no conditions."""
        del sampler
        if how not in (None, How.REJECTION):
            raise UsageError(
                f"how is {str(how)!r}; a model of kind {self.kind!r} is a generator, whose rows "
                "are made until enough of them fit: leave it out"
            )
        return Sieve(self, evidence)

    def numbers(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the weights of every layer, and the chances of the target."""
        weights = {f"weights {name}": array for name, array in self.weights.items()}
        return weights | {"chances of the target": np.array(self.chances)}

    def members(self) -> dict[str, bytes]:
        """Return the layers as a table."""
        arrays = {**self.weights, "chances": np.array(self.chances)}
        target = {} if self.target is None else {"target": self.target}
        return {GENERATOR: trained_bytes(arrays, pa.float64(), facts=target)}

    @classmethod
    def read(cls, parts: Parts, domain: Domain) -> Self:
        """Read the layers; what is in the file bounds how many numbers there may be."""
        arrays, facts = read_trained(parts, GENERATOR, pa.float64())
        chances = tuple(float(chance) for chance in arrays.pop("chances"))
        weights = {name: array.astype(np.float32) for name, array in arrays.items()}
        return cls(domain, weights, facts.get("target"), chances)


def _are_chances(chances: tuple[float, ...]) -> bool:
    """Whether these are shares of one, or there are none."""
    if not chances:
        return True
    return min(chances) >= 0 and abs(sum(chances) - 1) < 1e-9
