"""Tests of independence from released tables: their size, their power, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from understudy.errors import UsageError
from understudy.facts.schema import Schema
from understudy.methods import PrivBayes
from understudy.models.model import Model
from understudy.models.questions.independence import DRAWS, independence_chance
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.testing import seeded

ROWS, NOISE = 400, 9.0


@cache
def _fitted() -> Model:
    columns = {name: {"kind": "integer", "min": 0, "max": 2} for name in "ab"}
    rows = {"a": [0, 1, 2] * 100, "b": [0, 1, 2] * 100}
    method = PrivBayes(Schema.parse({"columns": columns}), epsilon=5, neighbours="replace")
    return seeded(method, 3).fit(rows, ledger=None).model_


def _with_table(dependence: float, seed: int) -> Model:
    """A model whose one released table is of columns that depend so much, with Gaussian noise."""
    generator = np.random.default_rng(seed)
    shares = np.outer([0.6, 0.3, 0.1], [0.5, 0.3, 0.2]) * (1 - dependence)
    shares += dependence * np.diag([0.6, 0.3, 0.1])
    counts = generator.multinomial(ROWS, shares.ravel()).reshape(3, 3)
    noisy = counts + np.rint(generator.normal(0, NOISE, (3, 3))).astype(np.int64)
    return replace(_fitted(), rows=ROWS, tables=(NoisyMarginal(("a", "b"), noisy, NOISE**2),))


@pytest.mark.slow
def test_the_size_is_that_of_the_level() -> None:
    """Of 200 tables of independent columns about ten have a p-value of at most 0.05."""
    chances = [independence_chance(_with_table(0.0, s), ("a", "b"), seed=s) for s in range(200)]
    assert 2 <= sum(chance <= 0.05 for chance in chances) <= 24
    assert 0.35 < float(np.mean(chances)) < 0.65


@pytest.mark.parametrize("seed", range(3))
def test_dependence_beyond_the_noise_is_found(seed: int) -> None:
    """Columns of which half the rows are equal have the least p-value, in either order."""
    model = _with_table(0.5, seed)
    assert 1 / (DRAWS + 1) == independence_chance(model, ("a", "b"), seed=1)
    assert 1 / (DRAWS + 1) == independence_chance(model, ("b", "a"), seed=1)


def test_a_question_has_its_p_value() -> None:
    """`independent(a, b)` of a fit gives the number, in words and for machines."""
    found = _fitted().ask("independent(a, b)", seed=2)
    [line] = found.document()["answers"]
    assert 0 < line["p_value"] <= 0.01
    assert f"p = {line['p_value']:.3f}" == found.text
    assert "law of its noise" in found.notes[0]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("independent(a)", "two columns without conditions"),
        ("independent()", "two columns without conditions"),
        ("independent(a, a)", "not independent of itself"),
        ("independent(a, b = 1)", "two columns without conditions"),
        ("independent(a, c)", "c"),
    ],
)
def test_what_is_no_pair_is_refused(question: str, words: str) -> None:
    """With the form to write, and the character."""
    with pytest.raises(UsageError, match=words):
        _fitted().ask(question)


def test_a_table_of_both_is_needed() -> None:
    """Without one the way out is named; without any tables too."""
    alone = NoisyMarginal(("a",), np.array([5, 5, 5]), 1.0)
    with pytest.raises(UsageError, match="no released table holds 'a' and 'b'"):
        replace(_fitted(), tables=(alone,)).ask("independent(a, b)")
    with pytest.raises(UsageError, match="cannot be tested"):
        replace(_fitted(), tables=()).ask("independent(a, b)")
