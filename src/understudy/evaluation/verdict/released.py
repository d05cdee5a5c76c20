"""A verdict that may leave: from the paid summary of distances and the statements alone.

The summary is noisy. A light is green or red only where the whole interval of its number is, and
amber where the interval reaches no further. Where red is possible and not certain the light is
unknown, and says that a larger budget would show it.

Privacy: post-processing of released numbers, synthetic rows and statements; it costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from understudy.evaluation.released.summary import Summary
from understudy.evaluation.released.yardsticks import Yardstick
from understudy.evaluation.verdict.criteria import (
    DEPENDENCE,
    DISTINCT,
    FRESH,
    SINGLE_COLUMN,
    Criterion,
)
from understudy.evaluation.verdict.fidelity import number_of
from understudy.evaluation.verdict.light import Colour, Finding, Light
from understudy.evaluation.verdict.privacy import NOTHING_PROMISED, privacy_light
from understudy.evaluation.verdict.uses import named
from understudy.evaluation.verdict.verdict import Verdict, decide, verdict_sentence
from understudy.privacy.statements.statement import Statement

NOTICE = (
    "This verdict was made only of released numbers. Stand-ins may be compared by it: each such "
    "summary was paid for, and the costs add up."
)
_NOT_MEASURED = "The paid summary holds only distances; predictions and relations are not in it."

_ROWS_ALONE = (
    "This is only about the rows; the summary was made from the same table, and its cost is added "
    "where the two are stated together."
)


def judge_released(
    summary: Summary,
    yardsticks: Mapping[int, Yardstick],
    statement: Statement | None,
    *,
    unpromised: str = NOTHING_PROMISED,
) -> Verdict:
    """Judge a stand-in by its paid summary.

    Args:
        summary: the released distances.
        yardsticks: floor and ceiling of the synthetic rows, by the number of columns.
        statement: the promise about the synthetic rows; None where there is none.
        unpromised: why there is none.

    Privacy: post-processing.
    """
    rows = round(max(summary.rows.value, 1.0))
    alone = privacy_light(statement, rows=rows, unpromised=unpromised)
    privacy = replace(alone, sentence=f"{alone.sentence} {_ROWS_ALONE}")
    findings = [*_dependence(summary, yardsticks), *_columns(summary, yardsticks)]
    fidelity = Light.of("fidelity", findings, [number_of(each) for each in findings])
    if any(each.colour is Colour.UNKNOWN for each in findings) and fidelity.colour != Colour.RED:
        fidelity = _open(findings)
    usefulness = Light(
        about="usefulness", colour=Colour.UNKNOWN, number="–", sentence=_NOT_MEASURED, rule=""
    )
    decision = decide(privacy, fidelity, usefulness)
    return Verdict(
        decision=decision,
        sentence=verdict_sentence(decision, privacy, fidelity, usefulness),
        privacy=privacy,
        fidelity=fidelity,
        usefulness=usefulness,
        good_for=tuple(_good(summary, yardsticks)),
        not_good_for=tuple(_bad(summary, yardsticks)),
        notice=NOTICE,
    )


def _open(findings: list[Finding]) -> Light:
    """A light that noise leaves open, though nothing in it is red."""
    unknown = next(each for each in findings if each.colour is Colour.UNKNOWN)
    return Light(
        about="fidelity",
        colour=Colour.UNKNOWN,
        number=number_of(unknown),
        sentence=unknown.sentence,
        rule=unknown.rule,
        findings=tuple(findings),
    )


def _judged(criterion: Criterion, ends: tuple[float, float, float], said: str) -> Finding:
    """The colour of an interval: amber from green to amber, unknown where red is not certain."""
    low, value, high = ends
    colours = {criterion.colour(low), criterion.colour(high)}
    plain = criterion.finding(value, said)
    if len(colours) == 1:
        return plain
    span = f"{criterion.text(low)} to {criterion.text(high)}"
    if Colour.RED not in colours:
        return replace(plain, colour=Colour.AMBER, sentence=f"{said} With noise: {span}.")
    open_words = f"{said} Its noise leaves {span}: a larger budget for this summary would show it."
    return replace(plain, colour=Colour.UNKNOWN, sentence=open_words)


def _dependence(summary: Summary, yardsticks: Mapping[int, Yardstick]) -> list[Finding]:
    """Pairs between the synthetic rows' own floor and ceiling."""
    pairs = summary.means.get(2)
    floor, ceiling = yardsticks.get(2, (None, None))
    if pairs is None or floor is None or ceiling is None or ceiling <= DISTINCT * FRESH * floor:
        return []
    low = FRESH * floor

    def part(value: float) -> float:
        return min(max((value - low) / (ceiling - low), 0.0), 1.0)

    said = (
        f"In pairs of columns {pairs.value:.3f} of rows would have to change on average, between "
        f"{low:.3f} for fresh rows and {ceiling:.3f} for independent columns."
    )
    ends = part(pairs.low), part(pairs.value), part(pairs.high)
    return [_judged(DEPENDENCE, ends, said)]


def _floor(yardsticks: Mapping[int, Yardstick]) -> float:
    """The mean floor of single columns: what chance does to a column, about."""
    return FRESH * (yardsticks.get(1, (None, None))[0] or 0.0)


def _beyond(summary: Summary, name: str, floor: float) -> tuple[float, float, float]:
    """A column's distance beyond the floor, in an interval that holds for all columns at once.

    An interval of Laplace noise that fails once in k·20 times is ln(40k)/ln 40 times as wide as one
    that fails once in 20; that of Gaussian noise is wider by less. Without this the worst of many
    columns would look worse than it is.
    """
    found, times = summary.columns[name], math.log(40 * len(summary.columns)) / math.log(40)
    low = found.value - times * (found.value - found.low)
    high = found.value + times * (found.high - found.value)
    ends = (max(min(each, 1.0) - floor, 0.0) for each in (low, found.value, high))
    return next(ends), next(ends), next(ends)


def _columns(summary: Summary, yardsticks: Mapping[int, Yardstick]) -> list[Finding]:
    floor = _floor(yardsticks)
    name = max(summary.columns, key=lambda each: summary.columns[each].value)
    ends = _beyond(summary, name, floor)
    said = f"The worst column is {name}: about {summary.columns[name].value:.3f} of rows differ."
    return [_judged(SINGLE_COLUMN, ends, said)]


def _good(summary: Summary, yardsticks: Mapping[int, Yardstick]) -> list[str]:
    floor = _floor(yardsticks)
    good = [
        name
        for name in summary.columns
        if SINGLE_COLUMN.colour(_beyond(summary, name, floor)[2]) is Colour.GREEN
    ]
    return [f"tables and charts of single columns: {named(good)}"] if good else []


def _bad(summary: Summary, yardsticks: Mapping[int, Yardstick]) -> list[str]:
    floor = _floor(yardsticks)
    bad = [
        name
        for name in summary.columns
        if SINGLE_COLUMN.colour(_beyond(summary, name, floor)[0]) is not Colour.GREEN
    ]
    return [f"the distribution of {named(bad)}"] if bad else []
