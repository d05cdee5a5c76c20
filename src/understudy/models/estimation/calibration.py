"""Conditionals that return the one-way tables: what was measured of a column comes back in rows.

Parents that no table holds together have another joint distribution in the network than in the
rows, and the child's own distribution would drift with it. So each conditional is raked, parents
first, with the distribution that the network itself gives its parents. That distribution is read
off rows of the network, which are free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Domain
from understudy.models.conditional import Conditional
from understudy.models.distribution import CodedRows
from understudy.models.sampling.forward import Configurations, configurations
from understudy.models.sampling.without_replacement import deal
from understudy.system.arrays import Floats, Probabilities

# More rows show the parents' distribution more closely; so many take a few milliseconds a column.
CALIBRATING_ROWS = 2**18
_PASSES = 50
_NEARLY = 1e-7


def calibrated(
    conditionals: Sequence[Conditional],
    one_way: Mapping[str, Floats],
    domain: Domain,
    *,
    rows: int = CALIBRATING_ROWS,
) -> tuple[Conditional, ...]:
    """Conditionals whose rows have the given one-way tables, as little changed as that allows.

    The rows that are drawn here follow from the conditionals: the seed is a constant.

    Args:
        conditionals: of a whole network, parents before children.
        one_way: the table of every child, by the name it has in its family.
        domain: knows the coarser copies of attributes.
        rows: how many rows show the parents' distribution.
    """
    generator = np.random.default_rng(0)
    codes: CodedRows = {}
    found = []
    for conditional in conditionals:
        given = configurations(conditional.family.axes[:-1], codes, domain, rows)
        if len(conditional.family.parents) > 1:
            conditional = _raked(conditional, given, one_way[conditional.family.axes[-1]])
        codes[conditional.family.child] = _drawn(conditional, given, domain, generator)
        found.append(conditional)
    return tuple(found)


def _raked(conditional: Conditional, given: Configurations, one_way: Floats) -> Conditional:
    """The conditional whose child has its one-way table where parents are distributed as given.

    Lines and columns are scaled in turn (Deming, Stephan 1940). Parents that are not seen keep
    their lines.
    """
    lines = conditional.probabilities.reshape(-1, conditional.probabilities.shape[-1])
    total = float(one_way.sum())
    if total <= 0:
        return conditional
    weights = np.bincount(given, minlength=len(lines)) / given.size
    seen = np.flatnonzero(weights)
    table = _scaled(lines[seen], weights[seen], one_way / total)
    raked = lines.copy()
    raked[seen] = table
    return replace(conditional, probabilities=raked.reshape(conditional.probabilities.shape))


def _scaled(lines: Probabilities, weights: Probabilities, wanted: Probabilities) -> Probabilities:
    for _ in range(_PASSES):
        columns = weights @ lines
        if np.abs(columns - wanted).sum() < _NEARLY:
            break
        ratio = np.divide(wanted, columns, out=np.zeros_like(wanted), where=columns > 0)
        scaled = lines * ratio
        sums = scaled.sum(axis=1, keepdims=True)
        lines = np.divide(scaled, sums, out=lines.copy(), where=sums > 0)
    return lines


def _drawn(
    conditional: Conditional,
    given: Configurations,
    domain: Domain,
    generator: np.random.Generator,
) -> Codes:
    """Codes of a child for every row, its group first where the conditional speaks of groups."""
    child, name = conditional.family.child, conditional.family.axes[-1]
    lines = conditional.probabilities.reshape(-1, conditional.probabilities.shape[-1])
    codes: Codes = np.empty(given.size, code_type(lines.shape[-1]))
    deal(lines, given, codes, generator)
    if conditional.within is None:
        return codes
    within = np.eye(domain[name])[:, domain.coarser[name].groups] * conditional.within
    fine: Codes = np.empty(given.size, code_type(domain[child]))
    deal(within, codes.astype(np.uint32), fine, generator)
    return fine
