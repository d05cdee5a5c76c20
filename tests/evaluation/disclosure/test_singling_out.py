"""Attacks on a leak made on purpose: they find it, and find little in honest rows."""

from __future__ import annotations

import numpy as np
import pytest

from support.stand_ins import rows_of, schema_of
from understudy.evaluation import disclosure_risk
from understudy.evaluation.disclosure.exposure import Disclosure
from understudy.evaluation.disclosure.leaks import LEAKY, leaked
from understudy.evaluation.disclosure.singling_out import SinglingOut, meeting, singling_out
from understudy.evaluation.report.disclosures import STAND_IN, disclosure_figures, singled_out
from understudy.evaluation.sheets import EvaluationTable, load
from understudy.facts.schema import Schema


def _sheet(seed: int) -> EvaluationTable:
    return load(rows_of("census", seed, 1_000), schema_of("census"), side="real", seed=0)


@pytest.fixture(scope="module")
def attacked() -> Disclosure:
    """Honest rows and a leak, attacked with held-out rows as control."""
    real, made, unseen = (rows_of("census", seed, 1_000) for seed in (0, 1, 2))
    return disclosure_risk(
        real,
        {STAND_IN: made},
        schema_of("census"),
        sensitive="rich",
        keys=["education", "hours"],
        holdout=unseen,
        classifiers="none",
        leaky=True,
    )


def test_copied_rows_are_singled_out_beyond_chance(attacked: Disclosure) -> None:
    """By more than 4.5 standard errors; honest rows by less than four."""
    honest, leak = attacked.singled_out[STAND_IN], attacked.singled_out[LEAKY]
    for found, low, high in ((honest, -4, 4), (leak, 4.5, np.inf)):
        assert found.real is not None
        assert found.control is not None
        assert found.error
        assert low < (found.real - found.control) / found.error < high
    assert (leak.risk or 0) > 0.1 > (honest.risk or 0)


def test_members_are_told_by_copied_rows_alone(attacked: Disclosure) -> None:
    """Half of the members lie at no distance from the leak; honest rows tell nobody."""
    honest, leak = (attacked.memberships[name].auc for name in (STAND_IN, LEAKY))
    assert honest == pytest.approx(0.5, abs=0.06)
    assert leak == pytest.approx(0.75, abs=0.06)


def test_the_page_shows_both(attacked: Disclosure) -> None:
    """The page shows a leak made on purpose beside the stand-in, and says what it is."""
    accuracy, members = disclosure_figures(attacked)
    assert 4 == len(accuracy.data.head)
    assert 2 == len(members.data.lines)
    assert any("a leak made on purpose" in text for _, text in members.legend)
    assert ["the synthetic table", "copied rows"] == [n for n, *_ in singled_out(attacked).lines]


def test_leaks_are_half_of_the_rows() -> None:
    """Chosen by the seed, each at most once."""
    real = _sheet(0)
    assert 500 == leaked(real, 3).rows
    assert (
        leaked(real, 3).table.codes["hours"].tolist()
        == leaked(real, 3).table.codes["hours"].tolist()
    )


def test_without_control_rows_there_is_a_reason() -> None:
    """And a risk is what is beyond chance."""
    found = singling_out(schema_of("census"), real=_sheet(0), control=None, synthetic=_sheet(1))
    assert "no held-out rows" in (found.reason or "")
    assert found.risk is None
    assert 0.5 == SinglingOut(guesses=9, real=0.75, control=0.5).risk
    assert 0.0 == SinglingOut(guesses=9, real=0.1, control=0.2).risk


def test_predicates_are_met_as_brute_force_says() -> None:
    """Counts of rows within every interval of a predicate, up to two."""
    generator = np.random.default_rng(4)
    lines = generator.integers(0, 6, (80, 4))
    low = generator.integers(0, 6, (200, 2))
    high = np.minimum(low + generator.integers(0, 3, (200, 2)), 5)
    places = np.array([generator.permutation(4)[:2] for _ in range(200)])
    expected = [
        min(2, int(np.all((lines[:, p] >= a) & (lines[:, p] <= b), axis=1).sum()))
        for p, a, b in zip(places, low, high, strict=True)
    ]
    found = meeting(lines, np.stack([places, low, high], axis=2))
    assert expected == found.tolist()
    assert {0, 1, 2} == set(expected)


def test_no_predicate_is_tried_twice() -> None:
    """Rare combinations come up again and again; each counts once, as in Anonymeter."""
    schema = Schema.parse({"columns": {n: {"kind": "boolean"} for n in ("a", "b", "c")}})
    rows = {name: [False] * 99 + [True] for name in ("a", "b", "c")}
    sheet = load(rows, schema, side="real", seed=0)
    assert 1 == singling_out(schema, real=sheet, control=sheet, synthetic=sheet).guesses
    alike = sheet.take(np.arange(50))
    found = singling_out(schema, real=sheet, control=sheet, synthetic=alike)
    assert (0, True) == (found.guesses, "no synthetic row differs" in (found.reason or ""))
