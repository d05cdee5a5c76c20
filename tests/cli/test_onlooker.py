"""The owner at a terminal: what is shown, and when a question is asked."""

from __future__ import annotations

import pytest
import typer

from understudy.cli.onlooker import TerminalOwner, owner_at_terminal
from understudy.facts.schema import Schema
from understudy.rows.checking import DataCheck, check

SCHEMA = Schema.parse({"columns": {"x": {"kind": "boolean"}, "y": {"kind": "boolean"}}})


def _found(lost: int, *, rows: int = 100) -> DataCheck:
    cells = ["yes"] * (rows - lost) + ["?"] * lost
    return check({"x": cells, "y": ["no"] * rows}, SCHEMA)


def _never(*_: object, **__: object) -> bool:
    raise AssertionError("a question was asked")


@pytest.mark.parametrize(("lost", "yes"), [(0, False), (1, False), (60, True)])
def test_no_question_is_asked(
    lost: int, yes: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where all rows fit, one in a hundred is lost, or the owner has said yes."""
    monkeypatch.setattr(typer, "confirm", _never)
    assert TerminalOwner(yes).agrees(_found(lost))
    seen = capsys.readouterr()
    assert "" == seen.out
    assert ("all 100 rows fit" if not lost else f"{lost} by x") in seen.err


@pytest.mark.parametrize("answer", [True, False])
def test_a_table_without_rows_is_asked_about(
    answer: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is lost, and there is nothing to learn either."""
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: answer)
    assert answer == TerminalOwner().agrees(_found(0, rows=0))
    assert TerminalOwner(yes=True).agrees(_found(0, rows=0))
    assert "the table has no rows" in capsys.readouterr().err


@pytest.mark.parametrize("answer", [True, False])
def test_the_answer_decides(answer: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more rows lost the owner's answer is what counts."""
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: answer)
    assert answer == TerminalOwner().agrees(_found(2))


def test_nobody_is_asked_where_nobody_looks_on() -> None:
    """In a script there is no owner to ask."""
    assert owner_at_terminal() is None
