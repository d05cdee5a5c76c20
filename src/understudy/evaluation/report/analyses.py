"""Analyses on the page: regressions, tests of independence, and aggregates that a user listed."""

from __future__ import annotations

from understudy.evaluation.analyses.estimates import CoefficientEstimate
from understudy.evaluation.analyses.independence import LEVEL
from understudy.evaluation.analyses.regression import TermPair
from understudy.evaluation.evaluation import Evaluation
from understudy.evaluation.metric import Result
from understudy.evaluation.report.dots import DotChart, DotLine
from understudy.evaluation.report.figure import NONE, Figure, Listing, TableRow, decimal

_MOST_LINES = 14
_MOST_PAIRS = 15


def analysis_results(found: Evaluation) -> Listing:
    """The results of regression and tests, beside a resample and independent columns."""
    tests = found.independence
    results = [*found.regression.results, tests.power, tests.type_one]
    lines = tuple(_line(each) for each in results if each.value is not None)
    return Listing(("measure", "synthetic", "real rows", "independent", "goal"), lines)


def _line(result: Result) -> TableRow:
    numbers = (result.value, result.resampled, result.independent)
    return (result.metric.name, *map(decimal, numbers), str(result.metric.goal))


def coefficients(found: Evaluation) -> Figure | None:
    """The coefficients of one regression in both tables; None where there is none."""
    pair = found.regression
    if not pair.terms:
        return None
    order = sorted(pair.terms, key=lambda term: -abs(term.real.value))
    lines = [
        DotLine(
            term.term,
            {"real-dot": term.real.value, "synthetic-dot": _value(term)},
            (term.real.low, term.real.high),
        )
        for term in order[:_MOST_LINES]
    ]
    unit = "log odds" if pair.model == "logistic" else "in units of the outcome"
    chart = DotChart(
        lines,
        f"coefficient, {unit}",
        f"Coefficients of the regression of {pair.outcome}; the table below has them",
        0.0,
    )
    return Figure(
        title=f"Regression of {pair.outcome}",
        picture=chart.picture(),
        caption=_CAPTION if pair.reason is None else f"{_CAPTION} Here {pair.reason}.",
        data=_terms(pair.terms),
        legend=(
            ("real-dot", "from real rows"),
            ("band", "its 95 % interval"),
            ("synthetic-dot", "from synthetic rows"),
            ("reference", "no effect, 0"),
        ),
    )


_CAPTION = (
    "The same regression on both tables. Numbers are standardised by the real rows, and values are "
    "compared with the most frequent one of their column. A value whose rows are all of one "
    "class has no coefficient. Intervals from synthetic rows are those of an analyst who takes "
    "them for real: the noise of privacy is not in them."
)


def _value(term: TermPair) -> float | None:
    return None if term.synthetic is None else term.synthetic.value


def _terms(terms: tuple[TermPair, ...]) -> Listing:
    head = ("term", "real", "95 % interval", "synthetic", "95 % interval", "same sign", "overlap")
    lines = tuple(
        (
            term.term,
            *_estimate(term.real),
            *_estimate(term.synthetic),
            ("yes" if term.has_same_sign else "no") if term.real.is_clear else "not clear",
            decimal(term.overlap),
        )
        for term in terms
    )
    return Listing(head, lines)


def _estimate(found: CoefficientEstimate | None) -> tuple[str, str]:
    if found is None:
        return NONE, NONE
    return decimal(found.value), f"{decimal(found.low)} to {decimal(found.high)}"


def tested_pairs(found: Evaluation) -> Listing:
    """Pairs of columns whose tests differ most between real and synthetic rows."""
    tests = found.independence
    head = ("columns", "real rows show", "rejected, real", "rejected, synthetic")
    lines = tuple(
        (
            " with ".join(pair.columns),
            "a dependence"
            if pair.is_dependent
            else ("none" if pair.is_unseen else "no clear answer"),
            decimal(pair.real.power),
            decimal(pair.synthetic.power),
        )
        for pair in tests.pairs[:_MOST_PAIRS]
    )
    note = (
        f"χ² tests at level {LEVEL} on {tests.runs} tables of {tests.rows:,} rows each, drawn from "
        f"either table, for {len(tests.pairs):,} pairs; those that differ most are shown."
    )
    return Listing(head, lines, 2, note)


def aggregate_table(found: Evaluation) -> Listing:
    """The aggregates that a user listed, in their order."""
    head = ("aggregate", "real", "synthetic", "real rows", "within sampling error")
    words = {True: "yes", False: "no", None: NONE}
    lines = tuple(
        (each.asked, *each.texts, f"{each.rows[0]:,}", words[each.is_within_chance])
        for each in found.aggregates
    )
    note = (
        "Counts of synthetic rows are scaled to the number of real ones. An answer is within "
        "sampling error if fresh real rows could differ as much."
    )
    return Listing(head, lines, note=note if lines else "")
