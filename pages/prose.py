"""The English of a repository: docstrings, help texts and messages of its code, and its pages.

Docstrings come from `src/`, `benchmarks/`, `pages/` and `tests/`; help texts and messages from the
first three, since tests only repeat messages. Every string with a space in it that is neither a
docstring nor a regular expression is taken for a message. Pages are the Markdown files at the top
and below `docs/`. Text in backticks, in a fenced block or after `>>>` is code, and is blanked.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum, auto
from pathlib import Path

from pages.modules import Documented, Function, Module, modules

_CODE = re.compile(r"^```.*?^```|^\s*(?:>>>|\.\.\. ).*?$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_HELPS = ("help", "short_help", "epilog")


class Kind(StrEnum):
    """Where a text is read."""

    MODULE = auto()
    CLASS = auto()
    FUNCTION = auto()
    TEST = auto()
    HELP = auto()
    MESSAGE = auto()
    PAGE = auto()


@dataclass(frozen=True)
class Prose:
    """A text that people read, the line where it begins, and the text with its code blanked."""

    path: str
    line: int
    kind: Kind
    text: str
    plain: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", without_code(self.text))

    def at(self, offset: int) -> str:
        """Name the line of a character as editors and terminals do, `path:line`."""
        return f"{self.path}:{self.line + self.text.count(chr(10), 0, offset)}"


def prose(root: Path) -> Iterator[Prose]:
    """Yield every text of a repository that people read."""
    for folder in ("src", "benchmarks", "pages"):
        for module in modules(root, folder):
            yield from docstrings(module)
            yield from literals(module)
    for module in modules(root, "tests"):
        yield from docstrings(module, Kind.TEST)
    for page in sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")]):
        text = page.read_text(encoding="utf-8")
        yield Prose(page.relative_to(root).as_posix(), 1, Kind.PAGE, text)


def docstrings(module: Module, kind: Kind | None = None) -> Iterator[Prose]:
    """Yield the docstrings of a module, its classes and its functions."""
    for node in ast.walk(module.tree):
        if isinstance(node, Documented) and (found := _docstring(node)):
            yield Prose(module.path, found.lineno, kind or _kind(node), str(found.value))


def literals(module: Module) -> Iterator[Prose]:
    """Yield the texts of a module that are not docstrings, with `{}` where values are filled in."""
    nodes = list(ast.walk(module.tree))
    helps = {id(inner) for node in nodes for inner in _helps(node)}
    known = {id(_docstring(node)) for node in nodes if isinstance(node, Documented)}
    known |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        text = _literal(node)
        if id(node) not in known and " " in text and "(?" not in text:
            kind = Kind.HELP if id(node) in helps else Kind.MESSAGE
            yield Prose(module.path, getattr(node, "lineno", 1), kind, text)


def without_code(text: str) -> str:
    """Blank what is code in a text, and leave every line where it was."""
    return _CODE.sub(lambda found: re.sub(r"[^\n`]", "x", found[0]), text)


def _docstring(node: Documented) -> ast.Constant | None:
    first = node.body[0] if node.body else None
    value = first.value if isinstance(first, ast.Expr) else None
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _kind(node: Documented) -> Kind:
    if isinstance(node, Function):
        return Kind.FUNCTION
    return Kind.CLASS if isinstance(node, ast.ClassDef) else Kind.MODULE


def _helps(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes of the help texts that a call gives."""
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        if keyword.arg in _HELPS:
            yield from ast.walk(keyword.value)


def _literal(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_literal(part) or "{}" for part in node.values)
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else ""
