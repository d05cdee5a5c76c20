"""Attackers who learn: what they may know, what they are asked, and what stops them."""

from __future__ import annotations

import numpy as np
import pytest

from support.promised import need
from support.sheets import coded, listed, sheet
from understudy.errors import UsageError
from understudy.evaluation.disclosure import attack
from understudy.evaluation.disclosure.attack import Attack, Attempt, Scenario, Victims
from understudy.evaluation.disclosure.attribution import attribution
from understudy.evaluation.prediction.learners import LEARNERS
from understudy.evaluation.prediction.prediction import Settings
from understudy.evaluation.prediction.worker import Job, LearnerOutput
from understudy.evaluation.sheets import EvaluationTable, load
from understudy.facts.schema import Schema

SCHEMA = listed(t=3, a=3, b=3, c=3)
TREE = LEARNERS["decision-tree"]
# Far more time than a model takes, however busy the machine is.
SETTINGS = Settings("decision-tree", seconds=600)


def _rows(count: int, seed: int) -> EvaluationTable:
    """t is a four times of five; b and c are noise."""
    generator = np.random.default_rng(seed)
    a, b, c, other = generator.integers(0, 3, (4, count))
    t = np.where(generator.random(count) < 0.8, a, other)
    codes = {"t": t.tolist(), "a": a.tolist(), "b": b.tolist(), "c": c.tolist()}
    return sheet(SCHEMA, coded(SCHEMA, codes))


def _attempt(victims: EvaluationTable, table: EvaluationTable, key: tuple[str, ...]) -> Attempt:
    return Victims.of(SCHEMA, "t", victims).attempt(TREE, table, key, settings=SETTINGS)


def test_all_choices_of_a_length_are_keys() -> None:
    """Five columns have five keys of length four, and one of length five."""
    schema = listed(t=2, a=2, b=2, c=2, d=2, e=2)
    four = Scenario.of(schema, sensitive="t", keys="abcde", length=4)
    expected = [tuple(key) for key in ("abcd", "abce", "abde", "acde", "bcde")]
    assert expected == list(four.keys)
    assert (tuple("abcde"),) == Scenario.of(schema, sensitive="t", keys="abcde").keys


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"sensitive": "z", "keys": ["a"]}, "sensitive 'z' is not a column with values"),
        ({"sensitive": "t", "keys": ["a", "z"]}, "key 'z' is not a column with values"),
        ({"sensitive": "t", "keys": []}, "no key is named"),
        ({"sensitive": "t", "keys": ["a", "t"]}, "column 't' is sensitive and a key"),
        ({"sensitive": "t", "keys": ["a"], "length": 2}, "give a length from 1 to 1"),
        ({"sensitive": "t", "keys": ["a"], "length": 0}, "give a length from 1 to 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: dict[str, object], words: str) -> None:
    """By name, with the rule and the way out."""
    with pytest.raises(UsageError, match=words):
        Scenario.of(SCHEMA, **asked)  # type: ignore[arg-type]


def test_too_many_keys_are_refused() -> None:
    """Twenty columns have 184,756 keys of length ten; nobody waits for as many models."""
    schema = listed(t=2, **{f"k{i}": 2 for i in range(20)})
    keys = [f"k{i}" for i in range(20)]
    with pytest.raises(UsageError, match="184,756 keys of length 10, more than 1,000"):
        Scenario.of(schema, sensitive="t", keys=keys, length=10)


def test_a_column_named_twice_is_one() -> None:
    """Keys are sets of columns."""
    assert ("a", "b") == Scenario.of(SCHEMA, sensitive="t", keys=["a", "b", "a"]).quasi_identifiers


@pytest.mark.slow
def test_a_tree_on_the_original_is_the_vote() -> None:
    """Grown to its end on categories, it names the most frequent value of each key, as GCAP."""
    need("sklearn")
    rows = _rows(2_000, 1)
    found = _attempt(rows, rows, ("a", "b"))
    vote = attribution(rows.table, rows.table, sensitive="t", key=("a", "b")).vote
    assert vote == pytest.approx(found.accuracy)
    assert found.seconds is not None


@pytest.mark.slow
def test_attackers_know_the_key_and_nothing_else() -> None:
    """By the column that decides they are right 13 of 15 times, by those that do not, a third."""
    need("sklearn")
    victims, table = _rows(2_000, 1), _rows(2_000, 2)
    telling, other = _attempt(victims, table, ("a",)), _attempt(victims, table, ("b", "c"))
    assert 13 / 15 == pytest.approx(telling.accuracy, abs=0.03)
    assert 1 / 3 == pytest.approx(other.accuracy, abs=0.06)


def test_everybody_is_asked_about_once_for_each_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Victims of one key are one question, and each of them is counted."""
    asked: list[Job] = []

    def always_first(job: Job, *, seconds: float) -> LearnerOutput:
        asked.append(job)
        return LearnerOutput(job.test[:, 1:].argmax(axis=1) + 1, np.empty((0, 0)), seconds)

    monkeypatch.setattr(attack, "run", always_first)
    rows = _rows(500, 1)
    found = _attempt(rows, rows, ("a",))
    assert [(3, 3)] == [job.test.shape for job in asked]
    # The flags of a are 0, 1, 2: named are 1, 1 and 2.
    named = np.maximum(rows.table.codes["a"], 1)
    assert (rows.table.codes["t"] == named).mean() == pytest.approx(found.accuracy)


def test_a_table_of_one_value_names_it() -> None:
    """No process is needed to learn a value that never varies."""
    table = sheet(SCHEMA, coded(SCHEMA, {name: [1, 1] for name in SCHEMA.learned}))
    victims = _rows(300, 1)
    found = _attempt(victims, table, ("a",))
    assert (victims.table.codes["t"] == 1).mean() == pytest.approx(found.accuracy)


def test_no_rows_are_a_reason() -> None:
    """On either side."""
    for victims, table in ((0, 5), (5, 0)):
        found = _attempt(_rows(victims, 1), _rows(table, 2), ("a",))
        assert Attempt(None, reason="there are no rows with a value of 't'") == found


def test_rows_without_a_value_are_no_victims() -> None:
    """What is missing cannot be found out; numbers are classes by their bins."""
    columns = {"pay": {"kind": "float", "min": 0.0, "max": 9.0, "missing": []}}
    schema = Schema.parse({"columns": columns | {"a": {"kind": "boolean"}}})
    rows = {"pay": [1.0, None, 8.0], "a": ["yes", "no", "yes"]}
    victims = Victims.of(schema, "pay", load(rows, schema, side="real", seed=0))
    assert 2 == victims.sheet.rows


def test_means_and_spreads_are_over_keys() -> None:
    """Of 0.5 and 0.7: 0.6, and a deviation of 0.1·√2; one that failed leaves none."""
    both = Attack("x", "X", (Attempt(0.5), Attempt(0.7)))
    assert (0.6, 0.1 * 2**0.5) == pytest.approx((both.accuracy, both.spread))
    alone = Attack("x", "X", (Attempt(0.5),))
    assert (0.5, None) == (alone.accuracy, alone.spread)
    failed = Attack("x", "X", (Attempt(0.5), Attempt(None, reason="ended"), Attempt(0.6)))
    assert (None, None, "ended") == (failed.accuracy, failed.spread, failed.reason)
