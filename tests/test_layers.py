"""The house plan holds: a module imports only from its own line or lines above it."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from support.reach import (
    Place,
    asked,
    computed_imports,
    origins,
    private_uses,
    unclear_imports,
)
from support.source import nodes_of

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "understudy"
MODULE = re.compile(r"understudy(\.\w+)+(:[\w.]+)?")
EDGES = ("federated", "gan", "stream")
OPENERS = ("jobs",)
# The list of methods, the list of kinds of distributions, and the front door name edges as texts,
# and import them when asked to.
NAMING_EDGES = ("__init__.py", "methods/registry.py", "models/kinds.py")
# Of an edge the list of kinds names images alone, and the form that their archives had before.
EDGES_WITH_KINDS = {"gan.image_model", "gan.moment_model", "gan.earlier"}
# Of private rows, methods see the protocols of counting, and rows that were made up.
SEEN_BY_METHODS = ("rows.counting", "rows.made_up")
# Of a paid run, methods take its terms and how rows are reached; they open nothing themselves.
RUN_FOR_METHODS = ("Access", "OpenRun", "PaidRun", "UnopenedRows")
# What leads from released models back to the door.
CLOSED_TO_MODELS = ("privacy.run", "privacy.curator")
# Who imports modules by names that are not written where they are imported.
COMPUTED = {
    "understudy/methods/registry.py",
    "understudy/models/kinds.py",
    "understudy/rows/engines/cluster_connection.py",
    "understudy/system/extras.py",
    "understudy/system/lazy.py",
    "understudy_studies/__init__.py",
}
# Who has a `_source`: the Curator; the others have their own, and none of them is a Curator.
SOURCE_OWNERS = {
    "understudy/federated/holder/holder.py",
    "understudy/privacy/curator.py",
    "understudy/privacy/replay.py",
    "understudy/privacy/run.py",
    "understudy/stream/entries.py",
    "understudy_studies/private_networks.py",
}

# Who may say that counts are released: the door; the analyst's side of a federation, whose numbers
# arrive released, and which counts synthetic rows; sums of tables that are released already; and
# archives of models, which hold what was released.
MINTERS = {
    "models/tables.py": 1,
    "privacy/noisy_marginal.py": 1,
    "privacy/curator.py": 1,
    "federated/analyst/asking.py": 2,
    "federated/protocols/modelling.py": 1,
}
# Who may put other counts into a table that is released: what follows from released ones alone.
REFINERS = {
    "models/estimation/consistency.py": 3,
    "models/estimation/conditionals.py": 1,
    "models/weighted/refitting.py": 1,
}
# Who may hold exact counts: engines, sums of exact tables, and tables that are made up.
COUNTERS = {
    "rows/counting.py",
    "rows/engines/bitmaps.py",
    "rows/engines/chunked.py",
    "rows/engines/cluster.py",
    "rows/engines/databases/source.py",
    "rows/engines/memory.py",
    "rows/made_up.py",
}
MOST_LAYERS, MOST_ENTRIES = 10, 16


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


def _name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def _by_name() -> dict[str, Path]:
    return {str(path.relative_to(SOURCE)): path for path in _modules()}


def _imports(path: Path) -> set[str]:
    """The rooms of this package that a file imports: anywhere, lazily, or by a text."""
    edges = _edges_as_text(path)
    return {name.split(".")[0] for name in _imported(path) - edges} - {"__version__"}


def _room_of(name: str) -> list[Path]:
    return [path for path in _modules() if _own(path) == name]


def _package(path: Path) -> str:
    """The package that a file is in, as relative imports count from it."""
    return ".".join(path.relative_to(SOURCE).parts[:-1])


def _whole_source() -> dict[str, Sequence[ast.AST]]:
    """The code of this package and of the studies."""
    home = ROOT / "src"
    return {path.relative_to(home).as_posix(): nodes_of(path) for path in home.rglob("*.py")}


def _followed(nodes: Iterable[ast.AST], package: str) -> set[Place]:
    """What code leads to, without the names that its own room hands on inside whole modules."""
    room = package.split(".")[0]
    # A module of the same room is under the same law itself.
    asked_for = asked(nodes, package)
    own = {(m, name) for m, name in asked_for if name is None and m.split(".")[0] == room}
    return own.union(*(origins(place) for place in asked_for - own))


def _edges_of(nodes: Iterable[ast.AST], package: str) -> set[str]:
    """The edges that code leads to."""
    return {module.split(".")[0] for module, _ in _followed(nodes, package)} & set(EDGES)


def _private_to_models(nodes: Iterable[ast.AST], package: str) -> set[Place]:
    """What code of models/ must not reach and does."""
    found = _followed(nodes, package)
    return {place for place in found if _in_rows(place) or place[0] in CLOSED_TO_MODELS}


def _private_to_methods(nodes: Iterable[ast.AST], package: str) -> set[Place]:
    """What code of methods/ must not reach and does."""
    nodes = list(nodes)
    terms = {("privacy.run", name) for name in RUN_FOR_METHODS}
    taken = {place for term in asked(nodes, package) & terms for place in origins(term)}
    return {place for place in _followed(nodes, package) - taken if _is_closed(place)}


def _is_closed(place: Place) -> bool:
    """Whether a place is closed to methods."""
    opens = _in_rows(place) and place[0] not in SEEN_BY_METHODS
    return opens or place[0] == "privacy.run"


def _in_rows(place: Place) -> bool:
    return place[0].split(".")[0] == "rows"


def _nodes(path: Path) -> Sequence[ast.AST]:
    """All code of a file; of the front door without what type checkers alone run."""
    if path != SOURCE / "__init__.py":
        return nodes_of(path)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not isinstance(node, ast.If)]
    return list(ast.walk(tree))


def _edges_as_text(path: Path) -> set[str]:
    """The modules of edges that a file may name, as it does so by texts alone."""
    if path not in {SOURCE / name for name in NAMING_EDGES}:
        return set()
    return {name for name in _texts(path) if name.split(".")[0] in EDGES}


def _texts(path: Path) -> set[str]:
    """The modules that a file names by texts and by no import."""
    nodes = _nodes(path)
    texts = {name for node in nodes if isinstance(node, ast.Constant) for name in _named(node)}
    imports = {n for node in nodes if not isinstance(node, ast.Constant) for n in _named(node)}
    return {name.removeprefix("understudy.") for name in texts - imports}


@functools.cache
def _imported(path: Path) -> frozenset[str]:
    """The modules that a file imports, without the name of the package."""
    named = {name for node in _nodes(path) for name in _named(node)}
    ours = {name for name in named if name.startswith("understudy.")}
    return frozenset(name.removeprefix("understudy.") for name in ours)


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
        return [node.value.partition(":")[0]] if MODULE.fullmatch(node.value) else []
    return []


def _opens_studies(nodes: Iterable[ast.AST]) -> bool:
    """Whether code imports the package of studies, or names one of its modules."""
    named = {name for node in nodes for name in _words(node)}
    return any(name.split(".")[0] == "understudy_studies" for name in named)


def _words(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    return _named(node)


def _draws(text: str) -> bool:
    """Whether code imports a package for terminals, or prints."""
    tree = ast.parse(text)
    packages = {name.split(".")[0] for node in ast.walk(tree) for name in _named(node)}
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return bool(packages & {"typer", "click", "rich"}) or "print" in calls


def _made(path: Path, kind: str) -> int:
    """How often a file makes a value of a class, or could: by a call, or by handing it on."""
    hints = {id(inner) for node in nodes_of(path) for inner in _hints(node)}
    return sum(_makes(node, kind) for node in nodes_of(path) if id(node) not in hints)


def _makes(node: ast.AST, kind: str) -> bool:
    if isinstance(node, ast.alias):
        return node.name == kind and node.asname is not None
    return kind == (getattr(node, "id", None) or getattr(node, "attr", None))


def _changed(path: Path) -> int:
    """How often a file makes a changed copy of a table, by `replace(table, counts=…)`."""
    calls = (node for node in nodes_of(path) if isinstance(node, ast.Call))
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


def test_modules_import_only_downwards() -> None:
    """No module imports from a room above its own."""
    height = {room: number for number, line in enumerate(_layers()) for room in line}
    reach = {
        _name(path): {room for room in _imports(path) if height[room] > height[_own(path)]}
        for path in _modules()
        if _own(path) != "__init__"
    }
    assert {} == {name: rooms for name, rooms in reach.items() if rooms}


def test_the_plan_fits_on_one_hand_twice() -> None:
    """There are ten layers at the most, and sixteen entries on the top floor."""
    entries = [p for p in SOURCE.iterdir() if p.name != "__pycache__"]
    assert len(_layers()) <= MOST_LAYERS
    assert len(entries) <= MOST_ENTRIES


def test_what_is_released_cannot_reach_what_is_private() -> None:
    """The first law: nothing in models/ leads to rows/, to a Curator, or to a paid run."""
    reach = {_name(p): _private_to_models(nodes_of(p), _package(p)) for p in _room_of("models")}
    assert {} == {name: found for name, found in reach.items() if found}


def test_models_load_nothing_of_rows() -> None:
    """All modules of models/ in one process load no protocol and no engine of private rows."""
    code = (
        "import importlib, pkgutil, sys, understudy.models as home\n"
        "for found in pkgutil.walk_packages(home.__path__, home.__name__ + '.'):\n"
        "    importlib.import_module(found.name)\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    rows = {name for name in loaded if f"{name}.".startswith("understudy.rows.")}
    assert set() == rows
    assert "understudy.models.bayes_net" in loaded


def test_methods_see_of_rows_the_counting_protocols_alone() -> None:
    """The second law: methods/ reaches of rows/ what may be asked, and made-up rows."""
    reach = {_name(p): _private_to_methods(nodes_of(p), _package(p)) for p in _room_of("methods")}
    assert {} == {name: found for name, found in reach.items() if found}


@pytest.mark.parametrize(
    "line",
    [
        "import understudy.rows as r\nr.sources.open_source",
        "import understudy.rows.sources as sources",
        "import understudy",
        "from understudy import rows",
        "from understudy import privacy",
        "from .. import rows",
        "from ..rows import sources",
        "from ..rows.sources import open_source",
        "from understudy.rows import *",
        "from understudy.rows.sources import open_source",
        "from understudy.privacy.run import open_source",
        "from understudy.privacy.run import open_source as start",
        "from understudy.privacy.run import *",
        "from understudy.privacy import run\nrun.open_source",
        "def f():\n    from understudy.privacy.run import open_keyed",
        "importlib.import_module('understudy.rows.sources')",
        "importlib.import_module('understudy.privacy.run')",
        "HOME = 'understudy.rows.made_up:MemorySource'",
        "HOME = 'understudy.rows.made_up:MemorySource.count'",
        "from understudy.privacy.spending.fingerprints import MemorySource",
        "from understudy.privacy.spending import fingerprints",
        "from understudy.rows.made_up import MemorySource, Table",
        "from understudy.rows import made_up\nmade_up.MemorySource",
        "import understudy.rows.made_up as m",
    ],
)
def test_every_way_to_private_rows_is_seen(line: str) -> None:
    """The first two laws see packages, relative imports, and names that other modules hand on."""
    nodes = list(ast.walk(ast.parse(line)))
    assert _private_to_methods(nodes, "methods")
    assert _private_to_models(nodes, "models")


@pytest.mark.parametrize(
    "line",
    [
        "from understudy.privacy.run import PaidRun",
        "from understudy.privacy.run import Budget",
        "from understudy.privacy.curator import Curator",
        "from understudy.privacy import curator",
        "from understudy.privacy.replay import CountSource",
        "from understudy.rows.counting import Score",
    ],
)
def test_every_way_to_the_door_is_seen_in_models(line: str) -> None:
    """The first law sees runs, the Curator, and protocols that another module hands on."""
    assert _private_to_models(list(ast.walk(ast.parse(line))), "models")


@pytest.mark.parametrize(
    "line",
    [
        "from understudy.rows.counting import Score",
        "from understudy.rows import counting",
        "import understudy.rows.counting as counting",
        "from understudy.rows.made_up import MadeUp",
        "from understudy.privacy.run import Access, PaidRun",
        "from understudy.privacy.curator import Curator",
    ],
)
def test_what_methods_may_see_is_let_through(line: str) -> None:
    """Protocols, made-up rows and the terms of a run are what a method works with."""
    assert set() == _private_to_methods(list(ast.walk(ast.parse(line))), "methods")


def test_imports_can_be_read_off_the_code() -> None:
    """A computed name is imported by the listed files alone, and each of them still does."""
    assert COMPUTED == {name for name, nodes in _whole_source().items() if computed_imports(nodes)}


@pytest.mark.parametrize(
    "line",
    [
        "import_module(name)",
        "importlib.import_module(f'understudy.{name}')",
        "importlib.import_module('.rows', 'understudy')",
        "import_module('.rows')",
        "import_module(name='understudy.rows')",
        "import_module('understudy')",
        "__import__('understudy.facts').rows",
        "__import__('understudy.' + name)",
        "__import__('rows', globals(), locals(), [], 2)",
        "from importlib import import_module as load",
        "load = importlib.import_module",
        "getattr(importlib, 'import_module')(name)",
        "pkgutil.resolve_name(name)",
    ],
)
def test_a_planted_computed_import_is_seen(line: str) -> None:
    """The search sees computed, relative and renamed imports; a literal one is read as a text."""
    assert computed_imports(list(ast.walk(ast.parse(line))))
    assert [] == computed_imports(list(ast.walk(ast.parse("import_module('understudy.rows')"))))


def test_imports_name_what_they_take() -> None:
    """Nothing is imported relatively, and nothing binds the whole package to a name."""
    found = {name: unclear_imports(nodes) for name, nodes in _whole_source().items()}
    assert {} == {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize(
    "line",
    [
        "import understudy",
        "import understudy as u",
        "import numpy, understudy.facts.schema",
        "from . import facts",
        "from ..rows import sources",
    ],
)
def test_a_planted_unclear_import_is_seen(line: str) -> None:
    """The search sees the package under its own name and under another, and relative imports."""
    assert unclear_imports(list(ast.walk(ast.parse(line))))


def test_the_rows_behind_a_curator_are_its_own() -> None:
    """`_source` is read from `self` alone, in the listed files; of them one has the Curator."""
    uses = {name: private_uses(nodes, "_source") for name, nodes in _whole_source().items()}
    assert SOURCE_OWNERS == {name for name, use in uses.items() if use}
    assert {"self"} == set().union(*uses.values())


@pytest.mark.parametrize(
    "line",
    [
        "curator._source.count(sets)",
        "self.curator._source",
        "getattr(curator, '_source')",
        "match curator:\n    case Curator(_source=rows):\n        pass",
    ],
)
def test_a_planted_look_behind_a_curator_is_seen(line: str) -> None:
    """The search sees attributes, names as texts, and patterns."""
    assert private_uses(ast.walk(ast.parse(line)), "_source") - {"self"}


def test_edges_are_opened_by_jobs_alone() -> None:
    """The third law: only jobs/ imports an edge, lazily or not, and no edge imports another."""
    opened = {
        _name(path): {edge for edge in EDGES if edge in _imports(path) and edge != _own(path)}
        for path in _modules()
        if _own(path) not in OPENERS
    }
    assert {} == {name: edges for name, edges in opened.items() if edges}


def test_nobody_hands_on_what_an_edge_defines() -> None:
    """The third law, followed through other modules: names of an edge do not travel by jobs/."""
    kept = {SOURCE / name for name in NAMING_EDGES}
    paths = [p for p in _modules() if _own(p) not in OPENERS and p not in kept]
    reach = {_name(p): _edges_of(nodes_of(p), _package(p)) - {_own(p)} for p in paths}
    assert {} == {name: edges for name, edges in reach.items() if edges}
    planted = ast.walk(ast.parse("from understudy.jobs.streams import DensityEstimator"))
    assert {"stream"} == _edges_of(planted, "cli")


def test_studies_are_opened_by_jobs_alone() -> None:
    """The package of studies is imported in jobs/, and nowhere else in the house."""
    opened = {_name(path) for path in _modules() if _opens_studies(nodes_of(path))}
    assert {"jobs/studies.py"} == opened


def test_a_planted_import_of_studies_is_seen() -> None:
    """The search sees both kinds of imports, and the package named as a text."""
    for line in ("import understudy_studies.cells", "HOME = 'understudy_studies.record'"):
        assert _opens_studies(ast.walk(ast.parse(line)))


def test_jobs_have_no_terminal() -> None:
    """Nothing in jobs/ prints, or knows the packages that draw on a terminal."""
    assert [] == [_name(p) for p in _modules() if _own(p) == "jobs" and _draws(p.read_text())]


@pytest.mark.parametrize("line", ["import rich", "from typer import echo", "print('rows')"])
def test_a_planted_terminal_is_seen(line: str) -> None:
    """The search sees imports of both packages, and a call of print."""
    assert _draws(line)


@pytest.mark.parametrize(
    "line",
    [
        "from understudy.gan.tables import DPGAN",
        "import understudy.gan.tables",
        "from understudy import gan",
        "def f():\n    from understudy.gan import tables",
        "import importlib\nimportlib.import_module('understudy.gan.tables')",
        "HOMES = {'DPGAN': 'understudy.gan.tables'}",
        "HOMES = {'DPGAN': 'understudy.gan.tables:DPGAN'}",
        "HOMES = {'DPGAN': 'understudy.gan.tables:DPGAN.fit'}",
        "from ..gan import tables",
    ],
)
def test_every_way_to_import_an_edge_is_seen(line: str, tmp_path: Path) -> None:
    """The search sees imports at the top, inside functions, by name, and relative ones."""
    path = tmp_path / "planted.py"
    path.write_text(line, encoding="utf-8")
    assert "gan" in _imports(path)


def test_edges_are_named_as_texts_where_they_may_be() -> None:
    """Lists and the front door name an edge and import none, even in a function."""
    named = {name: _edges_as_text(SOURCE / name) for name in NAMING_EDGES}
    assert all("gan.tables" in named[name] for name in ("__init__.py", "methods/registry.py"))
    assert named["models/kinds.py"] == EDGES_WITH_KINDS
    for name in NAMING_EDGES:
        assert set() == set(EDGES) & _imports(SOURCE / name)


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
        "from understudy.privacy.noisy_marginal import NoisyMarginal as Released",
        "table = dataclasses.replace(noisy, counts=exact)",
    ],
)
def test_a_planted_leak_of_counts_is_seen(line: str, tmp_path: Path) -> None:
    """The search sees calls, attributes, the class handed on, other names, and changed copies."""
    path = tmp_path / "planted.py"
    path.write_text(line, encoding="utf-8")
    assert 1 == _made(path, "NoisyMarginal") + _changed(path)


def test_the_plan_names_every_room() -> None:
    """Every room of the house is in the plan, and the reverse."""
    rooms = {_own(path) for path in _modules()}
    assert rooms - {"__init__"} == {room for line in _layers() for room in line}


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("import understudy", ("numpy", "pyarrow", "numba", "opendp", "scipy", "dp_accounting")),
        ("import understudy.cli.main", ("numpy", "pyarrow", "numba", "opendp", "dp_accounting")),
        (
            "import understudy.methods",
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


def test_every_folder_is_a_package_that_says_what_it_holds() -> None:
    """Each folder with modules has an `__init__` with a docstring."""
    folders = {path.parent for path in (ROOT / "src").rglob("*.py")}
    silent = [folder for folder in folders if not _says(folder / "__init__.py")]
    assert [] == silent


def _says(path: Path) -> bool:
    return path.is_file() and bool(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))))
