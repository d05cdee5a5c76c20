"""Chances of the noise laws to a hundred digits, by another way than the program's."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction

from understudy.privacy.noise.laws import Blocks, Law

DIGITS = 140
# Far more than all rounding errors of sums and products at that many digits.
ERROR = Fraction(1, 10**120)

LAPLACE = [Law.laplace(Fraction(s)) for s in ("1/50", "3/10", "1", "7.5", "8", "1000/3", "20000")]
GAUSSIAN = [Law.gaussian(Fraction(s) ** 2) for s in ("1/9", "3/10", "1", "7.5", "16", "1000/3")]
HUGE = [Law.laplace(Fraction(2**40)), Law.gaussian(Fraction(10**22, 3))]
LAWS = [*LAPLACE, *GAUSSIAN, *HUGE]


def name(law: Law) -> str:
    """What a test of a law is called."""
    if law.linear:
        return f"laplace {float(1 / law.linear):.4g}"
    return f"gaussian {float(1 / (2 * law.quadratic)) ** 0.5:.4g}"


def exponential(exponent: Fraction) -> Fraction:
    """exp(−exponent) within ERROR of itself."""
    with localcontext(Context(prec=DIGITS)):
        return Fraction((-Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())


def ends(blocks: Blocks) -> list[Fraction]:
    """P(block ≤ b), to 120 digits, for all blocks that matter so far."""
    weights = list(_weights(blocks))
    total = sum(weights)
    sums, reached = [], Fraction(0)
    for weight in weights:
        reached += weight
        sums.append(reached / total)
    return sums


def _weights(blocks: Blocks) -> Iterator[Fraction]:
    """Weights of blocks from first to last, on a grid that keeps fractions short."""
    block, weight = 0, Fraction(1)
    while weight > Fraction(1, 10**130):
        half = block == 0 and blocks.shift == 0
        yield weight / 2 if half else weight
        block += 1
        exact = exponential(blocks.law.exponent(block << blocks.shift))
        weight = Fraction(int(exact * 10**135), 10**135)
