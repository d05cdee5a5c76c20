"""The core declares what it imports, and carries no limit that only an extra needs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.source import nodes_of

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]

# Distributions whose modules have another name.
_NAMES = {"ibis-framework": "ibis", "scikit-learn": "sklearn", "xgboost-cpu": "xgboost"}
# These change their interfaces between the versions named, and we call them.
_CAPPED_IN_THE_CORE = {"pydantic", "dp_accounting"}
# Given to us by callers who have it, or taken where it is installed; not needed otherwise.
_OF_CALLERS = {"polars"}


def _module(requirement: str) -> str:
    """The module that a requirement brings."""
    name = re.split(r"[\[<>=!;~ ]", requirement, maxsplit=1)[0]
    return _NAMES.get(name, name.replace("-", "_"))


CORE = {_module(requirement) for requirement in PROJECT["dependencies"]}
OPTIONAL = {
    _module(requirement)
    for extra, requirements in EXTRAS.items()
    if extra not in ("test", "all")
    for requirement in requirements
    if not requirement.startswith("understudy[")
}


def _imported(path: Path, *, at_once: bool) -> set[str]:
    """Packages of others that a file imports: at once when it is imported, or later too."""
    nodes = _run_at_once(nodes_of(path)[0]) if at_once else nodes_of(path)
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.split(".")[0] for name in names} - {
        "understudy",
        "understudy_studies",
        *sys.stdlib_module_names,
    }


def _run_at_once(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements of a module outside functions and outside `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _run_at_once(node)


def test_everything_imported_is_declared() -> None:
    """A package that any file imports is a dependency of the core or of an extra."""
    imported = {name for path in SOURCE.rglob("*.py") for name in _imported(path, at_once=False)}
    assert set() == imported - CORE - OPTIONAL - _OF_CALLERS


def test_what_rooms_import_at_once_is_of_the_core() -> None:
    """Optional packages are imported when a job begins."""
    for path in SOURCE.rglob("*.py"):
        assert set() == _imported(path, at_once=True) - CORE, path


def test_every_dependency_of_the_core_is_used() -> None:
    """Nothing is installed for everybody that no file imports."""
    imported = {name for path in SOURCE.rglob("*.py") for name in _imported(path, at_once=False)}
    assert set() == CORE - imported


def test_the_core_is_not_capped_for_an_extra() -> None:
    """Upper limits are in the extra whose packages need them."""
    capped = {_module(r) for r in PROJECT["dependencies"] if re.search(r"<|==|~=", r)}
    assert _CAPPED_IN_THE_CORE == capped
    limits = {_module(r) for r in EXTRAS["federated"] if "<" in r}
    assert {"flwr", "typer", "rich", "click"} == limits


def test_torch_is_a_range_for_users_and_one_version_for_tests() -> None:
    """Whoever has another PyTorch may keep it; tests run with the one that was measured."""
    [torch] = EXTRAS["gan"]
    assert re.fullmatch(r"torch>=[\d.]+,<\d+", torch)
    assert any(re.fullmatch(r"torch==[\d.]+", r) for r in EXTRAS["test"])


@pytest.mark.parametrize("statement", ["import understudy", "import understudy.cli.main"])
def test_importing_needs_no_optional_package(statement: str) -> None:
    """Neither the library nor the command's help loads what an extra brings."""
    code = (
        f"{statement}\nimport sys\n"
        "if 'cli' in sys.argv[1]:\n    understudy.cli.main.run(['--help'])\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, statement], capture_output=True, text=True, check=True
    )
    # Typer's own dependencies are the core's, whichever version is there.
    assert set() == (OPTIONAL - CORE - {"click"}) & set(done.stderr.split())
