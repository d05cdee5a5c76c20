"""The smoothed histogram: a few rows, each drawn from the table or from all rows there could be.

Source: AAU section 3.1. Every row drawn costs, so the rows are drawn once, while fitting, and the
model holds them; drawing more would need more budget.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from understudy.counting import CountSource, NumbersRows
from understudy.domain import Attributes, Domain
from understudy.engines.capacity import ensure_rows_fit
from understudy.errors import UsageError
from understudy.marginal import Counts
from understudy.model import Records
from understudy.privacy.budget import Amount, Budget, Measure
from understudy.privacy.curator import Curator
from understudy.privacy.histogram import SmoothedHistogram
from understudy.privacy.unit import Neighbours, Unit
from understudy.schema import Schema
from understudy.synthesizers.base import Learned, Synthesizer
from understudy.table import code_type

# A number of 62 bits holds the cell of as many attributes as their sizes allow.
_MOST_CELLS = 2**62


class Histogram(Synthesizer):
    """Draws rows from the table's own histogram, smoothed so far as the budget requires.

    Args:
        schema: what may stand in each column.
        epsilon: as for every synthesizer; it is shared by all rows drawn.
        delta: 0; the method promises pure ε.
        neighbours: replace, the only relation its formula holds for.
        rows: how many rows are drawn; as many as the table has unless given. The fewer, the
            more of them come from the table.

    Example:
        >>> from understudy.schema import Schema
        >>> schema = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
        >>> rows = {"smoker": [True, False] * 500}
        >>> fitted = Histogram(schema, epsilon=1, rows=5).fit(rows, ledger=None)
        >>> fitted.sample().num_rows
        5
    """

    method: ClassVar[str] = "histogram"
    default_neighbours: ClassVar[Neighbours] = Neighbours.REPLACE

    def __init__(
        self,
        schema: Schema,
        *,
        epsilon: Amount | Budget,
        delta: Amount = 0,
        neighbours: Neighbours | str | None = None,
        person_id: str | None = None,
        rows_per_person: int | None = None,
        rows: int | None = None,
    ) -> None:
        super().__init__(
            schema,
            epsilon=epsilon,
            delta=delta,
            neighbours=neighbours,
            person_id=person_id,
            rows_per_person=rows_per_person,
        )
        self.rows = rows

    @property
    def budget(self) -> Budget:
        """The whole budget of a fit: pure."""
        budget = super().budget
        if budget.measure is Measure.APPROXIMATE:
            raise UsageError("histogram promises pure epsilon and takes no delta; leave it out")
        return budget

    @property
    def is_free(self) -> bool:
        """No rows cost nothing."""
        return self.rows == 0

    def check(self) -> None:
        """Refuse parameters that cannot work, other relations than replace among them."""
        super().check()
        if self.unit != Unit(Neighbours.REPLACE):
            raise UsageError(
                f"histogram has no bound for a {self.unit.label} under {self.unit.neighbours}; "
                "use single rows under replace, or another method"
            )
        if self.schema.constraints:
            raise UsageError(
                "histogram hands out rows as they were drawn and keeps no constraints; "
                "use another method, or leave them out"
            )
        if self.rows is not None and self.rows < 0:
            raise UsageError(f"rows is {self.rows}; ask for none or more")

    def learn(self, curator: Curator) -> Learned:
        """Number the rows' cells, draw from the mixture, and keep what was drawn."""
        table_rows = curator.public_rows or 0
        draws = table_rows if self.rows is None else self.rows
        sets = in_words(curator.domain)
        mechanism = self._mechanism(curator, sets, table_rows, draws)
        if mechanism is None:
            return Learned(
                (), 0, unpacked(np.empty((0, len(sets)), np.int64), sets, curator.domain)
            )
        drawn = curator.release(
            mechanism,
            lambda source: _numbered(source, sets),
            name=f"{draws:,} rows of the smoothed histogram",
        )
        return Learned((), draws, unpacked(drawn, sets, curator.domain))

    def _mechanism(
        self, curator: Curator, sets: list[Attributes], table_rows: int, draws: int
    ) -> SmoothedHistogram | None:
        """What to draw with, or nothing for no rows; what cannot work is refused unpaid."""
        if draws == 0:
            return None
        if not curator.can_number_rows:
            raise UsageError(
                "histogram draws whole rows, and this source only counts them; "
                "export the table to a .parquet file, or use another method"
            )
        ensure_rows_fit(table_rows, sets)
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


def unpacked(lines: Counts, sets: list[Attributes], domain: Domain) -> Records:
    """The codes of rows whose cells in the tables of some sets are known."""
    codes: Records = {}
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
