"""Which module imports which, and when."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import Literal

from pages.modules import Function, Module

When = Literal["top", "lazy", "types"]
"""At the top of a file, inside a function, or under `TYPE_CHECKING`."""


def imports(found: Iterable[Module]) -> dict[When, int]:
    """Count the pairs of modules of which one imports the other, each by its earliest import."""
    by_name = {module.name: module for module in found}
    seen: dict[When, set[tuple[str, str]]] = {"top": set(), "lazy": set(), "types": set()}
    for name, module in by_name.items():
        for when, target in _imported(module.tree, "top", by_name):
            seen[when] |= {(name, target)} - {(name, name)}
    lazy = seen["lazy"] - seen["top"]
    types = seen["types"] - seen["top"] - lazy
    return {"top": len(seen["top"]), "lazy": len(lazy), "types": len(types)}


def _imported(parent: ast.AST, when: When, known: Collection[str]) -> Iterator[tuple[When, str]]:
    """Yield the modules that a piece of code imports, with when it does."""
    for node in ast.iter_child_nodes(parent):
        yield from ((when, target) for target in _targets(node, known))
        inside: When = when
        if isinstance(node, Function):
            inside = "lazy"
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            inside = "types"
        yield from _imported(node, inside, known)


def _targets(node: ast.AST, known: Collection[str]) -> list[str]:
    """List the known modules that a statement imports; relative imports are not used here."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        whole = [f"{node.module}.{alias.name}" for alias in node.names]
        names = [name if name in known else node.module for name in whole]
    return [name for name in names if name in known]
