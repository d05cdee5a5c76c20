"""Forward sampling: attributes in topological order, each given its parents' codes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from understudy.conditional import Conditional, Probabilities
from understudy.domain import Domain
from understudy.jit import kernel
from understudy.model import Model
from understudy.table import Codes, code_type


@kernel
def _invert(
    cumulative: Probabilities,
    rows: npt.NDArray[np.int64],
    uniforms: npt.NDArray[np.float64],
    codes: Codes,
) -> None:
    """The first code whose cumulative probability exceeds the uniform draw, by halving."""
    size = cumulative.shape[1]
    for i in range(uniforms.size):
        row, low, left = rows[i], 0, size
        while left > 0:
            half = left >> 1
            if cumulative[row, low + half] <= uniforms[i]:
                low += half + 1
                left -= half + 1
            else:
                left = half
        codes[i] = low


def sample_codes(model: Model, rows: int, generator: np.random.Generator) -> dict[str, Codes]:
    """Independent rows from the model's joint distribution, as codes in the schema's order."""
    codes: dict[str, Codes] = {}
    for conditional in model.conditionals:
        given = configurations(conditional, codes, model.domain, rows)
        drawn = np.empty(rows, code_type(model.domain[conditional.family.child]))
        _invert(_cumulative(conditional), given, generator.random(rows), drawn)
        codes[conditional.family.child] = drawn
    return {attribute: codes[attribute] for attribute in model.domain}


def configurations(
    conditional: Conditional, codes: Mapping[str, Codes], domain: Domain, rows: int
) -> npt.NDArray[np.int64]:
    """For every row, which configuration of its parents it has."""
    numbers = np.zeros(rows, np.int64)
    for parent in conditional.family.parents:
        numbers *= domain[parent]
        numbers += codes[parent]
    return numbers


def _cumulative(conditional: Conditional) -> Probabilities:
    """Cumulative rows whose last possible code is reached whatever rounding does."""
    probabilities = conditional.probabilities
    sums = probabilities.reshape(-1, probabilities.shape[-1]).cumsum(axis=1)
    sums[sums >= sums[:, -1:]] = 2.0
    return sums
