"""Questions in words: what they mean, what they answer, and where they go wrong."""

from __future__ import annotations

import contextlib
import itertools
import json
import operator
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.asking import ask
from understudy.cli.main import run
from understudy.errors import UsageError
from understudy.facts.codec import Codec
from understudy.facts.column import IntegerColumn
from understudy.facts.schema import Schema
from understudy.methods import Histogram, Nist
from understudy.models.inference import allowed
from understudy.models.inference.question import read_conditions
from understudy.models.model import Model
from understudy.models.query import Answer

SCHEMA = Schema.parse(
    {
        "columns": {
            "id": {"kind": "id"},
            "age": {"kind": "integer", "min": 0, "max": 39, "bins": 4, "missing": []},
            "sex": {"kind": "categorical", "values": ["male", "female"]},
            "grade": {"kind": "categorical", "values": [1, 2, 3], "ordered": True},
            "pay": {"kind": "float", "min": 0, "max": 10, "bins": 5},
            "born": {"kind": "date", "min": "2000-01-01", "max": "2000-01-20", "bins": 2},
            "well": {"kind": "boolean"},
        }
    }
)
COMPARE: dict[str, Callable[[int, int], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


PIECES = [
    "age", "sex", "pay", "born", "well", "id", "male", "yes", "3", "2.5", "1e999", "-1", "nan", "٣",
    "2000-01-03", "0000-00-00", "9" * 5000, "=", "!=", "<", ">=", "in", "{", "}", ",", "and", "not",
    "missing", "'", "|", " ", "\n", "",
]  # fmt: skip


@pytest.fixture(scope="module")
def model() -> Model:
    """A model of rows in which columns depend on each other."""
    generator = np.random.default_rng(3)
    age = generator.integers(0, 40, 4000)
    rows = {
        "age": age,
        "sex": np.where(generator.random(4000) < age / 40, "male", "female"),
        "grade": 1 + (age + generator.integers(0, 9, 4000)) % 3,
        "pay": np.minimum(age / 4 * generator.random(4000), 10),
        "born": np.datetime64("2000-01-01") + generator.integers(0, 20, 4000),
        "well": generator.random(4000) < 0.7,
    }
    return Nist(SCHEMA, epsilon=5, delta=1e-6).fit(rows, ledger=None).model_


conditions = st.lists(
    st.tuples(st.sampled_from(list(COMPARE)), st.integers(0, 39)), min_size=1, max_size=4
)


@given(said=conditions, bins=st.integers(1, 40))
def test_parts_of_bins_are_counted(said: list[tuple[str, int]], bins: int) -> None:
    """Of whole numbers exactly those of a bin that fit all conditions, as if listed."""
    column = IntegerColumn(min=0, max=39, bins=bins)
    edges = [*column.left_edges, 40]
    fits = [all(COMPARE[relation](n, value) for relation, value in said) for n in range(40)]
    expected = [np.mean(fits[int(low) : int(end)]) for low, end in itertools.pairwise(edges)]
    found = allowed("n", column, [(relation, [value]) for relation, value in said])
    assert expected == pytest.approx(found.tolist())


@pytest.mark.parametrize(
    ("name", "relation", "values", "expected"),
    [
        ("age", "missing", [], [0, 0, 0, 0, 1]),
        ("age", "not missing", [], [1, 1, 1, 1, 0]),
        ("age", "!=", [5], [0.9, 1, 1, 1, 1]),
        ("age", "in", [5, 12, 13], [0.1, 0.2, 0, 0, 0]),
        ("sex", "=", ["male"], [1, 0]),
        ("sex", "!=", ["male"], [0, 1]),
        ("grade", ">=", [2], [0, 1, 1]),
        ("grade", "<", ["2"], [1, 0, 0]),
        ("pay", "=", [10], [0, 0, 0, 0, 1]),
        ("pay", "<", [3], [1, 0.5, 0, 0, 0]),
        ("pay", "!=", [3], [1, 1, 1, 1, 1]),
        ("born", "<=", ["2000-01-05"], [0.5, 0]),
        ("well", "=", [True], [0, 1]),
    ],
)
def test_conditions_weigh_codes(
    name: str, relation: str, values: list[str | int | bool], expected: list[float]
) -> None:
    """Listed values wholly, bins by the part that fits, missing cells by no comparison but !=."""
    found = allowed(name, SCHEMA.learned[name], [(relation, values)])
    assert expected == pytest.approx(found.tolist())


def test_answers_are_those_of_sampled_rows(model: Model) -> None:
    """A distribution, the chance of an event, and conditions on the same column on both sides."""
    for question in (
        "P(sex | age >= 13, grade = 2)",
        "P(sex = male, grade > 1 | pay < 3)",
        "P(age < 17 | age >= 13)",
        "P(sex, well)",
        "P(born | age not missing)",
    ):
        exact, sampled = ask(model, question), ask(model, question, samples=300_000, seed=1)
        assert exact.exact
        assert exact.chances.sum() == pytest.approx(1) or not exact.targets
        strays = np.abs(exact.chances - sampled.chances) / np.maximum(sampled.errors, 1e-6)
        # Six standard errors: once in five hundred million.
        assert strays.max() < 6
        assert exact.evidence == pytest.approx(sampled.evidence, abs=0.01)


def test_probabilities_from_python(model: Model) -> None:
    """By values, several of them, and of several columns together."""
    found = model.probability("sex", given={"age": 30, "grade": [1, 2]})
    assert {"male", "female"} == set(found)
    assert 1 == pytest.approx(sum(found.values()))
    both = model.probability("sex", "well")
    assert 1 == pytest.approx(sum(both.values()))
    assert both["male", True] + both["male", False] == pytest.approx(
        model.probability("sex")["male"]
    )
    row, chance = model.most_probable()
    assert set(SCHEMA.learned) == set(row)
    assert 0 < chance < 1


def test_the_most_probable_row_can_be_decoded(model: Model) -> None:
    """It is a row of the schema's own values."""
    row, _ = model.most_probable({"sex": np.array([0.0, 1.0])})
    assert "female" == row["sex"]
    assert Codec(SCHEMA).domain.attributes == tuple(row)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("sex", "at character 1: the question has none of the known forms; write P("),
        ("P(sx)", "at character 3: 'sx' is not a column; the columns are id, age"),
        ("P(id)", "at character 3: 'id' is generated afresh"),
        ("P(sex | age)", "at character 9: 'age' is alone"),
        ("P(sex | age > )", "at character 14: the end is found where a value is expected"),
        ("P(sex | age > x)", "'x' is not a whole number"),
        ("P(sex | age < 30.5)", "'30.5' is not a whole number"),
        ("P(sex | born < 2000-01-05T12:00)", "is not a day"),
        ("P(sex | age > 99)", "out of its declared bounds"),
        ("P(sex | sex > male)", "column 'sex' has no order"),
        ("P(sex | well = maybe)", "has no value 'maybe'; known are false, true"),
        ("P(sex | sex missing)", "has no missing level"),
        ("P(sex, age = 3)", "ask for columns or for conditions"),
        ("P(sex | age = 3 grade = 1)", "',' or the end is expected"),
        ("P(sex | 'age)", "the quote is not closed"),
        ("P()", "at character 3"),
        ("P(well | sex = male, sex = female)", "probability 0"),
    ],
)
def test_questions_that_cannot_be_answered(model: Model, question: str, words: str) -> None:
    """With the character where there is one, and the way out."""
    with pytest.raises(UsageError) as caught:
        ask(model, question)
    assert words in str(caught.value)


@given(text=st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join) | st.text(max_size=20))
def test_no_conditions_are_a_fault(text: str) -> None:
    """They are read, with weights from 0 to 1, or refused."""
    with contextlib.suppress(UsageError):
        evidence = read_conditions(text, SCHEMA.columns).evidence
        assert all(0 <= fits.min() <= fits.max() <= 1 for fits in evidence.values())


def test_models_without_a_network_are_refused(model: Model) -> None:
    """Rows that were released have no probabilities; constraints ask for samples."""
    held = (
        Histogram(SCHEMA, epsilon=5, rows=3)
        .fit({n: [] for n in SCHEMA.learned}, ledger=None)
        .model_
    )
    with pytest.raises(UsageError, match="holds released rows"):
        ask(held, "P(sex)")
    rules = SCHEMA.document() | {"constraints": ["if sex = male then well = yes"]}
    ruled = replace(model, schema=Schema.parse(rules))
    with pytest.raises(UsageError, match="ask by samples"):
        ruled.probability("well", given={"sex": "male"})
    answer = ask(ruled, "P(well = true | sex = male)", seed=1)
    assert (1.0, False) == (float(answer.chances), answer.exact)


def test_an_answer_is_shown_in_one_line(model: Model) -> None:
    """The question and the most probable values come first; a notebook shows the same line."""
    model = replace(model, tables=())
    sexes = ask(model, "P(sex | age >= 20)")
    shown = " ".join(f"{name} {chance:.4g}," for chance, name in _by_chance(sexes))
    assert f"P(sex | age >= 20): {shown[:-1]}" == repr(sexes)
    assert f"P(sex | age &gt;= 20): {shown[:-1]}" == sexes._repr_html_()
    chance = ask(model, "P(sex = male)")
    assert f"P(sex = male): {float(chance.chances):.4g}" == repr(chance)
    both = repr(ask(model, "P(sex, age)", samples=2000, seed=1))
    assert " & " in both
    assert both.endswith(" more (estimated)")


def _by_chance(answer: Answer) -> list[tuple[float, str]]:
    [names] = answer.labels
    return sorted(zip(answer.chances.tolist(), map(str, names), strict=True), reverse=True)


def test_evidence_that_no_sample_fits_is_told(model: Model) -> None:
    """Rather than dividing by nothing."""
    with pytest.raises(UsageError, match="none of 5 rows fits"):
        ask(model, "P(well | sex = male, sex = female)", samples=5)


def test_the_command_prints_a_table_a_number_or_json(
    model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`understudy query MODEL QUESTION`."""
    path = tmp_path / "m.zip"
    model.save(path)
    assert 0 == run(["query", str(path), "P(sex | age >= 20)"])
    printed = capsys.readouterr().out
    assert "female" in printed
    assert "at no cost" in printed
    assert 0 == run(["query", str(path), "P(sex = male)"])
    assert "P(sex = male) = 0." in capsys.readouterr().out
    assert 0 == run(["query", str(path), "P(sex, well)", "--samples", "2000", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert ("P(sex, well)", False, 4) == (
        document["question"],
        document["exact"],
        len(document["answers"]),
    )
    assert {"sex", "well", "probability", "error", "low", "high"} == set(document["answers"][0])
    assert 2 == run(["query", str(path), "P(nobody)"])
