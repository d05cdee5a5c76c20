"""The tasks of the NIST challenge: by hand, at their ends, and for schemas without the roles."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.sheets import coded, comparison, drawn, listed
from understudy.errors import UsageError
from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.nist import (
    classification,
    classification_score,
    clustering,
    conjunction,
    frequencies,
    gini_of_groups,
    regression,
    roles_of,
    tasks,
)
from understudy.evaluation.sheets import load
from understudy.facts.schema import Schema

WIDE = listed(a=2, b=3, c=4, d=2)
ROLES = {"city": "town", "gender": "sex", "income": "pay"}
TOWNS = Schema.parse(
    {
        "roles": ROLES,
        "columns": {
            "town": {"kind": "categorical", "values": ["A", "B", "C"]},
            "sex": {"kind": "categorical", "values": ["f", "m"]},
            "pay": {"kind": "float", "min": 0.0, "max": 1000.0},
        },
    }
)


def _towns(pays: dict[tuple[str, str], list[float]]) -> dict[str, list[object]]:
    rows = [(town, sex, pay) for (town, sex), values in pays.items() for pay in values]
    return {name: [row[i] for row in rows] for i, name in enumerate(("town", "sex", "pay"))}


# Pay gaps of 10, 20 and 30.
REAL = _towns(
    {
        ("A", "f"): [110.0], ("A", "m"): [100.0],
        ("B", "f"): [120.0], ("B", "m"): [100.0],
        ("C", "f"): [130.0], ("C", "m"): [100.0],
    }
)  # fmt: skip
# The order of the gaps is turned round: 30, 20, 10.
TURNED = _towns(
    {
        ("A", "f"): [130.0], ("A", "m"): [100.0],
        ("B", "f"): [120.0], ("B", "m"): [100.0],
        ("C", "f"): [110.0], ("C", "m"): [100.0],
    }
)  # fmt: skip


def _compared(real: dict[str, list[object]], synthetic: dict[str, list[object]]) -> Comparison:
    sheets = [load(rows, TOWNS, side="real", seed=0) for rows in (real, synthetic)]
    return Comparison.of(TOWNS, *sheets, seed=0)


def test_the_same_rows_have_the_full_score() -> None:
    """10⁶ in every task, and 1,000 on the other scale."""
    rows = drawn(WIDE, 200, 1)
    same = comparison(WIDE, rows, rows)
    assert (1e6, 1e6) == (clustering(same).value, classification(same).value)
    found = tasks(_compared(REAL, REAL)).document()
    assert (1e6, 1000.0) == (found["regression"]["value"], found["regression"]["value_of_1000"])


def test_tables_without_a_shared_cell_cluster_at_nothing() -> None:
    """Distance 1 of every marginal is 0 of 10⁶."""
    real = coded(WIDE, {name: [0] * 9 for name in WIDE.attributes})
    other = coded(WIDE, {name: [1] * 9 for name in WIDE.attributes})
    assert 0.0 == clustering(comparison(WIDE, real, other)).value


def test_clustering_is_the_mean_nearness() -> None:
    """With three columns there is one marginal: half of its rows moved are 500,000."""
    schema = listed(a=2, b=2, c=2)
    real = coded(schema, {name: [0, 0] for name in "abc"})
    other = coded(schema, {name: [0, 1] for name in "abc"})
    assert 5e5 == pytest.approx(clustering(comparison(schema, real, other)).value)


def test_classification_scores_by_the_formula() -> None:
    """No difference is 10⁶, a factor of 1,000 is 0, of √1,000 a half, and no score is below 0."""
    apart = [0.0, math.log(1_000) / 2, math.log(1_000), 50.0]
    assert [1e6, 5e5, 0.0, 0.0] == pytest.approx(classification_score(np.array(apart)).tolist())


def test_conjunctions_that_never_happen_have_the_floor() -> None:
    """One column, one value: all rows against none are ln 10⁶ apart where that value is asked."""
    schema = listed(a=2)
    real, other = coded(schema, {"a": [0] * 5}), coded(schema, {"a": [1] * 5})
    found = classification(comparison(schema, real, other))
    # Of the subsets {0}, {1}, {0, 1}, each as likely, two differ by ln 10⁶: more than ln 1,000.
    assert 0.0 == found.value
    assert 1e6 == pytest.approx(found.resampled)


@given(st.integers(0, 10_000))
def test_conjunctions_take_a_third_of_the_columns(seed: int) -> None:
    """Subsets of listed values are not empty, and numbers have one range without a gap."""
    kinds = {f"n{i}": {"kind": "integer", "min": 0, "max": 9, "missing": []} for i in range(4)}
    lists = {f"c{i}": {"kind": "categorical", "values": ["u", "v", "w"]} for i in range(5)}
    schema = Schema.parse({"columns": {**kinds, **lists}})
    found = conjunction(schema, np.random.default_rng(seed))
    assert 3 == len(found)
    for name, allowed in found.items():
        levels = allowed[: schema.learned[name].levels]
        assert levels.any()
        if name in kinds:
            assert 1 == int((np.diff(levels.astype(int), prepend=0) == 1).sum())


def test_frequencies_are_those_of_plain_python() -> None:
    """More conjunctions than bits in a word, counted row by row."""
    rows = drawn(WIDE, 90, 3)
    generator = np.random.default_rng(1)
    asked = [conjunction(WIDE, generator) for _ in range(150)]
    found = frequencies(rows, asked)
    for place, allowed in enumerate(asked):
        fits = [
            all(values[rows.codes[name][row]] for name, values in allowed.items())
            for row in range(90)
        ]
        assert sum(fits) / 90 == pytest.approx(found[place])


def test_turned_pay_gaps_lose_the_half_for_ranks() -> None:
    """The reversed order is the worst there is; Gini coefficients of A and C are exchanged."""
    found, gini, ranks = regression(_compared(REAL, TURNED), ROLES)
    # Of two incomes x ≤ y the coefficient is (y − x)/(2·(x + y)).
    a, c = 10 / 420, 30 / 460
    assert 2 * (a - c) ** 2 / 3 == pytest.approx(gini)
    assert 1.0 == pytest.approx(ranks)
    assert gini is not None
    assert 1e6 * (1 - (gini + 1) / 2) == pytest.approx(found.value)


def test_towns_that_were_never_generated_are_as_wrong_as_can_be() -> None:
    """Their coefficient is off by 1, and they come last."""
    without_a = {
        name: [v for v, town in zip(values, REAL["town"], strict=True) if town != "A"]
        for name, values in REAL.items()
    }
    _, gini, ranks = regression(_compared(REAL, without_a), ROLES)
    # Ranks 1, 2, 3 against 3, 1, 2: a mean square of 2, of 8/3 at most.
    assert (1 / 3, 3 / 4) == pytest.approx((gini, ranks))


def test_gini_coefficients_are_mean_differences() -> None:
    """Σ|x − y| / (2·n²·mean), by plain Python; and equal incomes, one, none, nobody."""
    incomes = [3.0, 0.0, 7.0, 7.0, 12.0]
    total = sum(abs(x - y) for x in incomes for y in incomes)
    expected = total / (2 * len(incomes) ** 2 * (sum(incomes) / len(incomes)))
    groups = np.array([0] * 5 + [1] * 3 + [2] * 4 + [3] * 2)
    values = np.array([*incomes, 5, 5, 5, 0, 0, 0, 8, 0, 0])
    found = gini_of_groups(groups, values, 5).tolist()
    assert [expected, 0.0, 0.75, 0.0] == pytest.approx(found[:4])
    assert math.isnan(found[4])


def test_absent_roles_are_reasons() -> None:
    """What is not named, holds no numbers, has not two values or too few towns."""
    both = _compared(REAL, REAL)
    assert "no column is named for gender, income; name them in roles" == (
        regression(both, {"city": "town"})[0].reason
    )
    assert "income, column 'sex', holds no numbers" == (
        regression(both, {**ROLES, "income": "sex"})[0].reason
    )
    assert "gender, column 'town', has not two values" == (
        regression(both, {**ROLES, "gender": "town"})[0].reason
    )
    lonely = _towns({("A", "f"): [1.0], ("A", "m"): [2.0]})
    reason = regression(_compared(lonely, lonely), ROLES)[0].reason
    assert "fewer than two cities, column 'town', have incomes of both genders" == reason


def test_roles_come_from_options_or_the_schema() -> None:
    """What is given goes before what the schema says; unknown columns are refused."""
    assert ROLES == roles_of(TOWNS, None)
    assert {"city": "sex"} == roles_of(TOWNS, {"city": "sex"})
    with pytest.raises(UsageError, match="column 'village' is not in the schema"):
        roles_of(TOWNS, {"city": "village"})
    odd = Schema.parse({**TOWNS.document(), "roles": "town"})
    with pytest.raises(UsageError, match="roles is 'town'; write a table"):
        roles_of(odd, None)


def test_independent_columns_score_less() -> None:
    """The scores of a resample and of independent columns are given beside the score."""
    schema = listed(a=4, b=4, c=4, d=4, e=4, f=4)
    codes = [i % 4 for i in range(800)]
    real = coded(schema, dict.fromkeys(schema.attributes, codes))
    found = tasks(comparison(schema, real, real))
    for result in (found.clustering, found.classification):
        assert result.resampled is not None
        assert result.independent is not None
        assert 8e5 < result.resampled
        assert result.independent < result.resampled - 1e5
    json.dumps(found.document(), allow_nan=False)


def test_tables_without_rows_are_scored() -> None:
    """Nothing made is worth nothing, and nothing is divided by."""
    found = tasks(comparison(WIDE, drawn(WIDE, 50, 1), drawn(WIDE, 0, 1)))
    assert 0.0 == found.clustering.value
    assert found.classification.value is not None
