"""The first count of a column of numbers or dates, and how a second one joins it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.methods.discover.bins import Estimates, agreeing
from understudy.methods.discover.cells import STRAY_BESIDE, Intervals, Tree
from understudy.methods.discover.shares import CountNoise, reached
from understudy.system.arrays import Integers

_LEAST_VARIANCE = 1e-9


@dataclass(frozen=True)
class Coarse:
    """The result of the first count of a column: cells that stand out, and the tree to count next.

    Attributes:
        noisy: counts of all cells.
        noise: what was added to them.
        tree: the cells that stand out and those between, or all where none does.
        missing: whether missing cells stand out, where that was asked.
    """

    noisy: Integers
    noise: CountNoise
    tree: Tree
    missing: bool

    @classmethod
    def of(cls, answer: Integers, cells: Intervals, noise: CountNoise) -> Coarse:
        """Read a noisy answer: counts of cells, and last of missing ones where that was asked."""
        noisy, missing = answer[: len(cells.edges)], answer[len(cells.edges) :]
        stands_out = bool((missing > reached(noise, STRAY_BESIDE)).any())
        return cls(noisy, noise, Tree.over(cells, noisy, noise), stands_out)

    @property
    def shown(self) -> int:
        """The noisy number of rows in the cells that stand out; 0 where none does."""
        tree = self.tree
        return int(self.noisy[tree.first : tree.last + 1].sum()) if tree.core else 0

    def estimates(self, answer: Integers, noise: CountNoise) -> Estimates:
        """Join this count with a second one."""
        tree = self.tree
        *fine, outer = tree.split(answer)
        inside = self.noisy[tree.first : tree.last + 1]
        variances = [self.noise.variance, *[noise.variance] * tree.levels]
        levels = agreeing([inside, *fine], variances, tree.parents)
        before = np.delete(self.noisy, slice(tree.first, tree.last + 1))
        trust = noise.variance / max(self.noise.variance + noise.variance, _LEAST_VARIANCE)
        joined = trust * before + (1 - trust) * outer
        return Estimates(
            tree,
            levels,
            joined,
            noise,
            variance=trust * self.noise.variance,
            inside=self.noise.variance,
        )
