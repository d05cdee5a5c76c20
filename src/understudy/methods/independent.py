"""Independent attributes: every column right on its own, no column aware of another."""

from __future__ import annotations

from typing import ClassVar

from understudy.learn.allocation import least_error_weights
from understudy.learn.consistency import best_total
from understudy.learn.parameters import conditionals, one_way_tables
from understudy.network import Network
from understudy.privacy.curator import Curator
from understudy.synthesizers.base import Learned, Synthesizer


class Independent(Synthesizer):
    """Measures every attribute's own counts and draws attributes independently.

    Example:
        >>> from understudy.schema import Schema
        >>> schema = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
        >>> rows = {"smoker": [True, False] * 500}
        >>> synthesizer = Independent(schema, epsilon=1).fit(rows, ledger=None)
        >>> synthesizer.sample(3, seed=1).column_names
        ['smoker']
    """

    method: ClassVar[str] = "independent"

    def learn(self, curator: Curator) -> Learned:
        """One table for each attribute, the budget shared so that the summed error is least."""
        domain = curator.domain
        tables = one_way_tables(domain)
        cells = [domain.cells(table) for table in tables]
        weights = least_error_weights(cells, curator.budget.measure)

        budget = curator.announce(tables, weights)
        marginals = curator.measure(tables, budget, weights=weights)
        rows = curator.public_rows
        total = best_total(marginals) if rows is None else float(rows)
        network = Network.without_edges(domain.attributes)
        learned = conditionals(network, marginals, total, domain, self.schema.constraints)
        return Learned(learned, max(round(total), 0))
