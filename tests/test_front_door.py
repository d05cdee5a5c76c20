"""What `import understudy` offers: every public name, and nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import understudy
from understudy import errors

ASKED_FOR = {
    *("Schema", "PrivBayes", "Nist", "Independent", "Random", "Histogram", "DPGAN", "NoiseGAN"),
    *("Model", "Ledger", "Restrictions", "Neighbours", "Budget"),
    *("check", "evaluate", "plan", "audit", "infer_schema"),
}


def _typed() -> set[str]:
    """The names that type checkers see, which are imported for them alone."""
    tree = ast.parse(Path(understudy.__file__).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    lines = [line for block in blocks for line in block.body]
    imported = {
        alias.asname
        for line in lines
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
        if alias.asname
    }
    named = {ast.unparse(line.targets[0]) for line in lines if isinstance(line, ast.Assign)}
    return imported | named


def test_the_front_door_shows_public_names_alone() -> None:
    """`dir(understudy)` is `__all__`, which holds all that was promised."""
    assert sorted(understudy.__all__) == dir(understudy)
    assert set() == ASKED_FOR - set(dir(understudy))


def test_every_public_name_can_be_imported() -> None:
    """Each name of the table is where the table says."""
    assert all(getattr(understudy, name) is not None for name in understudy.__all__)


def test_type_checkers_see_the_same_names() -> None:
    """What is imported lazily is what is imported for types."""
    assert set(understudy.__all__) == _typed()


def test_every_error_can_be_caught() -> None:
    """All errors that this package raises on purpose are at the front door."""
    raised = {name for name, value in vars(errors).items() if _is_error(value)}
    assert set() == raised - set(understudy.__all__)


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, errors.UnderstudyError)


@pytest.mark.parametrize("name", ["check", "evaluate", "plan", "audit", "infer_schema"])
def test_verbs_are_callable(name: str) -> None:
    """`understudy.evaluate(real, synthetic, schema)` and its like are functions."""
    assert callable(getattr(understudy, name))


def test_an_unknown_name_is_refused_by_name() -> None:
    """A mistyped name raises what Python raises everywhere."""
    with pytest.raises(AttributeError, match="module 'understudy' has no attribute 'Nisst'"):
        _ = understudy.Nisst


def test_names_of_edges_do_not_load_them() -> None:
    """Looking at the names imports neither PyTorch nor an edge."""
    code = (
        "import sys, understudy\nassert 'DPGAN' in dir(understudy)\n"
        "print([m for m in sys.modules if m.startswith(('torch', 'understudy.gan'))])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == run.stdout.strip()
