"""Faults are described without what they say."""

from __future__ import annotations

import pytest

from understudy.system.faults import SHOWN_BY, place_of, shows_messages


def _fault() -> Exception:
    empty: dict[str, int] = {}
    try:
        empty["a secret of row 17"]
    except KeyError as error:
        return error
    raise AssertionError("nothing was raised")


def test_a_fault_is_its_kind_and_its_place() -> None:
    """The message, which may quote a cell, is left out."""
    described = place_of(_fault())
    assert described.startswith("KeyError at test_fault_places.py:")
    assert "secret" not in described


def test_a_fault_that_was_never_raised_has_no_place() -> None:
    """Its kind is all that is known."""
    assert "ValueError at ?" == place_of(ValueError("a secret"))


@pytest.mark.parametrize(("value", "shown"), [("", False), ("1", True)])
def test_the_owner_asks_for_messages(
    value: str, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a variable of the environment that is not empty."""
    monkeypatch.setenv(SHOWN_BY, value)
    assert shown is shows_messages()
