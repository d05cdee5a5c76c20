"""Advice on protocols from public numbers: from which ε on statistics beat votes.

Source: TUC-1 Theorem 3.5, as `entropy_error` has it. The true shares of cells are private, so that
even ones stand for them. The theorem says where noise matters as little as the sample does, which
is far above the ε at which statistics begin to beat votes: votes suffer from noise as well. How
much bias is too much is therefore read from the study tuc1-federated, which a test compares.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.federated.analyst.entropy_error import least_epsilon
from understudy.federated.analyst.plan import Collaboration
from understudy.federated.terms import ProtocolName
from understudy.privacy.budget import Measure

# In nats, for even shares: the noise of a cell is then half of the cell. In the study
# tuc1-federated statistics need fewer bits than votes up to 0.09 and more from 0.28 on.
_LARGEST_BIAS = 1 / 8
# Beyond this many tables nobody asks for all of them, and a middling one takes long to find.
_MOST_TABLES = 100_000


@dataclass(frozen=True)
class ProtocolAdvice:
    """Which of two protocols does better, by public numbers, before anything is asked or spent.

    Attributes:
        holders: how many have a part of the rows each.
        degree: the most parents of an attribute.
        epsilon: from which on statistics do better than votes, about; None where nothing is known.
    """

    holders: int
    degree: int
    epsilon: float | None

    @classmethod
    def of(cls, schema: Schema, *, degree: int, rows: int, holders: int) -> ProtocolAdvice:
        """The advice for the columns of a schema.

        Example:
            >>> columns = {name: {"kind": "boolean"} for name in "abcdefg"}
            >>> schema = Schema.parse({"columns": columns})
            >>> ProtocolAdvice.of(schema, degree=1, rows=40_000, holders=3).sentence
            'Among 3 holders statistics do better than votes from about epsilon = 0.021 on.'
        """
        if holders < 1:
            raise UsageError(f"holders is {holders}; give 1 or more")
        domain = Domain.of(schema)
        epsilon = statistics_threshold(domain, degree=degree, rows=rows, holders=holders)
        return cls(holders, degree, epsilon)

    @property
    def sentence(self) -> str:
        """Return the advice in words."""
        if self.epsilon is None:
            return f"Nothing is known of statistics and votes among {self.holders} holders here."
        return (
            f"Among {self.holders} holders statistics do better than votes from about epsilon = "
            f"{self.epsilon:.2g} on."
        )

    def document(self) -> dict[str, float | int | None]:
        """Return the advice for JSON."""
        return {
            "holders": self.holders,
            "degree": self.degree,
            "statistics_from_epsilon": self.epsilon,
        }


def epsilon_for_statistics(plan: Collaboration, *, rows: int, holders: int) -> float | None:
    """The ε from which on statistics of all holders do better than their votes, about.

    None where the theory says nothing: for Gaussian noise, one attribute, or no rows.
    """
    if plan.spendable.measure is not Measure.PURE:
        return None
    return statistics_threshold(plan.domain, degree=plan.subset_degree, rows=rows, holders=holders)


def statistics_threshold(domain: Domain, *, degree: int, rows: int, holders: int) -> float | None:
    """The ε at which noise biases the entropy of a middling table by an eighth of a nat."""
    ways = degree + 1
    few = len(domain) < ways or ways < 2 or rows < 1 or holders < 1
    if few or math.comb(len(domain), ways) > _MOST_TABLES:
        return None
    sizes = [domain.cells(names) for names in combinations(domain.attributes, ways)]
    cells = max(round(statistics.median(sizes)), 2)
    return least_epsilon(
        np.full(cells, 1 / cells),
        rows=rows,
        holders=holders,
        attributes=len(domain),
        degree=degree,
        bias=_LARGEST_BIAS,
    )


def statistics_remark(plan: Collaboration, *, rows: int, holders: int) -> str | None:
    """Say from which ε on statistics are worth it, where they were asked for below it."""
    if plan.protocol is not ProtocolName.STATISTICS:
        return None
    least = epsilon_for_statistics(plan, rows=rows, holders=holders)
    if least is None or float(plan.budget.amount) >= least:
        return None
    return (
        f"the noise of {holders} holders' tables is more than {rows:,} rows can bear below about "
        f"epsilon = {least:.2g}; at epsilon = {float(plan.budget.amount):.2g} --protocol votes may "
        "do better"
    )
