"""Tutorials, explanations and pages for users of other tools can be followed, block by block."""

from __future__ import annotations

import ast
import json
import math
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from support.documents import DOCUMENTS, ROOT, blocks, fences, followed, write_patients
from support.other_tools import LANGUAGES, PAGES, RECORD, TOOLS, foreign_blocks, run_mark
from support.promised import missing
from understudy import BudgetExceeded, Independent, Ledger, Schema
from understudy.methods.registry import BUILT_IN
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.spending.limits import Limit, Spent

DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
OTHERS = sorted(
    page
    for folder in ("explanation", "coming_from")
    for page in (DOCS / folder).glob("*.md")
    if {"bash", "python"} & {language for language, _ in blocks(page.read_text("utf-8"))}
)
# Blocks that no test runs, by their language.
NOT_RUN = {
    "text": "what a program prints, or commands of TYPED below; test_commands looks options up",
    "layers": "test_layers reads them",
    "walk": "test_docs and test_walk read it",
    "json": "a file of another tool; it is parsed",
    "py": "code of another tool: scripts/foreign runs it, and its record is compared",
    "r": "code of another tool, in a language that is not installed",
}
# Commands that pages print as text, so that no test runs them as they are, by page and reason.
TYPED = {
    "docs/audit.md": "thousands of fits; tests/cli/commands/test_audit_command.py runs short ones",
    "docs/guides/ledger.md": "needs a server; tests/test_guides.py runs them with another address",
    "docs/start/install.md": "install packages; tests/test_newcomer.py follows the wheel",
}
# Blocks of commands, schemas and examples that are run elsewhere, or not run.
ELSEWHERE = {
    "README.md": "tests/test_docs.py follows it",
    "CONTRIBUTING.md": "installs; tests/test_docs.py compares it with .ci/run",
    "docs/studies/README.md": "tests/studies runs the studies at size smoke",
}


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorials_can_be_followed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader with nothing but the page gets to its end: it makes its own data."""
    if page.stem == "bank" and shutil.which("java") is None:
        missing("Java, which Spark needs,")
    monkeypatch.chdir(tmp_path)
    followed(page.read_text(encoding="utf-8"), tmp_path)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorials_make_their_own_data(page: Path) -> None:
    """Each has commands or examples to follow, and blocks of no other kind."""
    kinds = {language for language, _ in blocks(page.read_text(encoding="utf-8"))}
    assert kinds <= {"bash", "python", "toml"}
    assert {"bash", "python"} & kinds


@pytest.fixture(scope="module")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the table and the schema that these pages name."""
    folder = tmp_path_factory.mktemp("patients")
    write_patients(folder / "patients.csv")
    guide = (DOCS / "guides" / "schema.md").read_text(encoding="utf-8")
    schema = next(body for language, body in blocks(guide) if language == "toml")
    (folder / "patients.toml").write_text(schema, encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page.stem)
def test_explanations_can_be_followed(
    page: Path, patients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands and examples work in a folder that has a table and its schema."""
    folder = tmp_path / "reader"
    shutil.copytree(patients, folder)
    monkeypatch.chdir(folder)
    followed(page.read_text(encoding="utf-8"), folder)


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_code_of_other_tools_was_run_as_it_is(page: Path) -> None:
    """The line above says with which version it was run, as on record, or why it was not."""
    [block] = foreign_blocks(page.read_text(encoding="utf-8"), page.stem)
    record = json.loads(RECORD.read_text(encoding="utf-8")).get(page.stem)
    if record is None:
        assert block.reason
        assert page.stem not in TOOLS
        return
    assert run_mark(page.stem, record) == block.mark
    assert record["sha256"] == block.digest
    assert TOOLS[page.stem].versions == record["versions"]


def test_foreign_code_is_on_pages_for_its_users_alone() -> None:
    """No other document has a block that only `scripts/foreign` could run."""
    shown = [p for p in DOCUMENTS if {*LANGUAGES} & {kind for kind, _ in blocks(p.read_text())}]
    assert sorted(PAGES.glob("*.md")) == shown


def test_a_block_without_a_mark_is_found() -> None:
    """Code of another tool without a line above it that says whether it was run fails."""
    marked = "This was not run: nobody has it.\n\n```r\nx\n```\n"
    assert "nobody has it" == foreign_blocks(marked, "page")[0].reason
    assert None is foreign_blocks(marked.replace("not run", "run"), "page")[0].reason
    with pytest.raises(AssertionError, match="no line above"):
        foreign_blocks("```r\nx\n```\n", "page")


def test_every_block_is_run_or_has_a_reason() -> None:
    """No document has a block of a language that no test knows, or a command on a page of none."""
    followed_pages = {*TUTORIALS, *OTHERS, *(DOCS / "guides").glob("*.md")}
    faults = []
    for page in DOCUMENTS:
        name = str(page.relative_to(ROOT))
        kinds = {language for language, _ in blocks(page.read_text("utf-8"))} - {*NOT_RUN}
        faults += [f"{name}: {kind}" for kind in kinds - {"bash", "python", "toml"}]
        if kinds and page not in followed_pages and name not in ELSEWHERE:
            faults.append(name)
    assert [] == faults


def _python(body: str) -> bool:
    """Whether a block of text is code that calls something."""
    try:
        tree = ast.parse(body)
    except SyntaxError:
        return False
    return any(isinstance(node, ast.Call) for node in ast.walk(tree))


def test_no_example_hides_in_a_block_of_text() -> None:
    """Python that is labelled as text would not be run, and nobody would see it grow old."""
    found = [
        f"{page.relative_to(ROOT)}: {body}"
        for page in DOCUMENTS
        for kind, body in blocks(page.read_text("utf-8"))
        if kind == "text" and _python(body)
    ]
    assert [] == found
    assert _python("with opened() as file:\n    read(file)\n")


_COMMAND = re.compile(r"^(?:\$ )?(?:understudy|pip|python3?|scripts/\w+|docker|uv) ", re.MULTILINE)


def test_commands_in_blocks_of_text_have_a_reason() -> None:
    """A command that is labelled as text is not run, so its page must be listed with a reason."""
    found = {
        str(page.relative_to(ROOT))
        for page in DOCUMENTS
        for kind, body in blocks(page.read_text("utf-8"))
        if kind == "text" and _COMMAND.search(body)
    }
    assert {*TYPED} == found
    assert _COMMAND.search("$ understudy demo\n")
    assert not _COMMAND.search("Synthetic rows by understudy demo\n")


def test_how_methods_work_shows_every_method() -> None:
    """The explanation has a heading and the source for each built-in method, and for images."""
    page = (DOCS / "explanation" / "how_methods_work.md").read_text(encoding="utf-8")
    headings = " ".join(line for line in page.splitlines() if line.startswith("## "))
    methods = {entry.name for entry in BUILT_IN} | {"moments"}
    assert methods == set(re.findall(r"`([\w-]+)`", headings))
    # The two networks share one function, and no other method does.
    assert page.count(".learn\n") == len(methods) - 1


def test_every_opening_fence_is_seen() -> None:
    """Blocks without a language, indented or of another form would not be run; included code is.

    A file that is included is a part of the source, which the tests of the source run.
    """
    faults = []
    for page in DOCUMENTS:
        text = page.read_text(encoding="utf-8")
        included = re.findall(r"^```\{literalinclude\} (\S+)$", text, re.MULTILINE)
        faults += [f"{page}: {name}" for name in included if not (page.parent / name).is_file()]
        opened = [label for label in fences(text) if not label.startswith("{literalinclude}")]
        if [language for language, _ in blocks(text)] != opened:
            faults.append(f"{page.relative_to(ROOT)}: {opened}")
    assert [] == faults


@pytest.mark.parametrize(
    ("block", "label"),
    [
        ("```\nx\n```\n", "unlabelled"),
        ("- a\n\n  ```bash\n  x\n  ```\n", "  bash"),
        ("~~~bash\nx\n~~~\n", "bash"),
        ("````python\nx\n````\n", "python"),
        ("```{code-block} bash\nx\n```\n", "{code-block} bash"),
        ("> ```bash\n> x\n> ```\n", "> bash"),
    ],
)
def test_a_block_that_nobody_would_run_is_seen(block: str, label: str) -> None:
    """The check can fail: its fence is found, and no block that is run is found with it."""
    assert [label] == fences(block)
    assert [label] != [language for language, _ in blocks(block)]


def test_json_of_documents_is_json() -> None:
    """Every block of JSON can be parsed."""
    found = [
        body
        for page in DOCUMENTS
        for kind, body in blocks(page.read_text("utf-8"))
        if kind == "json"
    ]
    assert all(json.loads(body) for body in found)


def test_the_limits_of_adversarial_networks_are_those_of_the_study() -> None:
    """Distances and accuracies on Adult at ε = 1 are those of the page of results."""
    study = (DOCS / "studies" / "gan-adult.md").read_text(encoding="utf-8")
    lines = [line.strip("| ").split(" | ") for line in study.splitlines() if line.startswith("|")]
    found = {cells[0]: cells for cells in lines if cells[1:2] == ["1"]}
    page = (DOCS / "explanation" / "limits.md").read_text(encoding="utf-8")
    assert [(f"{float(found[name][4]):.3f}", name) for name in ("dpgan", "nist", "privbayes")] == [
        (number, name)
        for name, number in re.findall(r"`(\w+)`(?: is)? (0\.\d+)", page.split("Classifiers")[0])
    ]
    told = {name: f"{float(cells[2]):.3f}" for name, cells in found.items()}
    assert f"(accuracies {told['dpgan']} and {told['privbayes']})" in page
    assert f"`nist` ({told['nist']})" in page


def test_four_monthly_releases_fit_the_limit_of_the_tutorial(tmp_path: Path) -> None:
    """Three at ε = 1 leave room for one at ε = 0.99, as the page says, and not for one at 1."""
    page = (DOCS / "tutorials" / "second_release.md").read_text(encoding="utf-8")
    assert "understudy ledger limit patients --epsilon 2 --delta 1e-5" in page
    assert "three at ε = 1, and a fourth at ε = 0.99." in page
    schema = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.set_limit("patients", Limit.zcdp(Spent(Fraction(2), Fraction("1e-5")), Adjacency()))

    def released(epsilon: str) -> None:
        method = Independent(schema, epsilon=epsilon, delta="1e-6")
        method.fit({"smoker": [True, False] * 50}, ledger=ledger, dataset="patients")

    for _ in range(3):
        released("1")
    with pytest.raises(BudgetExceeded):
        released("1")
    released("0.99")


def test_what_a_guesser_gains_is_computed() -> None:
    """The table of guesses has e^ε / (1 + e^ε) and e^ε, rounded up, because they are bounds."""
    page = (DOCS / "explanation" / "differential_privacy.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| ([\d.]+) \| ([\d.]+) % \| ([\d.]+) \|$", page, re.MULTILINE)
    assert 5 == len(lines)
    for epsilon, right, factor in lines:
        power = math.exp(float(epsilon))
        assert 100 * power / (1 + power) <= float(right) < 100 * power / (1 + power) + 0.1
        assert power <= float(factor) < power * 1.01
