"""Guides can be followed: every command, schema and example works, in the order of the page."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from support.documents import ROOT, blocks, followed, write_inputs, write_patients
from support.ledgers import new_database, server_of
from support.tiers import full_but
from support.torches import need_torch
from understudy.cli.main import run
from understudy.methods.structure.given import STRUCTURES
from understudy.privacy.spending.ledger import Ledger

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
# Pages that another test runs, because they are about more than one folder or machine.
NOT_RUN = {
    "federated_network": "tests/cli/test_network_guide.py runs it, with a process for each machine",
}
# Blocks of TOML that are a part of a schema, or a policy, and not a whole file.
FRAGMENTS = {"constraints", "hierarchies"}


def _text(name: str) -> str:
    return (ROOT / "docs" / "guides" / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the inputs of all guides: rows, the schema of its guide, a model."""
    folder = tmp_path_factory.mktemp("patients")
    write_inputs(folder)
    schema = next(body for language, body in blocks(_text("schema")) if language == "toml")
    (folder / "patients.toml").write_text(schema, encoding="utf-8")
    csv, toml, model = (str(folder / f"patients.{kind}") for kind in ("csv", "toml", "zip"))
    fit = ["fit", csv, "--schema", toml, "--epsilon", "1", "--delta", "1e-6", "-o", model]
    assert 0 == run(fit)
    return folder


FOLLOWED = [g.stem for g in GUIDES if g.stem not in FRAGMENTS | {*NOT_RUN}]
# Its commands train networks on images for minutes; tests of them train smaller ones.
TRAINING = {"images"}


@pytest.mark.slow
@pytest.mark.parametrize("name", full_but([n for n in FOLLOWED if n not in TRAINING], FOLLOWED))
def test_guides_can_be_followed(
    name: str, patients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command, schema and example of a guide works, in a folder that has its inputs."""
    if name == "images":
        need_torch()
    folder = tmp_path / "reader"
    shutil.copytree(patients, folder)
    if name == "schema":  # This guide writes the schema that the others have.
        (folder / "patients.toml").unlink()
        # To learn a schema takes more rows; with few of them the command stops.
        write_patients(folder / "patients.csv", rows=6000)
    if "-o patients.zip" in _text(name):  # What was paid for is not overwritten.
        (folder / "patients.zip").unlink()
    monkeypatch.chdir(folder)
    followed(_text(name), folder)


@pytest.mark.slow
def test_the_ledger_of_a_team_can_be_followed(
    patients: Path, postgres_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands for PostgreSQL work on a server; only addresses and roles are others."""
    [body] = [body for kind, body in blocks(_text("ledger")) if "postgresql://" in body]
    place = urlsplit(new_database(postgres_server))
    here = f"{place.hostname}:{place.port}{place.path}"
    roles = {name: f"{name}{os.getpid()}" for name in ("head", "ann", "bob")}
    with server_of(postgres_server) as connection:
        for role in roles.values():
            connection.execute(f"CREATE ROLE {role} LOGIN".encode())
    for name, role in roles.items():
        body = re.sub(rf"\b{name}\b", role, body)
    body = body.replace("@host/privacy", f"@{here}")
    folder = tmp_path / "reader"
    shutil.copytree(patients, folder)
    monkeypatch.chdir(folder)
    followed(f"```bash\n{body}```\n", folder)
    assert ["patients"] == [*Ledger(f"postgresql://{roles['ann']}@{here}").accounts()]


def test_the_stream_of_the_guide_runs_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each example runs as it is printed, and gives a number."""
    monkeypatch.chdir(tmp_path)
    examples = [body for language, body in blocks(_text("stream")) if language == "python"]
    assert 2 == len(examples)
    for example in examples:
        assert isinstance(float(followed(f"```python\n{example}```\n", tmp_path)), float)


@pytest.mark.parametrize("name", sorted(FRAGMENTS | {*NOT_RUN}))
def test_pages_that_are_not_run_can_be_read(name: str) -> None:
    """Blocks of TOML are TOML, and blocks of Python compile; others run them, or read them."""
    for language, body in blocks(_text(name)):
        if language == "toml":
            assert tomllib.loads(body)
        if language == "python":
            compile(body, name, "exec")


def test_exceptions_name_guides_that_exist() -> None:
    """No page is left out of the tests under a name that is gone."""
    assert set() == (FRAGMENTS | {*NOT_RUN}) - {guide.stem for guide in GUIDES}


@pytest.mark.parametrize("name", sorted(FRAGMENTS))
def test_fragments_have_no_commands(name: str) -> None:
    """A page that is left out because of a fragment leaves out no command with it."""
    assert [] == [body for language, body in blocks(_text(name)) if language == "bash"]


@pytest.mark.slow
def test_the_demo_prints_what_first_steps_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Headings, columns and the promise of the page are those of a real run."""
    monkeypatch.chdir(tmp_path)
    assert 0 == run(["demo"])
    printed = " ".join(capsys.readouterr().out.split())
    [shown] = [
        " ".join(body.split()) for kind, body in blocks(_text("first_steps")) if kind == "text"
    ]
    for stable in (
        "Synthetic rows: nobody is in them",
        "patient age sex region smoker bmi visits admitted diagnosis",
        "diagnosis of people over sixty private synthetic diabetes",
        "Whatever is computed from this result would have been at most e^1 times more or less "
        "likely with any one row added or removed.",
        "Ledger: epsilon = 1, delta = 0 spent on clinic so far",
    ):
        assert stable in shown
        assert stable in printed
    files = {path.name for path in (tmp_path / "understudy-demo").iterdir()}
    expected = {"clinic.csv", "clinic.toml", "synthetic.csv", "synthetic.csv.privacy.json"}
    assert expected | {"ledger.jsonl", "ledger.jsonl.secret"} == files


def test_the_table_of_structures_is_whole() -> None:
    """The guide to methods lists every structure that can be learned."""
    assert set(STRUCTURES) <= set(re.findall(r"^\| `(\w+)` \|", _text("methods"), re.MULTILINE))
