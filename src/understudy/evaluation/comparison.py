"""The two tables of an evaluation, and what real rows alone would look like in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.evaluation.metric import Goal, Metric, Result, finite, mean_of
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.schema import Schema
from understudy.rows.table import Table

# Small tables scatter much and cost little: they are drawn several times.
_MOST_DRAWS = 5
_ROWS_DRAWN = 200_000


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Comparison:
    """Real and synthetic rows, with stand-ins of known worth beside them.

    Attributes:
        resampled: drawn from the real rows with replacement, as many as the synthetic ones: what
            sampling error alone does.
        independent: each of these again, with every column in an order of its own: what is left
            when all dependence is lost. Single columns are those of the resample, so that sampling
            error alone never puts the one before the other.

    Privacy: everything here is made of real rows and private.
    """

    schema: Schema
    real: EvaluationTable
    synthetic: EvaluationTable
    resampled: tuple[EvaluationTable, ...]
    independent: tuple[EvaluationTable, ...]
    seed: int

    @classmethod
    def of(
        cls, schema: Schema, real: EvaluationTable, synthetic: EvaluationTable, *, seed: int
    ) -> Comparison:
        """Two tables, and seeded draws beside them; none where there are no rows to draw from."""
        generator = np.random.default_rng([seed, 1])
        most = _ROWS_DRAWN // max(real.rows, synthetic.rows, 1)
        draws = max(1, min(most, _MOST_DRAWS)) if real.rows else 0
        resampled = [_resampled(real, synthetic.rows, generator) for _ in range(draws)]
        independent = [_shuffled(sheet, generator) for sheet in resampled]
        return cls(
            schema=schema,
            real=real,
            synthetic=synthetic,
            resampled=tuple(resampled),
            independent=tuple(independent),
            seed=seed,
        )

    @property
    def draws(self) -> int:
        """How many times either was drawn; results are means over them."""
        return len(self.resampled)

    @property
    def sheets(self) -> tuple[EvaluationTable, ...]:
        """All of them: real, synthetic, resampled, independent."""
        return (self.real, self.synthetic, *self.resampled, *self.independent)

    @property
    def tables(self) -> list[Table]:
        """The codes of all of them, in the same order."""
        return [sheet.table for sheet in self.sheets]

    def result(self, metric: Metric, values: Any) -> Result:
        """A metric from its values for all sheets but the real one, in their order.

        Independent columns are never better than a resample: where they come out so, rows cannot
        tell the two apart, and both are the resample's number.
        """
        known = [float(value) for value in values]
        own, resampled, independent = known[0], known[1 : 1 + self.draws], known[1 + self.draws :]
        reason = None if finite(own) is not None else "it is not defined on these rows"
        floor = mean_of(resampled)
        return Result(
            metric=metric,
            value=finite(own),
            resampled=floor,
            independent=not_better(mean_of(independent), floor, metric.goal),
            reason=reason,
        )

    def __repr__(self) -> str:
        return "Comparison(private)"


def not_better(ceiling: float | None, floor: float | None, goal: Goal) -> float | None:
    """The ceiling, or the floor where that is worse."""
    if ceiling is None or floor is None:
        return ceiling
    return max(ceiling, floor) if goal is Goal.LESS else min(ceiling, floor)


def _resampled(real: EvaluationTable, rows: int, generator: np.random.Generator) -> EvaluationTable:
    return real.take(generator.integers(0, real.rows, rows))


def _shuffled(sheet: EvaluationTable, generator: np.random.Generator) -> EvaluationTable:
    places = {name: generator.permutation(sheet.rows) for name in sheet.table.domain}
    return sheet.gather(places, sheet.rows)
