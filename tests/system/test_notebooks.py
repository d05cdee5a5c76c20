"""Displays for notebooks: cards without holes, and bars that move in place."""

from __future__ import annotations

import re
import sys
import types
from dataclasses import dataclass, field

import pytest

import understudy as us
from understudy.methods.base import Synthesizer
from understudy.system.notebooks import Card, ProgressBar, notebook_bar

SCHEMA = us.Schema.parse(
    {"columns": {"smoker": {"kind": "boolean"}, "town": {"kind": "categorical", "values": ["a"]}}}
)
ROWS = {"smoker": ["yes", "no", "no"], "town": ["a", "a", "a"]}


@dataclass
class Screen:
    """A notebook's output: how often something appeared, and all that it was replaced by."""

    appeared: int = 0
    shown: list[str] = field(default_factory=list)

    def show(self, shown: object) -> Screen:
        """Show something new."""
        self.appeared += 1
        self.update(shown)
        return self

    def update(self, shown: object, /) -> None:
        """Show something in the place of what was there."""
        self.shown.append(shown._repr_html_())  # type: ignore[attr-defined]


def test_a_card_escapes_every_text() -> None:
    """Names from schemas are texts of others, and never become part of a page."""
    html = Card("<b>", "&", [{"<i>": "<script>"}, [("<td>",)]]).html()
    assert not re.search(r"<b>|<i>|<script>", html)
    assert "&lt;script&gt;" in html


def test_a_bar_appears_once_and_moves() -> None:
    """The first step shows a bar, later ones replace it."""
    screen = Screen()
    bar = ProgressBar("Fitting <x>", screen.show)
    for step in range(3):
        bar(step, 3)
    assert (1, 3) == (screen.appeared, len(screen.shown))
    assert "<progress value=66 max=100></progress> Fitting &lt;x&gt;" == screen.shown[-1]


def test_a_bar_without_an_end_only_moves() -> None:
    """Where nobody knows how long it takes the bar has no value."""
    screen = Screen()
    ProgressBar("Reading", screen.show)(7)
    assert ["<progress></progress> Reading"] == screen.shown


def test_there_is_no_bar_outside_of_notebooks() -> None:
    """A script, and a terminal, have none."""
    assert not isinstance(notebook_bar("Fitting"), ProgressBar)


def _run_a_kernel(screen: Screen, patch: pytest.MonkeyPatch) -> None:
    """Let this process run a kernel that displays on a screen."""
    shell = types.SimpleNamespace(config={"IPKernelApp": {}})
    display = types.SimpleNamespace(display=lambda shown, display_id: screen.show(shown))
    fake = types.SimpleNamespace(get_ipython=lambda: shell, display=display)
    patch.setitem(sys.modules, "IPython", fake)


def test_a_notebook_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an IPython kernel runs the process, what it displays is the bar."""
    screen = Screen()
    _run_a_kernel(screen, monkeypatch)
    notebook_bar("Fitting")(1, 2)
    assert ["<progress value=50 max=100></progress> Fitting"] == screen.shown


METHODS = {
    "adaptive": us.AdaptiveMarginals(SCHEMA, epsilon=1, delta="1e-6", pool_rows=1000),
    "histogram": us.Histogram(SCHEMA, epsilon=1),
    "independent": us.Independent(SCHEMA, epsilon=1),
    "nist": us.Nist(SCHEMA, epsilon=1, delta="1e-6"),
    "privbayes": us.PrivBayes(SCHEMA, epsilon=1, degree=1),
    "random": us.Random(SCHEMA, epsilon=1),
}


def _fitted_in_a_notebook(
    method: Synthesizer, rows: dict[str, list[str]], patch: pytest.MonkeyPatch
) -> list[str]:
    """Fit a method while a kernel runs, and return what its bar has shown."""
    screen = Screen()
    _run_a_kernel(screen, patch)
    method.fit(rows, ledger=None, dataset="rows")
    return [shown for shown in screen.shown if "Fitting" in shown]


@pytest.mark.parametrize("name", METHODS)
def test_every_fit_has_a_bar(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit in a notebook begins with an empty bar and ends with a full one."""
    shown = _fitted_in_a_notebook(METHODS[name], ROWS, monkeypatch)
    assert "<progress value=0 max=100></progress> Fitting" == shown[0]
    assert "<progress value=100 max=100></progress> Fitting" == shown[-1]


@pytest.mark.parametrize("name", ["adaptive", "privbayes"])
def test_a_bar_moves_while_a_method_learns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of tables, and choices of parents, each move the bar."""
    shown = _fitted_in_a_notebook(METHODS[name], ROWS, monkeypatch)
    shares = [int(re.search(r"value=(\d+)", each)[1]) for each in shown]  # type: ignore[index]
    assert shares == sorted(set(shares))
    assert len(shares) > 2


def test_a_fit_shows_nothing_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    """A script's fit writes nothing."""
    METHODS["adaptive"].fit(ROWS, ledger=None)
    assert ("", "") == capsys.readouterr()


def test_a_bar_holds_no_number_of_rows() -> None:
    """Tables of different sizes leave the same bar in a notebook that is kept."""
    few, many = Screen(), Screen()
    ProgressBar("Reading", few.show)(5_001, 10_002)
    ProgressBar("Reading", many.show)(5_002, 10_004)
    assert few.shown == many.shown


def test_a_statement_has_a_line_and_a_card() -> None:
    """In a notebook a statement says its promise; elsewhere a line says the amounts."""
    model = us.Nist(SCHEMA, epsilon=1, delta="1e-6").fit(ROWS, ledger=None).model_
    assert re.fullmatch(
        r"Statement\(nist: epsilon = [\d.]+, delta = [\d.e-]+, for one row\)", repr(model.statement)
    )
    assert model.statement.sentence.split("^")[0] in model.statement._repr_html_()


def test_a_plan_has_a_line_and_a_card() -> None:
    """In a notebook a plan shows the expected distances by budget."""
    plan = us.plan(us.Independent(SCHEMA, epsilon=1), 1000, epsilons=())
    assert re.match(
        r"Plan\(independent: 1,000 rows, 2 columns, epsilon = 1, expected 1-way", repr(plan)
    )
    assert "1-way" in plan._repr_html_()


def test_an_evaluation_says_that_it_is_private() -> None:
    """Its line shows no number, and its card begins with whom the numbers are for."""
    found = us.evaluate(ROWS, ROWS, SCHEMA)
    assert not re.search(r"\d", repr(found))
    assert "They are private" in found._repr_html_()
