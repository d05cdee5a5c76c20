"""Conditional probability tables: what a model knows of one attribute given its parents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.network import Family

Probabilities = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Conditional:
    """P(child | parents): one axis per parent, the child's last; every row sums to one."""

    family: Family
    probabilities: Probabilities

    def __post_init__(self) -> None:
        if self.probabilities.ndim != len(self.family.attributes):
            raise UsageError(f"conditional of {self.family.child!r}: axes do not match its family")
        sums = self.probabilities.sum(axis=-1)
        if not (np.isfinite(sums).all() and np.allclose(sums, 1) and self._is_non_negative()):
            raise UsageError(f"conditional of {self.family.child!r}: rows are not probabilities")

    def _is_non_negative(self) -> bool:
        return bool((self.probabilities >= 0).all())

    @classmethod
    def from_weights(
        cls, family: Family, weights: Probabilities, *, fallback: Probabilities | None = None
    ) -> Conditional:
        """Normalise non-negative weights row by row.

        Args:
            family: the child and its parents.
            weights: one axis per parent, the child's last.
            fallback: what a row of zeros becomes, parents never seen; uniform unless given.
        """
        size = weights.shape[-1]
        unseen = np.full(size, 1 / size) if fallback is None else fallback
        sums = weights.sum(axis=-1, keepdims=True)
        rows = np.array(np.broadcast_to(unseen, weights.shape))
        return cls(family, np.divide(weights, sums, out=rows, where=sums > 0))
