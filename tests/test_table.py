"""Encoded rows: codes as narrow as their number allows."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import UsageError
from understudy.table import code_type


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
