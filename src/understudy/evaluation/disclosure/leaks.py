"""A leak made on purpose: what attacks find there is what they can find at all."""

from __future__ import annotations

import numpy as np

from understudy.evaluation.sheets import EvaluationTable

LEAKY = "leaky"
"""A stand-in that leaks on purpose, so that readers see what the attacks can find."""


def leaked(real: EvaluationTable, seed: int) -> EvaluationTable:
    """Half of the real rows as they are, chosen by the seed.

    Privacy: real rows; they are attacked with, and never leave.
    """
    order = np.random.default_rng([seed, 21]).permutation(real.rows)
    return real.take(np.sort(order[: (real.rows + 1) // 2]))
