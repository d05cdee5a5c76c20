"""The intervals of answers to questions: from released tables that hold them, else by refits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from understudy.errors import UsageError
from understudy.facts.domain import Attributes
from understudy.facts.hierarchy import Groups
from understudy.models.inference import Evidence
from understudy.models.inference.question import Question
from understudy.models.intervals.coverage import MODELLED_COVERAGE
from understudy.models.intervals.interval import (
    MEASURED,
    MODELLED,
    NoiseInterval,
    NoisySum,
    including,
    ratio_interval,
    spread_interval,
)
from understudy.models.intervals.measured import MeasuredTable, measured_table
from understudy.models.intervals.posterior import TablePosterior
from understudy.models.intervals.redrawing import RedrawnTable, redrawn_tables
from understudy.models.intervals.refits import REFITS, Refits
from understudy.models.questions.places import crossing
from understudy.models.questions.reading import ColumnQuestion, CountQuestion
from understudy.models.weighted.pool import Pool
from understudy.system.arrays import Floats

if TYPE_CHECKING:
    from understudy.models.model import Model

_SHARES = (0.0, 1.0)
_SEED = 21
# Rows that show the tables of the model itself.
_MODEL_ROWS = 2**17
# Tables of more cells would take gigabytes of drawn noise.
_MOST_CELLS = 2**17
NO_TABLES = (
    "the model keeps no released tables; models that adaptive, nist, privbayes or independent fit "
    "now keep them"
)

Answerable = Question | CountQuestion | ColumnQuestion


def refits_of(model: Model) -> Refits:
    """Fit a model again to draws of the tables given the released ones, always in the same way.

    Privacy: post-processing of released tables; costs nothing.
    """
    posterior = table_posterior(model)
    generators = map(np.random.default_rng, np.random.SeedSequence(_SEED).spawn(REFITS))
    return model.distribution.refits(posterior.draw(generator) for generator in generators)


def table_posterior(model: Model) -> TablePosterior:
    """Find what the released tables of a model leave open about the true ones.

    Privacy: post-processing of released tables; costs nothing.
    """
    drawn = model.law.weighted({}, _MODEL_ROWS, np.random.default_rng(_SEED))
    weights = drawn.weights * (max(rows_counted(model), 1.0) / max(drawn.weights.sum(), 1e-300))
    tables = redrawn_tables(model.tables, model.statement)
    return TablePosterior.of(tables, Pool(model.domain, drawn.codes, weights))


@dataclass(frozen=True, eq=False)
class AnswerNoise:
    """Finds the intervals of one model's answers.

    Attributes:
        model: what was asked.
        refits: makes or reads the refitted models; called only for answers that rest on the model.
    """

    model: Model
    refits: Callable[[], Refits]

    def interval(self, asked: Answerable, value: Floats) -> NoiseInterval:
        """The interval of an answer, or why there is none.

        Args:
            asked: the question.
            value: the answer of the model: a share for each cell, a count, a mean or a quantile.
        """
        if not self.model.tables:
            return NoiseInterval.none(NO_TABLES)
        if value.size > _MOST_CELLS:
            return NoiseInterval.none(f"the answer has {value.size:,} cells; ask for fewer columns")
        try:
            ends = self._measured(asked)
            if ends is not None:
                low, high = including(value, ends)
                return NoiseInterval(low=low, high=high, basis=MEASURED)
            found = self.modelled(value, self._replicates(asked), self._bounds(asked))
            return self._written(asked, found, value)
        except UsageError as error:
            return NoiseInterval.none(str(error))

    def modelled(
        self, value: Floats, replicates: Floats, bounds: tuple[float, float]
    ) -> NoiseInterval:
        """The interval of an answer that rests on the model, from answers of refitted ones."""
        low, high = spread_interval(value, replicates, bounds)
        coverage = MODELLED_COVERAGE.get(self.model.statement.method)
        return NoiseInterval(low=low, high=high, basis=MODELLED, coverage=coverage)

    def _written(self, asked: Answerable, found: NoiseInterval, value: Floats) -> NoiseInterval:
        """Round the ends of a quantile to values of its column, as the answer was."""
        if not isinstance(asked, ColumnQuestion) or asked.share is None or found.ends is None:
            return found
        ends = [np.array(asked.places.value(float(end))) for end in found.ends]
        low, high = including(value, (ends[0], ends[1]))
        return replace(found, low=low, high=high)

    @cached_property
    def _tables(self) -> tuple[RedrawnTable, ...]:
        return redrawn_tables(self.model.tables, self.model.statement)

    def _bounds(self, asked: Answerable) -> tuple[float, float]:
        if isinstance(asked, ColumnQuestion):
            return asked.places.bounds
        return (0.0, np.inf) if isinstance(asked, CountQuestion) else _SHARES

    # --- from released tables ---------------------------------------------------------------

    def _measured(self, asked: Answerable) -> tuple[Floats, Floats] | None:
        """The ends of the interval, where released tables hold all that is asked about."""
        names = self._names(asked)
        if self.model.domain.cells(names) > _MOST_CELLS:
            return None
        table = measured_table(self._tables, names, self.model.domain)
        if table is None:
            return None
        match asked:
            case CountQuestion():
                one = NoisySum(np.ones(()), np.zeros(len(table.errors)))
                return ratio_interval(self._sum(table, asked.fits), one, self._bounds(asked))
            case ColumnQuestion():
                return self._of_column(asked, self._sum(table, asked.given, (asked.name,)))
            case _:
                return self._shares(asked, table)

    def _shares(self, asked: Question, table: MeasuredTable) -> tuple[Floats, Floats]:
        if asked.both is not None:
            above, below = self._sum(table, asked.both), self._sum(table, asked.given)
            return ratio_interval(above, below, _SHARES)
        above = self._sum(table, asked.given, asked.targets)
        return ratio_interval(above, _total(above), _SHARES)

    def _of_column(self, asked: ColumnQuestion, found: NoisySum) -> tuple[Floats, Floats]:
        """A mean as a ratio of sums; a quantile by turning the cumulative distribution over."""
        places, below = asked.places, _total(found)
        if asked.share is None:
            above = NoisySum(found.value @ places.means, found.errors @ places.means)
            return ratio_interval(above, _flat(below), places.bounds)
        reached = NoisySum(places.cumulative(found.value), places.cumulative(found.errors))
        low, high = ratio_interval(reached, below, _SHARES)
        first = crossing(places.steps_at, np.maximum.accumulate(high), asked.share)
        # The last place that the share may still be at: the first one seen from behind.
        back = 1 - np.minimum.accumulate(low[::-1])
        last = crossing(-places.steps_at[::-1], back, 1 - asked.share)
        return np.array(places.value(first)), np.array(places.value(-last))

    def _names(self, asked: Answerable) -> Attributes:
        """The attributes of a question, each as coarse as the question allows."""
        every: list[Evidence] = [asked.fits] if isinstance(asked, CountQuestion) else [asked.given]
        targets: Attributes = ()
        if isinstance(asked, Question):
            targets = asked.targets
            every += [] if asked.both is None else [asked.both]
        if isinstance(asked, ColumnQuestion):
            targets = (asked.name,)
        known = dict.fromkeys(name for evidence in every for name in evidence)
        coarse = (self._coarsest(name, every) for name in known if name not in targets)
        return (*targets, *coarse)

    def _coarsest(self, name: str, every: Sequence[Evidence]) -> str:
        """The coarsest copy of an attribute whose groups conditions do not cut."""
        domain = self.model.domain
        for copy in reversed(domain.levels(name)[1:]):
            groups = domain.coarser[copy].groups
            held = [evidence[name] for evidence in every if name in evidence]
            if all((fits == _by_group(fits, groups)[groups]).all() for fits in held):
                return copy
        return name

    def _sum(self, table: MeasuredTable, evidence: Evidence, targets: Attributes = ()) -> NoisySum:
        """The weighted sum of a table's cells, for every cell of the targets."""
        counts, errors = table.counts, table.errors
        for axis, name in enumerate(table.names):
            base = self.model.domain.base(name)
            if base in evidence:
                fits = self._fits(name, evidence[base])
                shape = [-1 if at == axis else 1 for at in range(len(table.names))]
                counts, errors = counts * fits.reshape(shape), errors * fits.reshape(shape)
        gone = tuple(axis for axis, name in enumerate(table.names) if name not in targets)
        behind = tuple(1 + axis for axis in gone)
        return NoisySum(np.asarray(counts.sum(axis=gone)), np.asarray(errors.sum(axis=behind)))

    def _fits(self, name: str, fits: Floats) -> Floats:
        coarser = self.model.domain.coarser
        return _by_group(fits, coarser[name].groups) if name in coarser else fits

    # --- by refits --------------------------------------------------------------------------

    def _replicates(self, asked: Answerable) -> Floats:
        """The answers of refitted models, one after the other."""
        refits = self.refits()
        match asked:
            case CountQuestion():
                return rows_counted(self.model) * refits.posteriors((), asked.fits)[1]
            case ColumnQuestion():
                found = refits.posteriors((asked.name,), asked.given)[0]
                if asked.share is None:
                    return np.asarray(found @ asked.places.means)
                return np.array([asked.places.quantile(line, asked.share) for line in found])
            case _ if asked.both is not None:
                both, given = (refits.posteriors((), e)[1] for e in (asked.both, asked.given))
                return np.asarray(both / given)
            case _:
                return refits.posteriors(asked.targets, asked.given)[0]


def rows_counted(model: Model) -> float:
    """The number of real rows, as well as it is known; a declared number of rows may be another."""
    from understudy.models.estimation.consistency import best_total

    if not model.tables:
        return float(model.rows)
    total = best_total(model.tables)
    precision = sum(1 / t.total_variance for t in model.tables if t.total_variance > 0)
    spread = precision**-0.5 if precision else 0.0
    return float(model.rows) if abs(model.rows - total) <= 4 * spread + 1 else float(total)


def _by_group(fits: Floats, groups: Groups) -> Floats:
    """The weight of the first code of every group."""
    _, first = np.unique(groups, return_index=True)
    return np.asarray(fits[first])


def _total(found: NoisySum) -> NoisySum:
    """The sum of all cells, to be divided by; an axis of length one for each of them."""
    axes = tuple(range(found.value.ndim))
    behind = tuple(1 + axis for axis in axes)
    return NoisySum(np.asarray(found.value.sum()), found.errors.sum(axis=behind, keepdims=True))


def _flat(found: NoisySum) -> NoisySum:
    return NoisySum(found.value, found.errors.reshape(len(found.errors)))
