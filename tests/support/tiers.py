"""Which tests run when: before each commit, in continuous integration, before a release."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import settings


def slow_but(now: Container[Any], values: Iterable[Any]) -> list[Any]:
    """Parameters for a test that is fast for some of them and slow for the others."""
    return _marked_but(now, values, pytest.mark.slow)


def full_but(now: Container[Any], values: Iterable[Any]) -> list[Any]:
    """Parameters for a test that stays in its tier for some, and is of the full tier for others."""
    return _marked_but(now, values, pytest.mark.full)


def slow_then_full(now: Container[Any], later: Container[Any], values: Iterable[Any]) -> list[Any]:
    """Parameters for a test that is fast for some, slow for others and full for the rest."""
    return [value if value in now else _marked(value, _tier(value in later)) for value in values]


def _tier(slow: bool) -> pytest.MarkDecorator:
    return pytest.mark.slow if slow else pytest.mark.full


def in_turns(now: Container[Any], first: Iterable[Any], second: Sequence[Any]) -> list[Any]:
    """Pairs for a test of two parameters: each first value with one of the second, in turn.

    Pairs of the values that are tested `now` are fast, and those of others slow. All further pairs
    come a tier later.
    """
    pairs = []
    for place, value in enumerate(first):
        fast, later = (
            ((), pytest.mark.slow) if value in now else (pytest.mark.slow, pytest.mark.full)
        )
        for turn, other in enumerate(second):
            own = turn == place % len(second)
            pairs.append(pytest.param(value, other, marks=fast if own else later))
    return pairs


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
