"""A plan: what would be asked, how noisy it would be, how near the rows would come, the cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from understudy.errors import UsageError
from understudy.facts.unit import Unit
from understudy.methods.planning.band import WAYS, Band
from understudy.methods.planning.need import Need, check_need, smallest_epsilon
from understudy.methods.planning.watching import Stage
from understudy.privacy.budget import Budget
from understudy.system.amounts import at_most, at_most_text
from understudy.system.notebooks import Card


@dataclass(frozen=True)
class Families:
    """Tables of several attributes at one budget.

    Attributes:
        most_cells: larger ones are not considered.
        price: the rows of dependence that a table must show for each of its cells.
        tables: how many were measured, on average over the rehearsals.
        largest: the most cells that any of them had.
    """

    most_cells: int
    price: float
    tables: float
    largest: int

    def document(self) -> dict[str, float]:
        """Make a JSON object of the families."""
        return {
            "most_cells": self.most_cells,
            "rows_per_cell": self.price,
            "tables": self.tables,
            "largest": self.largest,
        }


@dataclass(frozen=True)
class Outlook:
    """The forecast at one ε: a band for 1-, 2- and 3-way tables, None where too large."""

    epsilon: Fraction
    distances: tuple[Band | None, ...]

    @property
    def largest(self) -> str:
        """The tables of most columns that were compared, such as 3-way."""
        return [way for way, band in zip(WAYS, self.distances, strict=True) if band is not None][-1]

    def band(self, way: str) -> Band:
        """The forecast of one way, which must have been compared."""
        found = self.distances[WAYS.index(way)]
        if found is None:
            raise UsageError(f"the {way} tables of these columns are too large to be compared")
        return found

    def document(self) -> dict[str, Any]:
        """Make a JSON object of the outlook."""
        bands = zip(WAYS, self.distances, strict=True)
        return {
            "epsilon": at_most(self.epsilon),
            "epsilon_exact": str(self.epsilon),
            **{way: None if band is None else band.document() for way, band in bands},
        }


@dataclass(frozen=True)
class Resources:
    """An estimate for this machine: files are read and written on top of it."""

    fit_seconds: float
    sample_seconds: float
    row_bytes: int
    table_bytes: int
    pool_bytes: int = 0

    def document(self) -> dict[str, Any]:
        """Make a JSON object of the seconds and bytes."""
        return {
            "fit_seconds": self.fit_seconds,
            "sample_seconds": self.sample_seconds,
            "row_bytes": self.row_bytes,
            "table_bytes": self.table_bytes,
            "pool_bytes": self.pool_bytes,
        }


@dataclass(frozen=True)
class Plan:
    """A forecast of what a budget can support; it depends on public facts alone.

    Attributes:
        method: which method.
        rows: the declared number of rows.
        cells: of every attribute.
        budget: what may be spent.
        unit: whom the promise would protect.
        spendable: the budget in the measure that questions are paid in.
        stages: the questions; those after one about structure are as in a rehearsal.
        families: tables of several attributes; None for methods without.
        outlooks: by ε, the smallest first.
        cost: time and memory.
        rehearsed_rows: how many made-up rows the rehearsals had.
        rehearsals: how many made-up tables.
    """

    method: str
    rows: int
    cells: tuple[int, ...]
    budget: Budget
    unit: Unit
    spendable: Budget
    stages: tuple[Stage, ...]
    families: Families | None
    outlooks: tuple[Outlook, ...]
    cost: Resources
    rehearsed_rows: int
    rehearsals: int

    @property
    def expected(self) -> Outlook:
        """The forecast for the budget itself, and not for another ε."""
        return next(o for o in self.outlooks if o.epsilon == self.budget.amount)

    @property
    def error_basis(self) -> str:
        """Where the distances come from, in words."""
        times = self.rows // self.rehearsed_rows
        stretched = f" that stand for {times} each" if times > 1 else ""
        return (
            f"Simulation: the method was run on {self.rehearsals} made-up tables of these columns "
            f"with {self.rehearsed_rows:,} rows{stretched}, from columns that are uneven and "
            "strongly dependent to columns that are even and weakly dependent. About four of "
            "five public tables were inside the range in brackets; yours may lie outside."
            + (" That fewer rows scatter more is allowed for, roughly." if times > 1 else "")
        )

    @property
    def noise_basis(self) -> str:
        """Where the noise comes from, in words."""
        return (
            "Formula: the noise of a fit that finds this number of rows. What comes after "
            "a question about structure depends on the answer and is as in one simulation."
        )

    @property
    def cost_basis(self) -> str:
        """Where time and memory come from, in words."""
        return (
            "Estimate: seconds as in the simulations on this machine, counting and sampling "
            "scaled to the rows; bytes of coded rows, and of table cells with their copies. "
            "Reading and writing files comes on top."
        )

    def need(self, error: float, way: str | None = None) -> Need:
        """Read off the outlooks which ε is needed for an error.

        Args:
            error: the distance that is wanted, above 0 and at most 1.
            way: 1-way, 2-way or 3-way; the largest of them that was compared unless given.
        """
        check_need(error, way)
        known = [
            (float(o.epsilon), dict(zip(WAYS, o.distances, strict=True))) for o in self.outlooks
        ]
        compared = [each for each in WAYS if known[0][1][each] is not None]
        chosen = way or compared[-1]
        if chosen not in compared:
            raise UsageError(f"the {way} tables of these columns are too large to be compared")
        bands = [(epsilon, band) for epsilon, by_way in known if (band := by_way[chosen])]
        return Need(
            way=chosen,
            error=error,
            expected=smallest_epsilon([(e, band.expected) for e, band in bands], error),
            likely=smallest_epsilon([(e, band.likely[1]) for e, band in bands], error),
            most=bands[-1][0],
        )

    def share(self, stage: Stage) -> Fraction:
        """The part of the budget that a stage takes; stages as rehearsed take what is left."""
        later = [s for s in self.stages if self.depends_on_answers(s)]
        whole = self.spendable.amount
        left = whole - sum((self._cost(s) for s in self.stages if s not in later), Fraction(0))
        if stage in later:
            return left / whole * self._cost(stage) / sum(map(self._cost, later), Fraction(0))
        return self._cost(stage) / whole

    def _cost(self, stage: Stage) -> Fraction:
        return stage.cost(self.spendable.measure)

    def __repr__(self) -> str:
        shape = f"{self.rows:,} rows, {len(self.cells)} columns"
        spent = f"epsilon = {at_most_text(self.budget.amount)}"
        return f"Plan({self.method}: {shape}, {spent}, expected {self._distances(self.expected)})"

    def _distances(self, outlook: Outlook) -> str:
        bands = zip(WAYS, outlook.distances, strict=True)
        return ", ".join(f"{way} {band.expected:.3f}" for way, band in bands if band is not None)

    def _repr_html_(self) -> str:
        facts = {
            "method": self.method,
            "declared": f"{self.rows:,} rows, {len(self.cells)} columns",
            "budget": f"epsilon = {at_most_text(self.budget.amount)}",
            "fit": f"about {self.cost.fit_seconds:.1f} s",
        }
        ahead = [("epsilon", "expected distance of the synthetic rows")]
        ahead += [(at_most_text(o.epsilon), self._distances(o)) for o in self.outlooks]
        return Card("Plan: nothing is read or spent", self.error_basis, [facts, ahead]).html()

    def document(self) -> dict[str, Any]:
        """The plan for JSON: numbers as numbers, exact fractions beside them as texts."""
        return {
            "method": self.method,
            "rows": self.rows,
            "columns": len(self.cells),
            "epsilon": at_most(self.budget.amount),
            "epsilon_exact": str(self.budget.amount),
            "delta": at_most(self.budget.delta),
            "delta_exact": str(self.budget.delta),
            "unit": self.unit.label,
            "neighbours": str(self.unit.neighbours),
            "stages": [self._staged(stage) for stage in self.stages],
            "families": self.families and self.families.document(),
            "error": self.expected.document(),
            "outlook": [outlook.document() for outlook in self.outlooks],
            "cost": self.cost.document(),
            "basis": {
                "noise": self.noise_basis,
                "error": self.error_basis,
                "cost": self.cost_basis,
            },
        }

    def _staged(self, stage: Stage) -> dict[str, Any]:
        share = self.share(stage)
        return {
            "stage": stage.name,
            "questions": stage.questions,
            "mechanism": stage.events[0].mechanism,
            "cells": sum(stage.cells),
            "largest": max(stage.cells, default=0),
            "share": float(share),
            "share_exact": str(share),
            "noise": {"least": min(stage.noise), "most": max(stage.noise)},
            "rehearsed": self.depends_on_answers(stage),
        }

    def depends_on_answers(self, stage: Stage) -> bool:
        """Whether what a stage asks depends on earlier answers."""
        place = self.stages.index(stage)
        return any(earlier.asks_structure for earlier in self.stages[:place])

    @property
    def one_way_noise(self) -> float | None:
        """The mean distance of one-way tables as they are first measured, before anything is done.

        Half the expected sum of |noise| over the cells, as a share of the rows; cells do not go
        below nothing and tables are made to agree, so what remains is less. None where a method
        measures none.
        """
        first = next((s for s in self.stages if s.cells == self.cells), None)
        if first is None:
            return None
        half_mean = 1 / math.sqrt(8 if "laplace" in first.events[0].mechanism else 2 * math.pi)
        off = sum(c * s * half_mean for c, s in zip(first.cells, first.noise, strict=True))
        return off / len(self.cells) / self.rows
