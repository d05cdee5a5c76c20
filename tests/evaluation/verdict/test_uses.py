"""Good and bad uses: nothing is in both, red lights recommend nothing, far values show."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from support.stand_ins import FIXED_ON, FLAWS, TESTED_ON, honest, schema_of, spoiled
from understudy.evaluation import Evaluation, evaluate
from understudy.evaluation.prediction.learners import learners
from understudy.evaluation.prediction.prediction import ModelPair, Prediction, Trained
from understudy.evaluation.verdict import Colour, Decision, Verdict, judge
from understudy.evaluation.verdict.uses import Use, bad_uses, good_uses
from understudy.facts.schema import Schema

POPULATIONS = (*FIXED_ON, *TESTED_ON)
STAND_INS = [(p, f) for p in POPULATIONS for f in (None, *FLAWS)]


@cache
def _found(population: str, flaw: str | None) -> Evaluation:
    rows = honest(population) if flaw is None else spoiled(population, flaw)
    return evaluate(*rows, schema_of(population), classifiers="none")


def _predicted(found: Evaluation, auroc: float) -> Evaluation:
    """The same evaluation with a model of this skill, beside one of 0.9 from real rows."""
    [learner] = learners("decision-tree")
    made, real = (Trained(9, scores={"auroc": each}) for each in (auroc, 0.9))
    target = str(found.prediction.target)
    prediction = Prediction(
        target=target, task="classification", models=(ModelPair(learner, made, real),)
    )
    return replace(found, prediction=prediction)


def _uses(found: Evaluation) -> tuple[list[Use], list[Use], Verdict]:
    verdict = judge(found)
    colours = {"fidelity": verdict.fidelity.colour, "usefulness": verdict.usefulness.colour}
    bad = bad_uses(found)
    return good_uses(found, bad, **colours), bad, verdict


@pytest.mark.parametrize("auroc", [0.6, 0.89])
@pytest.mark.parametrize(("population", "flaw"), STAND_INS)
def test_nothing_is_both_good_and_bad(population: str, flaw: str | None, auroc: float) -> None:
    """Columns, relations and targets are in one list at most, whatever was spoiled."""
    good, bad, verdict = _uses(_predicted(_found(population, flaw), auroc))
    for part in ("columns", "pairs"):
        first, second = (frozenset().union(*(getattr(u, part) for u in us)) for us in (good, bad))
        assert not first & second
    targets = [{use.target for use in uses if use.target} for uses in (good, bad)]
    assert not targets[0] & targets[1]
    assert tuple(use.words for use in good) == verdict.good_for
    assert tuple(use.words for use in bad) == verdict.not_good_for


@pytest.mark.parametrize(("population", "flaw"), STAND_INS)
def test_red_lights_recommend_nothing_that_they_judge(population: str, flaw: str | None) -> None:
    """No models or relations beside a red usefulness, no cross tables beside a red fidelity."""
    _, _, verdict = _uses(_predicted(_found(population, flaw), 0.89))
    said = " ".join(verdict.good_for)
    if verdict.usefulness.colour is Colour.RED:
        assert "models that predict" not in said
        assert "relations such as" not in said
    if verdict.fidelity.colour is Colour.RED:
        assert "cross tables" not in said
        assert "relations such as" not in said


def test_a_target_that_is_shifted_is_not_recommended() -> None:
    """Models may rank well, but the column itself is off."""
    found = _predicted(_found("clinic", "shifted target"), 0.89)
    verdict = judge(found)
    assert any("the distribution of ill" in use for use in verdict.not_good_for)
    assert not any("predict ill" in use for use in verdict.good_for)


AGES = Schema.parse(
    {
        "columns": {
            "age": {"kind": "integer", "edges": [0, 20, 40, 60, 80, 100], "max": 244},
            "ill": {"kind": "boolean"},
        }
    }
)


def _people(ages: list[int], seed: int) -> dict[str, list[object]]:
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, 91, 1_000 - len(ages)).tolist()
    return {"age": [*drawn, *ages], "ill": (generator.random(1_000) < 0.3).tolist()}


def test_values_out_of_range_are_on_the_first_screen() -> None:
    """Ages up to 244, where the real ones end at 90: named first, with both numbers."""
    real = _people([0, 90], 1)
    few, many = (
        evaluate(real, _people([0, 90, *made], 2), AGES, classifiers="none")
        for made in ([244], [120, 150, 200, 244] * 3)
    )
    for found in (few, many):
        verdict = judge(found)
        assert (
            "the range of age (values go up to 244, where the real maximum is 90)"
            == verdict.not_good_for[0]
        )
        assert any("bounds or values of age" in line for line in verdict.improve)
    judged = judge(many).fidelity
    assert Colour.AMBER is judged.colour
    assert "values out of range" == judged.findings[0].name
    assert (
        "age go up to 244, where the real maximum is 90; 1.2 % of them are far beyond the real ones"
        in judged.sentence
    )
    assert not any("age" in use for use in judge(many).good_for)


def test_values_outside_the_schema_are_out_of_range_too() -> None:
    """Rows that other tools made may hold values that nobody declared; they are not quoted."""
    sex = {"kind": "categorical", "values": ["f", "m", "other"], "outside": "other"}
    schema = Schema.parse({"columns": {"sex": sex}})
    real = {"sex": ["f", "m", "other"] * 300}
    found = evaluate(real, {"sex": ["f", "m", "strange"] * 300}, schema, classifiers="none")
    assert found.raw[0].outside == pytest.approx(1 / 3)
    verdict = judge(found)
    assert "the range of sex (values are not all declared)" == verdict.not_good_for[0]
    assert "strange" not in str(verdict.document())
    assert Colour.RED is verdict.fidelity.colour


def test_rows_that_stay_inside_are_good_for_use_inside() -> None:
    """Without a promise the title says where the rows may be used."""
    verdict = judge(_found("clinic", None))
    assert Decision.NO_PROMISE is verdict.decision
    assert "Good for, where real rows may be used" == verdict.good_title
    assert "Good for" == replace(verdict, decision=Decision.RELEASE).good_title


@pytest.mark.parametrize(("population", "flaw"), STAND_INS)
def test_the_gravest_limit_is_first(population: str, flaw: str | None) -> None:
    """Limits that break a rule come before those that only say where the stand-in ends."""
    order = [Colour.RED, Colour.AMBER, Colour.UNKNOWN, Colour.GREEN]
    places = [order.index(use.colour) for use in bad_uses(_found(population, flaw))]
    assert sorted(places) == places


def test_the_first_limit_of_independent_columns_is_what_they_lost() -> None:
    """Relations or groups, and not a range that one value overstepped."""
    for population in POPULATIONS:
        first = bad_uses(_found(population, "independent columns"))[0]
        assert Colour.RED is first.colour
        assert first.words.startswith(("groups such as", "the relation of"))
