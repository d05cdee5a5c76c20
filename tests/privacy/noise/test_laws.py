"""Chances as integers are where a hundred digits of another computation say."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import laws
from support.tiers import examples
from understudy.errors import UsageError
from understudy.privacy.noise.laws import DOUBT, Blocks, Law, falling

exponents = st.fractions(min_value=0, max_value=150, max_denominator=10**6)


def _encloses(found: int, chance: Fraction, bits: int) -> bool:
    """Whether found ≤ chance·2^bits < found + 2, as far as 120 digits can show."""
    line = chance * (1 << bits)
    return found <= line * (1 + laws.ERROR) and line * (1 - laws.ERROR) < found + DOUBT


@settings(max_examples=examples(300))
@given(exponents, st.integers(8, 300))
def test_an_exponential_lies_between_its_bounds(exponent: Fraction, bits: int) -> None:
    """falling(x, bits) is at most two units below exp(−x)·2^bits, and never above."""
    assert _encloses(falling(exponent, bits), laws.exponential(exponent), bits)


def test_an_exponential_at_its_ends() -> None:
    """Nothing is lost at zero, and what is too small for the bits is zero."""
    assert 1 << 40 == falling(Fraction(0), 40)
    assert 0 == falling(Fraction(10**9), 64)


@pytest.mark.parametrize("law", laws.LAWS, ids=laws.name)
def test_ends_of_blocks_lie_between_their_bounds(law: Law) -> None:
    """e ≤ P(block ≤ b)·2^bits < e + 2 for every block, at the widths drawn and refined at."""
    blocks = Blocks.of(law)
    expected = laws.ends(blocks)
    for bits in (7, 11, 31, 63, 95, 127, 300):
        found = blocks.ends(bits)
        assert len(found) <= len(expected)
        wrong = [b for b, end in enumerate(found) if not _encloses(end, expected[b], bits)]
        assert [] == wrong
        assert found[-1] >= 2**bits - DOUBT


@pytest.mark.parametrize("law", laws.LAWS, ids=laws.name)
def test_plans_are_small(law: Law) -> None:
    """A law of any scale has few blocks, and the exponent grows by little along each."""
    blocks = Blocks.of(law)
    count = len(blocks.ends(63))
    assert count < 512
    if blocks.shift:
        assert blocks.fall(count, blocks.width) < 2


@given(st.fractions(min_value=Fraction(1, 100), max_value=2**40))
def test_blocks_are_of_the_promised_width(scale: Fraction) -> None:
    """The scale is 4 to 8 blocks, σ is 8 to 16, unless blocks are single magnitudes."""
    for law, least in ((Law.laplace(scale), 4), (Law.gaussian(scale**2), 8)):
        blocks = Blocks.of(law)
        assert scale < 2 * least * blocks.width
        assert blocks.shift == 0 or scale >= least * blocks.width


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1)])
def test_a_scale_is_positive(scale: Fraction) -> None:
    """There is no noise of scale zero or below."""
    for law in (Law.laplace, Law.gaussian):
        with pytest.raises(UsageError, match="above zero"):
            law(scale)
