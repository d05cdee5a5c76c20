"""Answers to questions, by hand on small models, with intervals and as the schema writes them."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from support.distributions import STATEMENT, model_with
from understudy.cli.main import run
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import Independent
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.inference.question import Question
from understudy.models.intervals.refits import Refits
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.query import NumberAnswer, PairsAnswer, RowAnswer
from understudy.models.questions.answering import Asking
from understudy.models.questions.noise import AnswerNoise, rows_counted
from understudy.models.questions.reading import read_any
from understudy.privacy.accounting.events import Charge, GaussianEvent
from understudy.privacy.mechanisms.released import table_question
from understudy.privacy.noisy_marginal import NoisyMarginal

SCHEMA = Schema.parse(
    {
        "columns": {
            "age": {"kind": "integer", "min": 0, "max": 39, "bins": 4},
            "pay": {"kind": "float", "min": 0.0, "max": 8.0, "bins": 2, "decimals": 1, "unit": "€"},
        }
    }
)
AGES = np.array([0.1, 0.2, 0.3, 0.4])
PAYS = np.array([[0.5, 0.5], [0.5, 0.5], [0.25, 0.75], [0.25, 0.75]])


def by_hand(*, tables: tuple[NoisyMarginal, ...] = ()) -> Model:
    """Four bins of age, and pay that rises with it; 1,000 rows."""
    law = BayesNet(
        Domain.of(SCHEMA),
        (Conditional(Family("age"), AGES), Conditional(Family("pay", ("age",)), PAYS)),
    )
    charges = [
        Charge(table_question(t.attributes), GaussianEvent(Fraction(25), Fraction(1)))
        for t in tables
    ]
    return Model(SCHEMA, law, 1000, replace(STATEMENT, charges=tuple(charges)), tables)


def number(model: Model, question: str) -> NumberAnswer:
    """The answer to a question about a number."""
    found = model.ask(question)
    assert isinstance(found, NumberAnswer)
    return found


def test_a_count_is_a_share_of_all_rows() -> None:
    """P(age >= 20, pay < 4) is 0.7 · 0.25."""
    assert 175 == pytest.approx(number(by_hand(), "count(age >= 20, pay < 4)").value)
    assert 1000 == pytest.approx(number(by_hand(), "count()").value)
    assert 1000 == pytest.approx(number(by_hand(), "count(*)").value)


def test_one_sampled_row_is_not_certain() -> None:
    """Rows that are all alike have no spread of their own, and an error for that they are few."""
    model = by_hand()
    found = model.ask("P(pay)", samples=1, seed=1)
    assert {0.0, 1.0} == {line["probability"] for line in found.lines}
    assert all(line["error"] > 0.2 for line in found.lines)
    assert (found.sampling_error or 0) > 0.2
    mean = model.ask("mean(age)", samples=1, seed=1)
    assert (mean.sampling_error or 0) > 1
    many = model.ask("P(pay)", samples=10_000, seed=1)
    chance = many.lines[0]["probability"]
    expected = (chance * (1 - chance) / 10_000) ** 0.5
    assert expected == pytest.approx(many.lines[0]["error"], rel=0.01)


def test_a_mean_weighs_the_middles_of_bins() -> None:
    """0.1 · 4.5 + 0.2 · 14.5 + 0.3 · 24.5 + 0.4 · 34.5; given pay, the shares change."""
    assert 24.5 == pytest.approx(number(by_hand(), "mean(age)").value)
    high = 0.1 * 0.5 + 0.2 * 0.5 + 0.3 * 0.75 + 0.4 * 0.75
    expected = (0.05 * 4.5 + 0.1 * 14.5 + 0.225 * 24.5 + 0.3 * 34.5) / high
    assert expected == pytest.approx(number(by_hand(), "mean(age | pay >= 4)").value)


def test_a_quantile_lies_inside_a_bin() -> None:
    """0.1 + 0.2 + 0.3 of ages are below 30; 0.8 is reached in the middle of the last bin."""
    assert 34 == number(by_hand(), "quantile(age, 0.8)").value
    assert 9 == number(by_hand(), "quantile(age, 0.1)").value
    assert 0 == number(by_hand(), "quantile(age, 0)").value
    assert 39 == number(by_hand(), "quantile(age, 1)").value
    low = 0.5 * 0.3 + 0.25 * 0.7
    assert 4 * 0.25 / low == pytest.approx(number(by_hand(), "quantile(pay, 0.25)").value)


def test_numbers_are_written_as_the_schema_says() -> None:
    """With its unit and decimals; whole numbers stay whole, and means show two decimals more."""
    assert "3.1 €" == number(by_hand(), "quantile(pay, 0.25)").text
    assert "34" == number(by_hand(), "quantile(age, 0.8)").text
    assert "24.50" == number(by_hand(), "mean(age)").text
    assert "175" == number(by_hand(), "count(age >= 20, pay < 4)").text


def test_the_most_probable_row() -> None:
    """The last bin of age with high pay; given low pay, another."""
    found = by_hand().ask("most probable row")
    assert isinstance(found, RowAnswer)
    assert {"age": "30 to 39", "pay": "4 to 8"} == found.row
    assert 0.3 == pytest.approx(found.probability)
    given = by_hand().ask("most probable row | age < 10, pay < 4")
    assert isinstance(given, RowAnswer)
    assert {"age": "0 to 9", "pay": "0 to 4"} == given.row
    assert 1.0 == pytest.approx(given.probability)
    chance = by_hand().ask("P(age < 10, pay < 4)").lines[0]["probability"]
    assert chance == pytest.approx(given.document()["evidence_probability"])


def test_the_most_probable_row_is_looked_for_where_it_cannot_be_computed() -> None:
    """Constraints forbid the best row; the best of the others is found among sampled ones."""
    rules = SCHEMA.document() | {"constraints": ["if age >= 30 then pay < 4"]}
    found = replace(by_hand(), schema=Schema.parse(rules)).ask("most probable row")
    assert isinstance(found, RowAnswer)
    assert not found.exact
    assert {"age": "20 to 29", "pay": "4 to 8"} == found.row


def test_pairs_are_ranked_by_dependence() -> None:
    """Half the summed difference of joint and product, by hand."""
    joint = AGES[:, None] * PAYS
    apart = AGES[:, None] * joint.sum(axis=0)
    found = by_hand().ask("top 3 pairs")
    assert isinstance(found, PairsAnswer)
    assert (("age", "pay"),) == found.pairs
    assert np.abs(joint - apart).sum() / 2 == pytest.approx(float(found.scores[0]))
    said = "all distances are the model's, also those of pairs that a released table holds"
    assert said not in found.notes
    assert said in replace(found, measured=(True,)).notes


def test_counts_are_of_real_rows_and_not_of_declared_ones() -> None:
    """A number of rows that tables contradict was declared for sampling."""
    table = NoisyMarginal(("age",), np.array([100, 200, 300, 400]), 25.0)
    model = by_hand(tables=(table,))
    assert 1000 == rows_counted(model)
    assert 1000 == rows_counted(replace(model, rows=7))
    assert 1005 == rows_counted(replace(model, rows=1005))


def test_very_large_answers_have_no_intervals() -> None:
    """Drawn noise for such a number of cells would not fit into memory."""
    table = NoisyMarginal(("age",), np.array([100, 200, 300, 400]), 25.0)
    noise = AnswerNoise(by_hand(tables=(table,)), lambda: model_with("network").refits)
    asked = read_any("P(age)", SCHEMA.columns)
    assert isinstance(asked, Question)
    found = noise.interval(asked, np.zeros(2**17 + 1))
    assert "ask for fewer columns" in found.reason


def test_refits_are_asked_for_only_where_they_are_needed() -> None:
    """An answer that a released table holds is found without them."""
    table = NoisyMarginal(("age",), np.array([100, 200, 300, 400]), 25.0)
    model, calls = by_hand(tables=(table,)), []

    def refits() -> Refits:
        calls.append(1)
        return model.refits

    asking = Asking(model, AnswerNoise(model, refits), None, None)
    asking.answer("P(age)", read_any("P(age)", SCHEMA.columns))
    assert [] == calls
    asking.answer("P(pay)", read_any("P(pay)", SCHEMA.columns))
    assert [1] == calls


def test_an_interval_of_a_count_by_hand() -> None:
    """Two cells of noise 5 add up to 7.07; a total from the same table changes nothing."""
    table = NoisyMarginal(("age",), np.array([100, 200, 300, 400]), 25.0)
    found = number(by_hand(tables=(table,)), "count(age < 20)")
    assert "measured" == found.interval.basis
    assert found.interval.ends is not None
    low, high = (float(end) for end in found.interval.ends)
    margin = 1.96 * 50**0.5
    assert (300 - margin, 300 + margin) == pytest.approx((low, high), abs=1.5)


def test_conditions_that_follow_groups_are_held_by_coarser_tables() -> None:
    """A table of a coarser copy holds whole groups, and not a part of one."""
    columns = {"x": {"kind": "integer", "min": 0, "max": 511, "bins": 512}}
    schema = Schema.parse({"columns": columns})
    domain = Domain.of(schema)
    coarse = list(domain.coarser)
    table = NoisyMarginal((coarse[0],), np.full(domain[coarse[0]], 10), 25.0)
    law = BayesNet(domain, (Conditional(Family("x"), np.full(512, 1 / 512)),))
    charge = Charge(table_question(table.attributes), GaussianEvent(Fraction(25), Fraction(1)))
    statement = replace(STATEMENT, charges=(charge,))
    model = Model(schema, law, 5120, statement, (table,))
    size = int((domain.coarser[coarse[0]].groups == 0).sum())
    assert "measured" == model.ask(f"count(x < {size})").interval.basis
    assert "" == model.ask("count(x < 1)").interval.basis


@pytest.mark.parametrize("kind", ["records", "generator"])
def test_kinds_without_probabilities_refuse(kind: str, tmp_path: Path) -> None:
    """By name, with exit code 2."""
    path = tmp_path / "m.zip"
    model_with(kind).save(path)
    for question in ("mean(age)", "count(age < 10)", "most probable row", "top 2 pairs"):
        assert 2 == run(["query", str(path), question])


def test_the_command_answers_in_words_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers with their intervals and notes; complete for machines; older models say so."""
    path = tmp_path / "m.zip"
    table = NoisyMarginal(("age",), np.array([100, 200, 300, 400]), 25.0)
    by_hand(tables=(table,)).save(path)
    assert 0 == run(["query", str(path), "mean(age)"])
    shown = capsys.readouterr().out
    assert "mean(age) = 24.5" in shown
    assert "released tables hold the answer" in shown
    assert "equally frequent" in shown
    assert 0 == run(["query", str(path), "quantile(age, 0.8)", "--json"])
    document = json.loads(capsys.readouterr().out)
    [line] = document["answers"]
    assert {"quantile", "written", "error", "low", "high"} == set(line)
    assert ("measured", 0.95) == (document["interval"]["basis"], document["interval"]["level"])
    assert line["low"] <= 34 <= line["high"]
    by_hand().save(path)
    for question in ("P(age)", "P(age < 10)", "count(age < 10)", "top 1 pairs"):
        assert 0 == run(["query", str(path), question])
        assert "keeps no released tables" in " ".join(capsys.readouterr().out.split())
    assert 2 == run(["query", str(path), "mean(nobody)"])


@pytest.mark.slow
def test_intervals_of_measured_cells_hold_the_truth() -> None:
    """95 times in 100 over fresh noise; chance fails it less than once in 100,000 runs."""
    rows = {"age": [5] * 300 + [15] * 500 + [25] * 700 + [35] * 500, "pay": [1.0, 6.0] * 1000}
    truth, held, asked = np.array([300, 500, 700, 500]) / 2000, 0, 0
    for epsilon, delta in [(1, 0.0), (1, 1e-6)] * 60:
        model = Independent(SCHEMA, epsilon=epsilon, delta=delta).fit(rows, ledger=None).model_
        ends = model.ask("P(age)").interval.ends
        assert ends is not None
        # Cells of one table share its total: two of the four are compared.
        held += int(((ends[0] <= truth) & (truth <= ends[1]))[:2].sum())
        asked += 2
    assert binom.ppf(1e-6, asked, 0.94) <= held <= binom.ppf(1 - 1e-6, asked, 0.97)
