"""Any file is read or refused in our words, and a refusal costs nothing."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.mutation import mutated, mutated_document
from fuzz.readers import READERS, sample_number, undated
from fuzz.running import Progress, attempt, findings, run
from support.commands import Desk, desk_in
from support.tiers import examples, full_but
from understudy.errors import UnderstudyError
from understudy.facts.formats import draft_of
from understudy.facts.schema import Schema
from understudy.privacy.accounting.events import Charge

SEED = 20_260

_WORDS = (
    *("columns", "kind", "values", "min", "max", "edges", "bins", "missing", "outside", "note"),
    *("fields", "type", "subtype", "sdtype", "tables", "primary_key", "order", "datetime_format"),
    *("tableSchema", "name", "titles", "datatype", "base", "format", "null", "minimum", "required"),
    *("integer", "categorical", "boolean", "float", "date", "datetime", "id", "numerical"),
)
_leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(_WORDS)
    | st.text(max_size=6)
    | st.dates().map(str)
)
_keys = st.sampled_from(_WORDS) | st.text(max_size=4)
documents = st.recursive(
    _leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=5)
)
columns = st.dictionaries(_keys, st.dictionaries(st.sampled_from(_WORDS), documents, max_size=5))


@pytest.mark.slow
@given(documents | columns.map(lambda found: {"columns": found}))
def test_any_document_is_a_schema_or_none(document: Any) -> None:
    """Only our errors, whatever the structure."""
    try:
        schema = Schema.parse(document)
    except UnderstudyError:
        return
    assert {*schema.attributes} <= {*schema.columns}


@pytest.mark.slow
@given(
    documents
    | columns.map(lambda found: {"fields": found})
    | columns.map(
        lambda found: {"METADATA_SPEC_VERSION": "V1", "tables": {"t": {"columns": found}}}
    )
    | st.lists(columns).map(lambda found: {"tableSchema": {"columns": found}})
)
def test_any_document_is_a_draft_or_none(document: Any) -> None:
    """Only our errors; and what is drafted can be written, and read again as it was."""
    try:
        draft = draft_of(document)
    except UnderstudyError:
        return
    read = tomllib.loads(draft.to_toml())["columns"]
    for name, body in draft.document()["columns"].items():
        assert repr({"values": [], **body}) == repr({"values": [], **body, **read[name]})


@given(documents)
def test_any_document_is_a_charge_or_none(document: Any) -> None:
    """What parsers of statements raise is what the model's reader expects of them."""
    try:
        charge = Charge.parse(document)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return
    assert charge.question == document["question"]


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=99))
def test_any_bytes_are_read_or_refused(tmp_path: Path, name: str, data: bytes) -> None:
    """No reader trusts a file to be of its kind."""
    reader = READERS[name]()
    files = dict.fromkeys(sample_number(reader, name, SEED, 0), data)
    assert None is attempt(reader, files, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("inputs", full_but({150}, [150, 400, 5000]))
@pytest.mark.parametrize("name", READERS)
def test_a_slice_of_damaged_files(tmp_path: Path, name: str, inputs: int) -> None:
    """Some hundreds of damaged files for every reader, within limits of time and memory."""
    progress = run(name, inputs, SEED, tmp_path)
    assert [] == findings(name, SEED, tmp_path)
    assert inputs == progress.done


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("planted-hang", "Hang"),
        ("planted-memory", "MemoryError"),
        ("planted-death", "the process died with -11"),
        ("planted-traceback", "OSError"),
        ("planted-error", "KeyError"),
    ],
)
def test_planted_faults_are_found(tmp_path: Path, name: str, what: str) -> None:
    """What takes too long or too much, dies, or raises is a finding; the run continues after it."""
    progress = run(name, 8, 0, tmp_path)
    assert [(4, what)] == [(f["number"], f["what"]) for f in findings(name, 0, tmp_path)]
    assert 8 == progress.done


@pytest.mark.slow
def test_a_run_is_resumed(tmp_path: Path) -> None:
    """Inputs that were read in an earlier run are not read again."""
    assert 4 == run("planted-error", 4, 0, tmp_path).done
    assert [] == findings("planted-error", 0, tmp_path)
    again: Progress = run("planted-error", 4, 0, tmp_path)
    assert (4, 0) == (again.done, again.findings)
    assert 12 == run("planted-error", 12, 0, tmp_path).done


@pytest.mark.parametrize("name", READERS)
def test_an_input_is_made_again_by_its_number(name: str) -> None:
    """Seed and number make the same damage every time, and other numbers make other damage."""
    first, second = READERS[name](), READERS[name]()
    for number in range(9):
        expected = sample_number(first, name, 1, number)
        assert expected == sample_number(second, name, 1, number)
    assert sample_number(first, name, 1, 0) != sample_number(first, name, 1, 1)


def test_a_file_of_spss_is_the_same_at_any_time() -> None:
    """Such a file bears the second in which it was made, which would make its damage another."""
    sample: bytes = READERS["sav"]().make.args[1][0]  # type: ignore[attr-defined]
    assert undated(sample) == sample
    assert b"01 Jan 2600:00:00" in sample[:128]
    assert sample == undated(sample.replace(b"01 Jan 2600:00:00", b"19 Nov 2622:31:57"))


COMMANDS = {
    "csv": ("synth", "people.csv", "-s", "people.json"),
    "parquet": ("synth", "people.parquet", "-s", "people.json"),
    "schema-json": ("synth", "people.csv", "-s", "s.json"),
    "schema-toml": ("synth", "people.csv", "-s", "s.toml"),
    "ledger": ("synth", "people.csv", "-s", "people.json"),
}


@pytest.mark.slow
@pytest.mark.parametrize("inputs", full_but({10}, [10, 25]))
@pytest.mark.parametrize("name", COMMANDS)
def test_a_refusal_costs_nothing(
    tmp_path: Path,
    name: str,
    inputs: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Through the whole command: a known exit code, no traceback, and the ledger as it was."""
    monkeypatch.chdir(tmp_path)
    desk = desk_in(tmp_path, capsys)
    reader = READERS[name]()
    ledger = tmp_path / "ledger.jsonl"
    refused = 0
    for number in range(inputs):
        _lay_out(tmp_path)
        for path, data in sample_number(reader, name, SEED, number).items():
            (tmp_path / path).write_bytes(data)
        before = ledger.read_bytes() if ledger.exists() else b""
        refused += _is_refused(desk, COMMANDS[name], before)
    assert refused > 0


def _lay_out(folder: Path) -> None:
    """A working folder in which the command would succeed."""
    import json

    from fuzz.readers import CSV, SCHEMA

    (folder / "ledger.jsonl").unlink(missing_ok=True)
    (folder / "people.csv").write_text(CSV)
    (folder / "people.json").write_text(json.dumps(SCHEMA))


def _is_refused(desk: Desk, command: tuple[str, ...], before: bytes) -> bool:
    result = desk.run(
        *command, "-e", "1", "-m", "independent", "-o", "out.csv", "--ledger", "ledger.jsonl"
    )
    assert result.code in (0, 2, 3, 4), result.err
    assert "Traceback" not in result.err
    if result.code == 0:
        (desk.folder / "out.csv").unlink()
        return False
    ledger = desk.folder / "ledger.jsonl"
    after = ledger.read_bytes() if ledger.exists() else b""
    assert after in (before, before + b"\n")
    assert not (desk.folder / "out.csv").exists()
    return True


def test_damage_is_of_many_sorts() -> None:
    """Bytes and documents change, and stay within bounds."""
    from random import Random

    whole = b"0123456789" * 20
    sorts = {mutated(whole, [whole], Random(n)) for n in range(200)}
    assert len(sorts) > 150
    assert any(len(sort) < len(whole) for sort in sorts)
    assert any(len(sort) > len(whole) for sort in sorts)
    text = '{"a": [1, {"b": "c"}], "d": null}'
    assert len({repr(mutated_document(text, Random(n))) for n in range(200)}) > 60
