"""The Python files of a folder, parsed, for the tools that measure code and read its English."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
"""The repository that these tools measure unless another is named."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A Python file: its path below the repository, its name for imports, its text and its tree."""

    path: str
    name: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        """Count the lines of the file, blank ones and comments too."""
        return len(self.text.splitlines())

    def at(self, line: int) -> str:
        """Name a line as editors and terminals do, `path:line`."""
        return f"{self.path}:{line}"

    def functions(self) -> Iterator[Function]:
        """Yield every function, method and function inside another."""
        yield from (n for n in ast.walk(self.tree) if isinstance(n, Function))


def modules(root: Path, folder: str) -> tuple[Module, ...]:
    """Parse all Python files below a folder of a repository, in the order of their paths."""
    with _garbage_left():
        return tuple(_module(root, folder, path) for path in sorted((root / folder).rglob("*.py")))


@cache
def tree_of(text: str) -> ast.Module:
    """Parse a text once for all that read it; none of them changes the tree."""
    with _garbage_left():
        return ast.parse(text)


@contextmanager
def _garbage_left() -> Iterator[None]:
    """Do not look for garbage: among millions of nodes that stay it takes most of the time."""
    looking = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looking:
            gc.enable()


def _module(root: Path, folder: str, path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    parts = path.relative_to(root / folder).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(path.relative_to(root).as_posix(), name, text, tree_of(text))
