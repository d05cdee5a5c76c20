"""How a budget is shared among tables, from public sizes alone."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.privacy.budget import Measure

# Weights are whole numbers, so that shares are exact fractions.
_RESOLUTION = 10**6


def least_error_weights(cells: Sequence[float], measure: Measure) -> list[int]:
    """The shares that make the summed expected L1 error of all tables least.

    A table of c cells with noise of scale s has expected L1 error proportional to c·s. One that
    counts w times as much as others is shared for as one of w·c cells.

    - ρ: cost Σ 1/sᵢ² fixed; Lagrange gives s ∝ c^(−1/3), so the share is c^(2/3).
    - ε: cost Σ 1/sᵢ fixed; Lagrange gives s ∝ c^(−1/2), so the share is c^(1/2).

    Example:
        >>> least_error_weights([1, 8], Measure.ZCDP)
        [1000000, 4000000]
    """
    power = 1 / 2 if measure is Measure.PURE else 2 / 3
    return [round(_RESOLUTION * max(count, 1) ** power) for count in cells]
