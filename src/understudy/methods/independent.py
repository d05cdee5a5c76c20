"""Independent attributes: every column right on its own, no column aware of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from understudy.methods.base import Synthesizer
from understudy.methods.estimation.allocation import least_error_weights
from understudy.methods.estimation.learned import Learned
from understudy.methods.estimation.parameters import estimated, one_way_tables
from understudy.models.network import Network
from understudy.privacy.curator import Curator
from understudy.privacy.spending.pricing import GaussianRounds, Pricing


@dataclass(kw_only=True, eq=False, repr=False)
class Independent(Synthesizer):
    """Measures every attribute's own counts and draws attributes independently.

    Example:
        >>> from understudy.facts.schema import Schema
        >>> schema = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
        >>> rows = {"smoker": [True, False] * 500}
        >>> synthesizer = Independent(schema, epsilon=1).fit(rows, ledger=None)
        >>> synthesizer.sample(3, seed=1).column_names
        ['smoker']
    """

    method: ClassVar[str] = "independent"
    summary: ClassVar[str] = "each column's own counts; columns are drawn independently"

    @property
    def pricing(self) -> Pricing:
        """The Gaussian curve: only tables are asked for."""
        return GaussianRounds()

    def learn(self, curator: Curator) -> Learned:
        """One table for each attribute, the budget shared so that the summed error is least."""
        tables = one_way_tables(curator.domain)
        cells = [curator.domain.cells(table) for table in tables]
        weights = least_error_weights(cells, curator.budget.measure)
        marginals = curator.measure(tables, curator.budget, weights=weights)
        network = Network.without_edges(curator.domain.attributes)
        return estimated(curator, network, marginals, self.schema)
