"""Likelihood weighting: rows are drawn towards evidence, and weighed by what that leaves out.

Source: TUC-2 section 3.5.4, algorithm 10. There evidence fixes an attribute, and a row's weight is
the chance that the attribute had. Here it may leave several codes, in part: the attribute is drawn
among them, and the weight is the chance of all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.models.conditional import Conditional
from understudy.models.distribution import CodedRows
from understudy.models.inference import Evidence
from understudy.models.inference.elimination import Factor
from understudy.models.network import Family
from understudy.models.sampling.forward import configurations, sample_codes
from understudy.system.arrays import Probabilities

if TYPE_CHECKING:
    from understudy.models.bayes_net import BayesNet
    from understudy.models.model import Model


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows as codes, each with the weight at which it stands for rows that fit the evidence.

    Example:
        >>> rows = WeightedRows({"a": np.array([0, 1], np.uint8)}, np.array([0.5, 0.25]))
        >>> rows.chance
        0.375
    """

    codes: CodedRows
    weights: Probabilities

    @property
    def chance(self) -> float:
        """The probability of the evidence, estimated without bias."""
        return float(self.weights.mean())

    @property
    def effective(self) -> float:
        """How many rows of equal weight would be as informative (Kish 1965)."""
        squares = float((self.weights**2).sum())
        return float(self.weights.sum()) ** 2 / squares if squares else 0.0

    def resampled(self, rows: int, generator: np.random.Generator) -> CodedRows:
        """Rows without weights: each comes as often as its weight says, rounded systematically.

        Their law comes near that of rows given the evidence as more are drawn from; it is not it.
        """
        reached = self.weights.cumsum()
        places = (np.arange(rows) + generator.random()) * (reached[-1] / max(rows, 1))
        # Rounding may carry a place beyond the last row that has a weight.
        last = np.searchsorted(reached, reached[-1])
        chosen = np.minimum(np.searchsorted(reached, places, side="right"), last)
        chosen = generator.permutation(chosen)
        return {attribute: codes[chosen] for attribute, codes in self.codes.items()}


@dataclass(frozen=True, eq=False)
class Proposal:
    """A network to draw from instead, and the factors whose product is a row's weight."""

    drawn: BayesNet
    factors: tuple[Factor, ...]

    @classmethod
    def towards(cls, law: BayesNet, evidence: Evidence) -> Proposal:
        """Draw a network towards evidence, where no constraints give its rows another law."""
        if law.is_constrained:
            # Masks renormalise as they go, so that rows are weighed once they are whole.
            return cls(law, tuple(Factor((a,), fits) for a, fits in evidence.items()))
        drawn, factors = [], []
        for conditional in law.conditionals:
            fits = evidence.get(conditional.family.child)
            if fits is not None:
                conditional, factor = _drawn_towards(conditional, fits, law.domain)
                factors.append(factor)
            drawn.append(conditional)
        return cls(replace(law, conditionals=tuple(drawn)), tuple(factors))

    @property
    def largest_weight(self) -> float:
        """No row weighs more."""
        return math.prod(float(factor.values.max()) for factor in self.factors)

    def draw(self, rows: int, generator: np.random.Generator) -> WeightedRows:
        """Independent rows with their weights."""
        codes, weights = sample_codes(self.drawn, rows, generator), np.ones(rows)
        for factor in self.factors:
            which = configurations(factor.attributes, codes, self.drawn.domain, rows)
            weights *= factor.values.ravel()[which]
        return WeightedRows(codes, weights)


def _drawn_towards(
    conditional: Conditional, fits: Probabilities, domain: Domain
) -> tuple[Conditional, Factor]:
    """A conditional within what fits, and the chance that it had of that."""
    parents = conditional.family.axes[:-1]
    axes = (*parents, conditional.family.child)
    scaled = (conditional.lines(domain) * fits).reshape(domain.shape(axes))
    drawn = Conditional.from_weights(Family.over(axes, domain), scaled)
    return drawn, Factor(parents, scaled.sum(axis=-1))


def fit_of(codes: Mapping[str, Codes], evidence: Evidence) -> Probabilities:
    """How well each row fits the evidence: 0 to 1."""
    fits = np.ones(len(next(iter(codes.values()))))
    for attribute, weights in evidence.items():
        fits *= weights[codes[attribute]]
    return fits


def weighted_codes(
    model: Model, evidence: Evidence, rows: int, generator: np.random.Generator
) -> WeightedRows:
    """Rows of a model with weights at which they stand for rows that fit the evidence.

    Privacy: post-processing of the model; costs nothing.
    """
    return model.law.weighted(evidence, rows, generator)
