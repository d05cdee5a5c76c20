"""The smoothed histogram: a few rows, each drawn from the table or from all rows there could be.

Source: AAU section 3.1. Every row drawn costs, so the rows are drawn once, while fitting, and the
model holds them; drawing more would need more budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from understudy.errors import UsageError
from understudy.facts.capacity import ensure_draws_fit, ensure_rows_fit
from understudy.facts.codes import code_type
from understudy.facts.domain import Attributes, Domain
from understudy.facts.unit import Neighbours
from understudy.methods.abilities import Abilities
from understudy.methods.base import Synthesizer
from understudy.methods.estimation.learned import Learned
from understudy.models.distribution import CodedRows
from understudy.models.model import Model
from understudy.models.records import ReleasedRecords
from understudy.privacy.accounting.events import SmoothedHistogramEvent
from understudy.privacy.curator import Curator
from understudy.privacy.mechanisms.histogram import SmoothedHistogram
from understudy.rows.counting import Counts, CountSource, NumbersRows

# A number of 62 bits holds the cell of as many attributes as their sizes allow.
_MOST_CELLS = 2**62


@dataclass(kw_only=True, eq=False, repr=False)
class Histogram(Synthesizer):
    """Draws rows from the table's own histogram, smoothed so far as the budget requires.

    Args:
        schema: the values that each column may hold.
        epsilon: as for every synthesizer; it is shared by all rows drawn.
        delta: 0; the method promises pure ε.
        neighbours: replace, the only relation its formula holds for.
        rows: how many rows are drawn; as many as the table has unless given. The fewer, the
            more of them come from the table.

    Example:
        >>> from understudy.facts.schema import Schema
        >>> schema = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
        >>> rows = {"smoker": [True, False] * 500}
        >>> fitted = Histogram(schema, epsilon=1, rows=5).fit(rows, ledger=None)
        >>> fitted.sample().num_rows
        5
    """

    method: ClassVar[str] = "histogram"
    summary: ClassVar[str] = (
        "nothing: it releases rows, each drawn from the table or from anywhere, as many as ε pays "
        "for"
    )
    abilities: ClassVar[Abilities] = Abilities(
        other_neighbours=False,
        persons=False,
        approximate=False,
        other_budget="leave it out",
        constraints=False,
        options=("rows",),
        releases_rows=True,
    )
    default_neighbours: ClassVar[Neighbours] = Neighbours.REPLACE

    rows: int | None = None

    @property
    def is_free(self) -> bool:
        """No rows cost nothing."""
        return self.rows == 0

    def check(self) -> None:
        """Refuse parameters that cannot work, before anything is read."""
        super().check()
        if self.rows is not None and self.rows < 0:
            raise UsageError(f"rows is {self.rows}; ask for none or more")
        ensure_draws_fit(self.rows or 0, in_words(Domain.of(self.schema)))

    @classmethod
    def remarks(cls, model: Model) -> list[str]:
        """How many rows came from the table."""
        drawn = model.rows * (1 - _smoothing(model))
        return [f"about {drawn:,.1f} rows were drawn from the table, the others from anywhere"]

    @property
    def needs_rows(self) -> str:
        """Whole rows are drawn from the table."""
        return (
            "histogram draws whole rows, and this source only counts them; "
            "export the table to a .parquet file, or use another method"
        )

    def learn(self, curator: Curator) -> Learned:
        """Number the rows' cells, draw from the mixture, and keep what was drawn."""
        table_rows = curator.public_rows or 0
        draws = table_rows if self.rows is None else self.rows
        sets = in_words(curator.domain)
        mechanism = self._mechanism(curator, sets, table_rows, draws)
        drawn = np.empty((0, len(sets)), np.int64)
        if mechanism is not None:
            name = f"{draws:,} rows of the smoothed histogram"
            drawn = curator.release(mechanism, lambda source: _numbered(source, sets), name=name)
        records = ReleasedRecords(curator.domain, unpacked(drawn, sets, curator.domain))
        return Learned(records, draws)

    def _mechanism(
        self, curator: Curator, sets: list[Attributes], table_rows: int, draws: int
    ) -> SmoothedHistogram | None:
        """Choose the mechanism, or None for no rows; what cannot work is refused unpaid."""
        if draws == 0:
            return None
        if not curator.can_number_rows:
            raise UsageError(self.needs_rows)
        ensure_rows_fit(table_rows, sets)
        ensure_draws_fit(draws, sets)
        cells = tuple(curator.domain.cells(attributes) for attributes in sets)
        mechanism = SmoothedHistogram.costing(
            curator.budget, cells=cells, table_rows=table_rows, draws=draws
        )
        if mechanism.smoothing == 1 and table_rows:
            raise UsageError(
                f"{draws:,} rows at {curator.budget} from a domain of 10^"
                f"{math.log10(math.prod(cells)):.0f} combinations would hold nothing of the "
                "table; ask for fewer rows, use fewer columns or bins, or raise epsilon"
            )
        return mechanism


def _smoothing(model: Model) -> float:
    """How far a model's histogram was smoothed; wholly where nothing was drawn."""
    events = (charge.event for charge in model.statement.charges)
    return next((float(e.smoothing) for e in events if isinstance(e, SmoothedHistogramEvent)), 1.0)


def in_words(domain: Domain) -> list[Attributes]:
    """The attributes in order, in as few sets as have their cells numbered in 62 bits each."""
    sets: list[Attributes] = [()]
    for attribute in domain:
        wider = (*sets[-1], attribute)
        if domain.cells(wider) <= _MOST_CELLS:
            sets[-1] = wider
        else:
            sets.append((attribute,))
    return sets


def unpacked(lines: Counts, sets: list[Attributes], domain: Domain) -> CodedRows:
    """The codes of rows whose cells in the tables of some sets are known."""
    codes: CodedRows = {}
    for place, attributes in enumerate(sets):
        found = np.unravel_index(lines[:, place], domain.shape(attributes))
        codes |= {
            attribute: column.astype(code_type(domain[attribute]))
            for attribute, column in zip(attributes, found, strict=True)
        }
    return codes


def _numbered(source: CountSource, sets: list[Attributes]) -> Counts:
    assert isinstance(source, NumbersRows)
    return source.number_rows(sets)
