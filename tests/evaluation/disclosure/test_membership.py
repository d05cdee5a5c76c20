"""Membership by distance: distances by hand, areas and their intervals, and the caption."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.sheets import coded, listed, sheet
from understudy.evaluation.disclosure.membership import (
    AUC,
    CAPTION,
    Membership,
    distances,
    interval,
    membership,
)
from understudy.evaluation.sheets import EvaluationTable, load
from understudy.facts.schema import Schema

MIXED = Schema.parse(
    {
        "columns": {
            "town": {"kind": "categorical", "values": ["u", "v", "w"]},
            "pay": {"kind": "float", "min": 0.0, "max": 10.0, "missing": []},
            "born": {"kind": "date", "min": "2000-01-01", "max": "2000-01-11"},
        }
    }
)
WIDE = listed(**{f"c{i}": 9 for i in range(6)})


def _mixed(*rows: tuple[str, float | None, str]) -> EvaluationTable:
    town, pay, born = zip(*rows, strict=True)
    columns = {"town": list(town), "pay": list(pay), "born": list(born)}
    return load(columns, MIXED, side="real", seed=0)


def _wide(rows: int, seed: int) -> EvaluationTable:
    generator = np.random.default_rng(seed)
    codes = {name: generator.integers(0, 9, rows).tolist() for name in WIDE.learned}
    return sheet(WIDE, coded(WIDE, codes))


def _attacked(
    members: EvaluationTable, others: EvaluationTable, synthetic: EvaluationTable
) -> Membership:
    return membership(WIDE, members=members, others=others, synthetic=synthetic)


def test_distances_by_hand() -> None:
    """Categories differ by 1, numbers and dates by their share of the range, missing by 1."""
    synthetic = _mixed(("u", 2.0, "2000-01-01"), ("v", None, "2000-01-11"))
    rows = _mixed(
        ("u", 2.0, "2000-01-01"),
        ("u", 5.0, "2000-01-02"),
        ("v", None, "2000-01-10"),
        ("w", 9.0, "2000-01-11"),
        ("w", None, "2000-01-01"),
    )
    expected = [0.0, 0.3 + 0.1, 0.1, 1 + 1 + 0, 1 + 0 + 1]
    assert expected == pytest.approx(distances(rows, synthetic, MIXED).tolist(), abs=1e-6)


@pytest.mark.parametrize("rows", [1, 1_023, 1_024, 1_025, 2_500])
def test_distances_are_those_of_all_rows(rows: int) -> None:
    """The least over all synthetic rows, wherever blocks of them end."""
    asked, held = _wide(40, 1), _wide(rows, 2)
    ours, theirs = (np.array(list(s.table.codes.values())) for s in (asked, held))
    expected = (ours[:, :, None] != theirs[:, None, :]).sum(axis=0).min(axis=1)
    assert expected.tolist() == distances(asked, held, WIDE).tolist()
    assert not distances(held, held, WIDE).any()


def test_copies_give_members_away() -> None:
    """Synthetic rows that are the real ones: an area of all but 1, and every member a copy."""
    members, others = _wide(300, 1), _wide(300, 2)
    found = _attacked(members, others, members)
    assert 1.0 == pytest.approx(found.auc, abs=0.01)
    assert (1.0, 0.0) == (found.copied_members, found.copied_others)
    assert (300, 300) == (found.members, found.others)


def test_strangers_tell_nothing() -> None:
    """Synthetic rows that never saw either: ½ lies in the interval."""
    found = _attacked(_wide(1_000, 1), _wide(1_000, 2), _wide(1_000, 3))
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high
    assert found.high - found.low < 0.06


def test_only_so_many_rows_are_looked_at() -> None:
    """A seeded choice of either; copies are counted over all."""
    members = _wide(400, 1)
    found = membership(
        WIDE, members=members, others=_wide(300, 2), synthetic=members, seed=4, most=50
    )
    assert (50, 50, 1.0) == (found.members, found.others, found.copied_members)


def test_no_rows_are_reasons() -> None:
    """An empty table on any side is reported."""
    none, some = _wide(0, 1), _wide(5, 1)
    assert "there are no real rows" == _attacked(none, some, some).reason
    assert "there are no held-out rows" == _attacked(some, none, some).reason
    assert "there are no synthetic rows" == _attacked(some, some, none).reason


def test_the_caption_stands_beside_the_number() -> None:
    """No document without the words that similarity proves nothing."""
    document = json.loads(json.dumps(_attacked(*[_wide(9, i) for i in range(3)]).document()))
    assert CAPTION == document["caption"]
    assert "not a proof of privacy" in CAPTION
    assert 0.5 == AUC.perfect


def test_intervals_at_the_ends_have_a_width() -> None:
    """Of ten against ten a perfect area may still be 0.8; the other end mirrors it."""
    low, high = interval(1.0, 10, 10)
    assert 1.0 == high
    assert 0.75 < low < 0.9
    assert (1 - high, 1 - low) == pytest.approx(interval(0.0, 10, 10))


def test_intervals_of_a_coin_are_those_of_the_rank_sum() -> None:
    """At ½ the variance is (m + n + 1) / (12 m n), as of Mann and Whitney's U."""
    low, high = interval(0.5, 400, 400)
    width = 2 * 1.96 * np.sqrt((400 + 400 + 1) / (12 * 400 * 400))
    assert width == pytest.approx(high - low, rel=0.01)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_intervals_hold_the_truth_as_often_as_they_say(shift: float) -> None:
    """Of normal distances a shift apart, whose area is known: 95 of 100, give or take."""
    from scipy.stats import norm, rankdata

    generator = np.random.default_rng(8)
    truth, held = float(norm.cdf(shift / np.sqrt(2))), 0
    for _ in range(1_000):
        values = np.append(generator.normal(shift, 1, 40), generator.normal(0, 1, 40))
        area = (rankdata(values)[:40].sum() - 40 * 41 / 2) / 1_600
        low, high = interval(float(area), 40, 40)
        held += low <= truth <= high
    assert 920 <= held <= 980
