"""The source as trees, each file parsed once for all tests that read it."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from pages.modules import tree_of


@functools.cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file of Python."""
    return tuple(ast.walk(tree_of(path.read_text(encoding="utf-8"))))
