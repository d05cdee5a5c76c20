"""Probabilities of a network times factors: exact where tables stay small, else from fixed rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from understudy.errors import CapacityError
from understudy.facts.domain import Attributes, Domain
from understudy.models.bayes_net import BayesNet
from understudy.models.inference import Evidence
from understudy.models.inference.elimination import (
    Factor,
    ImpossibleEvidence,
    best_of,
    joint_of,
    membership,
)
from understudy.models.sampling.estimate import estimated_distribution
from understudy.models.sampling.weighting import Proposal, WeightedRows, fit_of
from understudy.models.weighted.raking import Aim
from understudy.system.arrays import Probabilities

# Answers that are not exact come from so many rows, always the same ones.
_ASKED_ROWS = 1 << 18
# The seed of rows that are always the same.
SEED = 20
# Fewer rows than this that fit are not enough for an answer.
_FEW = 2_000
# Tables that exact answers may make, in cells.
_MOST_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class FactorAnswers:
    """Answers about the law of a network whose rows are re-weighted by factors.

    Attributes:
        base: the network.
        aims: the tables that factors belong to.
        weighted: makes rows of the law with their weights, as many as are asked for.
        towards: makes rows that fit evidence, weighed by the network and by all factors.
    """

    base: BayesNet
    aims: tuple[Aim, ...]
    weighted: Callable[[int, np.random.Generator], WeightedRows]
    towards: Callable[[Evidence], Proposal]

    @property
    def domain(self) -> Domain:
        """Return the attributes of the network."""
        return self.base.domain

    @property
    def is_exact(self) -> bool:
        """Whether answers are exact: the factors leave small enough tables, and no constraints."""
        return self._log_constant is not None

    @cached_property
    def _log_constant(self) -> float | None:
        """The logarithm of what all rows of the law weigh together; None where it is too much."""
        if self.base.is_constrained:
            return None
        try:
            return joint_of(self._all_factors({}), (), most_cells=_MOST_CELLS)[1]
        except CapacityError:
            return None

    def _all_factors(self, evidence: Evidence) -> list[Factor]:
        return [
            *self.base.factors(),
            *self._weights,
            *self._ties,
            *(Factor((a,), f) for a, f in evidence.items()),
        ]

    @cached_property
    def _weights(self) -> tuple[Factor, ...]:
        """The factors, each divided by its largest value: what that leaves out cancels."""
        return tuple(
            Factor(aim.attributes, np.exp(aim.logarithms - aim.logarithms.max()))
            for aim in self.aims
        )

    @cached_property
    def _ties(self) -> list[Factor]:
        """Tie coarser copies of the tables to their attributes, where no family does."""
        tied = {name for family in self.base.network for name in family.copies}
        names = dict.fromkeys(name for aim in self.aims for name in aim.attributes)
        return [membership(self.domain, n) for n in names if n in self.domain.coarser.keys() - tied]

    def posterior(self, targets: Attributes, evidence: Evidence) -> tuple[Probabilities, float]:
        """Return the joint distribution of attributes given evidence, and its probability.

        It is exact where elimination is affordable, and else estimated from a fixed pool of rows.
        """
        constant = self._log_constant
        if constant is not None:
            try:
                joint, logarithm = joint_of(
                    self._all_factors(evidence), targets, most_cells=_MOST_CELLS
                )
                return joint, math.exp(logarithm - constant)
            except CapacityError:
                pass
        return self._estimated(targets, evidence)

    def _estimated(self, targets: Attributes, evidence: Evidence) -> tuple[Probabilities, float]:
        rows = self._fixed_rows
        if evidence:
            rows = replace(rows, weights=rows.weights * fit_of(rows.codes, evidence))
            if rows.effective < _FEW:
                generator = np.random.default_rng(SEED)
                rows = self.towards(evidence).draw(_ASKED_ROWS, generator)
        if rows.chance == 0:
            raise ImpossibleEvidence()
        if not targets:
            return np.array(1.0), rows.chance
        found = estimated_distribution(rows, self.domain, targets)
        return found.chances, found.evidence

    @cached_property
    def _fixed_rows(self) -> WeightedRows:
        return self.weighted(_ASKED_ROWS, np.random.default_rng(SEED))

    def most_probable(self, evidence: Evidence) -> tuple[dict[str, int], float]:
        """Return the codes of the most probable row that fits evidence, and its probability."""
        if self._log_constant is None:
            raise CapacityError(
                "the law has constraints or too many factors for its most probable row to be "
                "found; draw rows and look for it among them"
            )
        row, logarithm = best_of(self._all_factors(evidence), self.domain.attributes)
        return row, math.exp(logarithm - self._log_constant)
