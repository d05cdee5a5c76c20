"""The house plan holds: a module imports only from its own line or lines above it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "understudy"
MODULE = re.compile(r"understudy(\.\w+)+")
EDGES = ("federated", "gan", "stream")
OPENERS = ("cli", "studies")

# Who may say that counts are released: the door; the analyst's side of a federation, whose numbers
# arrive released, and which counts synthetic rows; and sums of tables that are released already.
MINTERS = {
    "marginal.py": 1,
    "privacy/curator.py": 1,
    "federated/asking.py": 2,
    "federated/modelling.py": 1,
}
# Who may put other counts into a table that is released: what follows from released ones alone.
REFINERS = {"learn/consistency.py": 3, "learn/parameters.py": 1}
# Who may hold exact counts: engines, and rehearsals on made-up rows.
COUNTERS = {
    "engines/bitmaps.py",
    "engines/chunked.py",
    "engines/cluster.py",
    "engines/database.py",
    "engines/memory.py",
    "planning/rehearsal.py",
}


def _layers() -> list[list[str]]:
    """The lines of the plan, lowest first, as docs/architecture.md draws them."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    block = text.split("```layers\n", 1)[1].split("```", 1)[0]
    return [[name.rstrip("/") for name in line.split()] for line in block.strip().splitlines()]


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _own(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def _by_name() -> dict[str, Path]:
    return {str(path.relative_to(SOURCE)): path for path in _modules()}


def _imports(path: Path) -> set[str]:
    """The rooms of this package that a file imports: anywhere, lazily, or by a text."""
    rooms: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        rooms |= {_room(name) for name in _named(node) if name.startswith("understudy.")}
    return rooms - {"__version__"}


def _named(node: ast.AST) -> list[str]:
    """The modules that a piece of code names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        # Relative imports count as from the top: nothing here has any.
        home = "understudy" + (f".{node.module}" if node.module else "") if node.level else None
        module = home or node.module or ""
        return [module, *(f"{module}.{alias.name}" for alias in node.names)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value] if MODULE.fullmatch(node.value) else []
    return []


def _made(path: Path, kind: str) -> int:
    """How often a file makes a value of a class, or could: by a call, or by handing it on."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hints = {id(inner) for node in ast.walk(tree) for inner in _hints(node)}
    return sum(_makes(node, kind) for node in ast.walk(tree) if id(node) not in hints)


def _makes(node: ast.AST, kind: str) -> bool:
    if isinstance(node, ast.alias):
        return node.name == kind and node.asname is not None
    return kind == (getattr(node, "id", None) or getattr(node, "attr", None))


def _changed(path: Path) -> int:
    """How often a file makes a changed copy of a table, by `replace(table, counts=…)`."""
    calls = (n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call))
    named = (call for call in calls if ast.unparse(call.func).endswith("replace"))
    return sum("counts" in {keyword.arg for keyword in call.keywords} for call in named)


def _hints(node: ast.AST) -> list[ast.AST]:
    """Everything inside annotations and brackets of a type, where classes are named only."""
    hints: list[ast.expr | None] = [node.slice] if isinstance(node, ast.Subscript) else []
    if isinstance(node, ast.AnnAssign | ast.arg):
        hints = [node.annotation]
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        hints = [node.returns]
    return [inner for hint in hints if hint is not None for inner in ast.walk(hint)]


@pytest.mark.parametrize("path", _modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_modules_import_only_downwards(path: Path) -> None:
    """No module reaches for a room that stands above its own."""
    layers = _layers()
    height = {room: number for number, line in enumerate(layers) for room in line}
    own = _own(path)
    if own == "__init__":
        return
    assert own in height, f"{own} has no line in docs/architecture.md"
    too_high = {room for room in _imports(path) if height[room] > height[own]}
    assert set() == too_high


@pytest.mark.parametrize("edge", EDGES)
def test_edges_are_opened_by_commands_and_studies_alone(edge: str) -> None:
    """No room but cli and studies imports an edge, lazily or not; no edge imports another."""
    openers = {_own(path) for path in _modules() if edge in _imports(path)}
    assert set() == openers - {edge, *OPENERS}


@pytest.mark.parametrize(
    "line",
    [
        "from understudy.gan.tables import DPGAN",
        "import understudy.gan.tables",
        "from understudy import gan",
        "def f():\n    from understudy.gan import tables",
        "import importlib\nimportlib.import_module('understudy.gan.tables')",
        "HOMES = {'DPGAN': 'understudy.gan.tables'}",
        "from ..gan import tables",
    ],
)
def test_every_way_to_import_an_edge_is_seen(line: str, tmp_path: Path) -> None:
    """The search sees imports at the top, inside functions, by name, and relative ones."""
    path = tmp_path / "planted.py"
    path.write_text(line, encoding="utf-8")
    assert "gan" in _imports(path)


def test_few_may_say_that_counts_are_released() -> None:
    """A `NoisyMarginal` is made at the door, from what holders released, and nowhere else."""
    made = {name: _made(path, "NoisyMarginal") for name, path in _by_name().items()}
    assert MINTERS == {name: times for name, times in made.items() if times}


def test_few_may_change_released_counts() -> None:
    """Copies of tables with other counts are made where released tables are made to agree."""
    changed = {name: _changed(path) for name, path in _by_name().items()}
    assert REFINERS == {name: times for name, times in changed.items() if times}


def test_few_may_hold_exact_counts() -> None:
    """A `Marginal` is made by engines, and by rehearsals on made-up rows."""
    assert COUNTERS == {name for name, path in _by_name().items() if _made(path, "Marginal")}


@pytest.mark.parametrize(
    "line",
    [
        "table = NoisyMarginal(names, counts, 0.0)",
        "table = marginal.NoisyMarginal(names, counts, 0.0)",
        "tables = map(NoisyMarginal, names, counts, variances)",
        "from understudy.marginal import NoisyMarginal as Released",
        "table = dataclasses.replace(noisy, counts=exact)",
    ],
)
def test_a_planted_leak_of_counts_is_seen(line: str, tmp_path: Path) -> None:
    """The search sees calls, attributes, the class handed on, other names, and changed copies."""
    path = tmp_path / "planted.py"
    path.write_text(line, encoding="utf-8")
    assert 1 == _made(path, "NoisyMarginal") + _changed(path)


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
