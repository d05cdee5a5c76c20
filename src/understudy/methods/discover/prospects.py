"""Judge a learned schema before a fit spends the rest, from released numbers only.

All that is looked at is the schema, the noisy counts that it was learned from, and the budget that
is left. So the decision is post-processing, and costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from understudy.facts.column import CategoricalColumn, Column
from understudy.facts.schema import Schema
from understudy.facts.unit import Unit
from understudy.facts.unlisted import CATCH_ALL
from understudy.privacy.accounting.conversions import rho_within
from understudy.privacy.budget import Amount, exact

# Of the columns that were learned: how many may be of no use.
_MOST_USELESS = 1 / 2
# The distance between a column and its noisy table, from 0 to 1, up to which a fit is worth it.
_MOST_NOISE = 1 / 4


@dataclass(frozen=True)
class Prospects:
    """The expected result of a fit under a learned schema.

    Attributes:
        schema: what was learned.
        unseen: columns of numbers or dates whose range showed mere noise.
        rows: about how many rows there are, by the noisy counts of the schema.
    """

    schema: Schema
    unseen: tuple[str, ...]
    rows: float

    @property
    def nameless(self) -> tuple[str, ...]:
        """The columns of which no value was released, so that all cells are `other`."""
        columns = self.schema.columns
        return tuple(name for name in self.schema.learned if is_all_other(columns[name]))

    @property
    def useless(self) -> tuple[str, ...]:
        """The columns that would come out as noise or as a single value."""
        return (*self.nameless, *self.unseen)

    @property
    def lacks_columns(self) -> bool:
        """Whether more than half of the columns are useless, or all of several of texts."""
        columns = self.schema.columns
        texts = [n for n in self.schema.learned if isinstance(columns[n], CategoricalColumn)]
        no_text = len(texts) > 1 and len(self.nameless) == len(texts)
        return no_text or len(self.useless) > _MOST_USELESS * len(self.schema.learned)

    def noise(self, epsilon: Amount, delta: Amount, unit: Unit) -> float:
        """How far the middle column is from its noisy table if columns alone are measured.

        Half of the L1 distance: k cells of deviation σ have E|Z| = σ·√(2/π) each. Every one of d
        tables gets a d-th of ρ.
        """
        rho = rho_within(exact(epsilon, what="epsilon"), exact(delta, what="delta"))
        sizes = list(self.schema.attributes.values())
        if not sizes or rho == 0 or self.rows <= 0:
            return math.inf
        deviation = math.sqrt(len(sizes) * unit.count_l2_squared / (2 * float(rho)))
        return median(sizes) * deviation * math.sqrt(2 / math.pi) / (2 * self.rows)

    def lacks_rows(self, epsilon: Amount, delta: Amount, unit: Unit) -> bool:
        """Whether noise alone would move a quarter of a column's rows."""
        return self.noise(epsilon, delta, unit) > _MOST_NOISE


def is_all_other(column: Column) -> bool:
    """Whether no value of a column was released, so that a single one stands for all."""
    return isinstance(column, CategoricalColumn) and column.values == (CATCH_ALL,)
