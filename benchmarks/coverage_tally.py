"""How many intervals held the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.system.arrays import Floats


@dataclass
class Tally:
    """How many intervals held the truth, and how many there were."""

    held: int = 0
    asked: int = 0

    def add(self, low: Floats, high: Floats, truth: Floats) -> None:
        """Compare intervals with what is true; rounding does not count as a miss."""
        near = 1e-9 * np.maximum(np.abs(truth), 1.0)
        self.held += int(((low <= truth + near) & (truth - near <= high)).sum())
        self.asked += int(np.size(truth))

    def join(self, other: Tally) -> None:
        """Add the numbers of another tally."""
        self.held, self.asked = self.held + other.held, self.asked + other.asked

    @property
    def percent(self) -> float:
        """The part that held the truth."""
        return 100 * self.held / max(self.asked, 1)
