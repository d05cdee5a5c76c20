"""The documents are true: examples and commands run, links lead somewhere, proofs are there."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import pkgutil
import random
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main

import understudy
from support.torches import need_torch
from understudy.cli.main import app, run
from understudy.privacy import histogram, mechanisms

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MODULES = [
    "understudy",
    *(m.name for m in pkgutil.walk_packages(understudy.__path__, "understudy.")),
]

MAIN_JOB = "pip install . && understudy demo"
TEST_COMMAND = 'pip install -e ".[test]" && scripts/check --all'


def _blocks(text: str) -> list[tuple[str, str]]:
    """Language and body of every fenced block, in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def _lines(body: str) -> list[str]:
    return [line for line in body.replace("\\\n", " ").splitlines() if line.strip()]


def _set_up_commands() -> list[str]:
    bash = [body.strip() for language, body in _blocks(README) if language == "bash"]
    return [body for body in bash if "pip install" in body]


def _commands(group: Any, name: str) -> Iterator[str]:
    """The full name of every command below a group."""
    if parts := getattr(group, "commands", None):
        for part, command in parts.items():
            yield from _commands(command, f"{name} {part}")
    else:
        yield name


def _write_patients(path: Path) -> None:
    """A made-up table for the README's example, dirty cells included."""
    draw = random.Random(4)
    lines = ["patient,age,sex,weight,smoker,admitted"]
    for number in range(400):
        sex = draw.choice(["female", "male", "?", ""])
        smoker = draw.choice(["yes", "no", "unknown"])
        day = f"{draw.randint(2019, 2025)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        lines.append(
            f"{number},{draw.randint(-1, 110)},{sex},{draw.gauss(75, 15):.1f},{smoker},{day}"
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _fill_clinic(path: Path, patients: Path) -> None:
    """The same table in a database, typed as a database would hold it."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE patients AS SELECT * FROM read_csv(?, types = {'sex': 'VARCHAR', "
            "'smoker': 'VARCHAR', 'age': 'INTEGER', 'weight': 'DOUBLE', 'admitted': 'DATE'})",
            [str(patients)],
        )


def _write_digits(path: Path) -> None:
    """Images that show nothing, in the form the README names."""
    generator = np.random.default_rng(4)
    images = generator.integers(0, 256, (40, 28, 28)).astype(np.uint8)
    np.savez(path, x=images, y=np.arange(40) % 10)


def test_the_readme_has_exactly_two_set_up_commands() -> None:
    """One command runs the main job, one passes the tests, each in a block of its own."""
    assert [MAIN_JOB, TEST_COMMAND] == _set_up_commands()


def test_continuous_integration_finds_the_test_command() -> None:
    """What .ci/run extracts from the README is the README's test command."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    extraction = next(line for line in script.splitlines() if line.startswith("command="))
    found = subprocess.run(
        ["bash", "-c", f'{extraction}; printf %s "$command"'],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert TEST_COMMAND == found.stdout


@pytest.mark.slow
def test_the_readme_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command, schema and example of the README works, in the order in which they stand."""
    need_torch()
    monkeypatch.chdir(tmp_path)
    _write_digits(tmp_path / "digits.npz")
    _write_patients(tmp_path / "patients.csv")
    _fill_clinic(tmp_path / "clinic.duckdb", tmp_path / "patients.csv")
    (tmp_path / "visits.txt").write_text("\n".join(str(i**2 % 99_991) for i in range(50_000)))
    seen = dict.fromkeys(("bash", "toml", "python"), 0)
    for language, body in _blocks(README):
        if language == "toml":
            named = re.match(r"# (\w+\.toml)\n", body)
            name = named[1] if named else "patients.toml"
            (tmp_path / name).write_text(body, encoding="utf-8")
        elif language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(body, "README.md", "exec"), {"__name__": "readme"})
            assert printed.getvalue().startswith("1000 rows: patient, age, sex")
        elif language == "bash" and body.strip() not in _set_up_commands():
            for line in _lines(body):
                program, *arguments = shlex.split(line, comments=True)
                assert ("understudy", 0) == (program, run(arguments)), line
        if language in seen:
            seen[language] += 1
    assert all(seen.values())
    assert (tmp_path / "synthetic.csv.privacy.json").exists()
    assert (tmp_path / "more.parquet").exists()


@pytest.mark.slow
def test_the_demo_prints_what_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Headings, columns and the promise shown in the README are those of a real run."""
    monkeypatch.chdir(tmp_path)
    assert 0 == run(["demo"])
    printed = " ".join(capsys.readouterr().out.split())
    [shown] = [" ".join(body.split()) for language, body in _blocks(README) if language == "text"]
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


def test_the_readme_names_every_command() -> None:
    """The table of commands holds all that the program offers, and nothing else."""
    offered = set(_commands(typer.main.get_command(app), "understudy"))
    assert offered == set(re.findall(r"^\| `(understudy [\w ]+)` \|", README, re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    """Every relative link of a document points to a file or folder of the repository."""
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8"))
    relative = [target for target in targets if not target.startswith(("http:", "https:"))]
    assert [] == [target for target in relative if not (document.parent / target).exists()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_documents_name_exist(document: Path) -> None:
    """A path into src, tests, docs or scripts is the path of something."""
    text = document.read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|docs|scripts)/[\w/.]+)", text)
    # CONTRIBUTING's pattern for a proof yet to be written.
    named = [path for path in named if not path.endswith("NAME.md")]
    assert [] == [path for path in named if not (ROOT / path).exists()]


def test_every_mechanism_has_its_proof() -> None:
    """A mechanism that draws noise names its proof, and the page is there."""
    missing = []
    kinds = [*inspect.getmembers(mechanisms, inspect.isclass)]
    kinds += [*inspect.getmembers(histogram, inspect.isclass)]
    for name, kind in kinds:
        exact = name.startswith(("Exact", "_")) or name == "Mechanism"
        if kind.__module__ not in (mechanisms.__name__, histogram.__name__) or exact:
            continue
        page = re.search(r"Proof: (docs/proofs/\w+\.md)", inspect.getdoc(kind) or "")
        if page is None or not (ROOT / page.group(1)).exists():
            missing.append(name)
    assert [] == missing


def test_every_proof_is_listed_and_complete() -> None:
    """Each page says what is claimed, where it stands in the code, and what tests it."""
    index = (ROOT / "docs" / "proofs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs" / "proofs").glob("*.md"):
        if page.name == "README.md":
            continue
        text = page.read_text(encoding="utf-8")
        assert f"({page.name})" in index
        assert "## In the code\n" in text, page.name
        assert "## Tests\n" in text, page.name


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    """Examples in a module's docstrings give what they say."""
    assert 0 == doctest.testmod(importlib.import_module(name)).failed
