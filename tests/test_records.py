"""What commands print and write is as the JSON Schemas of the reference say."""

from __future__ import annotations

import json
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import click
import pytest
import typer.main

from pages.site.records import PRINTED
from support.documents import ROOT, blocks, write_patients
from support.promised import need
from support.records import RECORDS, record_fault
from understudy.cli.main import app, run

jsonschema = need("jsonschema")

COMMANDS = typer.main.get_command(app)
PAID = "--schema patients.toml --epsilon 1"
SHARD = "stream density visits.txt --universe 1000 --epsilon 0.5 --shards 2 --no-answer"
SKELETON = """
columns.sex = { kind = "categorical", values = [] }
columns.age = { kind = "integer" }
"""
NARROW = 'columns.sex = { kind = "categorical", values = ["female", "male"] }'
# Run before the commands below, for files that they read.
BEFORE = (f"{SHARD} --state one.state", f"{SHARD} --state two.state --like one.state")
# The record that each command prints, in an order in which files are there when they are needed.
PRINTED_HERE = (
    ("fit", f"fit patients.csv {PAID} --delta 1e-6 --method nist -o model.zip"),
    (
        "fit",
        "fit patients.csv --schema narrow.toml --ignore-extra --epsilon 1 --method histogram "
        "-o records.zip",
    ),
    ("fit", f"fit patients.csv {PAID} -o default.zip"),
    ("synth", f"synth patients.csv {PAID} --method independent -o rows.csv"),
    ("sample", "sample model.zip --rows 20 -o more.csv"),
    ("sample", "sample model.zip --rows 20 --where sex=female -o fitting.csv"),
    ("sample", "sample model.zip --rows 20 --replicates 2 -o replicates.csv"),
    ("sample_head", "sample model.zip --head 3"),
    ("inspect", "inspect model.zip"),
    ("inspect", "inspect records.zip"),
    ("inspect", "inspect default.zip"),
    ("plan", "plan --schema patients.toml --rows 400 --epsilon 1 --method independent"),
    (
        "plan",
        "plan --schema patients.toml --rows 400 --epsilon 1 --method nist --delta 1e-6 "
        "--error 0.2 --compare-shares --holders 3",
    ),
    ("query", "query model.zip P(smoker)"),
    ("query", "query model.zip mean(age)"),
    ("verify", "verify rows.csv"),
    (
        "evaluate",
        "evaluate patients.csv rows.csv --schema patients.toml --classifiers none -o page.html",
    ),
    (
        "released_summary",
        "evaluate patients.csv rows.csv --schema patients.toml --private 1 -o sheet.html",
    ),
    ("check", "check patients.csv --schema patients.toml"),
    ("schema_check", "schema check patients.toml"),
    ("check", "schema check patients.toml --data patients.csv"),
    (
        "schema_infer",
        "schema infer patients.csv --schema skeleton.toml --ignore-extra --epsilon 5 --delta 1e-3 "
        "-o learned.toml",
    ),
    ("stream_density", "stream density visits.txt --universe 1000 --epsilon 0.5"),
    ("stream_density", "stream merge one.state two.state"),
    ("stream_plan", "stream plan --universe 1000 --epsilon 0.5"),
    ("stream_plan", "stream plan --epsilon 0.5 --relative 0.2 --least-density 0.05"),
    ("ledger_show", "ledger show"),
    ("study_list", "study --list"),
    ("study", "study aau-networks --smoke -o studies"),
    ("audit", "audit independent --epsilon 1 --runs 10"),
    ("demo", "demo --folder demo"),
    ("doctor", "doctor"),
)
# Commands that talk to each other: tests/cli/commands/test_holder_and_analyst.py has their records.
PRINTED_ELSEWHERE = {("holder", "holder"), ("analyst", "analyst")}
# Commands whose exit code says what they found about the rows.
FINDING = {"check", "schema check"}


def _leaves(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command without others below it, with its name."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    for part, each in command.commands.items():
        yield from _leaves(each, f"{name} {part}".strip())


def _named(words: str) -> str:
    """The command that a line runs."""
    return next(name for name, _ in _leaves(COMMANDS) if f"{words} ".startswith(f"{name} "))


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return a function that makes a folder with a table, its schema and a stream, once."""
    folder = tmp_path_factory.mktemp("records")

    def made() -> Path:
        if not (folder / "patients.csv").exists():
            write_patients(folder / "patients.csv")
            guide = (ROOT / "docs" / "guides" / "schema.md").read_text(encoding="utf-8")
            schema = next(body for language, body in blocks(guide) if language == "toml")
            (folder / "patients.toml").write_text(schema, encoding="utf-8")
            (folder / "skeleton.toml").write_text(SKELETON)
            (folder / "narrow.toml").write_text(NARROW)
            (folder / "visits.txt").write_text("\n".join(str(i**2 % 991) for i in range(500)))
        return folder

    return made


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_schemas_are_schemas(name: str) -> None:
    """Each is a JSON Schema with a title and a description, and names itself."""
    schema = RECORDS[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert name == schema["$id"]
    assert schema["title"]
    assert schema["description"].endswith(".")


def test_every_command_with_json_has_its_records() -> None:
    """Each command that prints JSON names its JSON Schemas, and each of these is checked."""
    printing = {
        name
        for name, command in _leaves(COMMANDS)
        if any("--json" in each.opts for each in command.params)
    }
    assert printing == set(PRINTED)
    listed = {(command, record) for command, records in PRINTED.items() for record in records}
    checked = {(_named(words), record) for record, words in PRINTED_HERE} | PRINTED_ELSEWHERE
    assert listed == checked
    assert set() == {f"{record}.json" for _, record in listed} - set(RECORDS)


@pytest.mark.slow
def test_outputs_are_as_their_schemas_say(
    outputs: Callable[[], Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command's `--json` fits its schema, and so do statements, ledger and manifest."""
    monkeypatch.chdir(outputs())
    monkeypatch.setenv("UNDERSTUDY_LEDGER", "ledger.jsonl")
    faults: dict[str, str | None] = {}
    for command in BEFORE:
        assert 0 == run(command.split()), command
    for name, command in PRINTED_HERE:
        capsys.readouterr()
        assert 0 == run([*command.split(), "--json"]) or _named(command) in FINDING, command
        faults[command] = record_fault(name, json.loads(capsys.readouterr().out))
    faults["beside"] = record_fault(
        "privacy_file", json.loads(Path("rows.csv.privacy.json").read_text())
    )
    for line in Path("ledger.jsonl").read_text().splitlines():
        faults[line] = record_fault("ledger_entry", json.loads(line))
    with zipfile.ZipFile("model.zip") as archive:
        faults["manifest"] = record_fault(
            "model_manifest", json.loads(archive.read("manifest.json"))
        )
        faults["statement"] = record_fault("statement", json.loads(archive.read("statement.json")))
        faults["schema"] = record_fault("schema", json.loads(archive.read("schema.json")))
    assert {} == {name: fault for name, fault in faults.items() if fault}


def test_schemas_of_guides_are_as_the_json_schema_says(outputs: Callable[[], Path]) -> None:
    """A schema that the program reads fits; an unknown kind, or a misspelt key, does not."""
    document = tomllib.loads((outputs() / "patients.toml").read_text(encoding="utf-8"))
    read: dict[str, Any] = json.loads(json.dumps(document, default=str))
    assert None is record_fault("schema", read)
    for column, change in {"age": {"minn": 3}, "sex": {"kind": "sort"}}.items():
        wrong = deepcopy(read)
        wrong["columns"][column] |= change
        assert None is not record_fault("schema", wrong)


def test_a_field_that_is_missing_or_new_is_found() -> None:
    """The schemas can fail: a statement without its neighbours, and one with a word too many."""
    whole = {"file": "a", "belongs_together": True, "sentence": "b", "checks": []}
    check = {"check": "file", "outcome": "holds", "sentence": "c"}
    assert None is record_fault("verify", whole | {"checks": [check]})
    assert "$.checks" in str(record_fault("verify", whole))
    assert "unexpected" in str(record_fault("verify", whole | {"checks": [check], "more": 1}))
    assert "outcome" in str(
        record_fault("verify", whole | {"checks": [check | {"outcome": "maybe"}]})
    )
