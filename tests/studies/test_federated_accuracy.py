"""Accuracy and divergence among holders: what the thesis prints, and how its claims are judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from understudy_studies import federated_accuracy as curves
from understudy_studies import federated_accuracy_claims as claims
from understudy_studies import find
from understudy_studies.cells import Cell, Results, Size
from understudy_studies.federated_classifiers import EPSILONS, STUDY


def test_printed_losses_are_those_of_the_thesis() -> None:
    """Lines of tables 11, 13 and 15 by the thesis' own numbers; none where none is printed."""
    look = curves.printed
    assert 7.39 == look("poker", epsilon="0.1", split_name="attribute", protocol="votes", degree=1)
    assert 2.59 == look("heart", epsilon="0.5", split_name="class", protocol="statistics", degree=1)
    assert 7.72 == look("adult", epsilon="0.02", split_name="random", protocol="votes", degree=1)
    assert None is look("heart", epsilon="1", split_name="equal", protocol="votes", degree=1)
    assert None is look("adult", epsilon="1", split_name="central", protocol="statistics", degree=1)


_SPLIT_BY = ("central", "equal", "random", "class", "attribute")


def _fits(lost: Callable[[float, str, str], float]) -> Results:
    """Cells of one table: real rows, then a loss for each ε, split, protocol and degree."""
    numbers = {"baseline": 0.5, "holders": 5}

    def cell(setting: Mapping[str, Any], mean: float) -> Cell:
        found = numbers | {"mean": mean, "accuracy": {"lda": mean}, "divergence": 1 - mean}
        return Cell({"table": "poker", "repeat": 0, **setting}, found, 1.0, "0")

    real = {"protocol": "real rows", "form": "real rows", "split": "central", "epsilon": "none"}
    cells = [cell({**real, "degree": 0}, 0.6)]
    epsilons = ("0.01", "0.1", "1", "20")
    for e, s, p, k in product(epsilons, _SPLIT_BY, curves.PROTOCOLS, (1, 2)):
        setting = {"epsilon": e, "split": s, "protocol": p, "degree": k, "form": "as printed"}
        cells.append(cell(setting, 0.6 - lost(float(e), s, p)))
        if e == "0.1":
            cells.append(cell({**setting, "form": "improved"}, 0.55))
    return Results(tuple(cells))


def test_the_sentence_on_splits_follows_the_numbers() -> None:
    """What each form loses and diverges at the ε that the thesis chose, and the baseline."""
    results = _fits(lambda e, s, p: 0.15 if s == "random" else 0.2)
    said = find("tuc2-federated").sentence(results)
    assert "the most frequent class loses 10.0 points, at ε = 0.1" in said
    assert "votes 19.0 and 5.0 points (0.59 and 0.45 bits)" in said


@pytest.mark.parametrize(
    ("slope", "verdict"), [(0.05, "reproduced"), (0.0, "contradicted"), (-0.05, "contradicted")]
)
def test_a_fall_over_the_budget_is_found(slope: float, verdict: str) -> None:
    """Points that do not fall as ε grows contradict the thesis."""
    results = _fits(lambda e, s, p: 0.1 - slope * math.log10(e))
    judged = claims.judged_fall(results, "poker", curves.POINTS)
    assert verdict == judged.verdict


def test_a_fall_of_some_protocols_is_one_in_part() -> None:
    """The protocols whose losses do not fall are named."""
    results = _fits(lambda e, s, p: 0.1 - (0.01 * math.log10(e) if p == "votes" else 0))
    judged = claims.judged_fall(results, "poker", curves.POINTS)
    assert "reproduced in part" == judged.verdict
    assert "not with statistics, degree 1; statistics, degree 2; model" in judged.reason


@pytest.mark.parametrize(
    ("statistics", "verdict"),
    [(0.1, "reproduced"), (0.3, "contradicted"), (0.2, "not comparable")],
)
def test_an_order_of_protocols_regards_chance(statistics: float, verdict: str) -> None:
    """Statistics are first or not by more than two standard errors, else nothing is said."""
    chance = iter(np.random.default_rng(0).normal(0, 0.01, 1_000))

    def lost(epsilon: float, split: str, protocol: str) -> float:
        return (statistics if protocol == "statistics" else 0.2) + float(next(chance))

    results = _fits(lost)
    judged = claims.judged_order(results, "poker", curves.POINTS)
    assert verdict == judged.verdict


@pytest.mark.parametrize(
    ("least", "verdict"),
    [(0.05, "reproduced"), (0.2, "contradicted")],
)
def test_best_cases_are_held_against_the_printed_ones(least: float, verdict: str) -> None:
    """The six best cases at each ε of table 11, which lose 11.4 to 32.3 points at the smallest."""
    results = _fits(lambda e, s, p: least if e > 0.01 else 0.6)
    judged = claims.judged_best(results, "poker")
    assert ("reproduced in part" if least == 0.05 else "contradicted") == judged.verdict
    results = _fits(lambda e, s, p: least)
    judged = claims.judged_best(results, "poker")
    assert (verdict if least == 0.05 else "reproduced in part") == judged.verdict
    assert "3.2 to 6.0 at 1" in judged.claim


@pytest.mark.parametrize(
    ("equal", "verdict"),
    [(11.0, "reproduced"), (21.0, "reproduced in part"), (9.0, "reproduced in part")],
)
def test_both_halves_of_the_claim_on_splits_are_judged(equal: float, verdict: str) -> None:
    """Splits that lie far apart, or a better one than the central one, leave half of the claim."""
    judge, points = claims.judged_splits, curves.POINTS
    splits = {"central": [10.0], "equal": [equal]}
    assert verdict == judge("small", splits, points).verdict
    both = {"central": [20.0], "equal": [5.0]}
    assert "contradicted" == judge("small", both, points).verdict


def test_the_plan_has_every_figure_of_the_thesis() -> None:
    """Ten ε of the printed form for each table, split, protocol and degree; ours at two of them."""
    plan = STUDY.settings(Size.FULL)
    assert 10 == len(set(EPSILONS))
    assert 3 * 10 * 5 * 3 * 2 == sum(setting["form"] == "as printed" for setting in plan)
    assert 3 * 2 * 5 * 3 * 2 == sum(setting["form"] == "improved" for setting in plan)
    assert 36 == len(STUDY.panels(Results(tuple(Cell(s, _NUMBERS, 1.0, "0") for s in plan))))


_NUMBERS = {"baseline": 0.5, "mean": 0.6, "accuracy": {"lda": 0.6}, "divergence": 0.1, "holders": 5}
