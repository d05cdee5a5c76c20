"""PrivBayes under (ε, δ), as in the 2018 NIST challenge: noisy pair scores, Gaussian tables.

Source: Bao, Xiao, Zhao, Zhang, Ding 2021. Where this differs: cells have a price instead of a cap,
one-way tables are measured too, and the closure under intersection is not left out.
"""

from __future__ import annotations

from typing import ClassVar

from understudy.errors import UsageError
from understudy.privacy.budget import Budget, Measure
from understudy.synthesizers.network import NetworkSynthesizer


class Nist(NetworkSynthesizer):
    """A Bayesian network under (ε, δ); by default add-remove neighbours and pair scores.

    Example:
        >>> from understudy.schema import Schema
        >>> yes_or_no = {"kind": "boolean"}
        >>> schema = Schema.parse({"columns": {"smoker": yes_or_no, "coughs": yes_or_no}})
        >>> rows = {"smoker": [True, False] * 500, "coughs": [True, False] * 500}
        >>> Nist(schema, epsilon=1, delta=1e-6).fit(rows, ledger=None).model_.network.degree
        1
    """

    method: ClassVar[str] = "nist"
    default_structure = "pairwise"

    @property
    def budget(self) -> Budget:
        """The whole budget of a fit: (ε, δ)."""
        budget = super().budget
        if budget.measure is Measure.PURE:
            raise UsageError("nist needs a delta above 0, such as 1e-9; use privbayes without")
        return budget
