"""One regression on both tables: would an analyst come to the same conclusions?

The target is regressed on the columns that it depends on most in the real rows: a logistic
regression for classes, a linear one for numbers. Intervals of synthetic rows are those of an
analyst who takes them for real: they leave out the noise of privacy, so that they are too narrow.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.evaluation.analyses.design import RegressionTerm, matrix_of, terms_of
from understudy.evaluation.analyses.estimates import CoefficientEstimate, estimates
from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.association import Association
from understudy.evaluation.metric import Goal, Metric, Result
from understudy.evaluation.prediction.features import Target
from understudy.evaluation.prediction.prediction import at_most
from understudy.evaluation.sheets import EvaluationTable
from understudy.system.arrays import Floats

MOST_COLUMNS = 8
_MOST_ROWS = 10_000
_NO_SYNTHETIC_FIT = "the synthetic rows do not determine the coefficients, and all count as lost"


def _metric(name: str, about: str) -> Metric:
    return Metric(
        name=name,
        about=about,
        goal=Goal.MORE,
        low=0.0,
        high=1.0,
        perfect=1.0,
        useless="the value for independent columns",
    )


SIGNS = _metric(
    "regression, signs kept",
    "Of coefficients whose sign the real rows show (95 %), the share that has it in the synthetic "
    "rows too.",
)
INSIDE = _metric(
    "regression, coefficients inside",
    "The share of synthetic coefficients that lie in the 95 % interval of the real ones.",
)
OVERLAP = _metric(
    "regression, overlap of intervals",
    "The mean part that the 95 % intervals of a coefficient share; 0 where it was lost.",
)


@dataclass(frozen=True)
class TermPair:
    """One coefficient in both tables; None in the synthetic one where it has none."""

    term: str
    real: CoefficientEstimate
    synthetic: CoefficientEstimate | None

    @property
    def has_same_sign(self) -> bool:
        """Whether both estimates are on the same side of zero."""
        return self.synthetic is not None and self.real.value * self.synthetic.value > 0

    @property
    def is_inside(self) -> bool:
        """Whether the synthetic estimate lies in the real interval."""
        found = self.synthetic
        return found is not None and self.real.low <= found.value <= self.real.high

    @property
    def overlap(self) -> float:
        """How much the two intervals share."""
        return 0.0 if self.synthetic is None else self.real.overlap(self.synthetic)

    def document(self) -> dict[str, Any]:
        """Return the coefficient for JSON."""
        return {
            "term": self.term,
            "real": self.real.document(),
            "synthetic": None if self.synthetic is None else self.synthetic.document(),
            "same_sign": self.has_same_sign,
            "inside": self.is_inside,
            "overlap": self.overlap,
        }


@dataclass(frozen=True, kw_only=True)
class RegressionPair:
    """One regression on both tables.

    Attributes:
        model: logistic or linear; None where there is none.
        outcome: the class whose chance is modelled, or the number.
        columns: that the outcome is regressed on.
        terms: every coefficient but the constant.
        results: signs kept, coefficients inside, overlap of intervals.
        reason: why there is no regression, or none of the synthetic rows.
    """

    model: str | None = None
    outcome: str | None = None
    columns: tuple[str, ...] = ()
    terms: tuple[TermPair, ...] = ()
    results: tuple[Result, ...] = ()
    reason: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the regression for JSON."""
        return {
            "model": self.model,
            "outcome": self.outcome,
            "columns": list(self.columns),
            "terms": [term.document() for term in self.terms],
            "results": [result.document() for result in self.results],
            "reason": self.reason,
        }


def regression(
    comparison: Comparison, strengths: Association, *, target: str | None
) -> RegressionPair:
    """Regress a target on other columns, in both tables.

    Args:
        comparison: the two tables, a resample and independent columns.
        strengths: Cramér's V, by which columns are chosen.
        target: the outcome; without one there is no regression.
    """
    if target is None:
        return RegressionPair(reason="no target is named; name one by --target")
    found = _fitted(comparison, strengths, target)
    if isinstance(found, str):
        return RegressionPair(reason=found)
    asked, ours = found
    others = [comparison.synthetic, *comparison.resampled[:1], *comparison.independent[:1]]
    fits = [asked.fitted(sheet) for sheet in others]
    pairs = [asked.compared(ours, fit) for fit in fits]
    if not pairs[0]:
        return RegressionPair(reason="no coefficient of the real rows can be estimated")
    return RegressionPair(
        model="logistic" if asked.is_logistic else "linear",
        outcome=asked.words,
        columns=asked.columns,
        terms=pairs[0],
        results=tuple(_result(metric, measure, pairs) for metric, measure in _MEASURES),
        reason=_NO_SYNTHETIC_FIT if fits[0] is None else None,
    )


def _fitted(
    comparison: Comparison, strengths: Association, target: str
) -> tuple[_RegressionTerms, list[CoefficientEstimate | None]] | str:
    """Fit what can be fitted to the real rows; return a reason where nothing can be.

    A column that separates the classes has no finite coefficient. The strongest columns are left
    out one by one until there is a fit.
    """
    columns = _strongest(strengths, target)
    for start in range(len(columns)):
        asked = _RegressionTerms.of(comparison, columns[start : start + MOST_COLUMNS], target)
        if isinstance(asked, str):
            return asked
        ours = asked.fitted(comparison.real)
        if ours is not None:
            return asked, ours
    return "the real rows do not determine the coefficients"


@dataclass(frozen=True, repr=False, eq=False)
class _RegressionTerms:
    """The outcome and the terms, chosen by the real rows."""

    target: Target
    terms: tuple[RegressionTerm, ...]
    columns: tuple[str, ...]
    code: float | None
    seed: int

    @classmethod
    def of(
        cls, comparison: Comparison, columns: tuple[str, ...], name: str
    ) -> _RegressionTerms | str:
        """Choose outcome and terms by the real rows; return a reason where there are none."""
        target = Target.of(comparison.schema, name)
        known = comparison.real.take(target.known(comparison.real))
        if not known.rows or not comparison.synthetic.rows:
            return "there are no rows to regress"
        code = None
        if target.task == "classification":
            code = _class(target.values(known))
            if code is None:
                return f"{name} has one value in the real rows"
        real = at_most(known, _MOST_ROWS, comparison.seed)
        terms = terms_of(real, comparison.schema, columns)
        if not terms:
            return "no other column varies in the real rows"
        return cls(target, terms, columns, code=code, seed=comparison.seed)

    @property
    def is_logistic(self) -> bool:
        """Whether a class is the outcome."""
        return self.code is not None

    @property
    def words(self) -> str:
        """Name the outcome for people."""
        name = self.target.name
        return name if self.code is None else f"{name} = {self.target.label(int(self.code))}"

    def fitted(self, sheet: EvaluationTable) -> list[CoefficientEstimate | None] | None:
        """Fit the coefficients of one table."""
        rows = at_most(sheet.take(self.target.known(sheet)), _MOST_ROWS, self.seed)
        if not rows.rows:
            return None
        return estimates(
            matrix_of(rows, self.terms), self._outcomes(rows), logistic=self.is_logistic
        )

    def _outcomes(self, sheet: EvaluationTable) -> Floats:
        values = self.target.values(sheet)
        return values if self.code is None else (values == self.code).astype(np.float64)

    def compared(
        self, real: list[CoefficientEstimate | None], other: list[CoefficientEstimate | None] | None
    ) -> tuple[TermPair, ...]:
        """Every coefficient but the constant, beside that of another table."""
        theirs = other or [None] * len(real)
        lines = zip(self.terms, real[1:], theirs[1:], strict=True)
        return tuple(TermPair(t.words, ours, made) for t, ours, made in lines if ours is not None)


def _class(values: Floats) -> float | None:
    """The rarer one of two classes, the most frequent one of several; None of one."""
    classes, counts = np.unique(values, return_counts=True)
    if classes.size < 2:
        return None
    return float(classes[counts.argmin() if classes.size == 2 else counts.argmax()])


def _strongest(strengths: Association, target: str) -> tuple[str, ...]:
    """All other columns, those first that the target depends on most in the real rows."""
    line = strengths.real[strengths.columns.index(target)]
    known = [(v or 0.0, name) for v, name in zip(line, strengths.columns, strict=True)]
    order = sorted((pair for pair in known if pair[1] != target), key=lambda pair: -pair[0])
    return tuple(name for _, name in order)


_Measure = Callable[[Sequence[TermPair]], float | None]


def _signs(terms: Sequence[TermPair]) -> float | None:
    clear = [term.has_same_sign for term in terms if term.real.is_clear]
    return float(np.mean(clear)) if clear else None


_MEASURES: tuple[tuple[Metric, _Measure], ...] = (
    (SIGNS, _signs),
    (INSIDE, lambda terms: float(np.mean([term.is_inside for term in terms]))),
    (OVERLAP, lambda terms: float(np.mean([term.overlap for term in terms]))),
)


def _result(metric: Metric, measure: _Measure, pairs: Sequence[Sequence[TermPair]]) -> Result:
    """A measure of the synthetic rows, beside a resample and independent columns."""
    values = [measure(terms) if terms else None for terms in pairs]
    known = (*values, None, None)[:3]
    reason = None if known[0] is not None else "the real rows show no sign"
    return Result(
        metric=metric, value=known[0], resampled=known[1], independent=known[2], reason=reason
    )
