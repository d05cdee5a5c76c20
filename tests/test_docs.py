"""The documents are true: examples and commands run, links lead somewhere, proofs are there."""

from __future__ import annotations

import doctest
import importlib
import inspect
import itertools
import pkgutil
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

import understudy
import understudy_studies
from support.documents import DOCUMENTS, ROOT, blocks, followed, walk, write_patients
from support.tiers import slow_but
from understudy import errors
from understudy.cli.main import app
from understudy.errors import BudgetError, UnderstudyError
from understudy.privacy.mechanisms import additive, histogram, keys, selection

README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = [
    "understudy",
    *(m.name for m in pkgutil.walk_packages(understudy.__path__, "understudy.")),
]
STUDIES = [
    m.name for m in pkgutil.walk_packages(understudy_studies.__path__, "understudy_studies.")
]
# The modules of each package below `understudy`, those that stand beside the packages, and studies.
ROOMS = {
    room: [*names]
    for room, names in itertools.groupby(
        sorted(MODULES, key=lambda name: (name.split(".")[1:2], name)),
        key=lambda name: "".join(name.split(".")[1:2]) or "understudy",
    )
} | {"understudy_studies": STUDIES}
# The list may only shrink.
WITHOUT_EXAMPLES = {"cli", "errors", "testing"}

MAIN_JOB = "pip install . && understudy demo"
TEST_COMMAND = 'pip install -e ".[test]" && scripts/check --all'


def _set_up_commands() -> list[str]:
    bash = [body.strip() for language, body in blocks(README) if language == "bash"]
    return [body for body in bash if "pip install" in body]


def _commands(group: Any, name: str) -> Iterator[str]:
    """The full name of every command below a group."""
    if parts := getattr(group, "commands", None):
        for part, command in parts.items():
            yield from _commands(command, f"{name} {part}")
    else:
        yield name


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
    """Every command, schema and example of the README works, in the order of the page."""
    monkeypatch.chdir(tmp_path)
    write_patients(tmp_path / "patients.csv")
    printed = followed(README, tmp_path, skipped=(MAIN_JOB, TEST_COMMAND))
    assert printed.startswith("1000 rows: patient, age, sex")
    assert (tmp_path / "synthetic.csv.privacy.json").exists()
    assert (tmp_path / "report.html").exists()


def test_the_readme_is_short() -> None:
    """What it is, a picture, why, how to run it, and links: nine thousand bytes at most."""
    assert len(README.encode()) <= 9_000


def test_the_readme_shows_one_picture() -> None:
    """It is a PNG of the repository, small enough for a page, with words for who cannot see it."""
    [(words, path)] = re.findall(r"!\[(.*?)\]\((.*?)\)", README)
    picture = (ROOT / path).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 400_000
    assert len(words.split()) > 5


def test_the_reference_names_every_command() -> None:
    """The table of commands holds all that the program offers, and nothing else."""
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    offered = set(_commands(typer.main.get_command(app), "understudy"))
    assert offered == set(re.findall(r"^\| `(understudy [\w ]+)` \|", page, re.MULTILINE))


def test_the_reference_names_every_error() -> None:
    """The table of exit codes has each error in the line of its code."""
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| (\d+) \|.*\| (.*) \|$", page, re.MULTILINE)
    listed = {name: int(code) for code, names in lines for name in re.findall(r"`(\w+)`", names)}
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    bases = (UnderstudyError, BudgetError)
    raised = [kind for kind in kinds if issubclass(kind, UnderstudyError) and kind not in bases]
    assert listed == {kind.__name__: kind.exit_code for kind in raised}


def test_the_index_lists_every_page() -> None:
    """Each page of docs has its line in docs/README.md; proofs and studies have their own index."""
    index = ROOT / "docs" / "README.md"
    every = re.findall(r"^\| \[\w+\]\(([\w/.]+)\) \| \S", index.read_text("utf-8"), re.MULTILINE)
    listed = [path for path in every if not path.startswith("../")]
    found = [path.relative_to(index.parent) for path in index.parent.rglob("*.md")]
    apart = [path for path in found if path.parts[0] in ("proofs", "studies")]
    pages = {str(p) for p in found if p not in apart} | {"proofs/README.md", "studies/README.md"}
    assert (pages - {"README.md"}, len(listed)) == (set(listed), len(set(listed)))


def _found(pattern: str) -> Iterator[tuple[Path, str]]:
    """Every match of a pattern in a document, with the document."""
    for document in DOCUMENTS:
        for match in re.findall(pattern, document.read_text(encoding="utf-8")):
            yield document, match


def test_links_lead_somewhere() -> None:
    """Every relative link of a document points to a file or folder of the repository."""
    links = [(d, t) for d, t in _found(r"\]\(([^)#\s]+)[^)]*\)") if not t.startswith("http")]
    assert [] == [(d.name, t) for d, t in links if not (d.parent / t).exists()]


def test_files_that_documents_name_exist() -> None:
    """A path into src, tests, docs or scripts is the path of something."""
    # CONTRIBUTING's pattern for a proof yet to be written is left out.
    named = [
        (document.name, path)
        for document, path in _found(r"`((?:src|tests|docs|scripts)/[\w/.]+)")
        if not path.endswith("NAME.md")
    ]
    assert [] == [(document, path) for document, path in named if not (ROOT / path).exists()]


def test_the_walk_of_a_row_names_functions_that_exist() -> None:
    """Each line begins with a function of the package, by its file and its name."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for name in walk(page):
        place, *names = name.split(".")
        found: Any = importlib.import_module(f"understudy.{place.replace('/', '.')}")
        for each in names:
            found = getattr(found, each)
        assert callable(found), name


def test_rooms_that_the_architecture_names_exist() -> None:
    """A name that ends in a slash is a folder of the source."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = set(re.findall(r"`((?:\w+/)+)`", page))
    source = ROOT / "src" / "understudy"
    assert {"facts/", "rows/", "privacy/", "models/", "methods/"} <= rooms
    assert [] == [room for room in sorted(rooms) if not (source / room).is_dir()]


def test_every_mechanism_has_its_proof() -> None:
    """A mechanism that draws noise names its proof, and the page is there."""
    missing = []
    modules = (additive, selection, keys, histogram)
    kinds = [kind for module in modules for kind in inspect.getmembers(module, inspect.isclass)]
    names = {module.__name__ for module in modules}
    assert len(names & {kind.__module__ for _, kind in kinds}) == len(modules)
    for name, kind in kinds:
        if kind.__module__ not in names or name.startswith(("Exact", "_")):
            continue
        page = re.search(r"Proof: (docs/proofs/\w+\.md)", inspect.getdoc(kind) or "")
        if page is None or not (ROOT / page.group(1)).exists():
            missing.append(name)
    assert [] == missing


def test_every_proof_is_listed_and_complete() -> None:
    """Each page says what is claimed, where it is in the code, and what tests it."""
    index = (ROOT / "docs" / "proofs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs" / "proofs").glob("*.md"):
        if page.name == "README.md":
            continue
        text = page.read_text(encoding="utf-8")
        assert f"({page.name})" in index
        assert "## In the code\n" in text, page.name
        assert "## Tests\n" in text, page.name


@pytest.mark.parametrize("room", slow_but(("facts", "models", "system"), ROOMS))
def test_examples_in_docstrings_run(room: str) -> None:
    """Examples in the modules' docstrings give what they say, and there are some."""
    results = {name: doctest.testmod(importlib.import_module(name)) for name in ROOMS[room]}
    assert [] == [name for name, result in results.items() if result.failed]
    there_are_some = sum(result.attempted for result in results.values()) > 0
    assert there_are_some == (room not in WITHOUT_EXAMPLES)
