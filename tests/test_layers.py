"""The house plan holds: a module imports only from its own line or lines above it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "understudy"
SHELLS = ("cli", "testing")


def _layers() -> list[list[str]]:
    """The lines of the plan, lowest first, as docs/architecture.md draws them."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    block = text.split("```layers\n", 1)[1].split("```", 1)[0]
    return [[name.rstrip("/") for name in line.split()] for line in block.strip().splitlines()]


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _imports(path: Path) -> set[str]:
    """The rooms of this package that a file imports, lazily or not."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = (
                [node.module]
                if node.module != "understudy"
                else [f"understudy.{alias.name}" for alias in node.names]
            )
        rooms |= {_room(name) for name in names if name.startswith("understudy.")}
    return rooms - {"__version__"}


@pytest.mark.parametrize("path", _modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_modules_import_only_downwards(path: Path) -> None:
    """No module reaches for a room that stands above its own."""
    layers = _layers()
    height = {room: number for number, line in enumerate(layers) for room in line}
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if own == "__init__":
        return
    assert own in height, f"{own} has no line in docs/architecture.md"
    too_high = {room for room in _imports(path) if height[room] > height[own]}
    assert set() == too_high


def test_the_plan_names_every_room() -> None:
    """Nothing stands in the house that the plan does not draw, and the reverse."""
    rooms = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in _modules()}
    assert rooms - {"__init__"} == {room for line in _layers() for room in line}


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("import understudy", ("numpy", "pyarrow", "numba", "opendp", "scipy", "dp_accounting")),
        ("import understudy.cli.main", ("numpy", "pyarrow", "numba", "opendp", "dp_accounting")),
        (
            "import understudy.synthesizers",
            ("numba", "opendp", "dp_accounting", "pandas", "polars"),
        ),
    ],
)
def test_imports_are_light(statement: str, heavy: tuple[str, ...]) -> None:
    """Heavy packages wait until something needs them."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert set() == set(heavy) & set(loaded.stdout.split())
