"""What `import understudy` offers: every public name, and nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import understudy
import understudy as us
from understudy import errors
from understudy.facts.file_format import FileFormat
from understudy.gan.convolutions import Shape
from understudy.methods.discover.skeleton import Skeleton
from understudy.models.bayes_net import BayesNet

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


_YES_OR_NO = us.Schema.parse({"columns": {f"question {n}": {"kind": "boolean"} for n in range(30)}})
_ROWS = {name: ["yes", "no", "no"] for name in _YES_OR_NO.columns}
_EDGES = tuple((f"question {n}", f"question {n + 1}") for n in range(29))
_LIMITS = us.Restrictions(required=_EDGES, tiers=(("question 0",),))
_UNKNOWN = {"columns": {"age": {"kind": "integer", "bins": 4}}}
_SMALL = us.Schema.parse({"columns": {"sex": {"kind": "categorical", "values": ["f", "m"]}}})


@cache
def _fitted() -> us.Random:
    return us.Random(_YES_OR_NO, epsilon="0.1").fit(_ROWS, ledger=None)


# What users hold in their hands: a value of every class, and the result of every verb.
_SHOWN: dict[str, Callable[[], object]] = {
    "Access": lambda: us.Access(table="people", format=FileFormat(separator=";"), memory=10**9),
    "AdaptiveMarginals": lambda: us.AdaptiveMarginals(_YES_OR_NO, epsilon=1, restrictions=_LIMITS),
    "Budget": lambda: us.Budget.approximate("0.123456789", "1e-12"),
    "DPGAN": lambda: us.DPGAN(_YES_OR_NO, epsilon=1, delta="1e-6"),
    "Histogram": lambda: us.Histogram(_YES_OR_NO, epsilon=1),
    "ImageGAN": lambda: us.ImageGAN(Shape(28, 28, 10), epsilon=1, delta="1e-6"),
    "Independent": lambda: us.Independent(_YES_OR_NO, epsilon=1),
    "Ledger": lambda: us.Ledger("ledger.jsonl"),
    "Model": lambda: _fitted().model_,
    "Neighbours": lambda: us.Neighbours.REPLACE,
    "Network": lambda: us.Network.from_parents({"question 0": (), **{c: (p,) for p, c in _EDGES}}),
    "Nist": lambda: us.Nist(_YES_OR_NO, epsilon=1, delta="1e-6", restrictions=_LIMITS),
    "NoiseGAN": lambda: us.NoiseGAN(_YES_OR_NO, epsilon=1, delta="1e-6"),
    "Preflight": us.Preflight,
    "PrivBayes": lambda: us.PrivBayes(_YES_OR_NO, epsilon=1, degree=2, restrictions=_LIMITS),
    "Protection": lambda: us.Protection("question 0", dict.fromkeys(_ROWS)),
    "Random": _fitted,
    "Restrictions": lambda: _LIMITS,
    "Schema": lambda: _YES_OR_NO,
    "Statement": lambda: _fitted().model_.statement,
    "audit": lambda: us.audit(us.Random(_SMALL, epsilon=1), runs=8, processes=1),
    "check": lambda: us.check(_ROWS, _YES_OR_NO),
    "combine_replicates": lambda: us.combine_replicates([1 / 3, 2 / 3], [1 / 7, 1 / 7]),
    "infer_schema": lambda: us.infer_schema(
        {"age": [1, 2]}, Skeleton.parse(_UNKNOWN), epsilon=1, delta="1e-6", ledger=None
    ),
    "plan": lambda: us.plan(us.Independent(_SMALL, epsilon=1), 1000, epsilons=()),
}
# The lines of private results have no number, as their own tests say. The rest are tables of Arrow,
# or begin a `with`.
_NOT_SHOWN = {
    "disclosure_risk",
    "evaluate",
    "open_source",
    "sample_blocks",
    "sample_rows",
    "__version__",
}
_LONGEST = 100


@pytest.mark.parametrize("name", _SHOWN)
def test_everything_shows_itself_in_one_line(name: str) -> None:
    """A value of 30 columns and 29 restrictions has a line of at most 100 characters."""
    line = repr(_SHOWN[name]())
    assert line.isprintable()
    assert len(line) <= _LONGEST, line


def test_every_public_thing_is_shown() -> None:
    """A new name of the front door gets its line: a class its value, a function its result."""
    names = {n for n in understudy.__all__ if not _is_error(getattr(understudy, n))}
    assert names == {*_SHOWN, *_NOT_SHOWN}


def test_parts_of_a_model_show_themselves_in_one_line() -> None:
    """A distribution and its conditional tables show their size, and no array of numbers."""
    law = us.Random(_YES_OR_NO, epsilon=1, rows=3).fit(_ROWS, ledger=None).model_.distribution
    assert isinstance(law, BayesNet)
    assert "BayesNet(30 attributes, degree 0)" == repr(law)
    assert "Conditional(of 'question 0': 2 probabilities)" == repr(law.conditionals[0])
