"""PrivBayes under (ε, δ), as in the 2018 NIST challenge: noisy pair scores, Gaussian tables.

Source: Bao, Xiao, Zhao, Zhang, Ding 2021. Where this differs: cells have a price instead of a cap,
parents beyond the first are scored given those that are there, one-way tables are measured too and
come back in the rows, and the closure under intersection is not left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from understudy.methods.abilities import Abilities
from understudy.methods.network import NetworkSynthesizer
from understudy.privacy.spending.pricing import Adaptive, GaussianRounds, Pricing


@dataclass(kw_only=True, eq=False, repr=False)
class Nist(NetworkSynthesizer):
    """A Bayesian network under (ε, δ); by default add-remove neighbours and pair scores.

    Example:
        >>> from understudy.facts.schema import Schema
        >>> yes_or_no = {"kind": "boolean"}
        >>> schema = Schema.parse({"columns": {"smoker": yes_or_no, "coughs": yes_or_no}})
        >>> rows = {"smoker": [True, False] * 500, "coughs": [True, False] * 500}
        >>> Nist(schema, epsilon=1, delta=1e-6).fit(rows, ledger=None).model_.network.degree
        1
    """

    method: ClassVar[str] = "nist"
    summary: ClassVar[str] = (
        "a Bayesian network under (ε, δ): noisy scores of all pairs, Gaussian noise on tables"
    )
    abilities: ClassVar[Abilities] = replace(
        NetworkSynthesizer.abilities, pure=False, other_budget="use privbayes without"
    )
    # 2: further parents are scored given those that are there, and tables are made consistent
    # until no cell is negative. 3: up to nine parents, judged by their pairs where noise hides
    # what they add.
    law: ClassVar[int] = 3
    default_structure: ClassVar[str] = "pairwise"

    @property
    def pricing(self) -> Pricing:
        """The Gaussian curve, unless families are chosen one by one: a choice is outside it."""
        return Adaptive() if self.resolved.learner == "greedy" else GaussianRounds()
