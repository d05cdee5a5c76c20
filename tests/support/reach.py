"""What code reaches in the package: every import, followed to the module that defines the name.

A place is a module without the name of the package, and a name in it; None means all of it.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from support.source import nodes_of

SOURCE = Path(__file__).parents[2] / "src" / "understudy"
TEXT = re.compile(r"understudy((?:\.\w+)+)(?::(\w+)[\w.]*)?")
LOADERS = frozenset({"import_module", "__import__", "resolve_name", "EntryPoint", "exec_module"})

Place = tuple[str, str | None]


def asked(nodes: Iterable[ast.AST], package: str) -> set[Place]:
    """The places that code imports, or names as a text.

    Args:
        nodes: all nodes of the code.
        package: where the code is, for relative imports: "methods.structure".
    """
    return {place for node in nodes for place in _places(node, package)}


@functools.cache
def origins(place: Place) -> frozenset[Place]:
    """The place, and all that it leads to through imports of other modules."""
    found: set[Place] = set()
    waiting = [place]
    while waiting:
        now = waiting.pop()
        if now not in found:
            found.add(now)
            waiting += _next(now)
    return frozenset(found)


def computed_imports(nodes: Sequence[ast.AST]) -> list[str]:
    """Imports that cannot be read off the code: of a computed name, by another name, by a text."""
    plain = {id(node.func) for node in nodes if isinstance(node, ast.Call) and _is_literal(node)}
    return [ast.unparse(node) for node in nodes if id(node) not in plain and _loads(node)]


def unclear_imports(nodes: Iterable[ast.AST]) -> list[str]:
    """Imports that are relative, or that bind the whole package to a name."""
    return [ast.unparse(node) for node in nodes if _is_unclear(node)]


def private_uses(nodes: Iterable[ast.AST], name: str) -> set[str]:
    """How code uses an attribute: of "self", or of something "else", or by a text or pattern."""
    return {use for node in nodes for use in _uses(node, name)}


def _places(node: ast.AST, package: str) -> list[Place]:
    if isinstance(node, ast.Import):
        return [_place(alias.name) for alias in node.names if _is_ours(alias.name)]
    if isinstance(node, ast.ImportFrom):
        return [_bound(node, alias.name, package) for alias in node.names if _from_us(node)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        named = TEXT.fullmatch(node.value)
        return [_joined(named[1][1:], named[2])] if named else []
    return []


def _place(dotted: str) -> Place:
    return dotted.removeprefix("understudy").removeprefix("."), None


def _is_ours(dotted: str) -> bool:
    return dotted.split(".")[0] == "understudy"


def _from_us(node: ast.ImportFrom) -> bool:
    return node.level > 0 or _is_ours(node.module or "")


def _bound(node: ast.ImportFrom, name: str, package: str) -> Place:
    """The place that `from … import name` stands for."""
    if not node.level:
        return _joined(_place(node.module or "")[0], name)
    parts = package.split(".") if package else []
    home = parts[: len(parts) - (node.level - 1)]
    return _joined(".".join([*home, *([node.module] if node.module else [])]), name)


def _joined(module: str, name: str | None) -> Place:
    """A name in a module; a module in a package and a star are the whole of something."""
    if name is None or name == "*":
        return module, None
    inner = f"{module}.{name}".removeprefix(".")
    return (inner, None) if _file(inner) else (module, name)


def _file(module: str) -> Path | None:
    """The file of a module, or of a package."""
    place = SOURCE.joinpath(*module.split(".")) if module else SOURCE
    files = (place / "__init__.py", place.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


def _next(place: Place) -> list[Place]:
    """The places one step behind this one."""
    module, name = place
    binds = _namespace(module)
    if name is not None:
        return [found for bound, found in binds if bound in (name, "*")]
    return [found for _, found in binds] + [(inner, None) for inner in _inner(module)]


@functools.cache
def _namespace(module: str) -> tuple[tuple[str, Place], ...]:
    """The names that a module binds to something of another place, or to another name."""
    file = _file(module)
    if file is None:
        return ()
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    return tuple(bind for node in nodes_of(file) for bind in _binds(node, module, package))


def _binds(node: ast.AST, module: str, package: str) -> list[tuple[str, Place]]:
    if isinstance(node, ast.ImportFrom) and _from_us(node):
        return [(a.asname or a.name, _bound(node, a.name, package)) for a in node.names]
    if isinstance(node, ast.Import):
        ours = [alias for alias in node.names if _is_ours(alias.name)]
        return [(alias.asname or "understudy", _place(alias.name)) for alias in ours]
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        return [(name, (module, node.value.id)) for name in names]
    return []


def _inner(module: str) -> list[str]:
    """The modules of a package."""
    file = _file(module)
    if file is None or file.name != "__init__.py":
        return []
    names = (path.stem for path in file.parent.iterdir() if path.suffix in ("", ".py"))
    inner = (f"{module}.{name}".removeprefix(".") for name in names if name != "__init__")
    return [name for name in inner if _file(name)]


def _is_literal(call: ast.Call) -> bool:
    """Whether a call imports a module that is named as a text, from the top.

    `__import__` is never one: it returns the whole package that the module is in.
    """
    if not ast.unparse(call.func).endswith("import_module") or len(call.args) != 1:
        return False
    given = call.args[0]
    named = given.value if isinstance(given, ast.Constant) else None
    return isinstance(named, str) and not named.startswith(".") and named != "understudy"


def _loads(node: ast.AST) -> bool:
    if isinstance(node, ast.alias):
        return node.name in LOADERS and node.asname is not None
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value in LOADERS
    named = getattr(node, "id", None) or getattr(node, "attr", None)
    return isinstance(node, ast.Name | ast.Attribute) and named in LOADERS


def _is_unclear(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        ours = [alias for alias in node.names if _is_ours(alias.name)]
        return any(alias.asname is None or alias.name == "understudy" for alias in ours)
    return isinstance(node, ast.ImportFrom) and node.level > 0


def _uses(node: ast.AST, name: str) -> list[str]:
    if isinstance(node, ast.Attribute) and node.attr == name:
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return ["self" if own else "else"]
    if isinstance(node, ast.Constant) and node.value == name:
        return ["text"]
    return ["pattern"] if isinstance(node, ast.MatchClass) and name in node.kwd_attrs else []
