"""Nobody asks which kind a distribution is: it is asked, and refuses by name what it cannot do."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from support.documents import ROOT
from support.source import nodes_of
from understudy.errors import UsageError
from understudy.models.kinds import KINDS as HOMES
from understudy.models.kinds import kind_named

SOURCE = ROOT / "src"
# Who reads the name of a kind: the listing of a model, and the manifest of its archive.
READERS = {"understudy/models/model.py": 2}
# What a distribution is called where it is used.
CALLED = re.compile(r"(^|\.)_?(distribution|law|base)_?$")
CLASSES = {home for _, home in HOMES.values()}


def _reads(path: Path) -> int:
    """How often a file reads the kind of a distribution."""
    return sum(
        isinstance(node, ast.Attribute)
        and node.attr == "kind"
        and bool(CALLED.search(ast.unparse(node.value)))
        for node in nodes_of(path)
    )


def _asks(path: Path) -> list[str]:
    """The comparisons of a kind with a name of kinds, and the questions for a class of them."""
    return [
        ast.unparse(node)
        for node in nodes_of(path)
        if (isinstance(node, ast.Compare) and _names_a_kind(node))
        or (isinstance(node, ast.Call) and _asks_for_a_class(node))
    ]


def _names_a_kind(node: ast.Compare) -> bool:
    sides = (node.left, *node.comparators)
    kinds = [ast.unparse(side) for side in sides if not isinstance(side, ast.Constant)]
    texts = {c.value for side in sides for c in ast.walk(side) if isinstance(c, ast.Constant)}
    return any(re.search(r"(^|\.)kind$", side) for side in kinds) and bool(texts & HOMES.keys())


def _asks_for_a_class(node: ast.Call) -> bool:
    name = ast.unparse(node.func)
    return name in ("isinstance", "issubclass") and bool(
        CLASSES & set(re.findall(r"\w+", ast.unparse(node.args[1])))
    )


def test_no_code_compares_the_kind_of_a_distribution() -> None:
    """The kind is shown and written, and decides nothing."""
    files = sorted(SOURCE.rglob("*.py"))
    assert [] == [asked for path in files for asked in _asks(path)]
    found = {str(path.relative_to(SOURCE)): _reads(path) for path in files}
    assert READERS == {name: times for name, times in found.items() if times}


@pytest.mark.parametrize(
    "line",
    [
        'a = model.distribution.kind == "network"',
        'a = kind in ("network", "log-linear")',
        "a = isinstance(law, (BayesNet, LogLinear))",
    ],
)
def test_a_planted_question_is_seen(line: str, tmp_path: Path) -> None:
    """The check can fail: by a comparison, by a list, by the class."""
    planted = tmp_path / "planted.py"
    planted.write_text(f"{line}\n", encoding="utf-8")
    assert 1 == len(_asks(planted))


@pytest.mark.parametrize("name", sorted(HOMES.keys() - {"network", "log-linear"}))
def test_kinds_without_tables_refuse_a_sampler_by_name(name: str) -> None:
    """Records come as they were released, and generators make one row after the other."""
    kind = kind_named(name)
    with pytest.raises(UsageError, match=f"kind '{name}' has one way of drawing"):
        kind.check_sampler(object.__new__(kind))
