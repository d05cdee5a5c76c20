"""Advice on the share of the budget that a network should cost."""

from __future__ import annotations

from fractions import Fraction

import pytest

from understudy.errors import UsageError
from understudy.facts.schema import Schema
from understudy.methods import Independent, PrivBayes
from understudy.methods.planning.share_comparison import (
    ShareComparison,
    TriedShare,
    compare_shares,
)

SCHEMA = Schema.parse({"columns": {"a": {"kind": "boolean"}, "b": {"kind": "boolean"}}})


def _compared(own: float, other: float) -> ShareComparison:
    return ShareComparison("2-way", (TriedShare(None, own), TriedShare(Fraction(1, 2), other)))


def test_a_share_is_advised_where_it_is_clearly_better() -> None:
    """Two per cent less distance is the scatter of rehearsals, five per cent is not."""
    assert None is _compared(0.100, 0.098).best.share
    assert Fraction(1, 2) == _compared(0.100, 0.095).best.share
    assert "Keep the method's own" in _compared(0.100, 0.098).sentence
    assert "Take --structure-share 0.5" in _compared(0.100, 0.095).sentence
    assert 0.5 == _compared(0.100, 0.095).document()["advised"]


def test_every_share_is_rehearsed() -> None:
    """The method's own comes first, and each distance is that of rows against made-up ones."""
    seen: list[tuple[int, int | None]] = []
    found = compare_shares(
        PrivBayes(SCHEMA, epsilon=1),
        300,
        shares=[Fraction(1, 10)],
        watch=lambda done, total: seen.append((done, total)),
    )
    assert [None, Fraction(1, 10)] == [each.share for each in found.tried]
    assert all(0 < each.distance < 1 for each in found.tried)
    assert [(1, 2), (2, 2)] == seen


def test_shares_need_a_network_and_a_free_rest() -> None:
    """A method without a network, and one whose one-way tables are fixed, are refused."""
    with pytest.raises(UsageError, match="learns no network"):
        compare_shares(Independent(SCHEMA, epsilon=1), 300)
    with pytest.raises(UsageError, match="one-way share is given"):
        compare_shares(PrivBayes(SCHEMA, epsilon=1, one_way_share="0.2"), 300)
