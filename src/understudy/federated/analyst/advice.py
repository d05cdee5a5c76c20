"""Advice on protocols from public numbers: from which ε on statistics beat votes.

Source: TUC-1 Theorem 3.5, as `entropy_error` has it. The true shares of cells are private, so that
even ones stand for them; uneven ones need more.
"""

from __future__ import annotations

import statistics
from itertools import combinations

import numpy as np

from understudy.federated.analyst.entropy_error import least_epsilon
from understudy.federated.analyst.plan import Collaboration
from understudy.federated.terms import ProtocolName
from understudy.privacy.budget import Measure


def epsilon_for_statistics(plan: Collaboration, *, rows: int, holders: int) -> float | None:
    """The ε from which on the noise of summed tables biases entropies less than few rows do.

    None where the theory says nothing: for Gaussian noise, one attribute, or no rows.
    """
    domain, ways = plan.domain, plan.subset_degree + 1
    if plan.spendable.measure is not Measure.PURE or len(domain) < ways or ways < 2 or rows < 1:
        return None
    sizes = [domain.cells(names) for names in combinations(domain.attributes, ways)]
    cells = max(round(statistics.median(sizes)), 2)
    return least_epsilon(
        np.full(cells, 1 / cells),
        rows=rows,
        holders=holders,
        attributes=len(domain),
        degree=plan.subset_degree,
    )


def statistics_remark(plan: Collaboration, *, rows: int, holders: int) -> str | None:
    """Say from which ε on statistics are worth it, where they were asked for below it."""
    if plan.protocol is not ProtocolName.STATISTICS:
        return None
    least = epsilon_for_statistics(plan, rows=rows, holders=holders)
    if least is None or float(plan.budget.amount) >= least:
        return None
    return (
        f"the noise of {holders} holders' tables outweighs what {rows:,} rows leave open up to "
        f"epsilon = {least:.2g}; below that --protocol votes may do better"
    )
