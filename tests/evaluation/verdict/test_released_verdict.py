"""The verdict that may leave: from paid numbers alone, and open where noise leaves it open."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from support.pages import released
from support.stand_ins import honest, schema_of, spoiled
from understudy.evaluation.released.summary import NoisyNumber, Summarizer, Summary
from understudy.evaluation.released.yardsticks import yardsticks
from understudy.evaluation.sheets import load
from understudy.evaluation.verdict import Colour, Decision, Verdict, judge_released
from understudy.evaluation.verdict.released import NOTICE
from understudy.facts.codec import Codec
from understudy.privacy.curator import Instruments
from understudy.privacy.statements.statement import Statement
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.system.frames import arrow_table
from understudy.testing import SeededNoise


def _judged(flaw: str | None, epsilon: str) -> Verdict:
    schema = schema_of("census")
    rows = honest("census") if flaw is None else spoiled("census", flaw)
    tables = [Table.of(Codec(schema).encode(arrow_table(each))) for each in rows]
    summarizer = Summarizer(schema, epsilon, instruments=Instruments(noise=SeededNoise(5)))
    summary = summarizer.run(*map(MemorySource, tables), ledger=None)
    sheet = load(tables[1], schema, side="synthetic", seed=0)
    return judge_released(summary, yardsticks(schema, sheet, seed=0), _promise(summary))


def _promise(summary: Summary) -> Statement:
    """A private statement at ε = 1; seeded noise would say that it is not private."""
    bound = dataclasses.replace(summary.statement.bound, epsilon=Fraction(1))
    return dataclasses.replace(summary.statement, private=True, bound=bound)


def test_much_budget_tells_good_from_bad() -> None:
    """Honest rows are near, and independent columns are not useful."""
    assert Colour.GREEN is _judged(None, "20").fidelity.colour
    found = _judged("collapsed values", "20")
    assert (Colour.RED, Decision.HOLD) == (found.fidelity.colour, found.decision)


def test_little_budget_leaves_it_open() -> None:
    """Where the interval of a number has two colours the light is unknown, and never green."""
    found = _judged(None, "0.2")
    assert (Colour.UNKNOWN, Decision.OPEN) == (found.fidelity.colour, found.decision)
    assert "a larger budget for this summary would show it" in found.fidelity.sentence


def test_usefulness_is_not_in_a_summary() -> None:
    """So that the best a released verdict can say is a release with limits."""
    found = _judged(None, "20")
    assert Colour.UNKNOWN is found.usefulness.colour
    assert NOTICE == found.notice


def test_a_released_verdict_depends_on_released_numbers_alone() -> None:
    """Other distances give another verdict, and nothing else of the rows is asked for."""
    release = released()
    far = NoisyNumber(0.9, 0.89, 0.91)
    summary = dataclasses.replace(
        release.summary, columns=dict.fromkeys(release.summary.columns, far)
    )
    found = judge_released(summary, release.yardsticks, release.subject.statement)
    assert Colour.RED is found.fidelity.colour
    assert set(found.not_good_for) == {
        "the distribution of age, weight, seen, town, grade and 1 more"
    }
    assert release.document()["verdict"] == release.verdict.document()
    assert release.verdict.sentence in release.page()


@pytest.mark.parametrize("column", ["age", "ill"])
def test_columns_are_judged_by_their_worse_end(column: str) -> None:
    """A column whose interval reaches beyond the rule is not listed as good."""
    release = released()
    near, wide = NoisyNumber(0.0, 0.0, 0.0), NoisyNumber(0.0, 0.0, 0.5)
    columns = dict.fromkeys(release.summary.columns, near) | {column: wide}
    summary = dataclasses.replace(release.summary, columns=columns)
    found = judge_released(summary, release.yardsticks, release.subject.statement)
    assert column not in found.good_for[0]


@pytest.mark.parametrize(
    ("low", "high", "colour"),
    [
        (0.0, 0.02, Colour.GREEN),
        (0.02, 0.05, Colour.AMBER),
        (0.2, 0.5, Colour.RED),
        (0.05, 0.5, Colour.UNKNOWN),
        (0.0, 0.5, Colour.UNKNOWN),
    ],
)
def test_intervals_are_judged_by_both_ends(low: float, high: float, colour: Colour) -> None:
    """Amber from green to amber, and unknown where red is possible and not certain."""
    release = released()
    noisy = NoisyNumber((low + high) / 2, low, high)
    columns = {"age": noisy}
    summary = dataclasses.replace(release.summary, columns=columns)
    found = judge_released(summary, {1: (0.0, 0.0)}, release.subject.statement)
    assert colour is found.fidelity.colour
