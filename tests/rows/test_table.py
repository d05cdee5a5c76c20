"""Encoded rows: codes as narrow as their number allows."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import UsageError
from understudy.facts.codes import Codes, Mask, code_type
from understudy.facts.domain import Domain
from understudy.rows.table import Table


@pytest.mark.parametrize(
    ("size", "expected"),
    [(1, np.uint8), (256, np.uint8), (257, np.uint16), (65_536, np.uint16)],
)
def test_codes_take_the_narrowest_type(size: int, expected: type) -> None:
    """One byte for 256 codes, two for 65,536."""
    assert expected == code_type(size)


def test_codes_beyond_16_bits_are_refused() -> None:
    """They would come back as others."""
    with pytest.raises(UsageError, match="65,537 codes, more than 65,536; group its values"):
        code_type(65_537)


@pytest.mark.parametrize(
    ("codes", "about"),
    [
        ({"a": np.array([0, 3], np.uint8)}, "'a' has codes beyond its 3"),
        ({"a": np.array([0, 1], np.int64)}, "uint8 or uint16"),
        ({"a": np.zeros((2, 2), np.uint8)}, "one code for every row"),
        ({}, "'a' needs one code"),
    ],
)
def test_codes_of_another_domain_are_refused(codes: dict[str, Codes], about: str) -> None:
    """Kernels write where a code says, so that no table holds one beyond its domain."""
    with pytest.raises(UsageError, match=about):
        Table(Domain({"a": 3}), codes, 2)


@pytest.mark.parametrize(
    "dropped",
    [
        None,
        np.array([True, True, False]),
        np.array([True, False]),
        np.array([0, 0, 1], np.uint8),
    ],
)
def test_dropped_rows_have_a_place(dropped: Mask | None) -> None:
    """Three rows were read and two kept: a table says which, or cannot be built."""
    with pytest.raises(UsageError, match="which of the rows read were dropped"):
        Table(Domain({"a": 3}), {"a": np.zeros(2, np.uint8)}, 3, dropped=dropped)


def test_places_of_dropped_rows_are_not_shown() -> None:
    """Nor how many there are."""
    dropped = np.array([False, True, False])
    table = Table(Domain({"a": 3}), {"a": np.zeros(2, np.uint8)}, 3, dropped=dropped)
    assert [True, False, True] == table.kept.tolist()
    assert "Table(a; rows private)" == repr(table)
