"""A release can be installed: versions agree, wheel and sdist hold what they should and no more."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from support.documents import ROOT
from support.promised import need
from support.wheels import environment
from understudy import __version__

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MOST_BYTES = 2_000_000
CONSUMER = """\
from typing import assert_type

from understudy import AdaptiveMarginals, BudgetExceeded, Ledger, Model, Schema, Statement

schema = Schema.load("patients.toml")
assert_type(schema, Schema)
fitted = AdaptiveMarginals(schema, epsilon=1, delta="1e-6").fit("patients.csv", ledger=None)
assert_type(fitted, AdaptiveMarginals)
assert_type(fitted.model_, Model)
assert_type(Model.load("patients.zip").statement, Statement)
assert_type(Ledger("ledger.jsonl"), Ledger)


def remaining(error: BudgetExceeded) -> object:
    return error.remaining
"""
WRONG = 'from understudy import Nist, Schema\n\nNist(Schema.load("a.toml"), delta=1e-6)\n'


def _one(folder: Path, pattern: str) -> Path:
    [found] = folder.glob(pattern)
    return found


def test_every_place_has_the_same_version() -> None:
    """Package, project, citation, changelog and notes name one version; authors agree as well."""
    text = {n: (ROOT / n).read_text(encoding="utf-8") for n in ("CITATION.cff", "CHANGELOG.md")}
    assert __version__ == PROJECT["version"]
    assert [__version__] == re.findall(r"^version: (.+)$", text["CITATION.cff"], re.MULTILINE)
    [newest, *_] = re.findall(r"^## (\d\S*) \((\S+)\)$", text["CHANGELOG.md"], re.MULTILINE)
    [dated] = re.findall(r'^date-released: "(.+)"$', text["CITATION.cff"], re.MULTILINE)
    assert (__version__, dated) == newest
    [author] = re.findall(r"^  - name: (.+)$", text["CITATION.cff"], re.MULTILINE)
    assert [{"name": author}] == PROJECT["authors"]
    notes = ROOT / "docs" / "releases" / f"version_{__version__.replace('.', '_')}.md"
    assert notes.read_text(encoding="utf-8").startswith(f"# Release notes of {__version__}\n")


def test_supported_versions_of_python_agree() -> None:
    """Classifiers, the script that tries them and the workflow name the same versions."""
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    script = (ROOT / "scripts" / "versions").read_text(encoding="utf-8")
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert ["3.11", "3.12", "3.13"] == named
    assert " ".join(named) in script
    assert set(named) == set(re.findall(r'"(3\.\d+)"', workflow))
    assert f">={named[0]}" == PROJECT["requires-python"]


@pytest.mark.parametrize(("named", "code"), [(["3.99"], 1), ([], 0)])
def test_a_python_that_is_named_has_to_be_there(
    named: list[str], code: int, tmp_path: Path
) -> None:
    """A shim that fails is not a Python; a version that is named and missing is a failure."""
    for version in ("3.11", "3.12", "3.13", "3.99"):
        shim = tmp_path / f"python{version}"
        shim.write_text("#!/bin/sh\nexit 127\n", encoding="utf-8")
        shim.chmod(0o755)
    path = f"{tmp_path}:{Path(sys.executable).parent}:/usr/bin:/bin"
    ran = subprocess.run(
        [str(ROOT / "scripts" / "versions"), *named],
        env={"PATH": path, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert code == ran.returncode, ran.stderr
    missing = named or ["3.11", "3.12", "3.13"]
    assert [f"Python {each}: not installed here" for each in missing] == ran.stderr.splitlines()


def test_the_public_workflow_runs_the_same_commands() -> None:
    """It calls the script that continuous integration here calls, and nothing of its own."""
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    runs = re.findall(r"- run: (.+)$", workflow, re.MULTILINE)
    root = 'sudo --preserve-env=PIP_EXTRA_INDEX_URL env "PATH=$PATH" '
    assert [f"{root}bash .ci/run", "scripts/versions ${{ matrix.python }}"] == runs


def test_the_public_workflow_finds_every_package_of_the_locks() -> None:
    """PyTorch's build for CPUs is on its own index alone, which nothing else names."""
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert "+cpu" in (ROOT / "requirements" / "torch.txt").read_text(encoding="utf-8")
    indexes = re.findall(r"PIP_EXTRA_INDEX_URL: (\S+)", workflow)
    assert ["https://download.pytorch.org/whl/cpu"] == indexes


def test_hooks_are_scripts_of_this_environment() -> None:
    """Hooks fetch nothing: each is a tool of the extra `test`, or a script that is there."""
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"entry: (\S+)", text)
    assert {"ruff", "mypy", "scripts/sentences"} == set(entries)
    assert ["local"] == re.findall(r"repo: (\S+)", text)
    assert len(entries) == text.count("language: system")


def test_the_wheel_holds_the_package_alone(built: Path) -> None:
    """Two packages, their metadata and the licence; small, typed, and nothing of a machine."""
    path = _one(built, "*.whl")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    folders = {name.split("/")[0] for name in names}
    assert {"understudy", "understudy_studies", f"understudy-{__version__}.dist-info"} == folders
    suffixes = {Path(name).suffix for name in names if ".dist-info" not in name}
    assert suffixes <= {".py", ".typed", ".css", ".js", ".html", ".json", ".toml", ".svg", ".csv"}
    assert "understudy/py.typed" in names
    assert path.stat().st_size < MOST_BYTES


def test_the_sdist_builds_and_says_what_it_is(built: Path) -> None:
    """Source, examples, readme with its picture, licence, changelog, citation; small."""
    path = _one(built, "*.tar.gz")
    with tarfile.open(path) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert {name.split("/")[0] for name in names} == {
        *("src", "docs", "examples", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"),
        *("CITATION.cff", "pyproject.toml", "PKG-INFO", ".gitignore"),
    }
    assert {"docs/pictures/demo.png"} == {name for name in names if name.startswith("docs/")}
    assert path.stat().st_size < MOST_BYTES


@pytest.mark.slow
def test_a_package_index_would_take_it(built: Path) -> None:
    """`twine check` finds nothing to complain about."""
    need("twine")
    files = [str(_one(built, "*.whl")), str(_one(built, "*.tar.gz"))]
    command = [sys.executable, "-m", "twine", "check", "--strict", *files]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 0 == ran.returncode, ran.stdout + ran.stderr


@pytest.mark.slow
def test_a_consumer_is_type_checked(built: Path, tmp_path: Path) -> None:
    """A project that has the wheel sees its types: right calls pass, a missing ε does not."""
    (tmp_path / "consumer.py").write_text(CONSUMER, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    python = environment(_one(built, "*.whl"), tmp_path / "venv")
    assert "Success" in _checked(tmp_path, python, "consumer.py")
    assert 'Missing named argument "epsilon"' in _checked(tmp_path, python, "wrong.py")


def _checked(folder: Path, python: Path, name: str) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python)]
    ran = subprocess.run(
        [*command, "--config-file", "", name],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout
