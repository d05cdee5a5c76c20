"""Exact integer draws from random bits: a compiled loop decides nearly all, Python the rest.

A draw is read off a uniform number whose bits become known a word at a time. The loop decides
when the bits known so far leave one outcome; else more bits are read and compared with
closer bounds, until they do. Nothing is rounded in between, so the law is met exactly.
Proof: docs/proofs/exact_draws.md.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from understudy.errors import UsageError
from understudy.privacy.noise.laws import DOUBT, Blocks, Law, falling
from understudy.system.arrays import Integers, Words
from understudy.system.jit import kernel, uncompiled

RandomBytes = Callable[[int], bytes]

# Outcomes of a proposal that is not a draw: refused, or not decided by the bits it has.
AGAIN = -(2**63) + 1
UNDECIDED = -(2**63)
# Magnitudes from here on are cut off; 2⁶² is 2²² times the largest scale.
_FARTHEST = 2**62
# Up to so many draws the loops run in Python, a hundredth of a millisecond each, before a compiler
# would have started: the same integers by the same lines.
FEW_DRAWS = 2_000
_Loops = tuple[Callable[..., None], Callable[..., None], Callable[..., None]]

# Random bits cost more than all the rest: words are short where that leaves little undecided.
_SHORT, _LONG = 32, 64
_WIDEST_IN_SHORT, _WIDEST = 12, 38
_MOST_PLACES = 26
# Bounds the rounding errors of a chance computed in the loop, in units of its last place.
_SLACK = 16
_GUIDE_BITS = 10
# Words of a block of cells stay in the processor's cache; bits are read, used and forgotten.
_CELLS = 1 << 15


@dataclass(frozen=True)
class Layout:
    """How many bits a word has, and in how many places the loop computes chances.

    A place inside a block and the chance to accept it share a word, and no bit of it.
    """

    word: int
    places: int
    guide: int = _GUIDE_BITS

    @classmethod
    def of(cls, blocks: Blocks) -> Layout:
        """Short words for the scales that are common, long ones beyond."""
        if blocks.shift > _WIDEST:
            raise UsageError("noise of a scale above 2⁴⁰ does not fit 64 bits; lower the scale")
        word = _SHORT if blocks.shift <= _WIDEST_IN_SHORT else _LONG
        return cls(word, min(_MOST_PLACES, word - blocks.shift))


@dataclass(frozen=True, kw_only=True)
class DrawTable:
    """A law as the loop reads it; its arrays are not written to.

    Attributes:
        ends: where blocks end, in units of the first word's bits without its sign.
        guide: the first block that the leading bits of a word leave possible.
        slopes: growth of the exponent along each block, in fixed point.
        bend: growth of that growth.
    """

    blocks: Blocks
    layout: Layout
    ends: Integers
    guide: Integers
    slopes: Integers
    bend: int

    @classmethod
    def of(cls, blocks: Blocks, layout: Layout) -> DrawTable:
        """The plan of a law cut into blocks."""
        bits = layout.word - 1
        ends = np.array(blocks.ends(bits), np.int64)
        starts = np.arange(1 << layout.guide, dtype=np.int64) << (bits - layout.guide)
        guide = np.searchsorted(ends, starts, side="right").astype(np.int64)
        slopes, bend = _growth(blocks, ends.size, layout.places)
        return cls(blocks=blocks, layout=layout, ends=ends, guide=guide, slopes=slopes, bend=bend)

    @property
    def words(self) -> int:
        """How many words a proposal takes."""
        return 2 if self.blocks.shift else 1

    def read(self, size: int, source: RandomBytes) -> Words:
        """Read fresh words for a number of proposals."""
        kind = np.dtype(f"u{self.layout.word // 8}")
        drawn = source(size * self.words * kind.itemsize)
        return np.frombuffer(drawn, kind).reshape(size, self.words).astype(np.uint64)


@dataclass(frozen=True)
class Uniform:
    """A number in [0, 1) of which the first bits are known."""

    value: int
    bits: int

    def refined(self, source: RandomBytes) -> Uniform:
        """The same number with one more word known."""
        more = int.from_bytes(source(_LONG // 8), "little")
        return Uniform((self.value << _LONG) | more, self.bits + _LONG)


def draw(law: Law, size: int, source: RandomBytes = os.urandom) -> Integers:
    """Independent draws, each exactly of the law when the source's bits are uniform.

    Privacy: the source must be the operating system's, as it is unless a test says otherwise.
    """
    plan = _plan(law)
    values = np.empty(size, np.int64)
    for start in range(0, size, _CELLS):
        values[start : start + _CELLS] = _drawn(plan, min(_CELLS, size - start), source)
    return values


@lru_cache(maxsize=256)
def _plan(law: Law) -> DrawTable:
    blocks = Blocks.of(law)
    return DrawTable.of(blocks, Layout.of(blocks))


def _drawn(plan: DrawTable, size: int, source: RandomBytes) -> Integers:
    """Draws; each cell proposes until it is accepted."""
    values = proposals(plan, size, source)
    again = np.flatnonzero(values == AGAIN)
    while again.size:
        fresh = proposals(plan, again.size, source)
        values[again] = fresh
        again = again[fresh == AGAIN]
    return values


def proposals(plan: DrawTable, size: int, source: RandomBytes) -> Integers:
    """One proposal for each cell: a draw, or AGAIN."""
    words = plan.read(size, source)
    values = decided(plan, words)
    for cell in np.flatnonzero(values == UNDECIDED):
        first, second = int(words[cell, 0]), int(words[cell, -1])
        values[cell] = settled(plan, first, second, source)
    return values


def decided(plan: DrawTable, words: Words) -> Integers:
    """Decide each row of words: a draw, AGAIN, or UNDECIDED."""
    values = np.empty(len(words), np.int64)
    if len(words) > FEW_DRAWS:
        _decide(plan, words, values, (_find_blocks, _go_inside, _give_signs))
    else:
        loops = uncompiled(_find_blocks), uncompiled(_go_inside), uncompiled(_give_signs)
        # Compiled loops do not warn of products that are not looked at.
        with np.errstate(over="ignore"):
            _decide(plan, words, values, loops)
    return values


def _decide(plan: DrawTable, words: Words, values: Integers, loops: _Loops) -> None:
    """Decide with compiled loops, or with the same ones in Python."""
    find, go_inside, sign = loops
    word, shift, places = plan.layout.word, plan.blocks.shift, plan.layout.places
    # Passed on, since compiled code would keep another room's constant after it changed.
    find(words, values, plan.ends, plan.guide, word - 1 - plan.layout.guide, DOUBT)
    if shift:
        go_inside(words, values, plan.slopes, plan.bend, shift, places, word - places)
    sign(words, values, AGAIN if shift else 0)


def draw_below(bound: int, size: int, source: RandomBytes = os.urandom) -> Integers:
    """Independent draws, each of 0 to bound − 1 equally likely: words of just enough bits, those
    out of bounds drawn again.
    """
    if not 0 < bound <= _FARTHEST:
        raise UsageError(f"numbers below {bound}: the bound must be from 1 to 2⁶²; change it")
    unused = np.uint64(_LONG - (bound - 1).bit_length()) if bound > 1 else np.uint64(_LONG - 1)
    kept = np.empty(0, np.int64)
    while kept.size < size:
        words = np.frombuffer(source(8 * (size - kept.size)), np.uint64)
        numbers = (words >> unused).astype(np.int64)
        kept = np.concatenate([kept, numbers[numbers < bound]])
    return kept


def settled(plan: DrawTable, first: int, second: int, source: RandomBytes) -> int:
    """Settle two words by reading more bits: a draw, or AGAIN.

    A plan of one word to a proposal does not look at the second.
    """
    blocks, word = plan.blocks, plan.layout.word
    magnitude = _block(plan, Uniform(first >> 1, word - 1), source)
    if blocks.shift:
        inside = second & (blocks.width - 1)
        uniform = Uniform(second >> blocks.shift, word - blocks.shift)
        if not passes(blocks.fall(magnitude, inside), uniform, source):
            return AGAIN
        magnitude = (magnitude << blocks.shift) + inside
        if magnitude == 0 and first & 1:
            return AGAIN
    return min(magnitude, _FARTHEST) * (-1 if first & 1 else 1)


def _block(plan: DrawTable, uniform: Uniform, source: RandomBytes) -> int:
    """The block in which a uniform number falls."""
    ends = plan.ends.tolist()
    while True:
        block = bisect_right(ends, uniform.value)
        certain = block == 0 or uniform.value >= ends[block - 1] + DOUBT
        if certain and block < len(ends):
            return block
        uniform = uniform.refined(source)
        ends = plan.blocks.ends(uniform.bits)


def passes(exponent: Fraction, uniform: Uniform, source: RandomBytes) -> bool:
    """Whether a uniform number is below exp(−exponent)."""
    while True:
        chance = falling(exponent, uniform.bits)
        if uniform.value < chance:
            return True
        if uniform.value >= chance + DOUBT:
            return False
        uniform = uniform.refined(source)


def _growth(blocks: Blocks, count: int, places: int) -> tuple[Integers, int]:
    """Slopes of the exponent at the start of each block, and its bend, rounded down.

    With ρ the place inside block m, from 0 to 1, the exponent grows by ρ·(slope_m + bend·ρ).
    """
    if blocks.shift == 0:
        return np.empty(0, np.int64), 0
    bend = blocks.law.quadratic * blocks.width**2
    slope = blocks.law.linear * blocks.width
    common = slope.denominator * bend.denominator
    first = slope.numerator * bend.denominator << places
    step = 2 * bend.numerator * slope.denominator << places
    slopes = [(first + m * step) // common for m in range(count)]
    return np.array(slopes, np.int64), (bend.numerator << places) // bend.denominator


@kernel
def _find_blocks(
    words: Words, values: Integers, ends: Integers, guide: Integers, to_guide: int, doubt: int
) -> None:
    """The block of each first word, or UNDECIDED where it lies too near an end."""
    for i in range(values.size):
        uniform = np.int64(words[i, 0] >> np.uint64(1))
        block = guide[uniform >> to_guide]
        while block < ends.size and uniform >= ends[block]:
            block += 1
        near = block > 0 and uniform < ends[block - 1] + doubt
        values[i] = UNDECIDED if near or block == ends.size else block


@kernel
def _go_inside(
    words: Words,
    values: Integers,
    slopes: Integers,
    bend: int,
    shift: int,
    places: int,
    to_places: int,
) -> None:
    """From blocks to magnitudes inside, accepted with chance exp(−x), in fixed point.

    Source: 1 − x + x²/2 − x³/6 ≤ exp(−x) ≤ the same + x⁴/24, for 0 ≤ x ≤ 1.
    """
    one, within = np.int64(1) << places, np.uint64((np.int64(1) << shift) - 1)
    for i in range(values.size):
        block, second = values[i], words[i, 1]
        if block == UNDECIDED:
            continue
        inside, uniform = np.int64(second & within), np.int64(second >> np.uint64(to_places))
        place = inside << (places - shift) if shift < places else inside >> (shift - places)
        x = (place * (slopes[block] + ((bend * place) >> places))) >> places
        square = (x * x) >> places
        cubic = one - x + (square >> 1) - ((square * x) >> places) // 6
        if x < one and uniform < cubic - _SLACK:
            values[i] = (block << shift) + inside
        elif x < one and uniform > cubic + ((square * square) >> places) // 24 + _SLACK:
            values[i] = AGAIN
        else:
            values[i] = UNDECIDED


@kernel
def _give_signs(words: Words, values: Integers, of_minus_zero: int) -> None:
    """Minus where the first word's last bit is set."""
    for i in range(values.size):
        magnitude = values[i]
        if magnitude >= 0 and words[i, 0] & np.uint64(1):
            values[i] = -magnitude if magnitude else of_minus_zero
