"""Jobs without a schema: kinds are learned, and `synth` learns all of it in one go."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from understudy.errors import OutputError, UsageError
from understudy.facts.schema import Schema
from understudy.jobs.kinds import KindRequest, learn_kinds
from understudy.jobs.learned_schema import KINDS_SHARE, SCHEMA_SHARE, place_of
from understudy.jobs.learning import LearningRequest, fit, synthesize
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.method import FitRequest
from understudy.jobs.reading import PersonRequest
from understudy.jobs.schemas import SkeletonRequest
from understudy.models.model import Model
from understudy.privacy.spending.ledger import Ledger


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """A CSV file of 3,000 rows of 1,000 persons."""
    generator = np.random.default_rng(1)
    lines = ["patient_id,age,sex,weight"]
    for number in range(3000):
        weight = "" if number % 10 == 0 else f"{generator.normal(70, 9):.1f}"
        sex = ("female", "male")[number % 2]
        lines.append(f"P{number // 3},{generator.integers(0, 90)},{sex},{weight}")
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def _request(data: Path, **fit: object) -> LearningRequest:
    asked = {"epsilon": "40", "delta": "1e-6", "method": "independent"} | fit
    payer = LedgerRequest(ledger=data.parent / "l.jsonl")
    return LearningRequest(data=str(data), fit=FitRequest(**asked), payer=payer)  # type: ignore[arg-type]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_one_command_states_the_whole_budget(patients: Path, neighbours: str) -> None:
    """Three runs in the ledger add up to what was asked, and the statement says it."""
    output = patients.parent / "out.csv"
    result = synthesize(_request(patients, neighbours=neighbours), output)
    statement = json.loads((patients.parent / "out.csv.privacy.json").read_text())["statement"]
    assert (40.0, 1e-6) == (statement["epsilon"], statement["delta"])
    assert any("30 % of the budget" in remark for remark in result.remarks)
    account = Ledger(patients.parent / "l.jsonl").account("patients")
    assert ["schema init", "schema infer", "independent"] == [run["method"] for run in account.runs]
    schema = Schema.load(place_of(output))
    assert schema.inference is not None
    assert schema.inference.epsilon == 40 * (KINDS_SHARE + SCHEMA_SHARE)
    kinds = [column.kind for column in schema.columns.values()]
    assert ["id", "integer", "categorical", "float"] == kinds
    assert ["patient_id", "age", "sex", "weight"] == pc.read_csv(output).column_names


def test_a_model_of_the_whole_budget_is_kept_with_its_schema(patients: Path) -> None:
    """`fit` learns a schema as `synth` does, and the model says what all of it cost."""
    output = patients.parent / "model.zip"
    result = fit(_request(patients), output)
    bound = Model.load(output).statement.bound
    assert (Fraction(40), Fraction(1, 10**6)) == (bound.epsilon, bound.delta)
    assert any("30 % of the budget" in remark for remark in result.remarks)
    assert Schema.load(place_of(output)).inference is not None


def test_persons_are_protected_on_the_way(patients: Path) -> None:
    """All three runs are about persons, who are bounded before cells are counted."""
    people = PersonRequest("patient_id", 2)
    output = patients.parent / "out.csv"
    synthesize(_request(patients, people=people, epsilon="90"), output)
    inference = Schema.load(place_of(output)).inference
    assert inference is not None
    assert ("patient_id", 2) == (inference.person_id, inference.rows_per_person)


def test_parquet_declares_its_kinds(patients: Path) -> None:
    """Nothing is spent on them, and the fit gets more."""
    data = patients.with_suffix(".parquet")
    pq.write_table(pc.read_csv(patients), data)
    output = patients.parent / "out.csv"
    synthesize(_request(data), output)
    inference = Schema.load(place_of(output)).inference
    assert inference is not None
    assert inference.epsilon == 40 * SCHEMA_SHARE


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        ({"delta": "0"}, "schema is not given"),
        ({"epsilon": None}, "schema is not given"),
        ({"method": "nothing"}, "method"),
        ({"degree": 2}, "degree"),
    ],
)
def test_what_cannot_work_costs_nothing(patients: Path, fit: dict[str, object], words: str) -> None:
    """Refused before the first run."""
    with pytest.raises(UsageError, match=words):
        synthesize(_request(patients, **fit), patients.parent / "out.csv")
    assert not (patients.parent / "l.jsonl").exists()


def test_a_schema_that_is_there_is_not_overwritten(patients: Path) -> None:
    """Somebody may have corrected it; nothing is spent."""
    place_of(patients.parent / "out.csv").write_text("mine")
    with pytest.raises(OutputError, match="is there already"):
        synthesize(_request(patients), patients.parent / "out.csv")
    assert not (patients.parent / "l.jsonl").exists()


def test_kinds_are_learned_and_written(patients: Path) -> None:
    """The skeleton says its cost; options without epsilon are refused."""
    payer = LedgerRequest(ledger=patients.parent / "l.jsonl")
    output = patients.parent / "kinds.toml"
    request = KindRequest(epsilon="40", payer=payer)
    found = learn_kinds(SkeletonRequest(data=str(patients)), request, output=output)
    assert Fraction(40) == found.inference.epsilon
    assert "[inference]" in output.read_text()
    with pytest.raises(OutputError, match="is there already"):
        learn_kinds(SkeletonRequest(data=str(patients)), request, output=output)
    with pytest.raises(UsageError, match="epsilon is not given"):
        KindRequest(delta="1e-6").check_unused()
    KindRequest().check_unused()


def test_learned_labels_come_back_and_what_was_not_found_is_named(tmp_path: Path) -> None:
    """Cells of a boolean column have the words of the file; a column without values is named."""
    data, output = tmp_path / "people.csv", tmp_path / "out.csv"
    lines = [f"{('Ja', 'Nein')[n % 2]},{n % 600 / 10}%,{n % 7}" for n in range(2000)]
    data.write_text("\n".join(["raucher,quote,kinder", *lines]) + "\n")
    result = synthesize(_request(data, epsilon="8", delta="1e-12"), output)
    rows = pc.read_csv(output)
    assert {"Ja", "Nein"} == set(rows["raucher"].to_pylist())
    assert any("all are other: quote. If one of them" in remark for remark in result.remarks)
