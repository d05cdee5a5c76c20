"""Names with more than one meaning, in the code and in the glossary.

A homonym is a public name of a class or of a type alias that more than one module below `src/`
defines. Definitions at the top of a module count: `class X`, `type X = …`, and `X = …` where the
name is a capitalised word, such as `X = A | B`, `X = Callable[…]` or `X = TypeVar("X")`. Constants
in capitals, names with a leading underscore and imported names do not count. An alias that is
written twice in the same words counts too: one definition that others import has one meaning, two
definitions may drift apart.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations

from pages.modules import Module

_ENTRY = re.compile(r"^\| ([^|]+?) \|", re.MULTILINE)
_HEADS = ("word", "---")


def homonyms(found: Iterable[Module]) -> dict[str, tuple[str, ...]]:
    """Map every name that several modules define to the places where they do."""
    places: dict[str, dict[str, str]] = defaultdict(dict)
    for module in found:
        for name, line in type_names(module):
            places[name].setdefault(module.path, module.at(line))
    several = {name: tuple(where.values()) for name, where in places.items() if len(where) > 1}
    return dict(sorted(several.items()))


def underscored(found: Iterable[Module]) -> dict[str, tuple[str, ...]]:
    """Map every name that is shared if one leading underscore is ignored to its places."""
    places: dict[str, dict[str, str]] = defaultdict(dict)
    for module in found:
        for name, line in _all_type_names(module):
            places[name.removeprefix("_")].setdefault(module.path, module.at(line))
    return {name: tuple(where.values()) for name, where in places.items() if len(where) > 1}


def type_names(module: Module) -> Iterator[tuple[str, int]]:
    """Yield the public classes and type aliases at the top of a module, with their lines."""
    return ((name, line) for name, line in _all_type_names(module) if not name.startswith("_"))


def _all_type_names(module: Module) -> Iterator[tuple[str, int]]:
    for node in module.tree.body:
        name = _defined(node)
        if name:
            yield name, node.lineno


def _defined(node: ast.stmt) -> str | None:
    if isinstance(node, ast.ClassDef):
        return node.name
    name = _assigned(node)
    return name if name and name[0].isupper() and not name.isupper() else None


def _assigned(node: ast.stmt) -> str | None:
    """Name what a statement assigns, also in the form `type X = …` of Python 3.12."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    elif type(node).__name__ == "TypeAlias":
        targets = [node.name]  # type: ignore[attr-defined]  # a definition has one
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


def glossary_entries(text: str) -> list[str]:
    """List the words that a glossary defines, in order; a line of a table may define several."""
    cells = [cell for cell in _ENTRY.findall(text) if not cell.startswith(_HEADS)]
    return [word.strip() for cell in cells for word in cell.split(",")]


def alike(entries: Iterable[str]) -> set[tuple[str, str]]:
    """Find pairs of entries that differ by a prefix alone: `run` and `paid run`, or `run` twice.

    A remark in brackets, as in `key (of an attack)`, does not make it another word.
    """
    bare = [re.sub(r"\s*\(.*\)", "", entry).lower() for entry in entries]
    return {(a, b) for a, b in combinations(sorted(bare), 2) if _differ_by_prefix(a, b)}


def _differ_by_prefix(one: str, other: str) -> bool:
    (first, *_, last), (second, *_, end) = (
        [*text.split(), text.split()[-1]] for text in (one, other)
    )
    return last == end and (one == other or first != second)
