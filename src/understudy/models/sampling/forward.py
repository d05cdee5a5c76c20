"""Forward sampling: attributes in topological order, each given its parents' codes.

Where constraints speak of an attribute, it is drawn from what they leave of its conditional.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from understudy.conditional import Conditional, Probabilities
from understudy.domain import Attributes, Domain
from understudy.engines.kernels import extend
from understudy.jit import kernel
from understudy.model import Model
from understudy.sample.masks import Standings
from understudy.table import Codes, as_coarse, code_type

# Chances are held in 31 bits; whatever is less likely than that is as good as impossible.
_ONE = 2**31

Configurations = npt.NDArray[np.uint32]
Thresholds = npt.NDArray[np.uint32]
State = npt.NDArray[np.uint64]
Draw = Callable[[Probabilities, Configurations, Codes], None]


@kernel
def _invert(
    thresholds: Thresholds, given: npt.NDArray[np.uint32], state: State, codes: Codes
) -> None:
    """Count the thresholds that a uniform draw of 31 bits has reached.

    Comparing with all of them has no branch to mispredict and runs in wide vectors. The draws are
    those of xoshiro256++ (Blackman, Vigna 2019), made here so that they never go to memory.
    """
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for i in range(given.size):
        mixed = s0 + s3
        mixed = ((mixed << np.uint64(23)) | (mixed >> np.uint64(41))) + s0
        shifted = s1 << np.uint64(17)
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
        uniform = np.uint32(mixed >> np.uint64(33))
        row = thresholds[given[i]]
        code = 0
        for j in range(row.size):
            code += uniform >= row[j]
        codes[i] = code
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


def sample_codes(model: Model, rows: int, generator: np.random.Generator) -> dict[str, Codes]:
    """Independent rows from the model's joint distribution, as codes in the schema's order."""
    model.require_network()
    state = generator.integers(1, 2**63, 4).astype(np.uint64)

    def draw(table: Probabilities, given: Configurations, codes: Codes) -> None:
        _invert(_thresholds(table), given, state, codes)

    return drawn_in_order(model, rows, draw)


def drawn_in_order(model: Model, rows: int, draw: Draw) -> dict[str, Codes]:
    """Codes of every attribute, parents first, no row against a constraint.

    Args:
        model: what to draw from.
        rows: how many rows.
        draw: fills in codes, given a table of chances and, for every row, which line of it holds.
    """
    codes: dict[str, Codes] = {}
    standings = Standings(model.completions, rows)
    for conditional in model.conditionals:
        child = conditional.family.child
        drawn = codes[child] = np.empty(rows, code_type(model.domain[child]))
        given = configurations(conditional.family.axes[:-1], codes, model.domain, rows)
        if conditional.within is None or standings.concern(child):
            draw(*standings.masked(child, conditional.lines(model.domain), given), drawn)
        else:
            _draw_within(conditional, model.domain, given, draw, drawn)
        standings.advance(child, drawn)
    return {attribute: codes[attribute] for attribute in model.domain}


def _draw_within(
    conditional: Conditional, domain: Domain, given: Configurations, draw: Draw, drawn: Codes
) -> None:
    """Draw the group of a coarsened child, then one of its codes."""
    level = domain.coarser[conditional.family.axes[-1]]
    groups = np.empty(drawn.size, code_type(level.size))
    draw(conditional.probabilities.reshape(-1, level.size), given, groups)
    real = np.arange(level.members.shape[1]) < level.sizes[:, None]
    assert conditional.within is not None
    chances = np.where(real, conditional.within[level.members], 0.0)
    places = np.empty(drawn.size, code_type(level.members.shape[1]))
    draw(chances, groups.astype(np.uint32), places)
    drawn[:] = level.members[groups, places]


def configurations(
    names: Attributes, codes: Mapping[str, Codes], domain: Domain, rows: int
) -> Configurations:
    """For every row, the number of its codes among all combinations of attributes, or copies."""
    numbers = np.zeros(rows, np.uint32)
    for name in names:
        extend(numbers, as_coarse(codes[domain.base(name)], name, domain), domain[name])
    return numbers


def _thresholds(table: Probabilities) -> Thresholds:
    """Cumulative chances of all codes but the last; a code without a chance is never reached."""
    sums = table.cumsum(axis=1)
    # Whatever rounding does to the sums, the last possible code takes all that is left.
    sums = np.where(sums >= sums[:, -1:], 1.0, sums)
    return np.asarray(np.rint(sums[:, :-1] * _ONE), np.uint32)
