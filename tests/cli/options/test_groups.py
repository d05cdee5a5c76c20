"""Options in groups: what Typer sees, and what a command is given."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from understudy.cli.options.groups import grouped
from understudy.jobs.request import JobRequest


@dataclass(frozen=True)
class _Ink(JobRequest):
    colour: Annotated[str, typer.Option("--colour")] = "black"
    drops: Annotated[list[int] | None, typer.Option("--drop")] = None


@dataclass(frozen=True)
class _Pen(JobRequest):
    paper: Annotated[Path, typer.Argument()]
    ink: _Ink = field(default_factory=_Ink)


@dataclass(frozen=True)
class _WidePen(_Pen):
    width: Annotated[float, typer.Option("--width", min=0)] = 1.0


def _given(*arguments: str) -> tuple[int, list[object]]:
    """The exit code of a command with a group of a group in it, and what it was given."""
    given: list[object] = []
    app = typer.Typer()

    @app.command()
    @grouped
    def draw(
        *,
        pen: _WidePen,
        times: Annotated[int, typer.Option("--times")],
        loud: Annotated[bool, typer.Option("--loud")] = False,
    ) -> None:
        """Draw."""
        given.extend((pen, times, loud))

    return CliRunner().invoke(app, arguments).exit_code, given


def test_a_command_is_given_groups_with_what_was_said_and_defaults() -> None:
    """Arguments, lists, options of a group in a group and of the class below it."""
    expected = _WidePen(Path("x"), _Ink("red", [1, 2]), 0.5)
    said = ("x", "--drop", "1", "--colour", "red", "--drop", "2", "--width", "0.5", "--times", "3")
    assert (0, [expected, 3, False]) == _given(*said)
    assert (0, [_WidePen(Path("x")), 1, True]) == _given("x", "--times", "1", "--loud")


@pytest.mark.parametrize(
    "arguments", [("x",), ("--times", "1"), ("x", "--times", "1", "--width", "-1")]
)
def test_options_of_a_group_are_checked_like_all_others(arguments: tuple[str, ...]) -> None:
    """What has no default must be said, and limits hold."""
    assert (2, []) == _given(*arguments)


def test_options_stand_in_the_order_of_the_groups() -> None:
    """Typer shows them so."""

    @grouped
    def draw(*, loud: bool = False, pen: _WidePen) -> None:
        """Draw."""

    assert ["loud", "paper", "colour", "drops", "width"] == list(inspect.signature(draw).parameters)
    assert "Draw." == draw.__doc__


def test_an_option_in_two_groups_is_refused() -> None:
    """Nobody could know which group it belongs to."""

    def draw(*, pen: _Pen, ink: _Ink) -> None:
        """Draw."""

    with pytest.raises(ValueError, match="duplicate parameter name: 'colour'"):
        grouped(draw)
