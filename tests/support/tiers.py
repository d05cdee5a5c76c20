"""Which tests run when: before each commit, in continuous integration, before a release."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest
from hypothesis import settings


def slow_but(now: Container[Any], values: Iterable[Any]) -> list[Any]:
    """Parameters for a test that is fast for some of them and slow for the others."""
    return _marked_but(now, values, pytest.mark.slow)


def full_but(now: Container[Any], values: Iterable[Any]) -> list[Any]:
    """Parameters for a test that stays in its tier for some, and is of the full tier for others."""
    return _marked_but(now, values, pytest.mark.full)


def _marked_but(
    now: Container[Any], values: Iterable[Any], mark: pytest.MarkDecorator
) -> list[Any]:
    every = list(values)
    assert any(value in now for value in every), "of a test that moves, something stays"
    return [value if value in now else _marked(value, mark) for value in every]


def _marked(value: Any, mark: pytest.MarkDecorator) -> Any:
    """A parameter, or a tuple of several, with a mark."""
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=mark)


def examples(times: int) -> int:
    """Give a property its examples in CI, a fifth of them in `scripts/check`, tenfold in full."""
    return max(1, times * settings().max_examples // 100)
