"""Released tables: compare the average count of a cell with its noise, from public numbers.

The question of a charge names the table it is about; both directions of that are here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from understudy.facts.domain import Attributes, Domain
from understudy.privacy.accounting.events import (
    Charge,
    Event,
    ExactEvent,
    FineGaussianEvent,
    GaussianEvent,
    LaplaceEvent,
)
from understudy.privacy.mechanisms.additive import (
    DiscreteGaussian,
    DiscreteLaplace,
    FineGaussian,
)

ROW_COUNT = "number of rows"
_TABLE, _TIMES = "counts of ", " × "
_MOST_ATTRIBUTES = 64
# PrivBayes and its successors ask that an average cell be four times its noise.
_CLEAR, _FAINT = 4.0, 1.0
# Standard deviations that hold 95 % of noise: Φ⁻¹(0.975), and ln 20 / √2 of Laplace noise.
_GAUSSIAN_MARGIN, _LAPLACE_MARGIN = 1.959964, math.log(20) / math.sqrt(2)


def table_question(attributes: Sequence[str]) -> str:
    """The question that asks for a table; () is the number of rows."""
    return f"{_TABLE}{_TIMES.join(attributes)}" if attributes else ROW_COUNT


def attributes_asked(question: str, domain: Domain) -> Attributes | None:
    """The attributes of the table that a question names; None where it does not name just one."""
    if question == ROW_COUNT:
        return ()
    parts = question.removeprefix(_TABLE).split(_TIMES)
    if not question.startswith(_TABLE) or len(parts) > _MOST_ATTRIBUTES:
        return None
    readings = [*islice(_readings(parts, domain), 2)]
    return readings[0] if len(readings) == 1 else None


def _readings(parts: Sequence[str], domain: Domain) -> Iterator[Attributes]:
    """Every way to read names, which may hold the sign between them too."""
    if not parts:
        yield ()
    for count in range(1, len(parts) + 1):
        name = _TIMES.join(parts[:count])
        if name in domain.sizes or name in domain.coarser:
            yield from ((name, *rest) for rest in _readings(parts[count:], domain))


@dataclass(frozen=True, kw_only=True)
class ReleasedTable:
    """A table that was released, and how well it can be read.

    Attributes:
        charge: what was asked, and what noise was drawn.
        attributes: of the table; none for the number of rows.
        cells: how many it has.
        average: rows in a cell on average, from the rows that the model makes.
        noise: the standard deviation of a cell's noise.
        averaged: whether several tables were averaged.
    """

    charge: Charge
    attributes: Attributes
    cells: int
    average: float
    noise: float
    averaged: bool = False

    @property
    def margin(self) -> float:
        """How far noise moves a cell at most, 95 times in 100, in rows."""
        laplace = isinstance(self.charge.event, LaplaceEvent) and not self.averaged
        return self.noise * (_LAPLACE_MARGIN if laplace else _GAUSSIAN_MARGIN)

    @property
    def ratio(self) -> float:
        """The average beside the noise; infinite where there is none."""
        return self.average / self.noise if self.noise else math.inf

    @property
    def word(self) -> str:
        """Whether a cell stands out of its noise."""
        if self.ratio >= _CLEAR:
            return "clear"
        return "faint" if self.ratio >= _FAINT else "drowned"

    def document(self) -> dict[str, Any]:
        """The table for JSON; a ratio to no noise is null."""
        return {
            "attributes": list(self.attributes),
            "cells": self.cells,
            "noise": self.noise,
            "margin": self.margin,
            "average": self.average,
            "ratio": self.ratio if math.isfinite(self.ratio) else None,
            "reads": self.word,
        }


def together(tables: Sequence[ReleasedTable]) -> ReleasedTable:
    """One table for several of the same attributes, with the noise of their best average.

    Averaged by the inverse of their variances, cells have the variance 1 / Σ (1 / noise²).
    """
    first = replace(tables[0], averaged=len(tables) > 1)
    if any(table.noise == 0 for table in tables):
        return replace(first, noise=0.0)
    return replace(first, noise=sum(table.noise**-2 for table in tables) ** -0.5)


def released_table(charge: Charge, domain: Domain, rows: int) -> ReleasedTable | None:
    """The table that a charge paid for, at a number of rows; None where it was not a table."""
    attributes, noise = attributes_asked(charge.question, domain), noise_of(charge.event)
    if attributes is None or noise is None:
        return None
    cells = domain.cells(attributes)
    return ReleasedTable(
        charge=charge, attributes=attributes, cells=cells, average=rows / cells, noise=noise
    )


def noise_of(event: Event) -> float | None:
    """The standard deviation of the noise on a cell; None where a cell has no noise of its own."""
    match event:
        case LaplaceEvent():
            return math.sqrt(DiscreteLaplace(event.scale, event.sensitivity).variance)
        case GaussianEvent():
            mechanism = DiscreteGaussian(event.sigma_squared, event.sensitivity_squared)
            return math.sqrt(mechanism.variance)
        case FineGaussianEvent(sigma_squared, sensitivity_squared, moved, finer):
            fine = FineGaussian(sigma_squared, sensitivity_squared, int(moved), int(finer))
            return math.sqrt(fine.variance)
        case ExactEvent():
            return 0.0
        case _:
            return None
