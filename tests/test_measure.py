"""The measures of `scripts/measure`: what each one counts, on a planted repository."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pages.measures import LONG, Measures, length, measured
from pages.measuring import LISTS, listed, main, table
from pages.modules import ROOT, modules
from support.source import nodes_of

MOST_FILE_LINES = 400
# Functions of more than 60 lines, with the reason. The list may only shrink.
LONG_FOR_A_REASON = {
    "src/understudy/evaluation/evaluation.py evaluate": "a line for each keyword, step and result",
}
# Files of more than 400 lines, and how many they may have. The numbers may only shrink.
LONG_FILES = {
    "src/understudy/evaluation/evaluation.py": 439,
    "src/understudy/methods/structure/rounds.py": 437,
    "src/understudy/models/archive.py": 435,
    "src/understudy/privacy/spending/ledger.py": 497,
    "src/understudy/rows/engines/databases/expressions.py": 411,
}
FIRST = '''"""A module."""

import pathlib
from typing import TYPE_CHECKING

from understudy.rows import second

if TYPE_CHECKING:
    from understudy.rows.third import Third


class Run:
    """A class."""

    def method(self, one: int, two: int = 0) -> int:
        """Add numbers.

        Two of them.
        """
        if one and two:
            return one
        return sum(n for n in range(one) if n)

    def bare(self, one):
        return one
'''
SECOND = '''def lazy() -> None:
    """Import late."""
    from understudy.rows.third import Third
    import understudy.first
    call(1, 2, 3, 4, 5)


class Run:
    """Another class."""
'''
PLAN = "# Plan\n\n```layers\nerrors\nfirst rows/\n```\n"


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A repository of four modules, a plan of two layers and a test of two lines."""
    files = {
        "src/understudy/__init__.py": "",
        "src/understudy/first.py": FIRST,
        "src/understudy/rows/second.py": SECOND,
        "src/understudy/rows/third.py": '"""Third."""\nX = 1\n' + _long(61),
        "docs/architecture.md": PLAN,
        "tests/test_first.py": "import understudy\nassert understudy\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def _long(lines: int) -> str:
    """A function of a number of lines."""
    return "def _long() -> None:\n" + "    pass\n" * (lines - 1)


@pytest.fixture
def found(planted: Path) -> Measures:
    """The planted repository, measured."""
    return measured(planted)


def test_lengths_leave_out_docstrings(found: Measures) -> None:
    """The length of a function is the number of its lines without its docstring."""
    assert (4, 2, 4, 61) == found.function_lengths


def _functions_of(path: Path) -> Iterator[tuple[str, int]]:
    """The name of every function in a file, and its lines without its docstring."""
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, length(node)


def test_functions_are_short_or_have_a_reason() -> None:
    """Sixty lines at most; a longer one is listed, and says why where it is."""
    found = {
        f"{module.path} {function.name}"
        for module in modules(ROOT, "src")
        for function in module.functions()
        if length(function) > LONG
    }
    assert {*LONG_FOR_A_REASON} == found
    for place in LONG_FOR_A_REASON:
        text = (ROOT / place.split()[0]).read_text(encoding="utf-8")
        assert "# Longer than 60 lines: " in text


@pytest.mark.parametrize("folder", ["tests", "pages", "benchmarks", "examples"])
def test_other_functions_are_short_too(folder: str) -> None:
    """What tests, checks, measures or shows the package keeps to the same sixty lines."""
    long = [
        f"{path.relative_to(ROOT)} {name} ({lines})"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name, lines in _functions_of(path)
        if lines > LONG
    ]
    assert [] == long


def test_files_are_short_or_listed() -> None:
    """Four hundred lines at most; those that are longer do not grow."""
    found = {m.path: m.lines for m in modules(ROOT, "src") if m.lines > MOST_FILE_LINES}
    assert [] == [name for name, lines in found.items() if lines > LONG_FILES.get(name, 0)]
    assert [] == [name for name in LONG_FILES if name not in found]


def test_long_functions_are_named_with_their_length(found: Measures) -> None:
    """A function of 61 lines is too long."""
    assert ("src/understudy/rows/third.py:3 _long (61)",) == found.long


def test_complexity_counts_every_way(found: Measures) -> None:
    """An `if`, an `and`, a comprehension and its `if` are four ways besides the first."""
    assert (5, 1, 1, 1) == found.complexities


def test_missing_types_and_docstrings_are_named(found: Measures) -> None:
    """Functions without annotations, public methods and modules without docstrings are listed."""
    assert ("src/understudy/first.py:24 bare",) == found.untyped
    assert ("src/understudy/first.py:24 bare",) == found.undocumented
    assert ("src/understudy/__init__.py", "src/understudy/rows/second.py") == (
        found.undocumented_modules
    )


def test_imports_count_once_by_the_earliest(found: Measures) -> None:
    """One pair is imported at the top, two lazily, one for types; other packages do not count."""
    assert {"top": 1, "lazy": 2, "types": 1} == found.imports


def test_the_house_is_counted(found: Measures) -> None:
    """Entries of the top floor, layers of the plan, homonyms and positional calls are found."""
    assert ("__init__.py", "first.py", "rows") == found.top_floor
    assert 2 == found.layers
    assert ["Run"] == list(found.homonyms)
    assert ("src/understudy/rows/second.py:5 call (5)",) == found.positional


def test_sizes_are_counted(found: Measures) -> None:
    """Lines of all files add up, and tests are held against them."""
    numbers = found.numbers()
    assert 4 == numbers["files"]
    assert 25 + 9 + 63 == numbers["lines"]
    assert 2 / 97 == pytest.approx(numbers["test_lines_per_line"])


def test_a_repository_without_a_plan_has_no_layers(planted: Path) -> None:
    """Nothing is read where there is no block of layers."""
    (planted / "docs" / "architecture.md").unlink()
    assert 0 == measured(planted).layers


@pytest.mark.parametrize("name", LISTS)
def test_every_list_has_a_line_for_each_place(name: str, found: Measures) -> None:
    """What a list prints is as long as what the table counts."""
    assert len(getattr(found, name)) == len(listed(found, name)) > 0


def test_the_table_has_every_number(found: Measures) -> None:
    """Shares are percentages, large numbers have their thousands apart."""
    assert len(found.numbers()) + 2 == len(table(found).splitlines())
    assert "| typed | 75.0% |" in table(found)


def test_json_holds_the_numbers(planted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints the same numbers as JSON, and lists as lists."""
    assert 0 == main(["--json", "--root", str(planted)])
    assert measured(planted).numbers() == json.loads(capsys.readouterr().out)
    assert 0 == main(["--json", "--list", "homonyms", "--root", str(planted)])
    [run] = json.loads(capsys.readouterr().out)
    assert run.startswith("Run: src/understudy/first.py:12, ")


def test_the_script_runs(planted: Path) -> None:
    """`scripts/measure` prints the table from any folder."""
    script = [str(ROOT / "scripts" / "measure"), "--root", str(planted)]
    ran = subprocess.run(script, cwd=planted, capture_output=True, text=True, check=True)
    assert table(measured(planted)) == ran.stdout.strip()
