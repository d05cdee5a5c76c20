"""Conditional probability tables: what a model knows of one attribute given its parents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.models.network import Family
from understudy.system.arrays import Probabilities


@dataclass(frozen=True, eq=False)
class Conditional:
    """P(child | parents): one axis per parent, the child's last; every row sums to one.

    Where the child is coarsened, parents decide its group, and `within` has the chance of each code
    among those of its group, whatever the parents are.
    """

    family: Family
    probabilities: Probabilities
    within: Probabilities | None = None

    def __post_init__(self) -> None:
        if self.probabilities.ndim != len(self.family.attributes):
            raise UsageError(f"conditional of {self.family.child!r}: axes do not match its family")
        sums = self.probabilities.sum(axis=-1)
        if not (np.isfinite(sums).all() and np.allclose(sums, 1) and self._is_non_negative()):
            raise UsageError(f"conditional of {self.family.child!r}: rows are not probabilities")

    def __repr__(self) -> str:
        shape = "×".join(map(str, self.probabilities.shape))
        return f"Conditional(of {self.family.child!r}: {shape} probabilities)"

    def _is_non_negative(self) -> bool:
        chances = [self.probabilities] if self.within is None else [self.probabilities, self.within]
        return all(bool((numbers >= 0).all()) for numbers in chances)

    def check(self, domain: Domain) -> None:
        """Refuse sizes that are not the domain's, and shares of groups that are not shares."""
        child, axes = self.family.child, self.family.axes
        fits = tuple(map(domain.base, axes)) == self.family.attributes
        if not fits or self.probabilities.shape != domain.shape(axes):
            raise UsageError(f"conditional of {child!r}: sizes do not match")
        if (self.within is None) != (axes[-1] == child):
            raise UsageError(f"conditional of {child!r}: needs shares where it is coarsened")
        if self.within is not None:
            sums = np.bincount(domain.coarser[axes[-1]].groups, self.within)
            if self.within.shape != (domain[child],) or not np.allclose(sums, 1):
                raise UsageError(f"conditional of {child!r}: groups do not add up")

    def chances(
        self, given: npt.NDArray[np.uint32], codes: npt.NDArray[Any], domain: Domain
    ) -> Probabilities:
        """For every row, the chance of its code, by the number of its parents' configuration."""
        table = self.probabilities.reshape(-1, self.probabilities.shape[-1])
        if self.within is None:
            return np.asarray(table[given, codes])
        groups = domain.coarser[self.family.axes[-1]].groups
        return np.asarray(table[given, groups[codes]] * self.within[codes])

    def lines(self, domain: Domain) -> Probabilities:
        """The chances of every code of the child, a line for each configuration of parents."""
        coarse = self.probabilities.reshape(-1, self.probabilities.shape[-1])
        if self.within is None:
            return coarse
        groups = domain.coarser[self.family.axes[-1]].groups
        return np.asarray(coarse[:, groups] * self.within)

    def whole(self, domain: Domain) -> Probabilities:
        """P(child | parents) with an axis for each attribute itself, none of them coarsened."""
        shape = domain.shape(self.family.axes[:-1])
        chances = self.lines(domain).reshape(*shape, domain[self.family.child])
        for axis, name in enumerate(self.family.axes[:-1]):
            if name in domain.coarser:
                chances = chances.take(domain.coarser[name].groups, axis=axis)
        return chances

    def uncoarsened(self, domain: Domain) -> Conditional:
        """The same conditional, with nothing in it coarsened."""
        if not self.family.copies:
            return self
        return Conditional(Family(self.family.child, self.family.parents), self.whole(domain))

    @classmethod
    def from_weights(
        cls,
        family: Family,
        weights: Probabilities,
        *,
        fallback: Probabilities | None = None,
        within: Probabilities | None = None,
    ) -> Conditional:
        """Normalise non-negative weights row by row.

        Args:
            family: the child and its parents.
            weights: one axis per parent, the child's last.
            fallback: what a row of zeros becomes, parents never seen; uniform unless given.
            within: the share of every code in its group, where the child is coarsened.
        """
        size = weights.shape[-1]
        unseen = np.full(size, 1 / size) if fallback is None else fallback
        sums = weights.sum(axis=-1, keepdims=True)
        rows = np.array(np.broadcast_to(unseen, weights.shape))
        return cls(family, np.divide(weights, sums, out=rows, where=sums > 0), within)
