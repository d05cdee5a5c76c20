"""The page about learning together is true: its example and its policy work."""

from __future__ import annotations

import contextlib
import io
import re
from fractions import Fraction
from pathlib import Path

from understudy.federated import Policy

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "federated.md"


def _block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_example_runs() -> None:
    """It prints the promise, and no finding."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(_block("python"), {})
    assert (
        "at most e^1 times more or less likely with any one row replaced. []" in printed.getvalue()
    )


def test_the_policy_can_be_loaded(tmp_path: Path) -> None:
    """As it is printed."""
    path = tmp_path / "policy.toml"
    path.write_text(_block("toml"), encoding="utf-8")
    assert (Fraction(1), Fraction(1, 10**9), 40) == (
        Policy.load(path).most_epsilon,
        Policy.load(path).most_delta,
        Policy.load(path).most_questions,
    )
