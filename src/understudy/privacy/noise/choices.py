"""Exact choices among scores from random bits: every chance lies between integers.

A candidate that is x scales below the best has the weight exp(−x). Arrays hold x in fixed point,
rounded down, which settles nearly all; what they leave open is compared in exact arithmetic with
more bits. No floating-point number is used. Proof: docs/proofs/exact_choices.md.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.privacy.noise.draws import RandomBytes, Uniform, draw_below, passes
from understudy.privacy.noise.laws import DOUBT, falling
from understudy.system.arrays import Integers

Unsigned = npt.NDArray[np.uint64]

# Arrays hold x times 2^_PLACES up to _REACH scales below the best; what is farther is FAR.
_PLACES = 16
_REACH = 128
FAR = _REACH << _PLACES
# Gaps are cut to this many bits and multiplied by the rate times 2^_RATE; the product has 62.
_GAP_BITS = 30
_RATE = 55
# Bits of the first word of a coin, and of the two factors of a chance.
_COIN = 32
_FINE = 10
_STEPS = 32 << (_PLACES - _FINE)
# A chance lies this far at most above the product of its factors, and 2^-_WIDTH of it below.
_ABOVE = 8
_WIDTH = 15
# Bits of the first uniform number that chooses a level, and those that hold errors of a sum.
_FIRST = 64
_GUARD = 64


@dataclass(frozen=True, eq=False)
class Field:
    """Candidates by how far each is below the best.

    Attributes:
        gaps: the best score less each score.
        scale: what a gap is divided by; x = gap / scale.
    """

    gaps: Unsigned
    scale: Fraction

    @classmethod
    def of(cls, scores: Integers, scale: Fraction) -> Field:
        """Make the field of some scores.

        Raises:
            UsageError: when there is no candidate, or the scale is not above zero.
        """
        if scores.size == 0:
            raise UsageError("a choice among no candidates; give at least one")
        if scale <= 0:
            raise UsageError(
                f"a choice of scale {float(scale):.3g}: it must be above zero; raise it"
            )
        # Unsigned numbers wrap around, so the difference is right for all pairs of 64 bits.
        plain = scores.astype(np.int64, copy=False).view(np.uint64)
        return cls(plain[scores.argmax()] - plain, scale)

    def exponent(self, index: int) -> Fraction:
        """Return the exact x of a candidate."""
        return int(self.gaps[index]) / self.scale

    @cached_property
    def lows(self) -> Integers:
        """Integers L with L ≤ x·2¹⁶ < L + 2, for x up to 128; FAR beyond."""
        reach = min(int(_REACH * self.scale), 2**64 - 1)
        cut = max(0, reach.bit_length() - _GAP_BITS)
        rate = min(int(Fraction(1 << (_RATE + cut)) / self.scale), 1 << 62)
        lows = ((self.gaps >> np.uint64(cut)) * np.uint64(rate)) >> np.uint64(_RATE - _PLACES)
        return np.where(self.gaps <= np.uint64(reach), lows, np.uint64(FAR)).view(np.int64)


def permute_and_flip(scores: Integers, scale: Fraction, source: RandomBytes = os.urandom) -> int:
    """The first index accepted, in random order, with chance exp((sᵢ − max) / scale).

    All coins are tossed, and one of those accepted is taken, each alike: in a random order each
    is equally likely to be the first of them.

    Privacy: the source must be the operating system's, as it is unless a test says otherwise.
    """
    field = Field.of(scores, scale)
    accepted = np.flatnonzero(tossed(field, source))
    return int(accepted[draw_below(accepted.size, 1, source)[0]])


def tossed(field: Field, source: RandomBytes) -> npt.NDArray[np.bool_]:
    """Independent coins, each true with exactly its candidate's chance exp(−x)."""
    words = np.frombuffer(source(_COIN // 8 * field.gaps.size), "<u4").astype(np.int64)
    true, false = decided(field, words)
    for index in np.flatnonzero(~(true | false)).tolist():
        uniform = Uniform(int(words[index]), _COIN)
        true[index] = passes(field.exponent(index), uniform, source)
    return true


def decided(field: Field, words: Integers) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which coins are surely true by the first word of each, and which are surely false."""
    coarse, fine = _factors()
    steps = np.minimum(field.lows >> _FINE, _STEPS - 1)
    product = coarse[steps] * fine[field.lows & ((1 << _FINE) - 1)]
    chances = (product >> np.uint64(_COIN - 1)).view(np.int64)
    return words < chances - (chances >> _WIDTH) - 1, words >= chances + _ABOVE


@cache
def _factors() -> tuple[Unsigned, Unsigned]:
    """exp(−a/64)·2³² for a below 2,048, and exp(−b/2¹⁶)·2³¹ for b below 1,024, within 2 units."""
    per_step = 1 << (_PLACES - _FINE)
    coarse = [falling(Fraction(a, per_step), _COIN) for a in range(_STEPS)]
    fine = [falling(Fraction(b, 1 << _PLACES), _COIN - 1) for b in range(1 << _FINE)]
    return np.array(coarse, np.uint64), np.array(fine, np.uint64)


def exponential(scores: Integers, scale: Fraction, source: RandomBytes = os.urandom) -> int:
    """An index drawn with P(i) ∝ exp(sᵢ / scale).

    A level is drawn, then one of its candidates, then it is accepted or all is drawn again.

    Privacy: the source must be the operating system's, as it is unless a test says otherwise.
    """
    levels = Buckets(Field.of(scores, scale))
    while True:
        level = levels.draw(source)
        members = levels.members(level)
        index = int(members[draw_below(members.size, 1, source)[0]])
        if passes(levels.field.exponent(index) - level, Uniform(0, 0), source):
            return index


@dataclass(frozen=True, eq=False)
class Buckets:
    """Candidates by a whole number k ≤ x; every one of level k is proposed as if x were k."""

    field: Field

    def draw(self, source: RandomBytes) -> int:
        """A level, with chance in proportion to its number of candidates times exp(−k)."""
        uniform = Uniform(0, 0).refined(source)
        while True:
            levels, ends = self._first if uniform.bits == _FIRST else self.ends(uniform.bits)
            place = bisect_right(ends, uniform.value)
            certain = place == 0 or uniform.value >= ends[place - 1] + DOUBT
            if certain and place < len(ends):
                return levels[place]
            uniform = uniform.refined(source)

    def ends(self, bits: int) -> tuple[list[int], list[int]]:
        """Levels, and where they end on a line of length 2^bits: e ≤ P(level ≤ k)·2^bits < e + 2.

        Levels too rare for these bits are left out.
        """
        places = bits + _GUARD
        counts = self._counts(places)
        sums = list(accumulate(count * _weight(level, places) for level, count in counts.items()))
        at_most = sums[-1] + DOUBT * self.field.gaps.size
        return list(counts), [(sum_ << bits) // at_most for sum_ in sums]

    @cached_property
    def _first(self) -> tuple[list[int], list[int]]:
        """The ends that nearly every proposal is decided by."""
        return self.ends(_FIRST)

    def members(self, level: int) -> Integers:
        """Return the candidates of a level."""
        if level < _REACH:
            return np.flatnonzero(self._near == level)
        return np.array([index for index, far in self._far.items() if far == level], np.int64)

    def _counts(self, below: int) -> dict[int, int]:
        """How many candidates each level has, those that have any, in order."""
        counts = np.bincount(self._near, minlength=_REACH + 1)[:_REACH].tolist()
        found = {level: count for level, count in enumerate(counts) if count and level < below}
        if below > _REACH:
            far = Counter(level for level in self._far.values() if level < below)
            found |= dict(sorted(far.items()))
        return found

    @cached_property
    def _near(self) -> Integers:
        """The levels of all candidates less than 128 scales away; 128 stands for the others."""
        return self.field.lows >> _PLACES

    @cached_property
    def _far(self) -> dict[int, int]:
        """The levels of the others; asked for once in 2⁵⁰ draws or less."""
        far = np.flatnonzero(self._near == _REACH).tolist()
        return {index: int(self.field.exponent(index)) for index in far}


def _weight(level: int, bits: int) -> int:
    """exp(−level)·2^bits, within 2 units."""
    return _weights()[level] if bits == _FIRST + _GUARD else falling(Fraction(level), bits)


@cache
def _weights() -> list[int]:
    """Those of all near levels, at the bits of a first word."""
    return [falling(Fraction(level), _FIRST + _GUARD) for level in range(_REACH)]
