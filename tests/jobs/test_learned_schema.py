"""Jobs without a schema: kinds are learned, and `synth` learns all of it in one go."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from support.databases import sqlite_file
from understudy.errors import BudgetExceeded, DataError, OutputError, UsageError
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.jobs.kinds import KindRequest, learn_kinds
from understudy.jobs.learned_schema import KINDS_SHARE, SCHEMA_SHARE, place_of
from understudy.jobs.learning import LearningRequest, fit, synthesize
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.method import FitRequest
from understudy.jobs.network_rules import NetworkRequest
from understudy.jobs.reading import ClusterReadingRequest, PersonRequest
from understudy.jobs.schemas import SkeletonRequest
from understudy.methods.discover.prospects import Prospects
from understudy.models.model import Model
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.limits import Limit, Spent


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
    assert any("30 % of the budget" in remark for remark in result.remarks)
    account = Ledger(patients.parent / "l.jsonl").account("patients")
    assert 40 == statement["epsilon"]
    # Kinds that were learned by pure noise leave their part of delta unspent.
    assert sum(Fraction(run["delta_exact"]) for run in account.runs) == Fraction(
        statement["delta_exact"]
    )
    assert Fraction(95, 10**8) <= Fraction(statement["delta_exact"]) <= Fraction(1, 10**6)
    assert ["schema init", "schema infer", "independent"] == [run["method"] for run in account.runs]
    schema = Schema.load(place_of(output))
    assert schema.inference is not None
    assert schema.inference.epsilon == 40 * (KINDS_SHARE + SCHEMA_SHARE)
    kinds = [column.kind for column in schema.columns.values()]
    assert ["id", "integer", "categorical", "float"] == kinds
    assert ["patient_id", "age", "sex", "weight"] == pc.read_csv(output).column_names


def test_whoever_is_not_listed_is_named_with_the_value_that_stands_for_it(patients: Path) -> None:
    """The terminal, the schema's comment and the statement's file say that a value is replaced.

    In one run of fourteen noise shows others, or none that is most frequent: then there is no such
    value, and the test looks at the next run.
    """
    for attempt in range(12):
        output = patients.parent / f"out{attempt}.csv"
        result = synthesize(_request(patients), output)
        first = {"sex": Schema.load(place_of(output)).columns["sex"].document()["outside"]}
        beside = json.loads((patients.parent / f"{output.name}.privacy.json").read_text())
        assert ("unlisted" in beside) == (first["sex"] in ("female", "male"))
        if "unlisted" in beside:
            break
    assert first == beside["unlisted"]
    said = f"the most frequent where it was learned: {first['sex']} of sex"
    assert [said in remark for remark in result.remarks].count(True) == 1
    comment = place_of(output).read_text().partition("\n\n")[0].replace("\n# ", " ")
    assert said in comment
    assert comment.startswith("# values that the schema does not list")


def test_a_model_of_the_whole_budget_is_kept_with_its_schema(patients: Path) -> None:
    """`fit` learns a schema as `synth` does, and the model says what all of it cost."""
    output = patients.parent / "model.zip"
    result = fit(_request(patients), output)
    bound = Model.load(output).statement.bound
    account = Ledger(patients.parent / "l.jsonl").account("patients")
    deltas = [Fraction(run["delta_exact"]) for run in account.runs]
    assert (Fraction(40), sum(deltas)) == (bound.epsilon, bound.delta)
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
    """Someone may have corrected it; nothing is spent."""
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
    lines = [f"{('Ja', 'Nein')[n % 2]},{n % 600 / 10} kg,{n % 7}" for n in range(2000)]
    data.write_text("\n".join(["raucher,quote,kinder", *lines]) + "\n")
    result = synthesize(_request(data, epsilon="8", delta="1e-12"), output)
    rows = pc.read_csv(output)
    # In 1 of 100 runs noise seems to show missing cells, and there is a level for them.
    assert {"Ja", "Nein"} == set(rows["raucher"].to_pylist()) - {None, ""}
    assert any("all are other: quote. If each row" in remark for remark in result.remarks)


def _towns(path: Path, rows: int, towns: int) -> Path:
    lines = [f"{20 + i % 50},town {i % towns},street {i % towns}" for i in range(rows)]
    path.write_text("\n".join(["age,town,street", *lines]) + "\n")
    return path


def _few(path: Path) -> Path:
    """Nine columns of eight rows: noise seems to show a kind in most of them 1 time in 10⁹."""
    header = ",".join(f"c{i}" for i in range(9))
    path.write_text("\n".join([header, *[",".join("abababaab")] * 8]) + "\n")
    return path


@pytest.mark.parametrize(
    ("make", "words", "share"),
    [
        (partial(_towns, rows=4000, towns=800), "nothing useful .* column 'town', 'street'", "3"),
        (_few, "no kind stands out of the noise in", "0.5"),
    ],
)
def test_useless_columns_stop_before_the_rest_is_spent(
    tmp_path: Path, make: Callable[[Path], Path], words: str, share: str
) -> None:
    """Only the share of the schema is spent, the message says so, and rows are not written."""
    data = make(tmp_path / "rows.csv")
    with pytest.raises(DataError, match=words) as caught:
        # By so small a delta, no town of five rows is found in a million runs.
        synthesize(_request(data, epsilon="10", delta="1e-14"), tmp_path / "out.csv")
    assert f"Only epsilon = {share} was spent" in str(caught.value)
    assert "--unchecked" in str(caught.value)
    spent = Ledger(tmp_path / "l.jsonl").account("rows").spent
    assert Fraction(share) == spent.epsilon
    assert not (tmp_path / "out.csv").exists()
    assert ("kept in" in str(caught.value)) == place_of(tmp_path / "out.csv").exists()


def test_a_stopped_run_goes_on_where_it_is_asked_to(tmp_path: Path) -> None:
    """The kept schema serves a second run, and `--unchecked` does not stop at all."""
    data = _towns(tmp_path / "towns.csv", 4000, 800)
    request = _request(data, epsilon="10")
    with pytest.raises(DataError):
        synthesize(request, tmp_path / "out.csv")
    kept = place_of(tmp_path / "out.csv")
    synthesize(replace(request, schema=kept, unchecked=True), tmp_path / "out.csv")
    synthesize(replace(request, unchecked=True), tmp_path / "other.csv")
    assert {"other"} == set(pc.read_csv(tmp_path / "other.csv")["town"].to_pylist()) - {None, ""}


def test_the_decision_is_a_function_of_released_numbers() -> None:
    """Half of the columns, all columns of texts, or noise that moves a quarter of a column."""
    listed: dict[str, object] = {"kind": "categorical", "values": ["a", "b"]}
    lost: dict[str, object] = {"kind": "categorical", "values": ["other"], "outside": "other"}
    number: dict[str, object] = {"kind": "integer", "min": 0, "max": 99}
    unit = Unit(Neighbours.ADD_REMOVE)

    def prospects(*bodies: dict[str, object], rows: float = 5000, unseen: int = 0) -> Prospects:
        columns = {f"c{i}": body for i, body in enumerate(bodies)}
        names = tuple(f"c{i}" for i in range(unseen))
        return Prospects(Schema.parse({"columns": columns}), names, rows)

    assert not prospects(number, lost).lacks_columns
    assert prospects(number, number, number, lost, lost).lacks_columns
    assert not prospects(number, number, listed, lost).lacks_columns
    assert prospects(number, lost, unseen=1).lacks_columns
    assert prospects(lost).lacks_columns
    whole = prospects(number, listed, number)
    assert not whole.lacks_rows("0.7", "1e-6", unit)
    assert replace(whole, rows=50).lacks_rows("0.7", "1e-6", unit)
    assert replace(whole, rows=-20).lacks_rows("70", "1e-6", unit)
    assert whole.noise("0.7", "1e-6", unit) < whole.noise(
        "0.7", "1e-6", replace(unit, rows_per_person=5)
    )


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        ({"method": "privbayes"}, "takes no delta"),
        ({"method": "adaptive", "network": NetworkRequest(target="nobody")}, "nobody"),
    ],
)
def test_what_cannot_work_is_refused_before_a_schema_is_paid_for(
    patients: Path, fit: dict[str, object], words: str
) -> None:
    """The method is checked with the names of columns, which are public."""
    with pytest.raises(UsageError, match=words):
        synthesize(_request(patients, **fit), patients.parent / "out.csv")
    assert not (patients.parent / "l.jsonl").exists()


def test_a_limit_must_have_room_for_the_whole_budget(patients: Path) -> None:
    """A part of it would buy a schema, and no rows."""
    ledger = Ledger(patients.parent / "l.jsonl")
    ledger.limit("patients", epsilon=Fraction(20), delta=Fraction(1, 10**6))
    with pytest.raises(BudgetExceeded, match="asked for epsilon = 40"):
        synthesize(_request(patients), patients.parent / "out.csv")
    assert 0 == ledger.account("patients").spent.epsilon


@pytest.mark.parametrize(("own", "fits"), [(Fraction(0), False), (Fraction(1, 10**5), True)])
def test_a_limit_in_zcdp_must_have_room_for_every_part(
    patients: Path, own: Fraction, fits: bool
) -> None:
    """Values are learned with a delta of their own; without room for it not even kinds are paid."""
    ledger = Ledger(patients.parent / "l.jsonl")
    total = Spent(Fraction(90), Fraction(1, 10**4))
    ledger.set_limit("patients", Limit.zcdp(total, Adjacency(), own_delta=own))
    request = _request(patients, epsilon="4")
    if fits:
        synthesize(request, patients.parent / "out.csv")
        assert 3 == len(ledger.account("patients").runs)
        return
    with pytest.raises(BudgetExceeded, match=r"--own-delta.*Nothing was spent"):
        synthesize(request, patients.parent / "out.csv")
    assert () == ledger.account("patients").runs


def test_a_table_of_booleans_gives_the_rest_of_the_schema_to_the_fit(tmp_path: Path) -> None:
    """Nothing but kinds is learned, 5 % is what the sentence says, and the whole is stated."""
    data = tmp_path / "flags.csv"
    data.write_text(
        "a,b\n"
        + "".join(f"{('true', 'no')[n % 2]},{('no', 'yes')[n % 3 > 0]}\n" for n in range(900))
    )
    request = _request(data)
    result = synthesize(replace(request, unchecked=True), tmp_path / "out.csv")
    assert "boolean" == Schema.load(tmp_path / "out.schema.toml").columns["b"].kind
    assert any("was learned with 5 % of the budget" in remark for remark in result.remarks)
    runs = Ledger(tmp_path / "l.jsonl").account("flags").runs
    assert [2, 38] == [run["epsilon"] for run in runs]
    assert 40.0 == result.document["statement"]["epsilon"]


def test_the_table_of_an_sqlite_file_is_learned_from(patients: Path) -> None:
    """With --table a schema is learned; without it the tables that there are are named."""
    rows = pc.read_csv(patients)
    path = patients.parent / "clinic.db"
    sqlite_file(path, rows.cast(pa.schema([(n, pa.string()) for n in rows.column_names])), "people")
    sqlite_file(path, rows.select(["age"]), "ages")
    request = replace(_request(path), data=str(path))
    output = patients.parent / "out.csv"
    with pytest.raises(UsageError, match=r"--table NAME; the database has ages, people"):
        synthesize(request, output)
    synthesize(replace(request, reading=ClusterReadingRequest(table="people")), output)
    assert {"sex", "age"} < {*Schema.load(place_of(output)).columns}


def test_a_database_is_told_how_a_schema_is_learned(patients: Path) -> None:
    """Refused unspent, with two commands, without the address, which may hold a password."""
    request = replace(_request(patients), data="postgres://ann:pass@host/clinic")
    with pytest.raises(UsageError, match="schema init ADDRESS --table NAME") as caught:
        synthesize(request, patients.parent / "out.csv")
    assert "pass" not in str(caught.value)
    assert "schema infer ADDRESS" in str(caught.value)
    assert not (patients.parent / "l.jsonl").exists()


def test_a_lake_is_learned_from(tmp_path: Path) -> None:
    """A folder of folders declares types, as a Delta table does, and needs no schema."""
    half = pa.table({"sex": ["f", "m"] * 300, "age": list(range(60)) * 10})
    for region in ("north", "south"):
        (tmp_path / "lake" / f"region={region}").mkdir(parents=True)
        pq.write_table(half, tmp_path / "lake" / f"region={region}" / "a.parquet")
    request = replace(_request(tmp_path / "lake"), unchecked=True)
    result = synthesize(request, tmp_path / "out.csv")
    assert any("25 % of the budget" in remark for remark in result.remarks)
    kinds = {n: c.kind for n, c in Schema.load(tmp_path / "out.schema.toml").columns.items()}
    assert {"sex": "categorical", "age": "integer", "region": "categorical"} == kinds


def test_identifiers_in_parquet_are_named_as_such(tmp_path: Path) -> None:
    """A column of texts that are all different becomes other, and the owner is told of ids."""
    rows = pa.table({"code": [f"x{n}" for n in range(900)], "sex": ["f", "m"] * 450})
    pq.write_table(rows, tmp_path / "t.parquet")
    request = replace(_request(tmp_path / "t.parquet"), unchecked=True)
    said = " ".join(synthesize(request, tmp_path / "out.csv").remarks)
    assert "all are other: code. If each row has its own value there, it is an identifier" in said


def test_no_other_is_made_up_beside_values_that_were_all_found(patients: Path) -> None:
    """Synthetic rows have the two sexes of the data, and no third one that nobody had.

    Noise shows others in about one run of fourteen.
    """
    found = []
    for attempt in range(12):
        output = patients.parent / f"out{attempt}.csv"
        synthesize(_request(patients), output)
        found.append(set(pc.read_csv(output)["sex"].to_pylist()))
    assert found.count({"female", "male"}) >= 5
