"""Linkage by nearest neighbours: a leak is found beyond chance, honest rows are not."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from support.stand_ins import rows_of, schema_of
from understudy.evaluation import disclosure_risk
from understudy.evaluation.disclosure.controlled import NO_CONTROL
from understudy.evaluation.disclosure.exposure import Disclosure
from understudy.evaluation.disclosure.leaks import LEAKY
from understudy.evaluation.disclosure.linkage import NEIGHBOURS, Linkage, linkage
from understudy.evaluation.report.disclosures import STAND_IN, linked
from understudy.evaluation.sheets import EvaluationTable, load


def _sheet(seed: int, rows: int = 1_000) -> EvaluationTable:
    return load(rows_of("census", seed, rows), schema_of("census"), side="real", seed=0)


@cache
def _attacked() -> Disclosure:
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


def test_copied_rows_are_linked_beyond_chance() -> None:
    """By more than six standard errors; honest rows by less than four."""
    honest, leak = _attacked().linked[STAND_IN], _attacked().linked[LEAKY]
    for found, low, high in ((honest, -4.0, 4.0), (leak, 6.0, np.inf)):
        assert found.real is not None
        assert found.control is not None
        assert found.error
        assert low < (found.real - found.control) / found.error < high
    assert (leak.risk or 0.0) > 0.2 > (honest.risk or 0.0)


def test_a_copy_links_every_row() -> None:
    """Both records of a row lead to its copy, unless ten others are as near by one of them."""
    real = _sheet(0)
    found = linkage(
        schema_of("census"),
        known=["income", "education"],
        real=real,
        control=_sheet(2),
        synthetic=real,
    )
    assert found.real is not None
    assert found.real > 0.95
    assert found.guesses == 500


def test_few_synthetic_rows_are_all_neighbours() -> None:
    """With fewer rows than neighbours every record is linked, real or not: no risk."""
    found = linkage(
        schema_of("census"),
        known=["income"],
        real=_sheet(0, 100),
        control=_sheet(2, 100),
        synthetic=_sheet(1, NEIGHBOURS - 1),
    )
    assert (1.0, 1.0, None) == (found.real, found.control, found.risk)


@pytest.mark.parametrize("known", [[], ["education", "income", "hours", "sex", "job", "rich"]])
def test_one_register_needs_another(known: list[str]) -> None:
    """Attackers who know nothing or everything have nothing to link."""
    real = _sheet(0, 50)
    found = linkage(schema_of("census"), known=known, real=real, control=real, synthetic=real)
    assert "nothing to link" in (found.reason or "")


def test_without_control_there_is_a_reason_and_the_page_shows_both() -> None:
    """Chance is measured on held-out rows; the page shows the leak beside the stand-in."""
    real = _sheet(0, 50)
    found = linkage(schema_of("census"), known=["sex"], real=real, control=None, synthetic=real)
    assert NO_CONTROL == found.reason
    assert ["the synthetic table", "copied rows"] == [line[0] for line in linked(_attacked()).lines]
    assert Linkage.caption == linked(_attacked()).note
    assert Linkage.caption == _attacked().document()["linkage"][STAND_IN]["caption"]
