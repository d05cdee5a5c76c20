"""Released tables are found among charges, with their signal and their noise."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

from understudy.facts.domain import Domain
from understudy.privacy.accounting.events import (
    Charge,
    Event,
    ExactEvent,
    GaussianEvent,
    LaplaceEvent,
    PermuteAndFlipEvent,
)
from understudy.privacy.mechanisms.additive import DiscreteLaplace
from understudy.privacy.mechanisms.released import (
    ReleasedTable,
    attributes_asked,
    released_table,
    table_question,
)

DOMAIN = Domain({"age": 20, "sex": 2, "a × b": 3, "b": 5, "weight [kg]": 4})
ONE = Fraction(1)


@pytest.mark.parametrize("attributes", [(), ("age",), ("sex", "age"), ("a × b",), ("b", "a × b")])
def test_questions_name_their_tables(attributes: tuple[str, ...]) -> None:
    """And are read back, even where names hold the sign between names."""
    assert attributes == attributes_asked(table_question(attributes), DOMAIN)


@pytest.mark.parametrize(
    "question",
    [
        *("counts of nothing", "counts of age × nothing", "choice among 3 by R", "counts of "),
        "counts of " + " × ".join(["age"] * 2000),
    ],
)
def test_other_questions_name_none(question: str) -> None:
    """Unknown attributes and other answers."""
    assert attributes_asked(question, DOMAIN) is None


def test_questions_of_two_meanings_name_none() -> None:
    """Nothing is guessed."""
    domain = Domain({"a": 2, "b": 2, "a × b": 3})
    assert attributes_asked("counts of a × b", domain) is None


def test_noise_is_that_of_the_mechanism() -> None:
    """The standard deviation of a cell, beside the rows in a cell on average."""
    scale = Fraction(7, 2)
    table = released_table(Charge("counts of sex × age", LaplaceEvent(scale, ONE)), DOMAIN, 1000)
    assert table is not None
    assert (("sex", "age"), 40, 25.0) == (table.attributes, table.cells, table.average)
    assert math.sqrt(DiscreteLaplace(scale, ONE).variance) == table.noise
    assert pytest.approx(25 / table.noise) == table.ratio
    gauss = released_table(Charge("counts of b", GaussianEvent(Fraction(900), ONE)), DOMAIN, 1000)
    assert gauss is not None
    assert (30.0, 200.0) == (gauss.noise, gauss.average)


def test_answers_that_are_no_tables_are_none() -> None:
    """A choice is not a table, whatever it is called."""
    event = PermuteAndFlipEvent(ONE, ONE)
    assert released_table(Charge("choice among 3 by R", event), DOMAIN, 9) is None
    assert released_table(Charge("counts of age", event), DOMAIN, 9) is None


@pytest.mark.parametrize(
    ("sigma", "word"),
    [(25, "clear"), (26, "faint"), (100, "faint"), (101, "drowned")],
)
def test_words_follow_the_ratio(sigma: int, word: str) -> None:
    """Four times the noise is clear, less than the noise is drowned."""
    table = _table(GaussianEvent(Fraction(sigma) ** 2, ONE))
    assert (word, 100 / sigma) == (table.word, table.ratio)


def test_no_noise_is_clear_and_null_in_json() -> None:
    """JSON has no infinity."""
    document = _table(ExactEvent()).document()
    assert ("clear", None, 0.0) == (document["reads"], document["ratio"], document["noise"])
    assert "Infinity" not in json.dumps(document)


def _table(event: Event) -> ReleasedTable:
    found = released_table(Charge("counts of b", event), DOMAIN, 500)
    assert found is not None
    return found
