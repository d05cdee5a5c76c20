"""Forward sampling: attributes in topological order, each given its parents' codes.

Where constraints speak of an attribute, it is drawn from what they leave of its conditional.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from understudy.facts.codes import Codes, as_coarse, code_type, extend
from understudy.facts.constraints import Completions
from understudy.facts.domain import Attributes, Domain
from understudy.models.conditional import Conditional
from understudy.models.distribution import CodedRows
from understudy.models.network import Family
from understudy.models.sampling.masks import Standings
from understudy.system.arrays import Probabilities, Words
from understudy.system.jit import kernel

# Chances are held in 31 bits; whatever is less likely than that is as good as impossible.
_ONE = 2**31

Configurations = npt.NDArray[np.uint32]
Thresholds = npt.NDArray[np.uint32]
_FillColumn = Callable[[Probabilities, Configurations, Codes], None]


class Sequential(Protocol):
    """A law that is sampled attribute by attribute: a model with a network, or the network."""

    @property
    def domain(self) -> Domain:
        """Return the attributes."""

    @property
    def conditionals(self) -> Sequence[Conditional]:
        """One for each attribute, parents before children; a kind that has none refuses."""

    @property
    def completions(self) -> Completions:
        """Return the rows that the constraints allow."""


@kernel
def _invert(
    thresholds: Thresholds, given: npt.NDArray[np.uint32], state: Words, codes: Codes
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


def sample_codes(law: Sequential, rows: int, generator: np.random.Generator) -> CodedRows:
    """Draw independent rows from a joint distribution, as codes in the schema's order."""
    state = generator.integers(1, 2**63, 4).astype(np.uint64)

    def draw(table: Probabilities, given: Configurations, codes: Codes) -> None:
        _invert(_thresholds(table), given, state, codes)

    return drawn_in_order(law, rows, draw)


def drawn_in_order(law: Sequential, rows: int, draw: _FillColumn) -> CodedRows:
    """Draw the codes of every attribute, parents first, no row against a constraint.

    Args:
        law: what to draw from.
        rows: how many rows.
        draw: fills in codes, given a table of chances and, for every row, which line of it holds.
    """
    codes: CodedRows = {}
    domain, standings = law.domain, Standings(law.completions, rows)
    for conditional in law.conditionals:
        child = conditional.family.child
        drawn = codes[child] = np.empty(rows, code_type(domain[child]))
        given = configurations(conditional.family.axes[:-1], codes, domain, rows)
        if conditional.within is None or standings.concern(child):
            draw(*standings.masked(child, conditional.lines(domain), given), drawn)
        else:
            _draw_within(conditional, domain, given, draw, drawn)
        standings.advance(child, drawn)
    return {attribute: codes[attribute] for attribute in domain}


@dataclass(frozen=True)
class Last:
    """Attributes that are drawn after all others, given codes of rows that were chosen.

    Attributes:
        names: the attributes; no other depends on them.
        rows: how many rows there are.
        fits: how well each code of some of these attributes fits, where that is known.
    """

    names: Attributes
    rows: int
    fits: Mapping[str, Probabilities] = field(default_factory=dict)


def sample_last(
    law: Sequential, codes: CodedRows, last: Last, generator: np.random.Generator
) -> CodedRows:
    """Draw attributes that none depends on, independently for each of some rows."""
    state = generator.integers(1, 2**63, 4).astype(np.uint64)

    def draw(table: Probabilities, given: Configurations, drawn: Codes) -> None:
        _invert(_thresholds(table), given, state, drawn)

    return drawn_last(law, codes, last, draw)


def drawn_last(law: Sequential, codes: CodedRows, last: Last, draw: _FillColumn) -> CodedRows:
    """Draw the codes of attributes that none depends on, given those of all others.

    Args:
        law: what to draw from.
        codes: of all other attributes; rows that can be completed.
        last: the attributes to draw.
        draw: fills in codes, as for all attributes in order.
    """
    found = {name: held for name, held in codes.items() if name not in last.names}
    rows = last.rows
    standings = Standings(law.completions, rows)
    for name, held in found.items():
        standings.advance(name, held)
    for conditional in (c for c in law.conditionals if c.family.child in last.names):
        child = conditional.family.child
        lines = conditional.lines(law.domain) * last.fits.get(child, 1.0)
        lines = Conditional.from_weights(Family("child", ("given",)), lines).probabilities
        given = configurations(conditional.family.axes[:-1], found, law.domain, rows)
        drawn = found[child] = np.empty(rows, code_type(law.domain[child]))
        draw(*standings.masked(child, lines, given), drawn)
        standings.advance(child, drawn)
    return {attribute: found[attribute] for attribute in law.domain}


def _draw_within(
    conditional: Conditional, domain: Domain, given: Configurations, draw: _FillColumn, drawn: Codes
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
        own = as_coarse(codes[domain.base(name)], name, domain)
        extend(numbers, own, domain[name])
    return numbers


def _thresholds(table: Probabilities) -> Thresholds:
    """Cumulative chances of all codes but the last; a code without a chance is never reached."""
    sums = table.cumsum(axis=1)
    # Whatever rounding does to the sums, the last possible code takes all that is left.
    sums = np.where(sums >= sums[:, -1:], 1.0, sums)
    return np.asarray(np.rint(sums[:, :-1] * _ONE), np.uint32)
