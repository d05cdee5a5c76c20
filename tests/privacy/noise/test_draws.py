"""Draws are exact: each word leads where its bits must; bits that do not decide are refined."""

from __future__ import annotations

import itertools
import math
import os
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from support import laws
from support.statistics import NEVER, fit_of_choices
from support.words import Tape
from understudy.errors import UsageError
from understudy.privacy.noise import draws
from understudy.privacy.noise.draws import (
    AGAIN,
    UNDECIDED,
    DrawTable,
    Layout,
    decided,
    draw,
    draw_below,
    proposals,
    settled,
)
from understudy.privacy.noise.laws import Blocks, Law
from understudy.privacy.noise.system import SystemNoise
from understudy.system.arrays import Integers, Words

WORDS_OF_ONES = 2**64 - 1


def _plan(law: Law) -> DrawTable:
    blocks = Blocks.of(law)
    return DrawTable.of(blocks, Layout.of(blocks))


def _split(number: Fraction, bits: int) -> tuple[int, int]:
    """The first bits of a number in [0, 1), and the 64 that follow."""
    return divmod(math.floor(number * (1 << (bits + 64))), 1 << 64)


# Small words: every one of them is tried, so that rounding has nowhere to hide.


def _every(count: int, words: int) -> Words:
    """All rows of a number of words below the count."""
    every = np.arange(count, dtype=np.uint64)
    return np.array(np.meshgrid(*[every] * words, indexing="ij")).reshape(words, -1).T.copy()


def _expected_blocks(blocks: Blocks, bits: int) -> Integers:
    """The block that holds all of [u, u + 1) / 2^bits, or UNDECIDED, for every u."""
    ends = np.array([float(end) for end in laws.ends(blocks)])
    low = np.searchsorted(ends, np.arange(2**bits) / 2**bits, side="right")
    high = np.searchsorted(ends, np.arange(1, 2**bits + 1) / 2**bits, side="left")
    return np.where(low == high, low, UNDECIDED)


@pytest.mark.parametrize("word", [8, 10, 12])
@pytest.mark.parametrize(
    "law",
    [Law.laplace(Fraction("3/10")), Law.laplace(Fraction(5)), Law.gaussian(Fraction("7/3"))],
    ids=laws.name,
)
def test_every_small_word_of_single_magnitudes(law: Law, word: int) -> None:
    """What is decided is right, with both signs; at most two words a block are left."""
    plan = DrawTable.of(Blocks(law, 0), Layout(word, 4, guide=4))
    found = decided(plan, _every(2**word, 1))
    magnitudes = _expected_blocks(plan.blocks, word - 1).repeat(2)
    signs = np.tile([1, -1], 2 ** (word - 1))
    known = found != UNDECIDED
    assert (magnitudes * signs)[known].tolist() == found[known].tolist()
    assert (~known).sum() <= 4 * (len(plan.ends) + 1)


@pytest.mark.parametrize(
    ("law", "shift"),
    [
        (Law.laplace(Fraction(9)), 1),
        (Law.laplace(Fraction(33)), 3),
        (Law.gaussian(Fraction(999)), 2),
    ],
    ids=["narrow", "wide", "gaussian"],
)
def test_every_pair_of_small_words(law: Law, shift: int) -> None:
    """Blocks, places inside, chances and signs: each pair that is decided is decided rightly."""
    word, places = 10, 10 - shift
    plan = DrawTable.of(Blocks(law, shift), Layout(word, places, guide=4))
    pairs = _every(2**word, 2)
    found = decided(plan, pairs)
    expected = _expected_pairs(plan, pairs)
    known = found != UNDECIDED
    assert expected[known].tolist() == found[known].tolist()
    assert known.mean() > 0.5
    assert {True, False} == set((found == AGAIN).tolist())


def _expected_pairs(plan: DrawTable, pairs: Words) -> Integers:
    """What the bits of each pair imply, by floating point far finer than the words."""
    blocks, word = plan.blocks, plan.layout.word
    block = _expected_blocks(blocks, word - 1)[pairs[:, 0] >> 1]
    inside = (pairs[:, 1] & (blocks.width - 1)).astype(np.int64)
    first = np.maximum(block, 0) << blocks.shift
    chance = _floats(law=blocks.law, first=first, inside=inside) * 2 ** (word - blocks.shift)
    uniform = (pairs[:, 1] >> blocks.shift).astype(np.int64)
    minus = (pairs[:, 0] & 1).astype(bool)
    value = np.where(minus, -(first + inside), first + inside)
    value[minus & (first + inside == 0)] = AGAIN
    value[uniform >= chance] = AGAIN
    torn = (uniform < chance) & (chance < uniform + 1)
    return np.where((block == UNDECIDED) | torn, UNDECIDED, value)


def _floats(
    *, law: Law, first: Integers, inside: Integers
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    linear, quadratic = float(law.linear), float(law.quadratic)
    return np.exp(-linear * inside - quadratic * (2 * first * inside + inside**2))


# Words on a boundary: the next word decides.


@pytest.mark.parametrize("side", [-1, 1], ids=["below", "above"])
@pytest.mark.parametrize(
    "law", [laws.LAPLACE[2], laws.LAPLACE[5], *laws.GAUSSIAN[2:]], ids=laws.name
)
def test_the_end_of_a_block_is_settled_by_more_bits(law: Law, side: int) -> None:
    """A word at a block's end reads on; one step of 2⁻⁹⁰ to either side leads to either block."""
    plan = _plan(law)
    for block, end in enumerate(laws.ends(plan.blocks)[:7]):
        first, more = _split(end + Fraction(side, 2**90), 31)
        tape = Tape([(2 * first, 32), *[(0, 32)] * (plan.words - 1), (more, 64)])
        expected = (block + (side > 0)) << plan.blocks.shift
        assert expected == proposals(plan, 1, tape)[0]
        assert tape.empty


@pytest.mark.parametrize("side", [-1, 1], ids=["below", "above"])
@pytest.mark.parametrize("law", [laws.LAPLACE[5], laws.LAPLACE[6], laws.GAUSSIAN[5]], ids=laws.name)
def test_a_chance_is_settled_by_more_bits(law: Law, side: int) -> None:
    """A word at the chance to accept reads on; a step of 2⁻⁹⁰ accepts or refuses."""
    plan = _plan(law)
    blocks, bits = plan.blocks, 32 - plan.blocks.shift
    ends = laws.ends(blocks)
    for block, inside in itertools.product((0, 3, 17), (1, blocks.width // 2, blocks.width - 1)):
        middle = math.floor((ends[block] - Fraction(1, 1000)) * 2**31)
        chance = laws.exponential(blocks.fall(block, inside))
        uniform, more = _split(chance + Fraction(side, 2 ** (bits + 55)), bits)
        tape = Tape([(2 * middle, 32), ((uniform << blocks.shift) + inside, 32), (more, 64)])
        expected = AGAIN if side > 0 else (block << blocks.shift) + inside
        assert expected == proposals(plan, 1, tape)[0]
        assert tape.empty


def test_bits_are_read_until_they_decide() -> None:
    """A number that agrees with a boundary in 223 bits is settled by those that follow."""
    plan = _plan(Law.gaussian(Fraction(4)))
    end = laws.ends(plan.blocks)[3]
    bits = math.floor(end * 2**223)
    words = [(bits >> 192) << 1, *((bits >> shift) % 2**64 for shift in (128, 64, 0))]
    for last, expected in ((0, 3), (WORDS_OF_ONES, 4)):
        tape = Tape([(words[0], 32), *((word, 64) for word in words[1:]), (last, 64)])
        assert expected == proposals(plan, 1, tape)[0]
        assert tape.empty


@pytest.mark.parametrize("ones", [0, 1, 4])
def test_no_value_is_out_of_reach(ones: int) -> None:
    """Words of ones lead ever farther out: to where the tail is as rare as they are."""
    scale = 3
    tape = Tape([(2**32 - 1, 32), *[(WORDS_OF_ONES, 64)] * ones, *[(2**63, 64)]])
    plan = _plan(Law.laplace(Fraction(scale)))
    rarity = Fraction(1, 2 ** (32 + 64 * ones))
    q = math.exp(-1 / scale)
    # P(|Z| > k) = 2q^(k+1) / (1 + q)
    farthest = (math.log(rarity) + math.log((1 + q) / 2)) / math.log(q)
    assert -math.floor(farthest) == proposals(plan, 1, tape)[0]


def test_an_undecided_cell_keeps_its_place() -> None:
    """Cells that read on stay where they were; their neighbours are not moved."""
    plan = _plan(Law.laplace(Fraction(1)))
    first, more = _split(laws.ends(plan.blocks)[0] + Fraction(1, 2**90), 31)
    tape = Tape([(0, 32), (2 * first + 1, 32), (0, 32), (more, 64)])
    assert [0, -1, 0] == proposals(plan, 3, tape).tolist()


def test_minus_zero_is_drawn_again() -> None:
    """In wide blocks zero comes with plus alone; with minus the cell reads fresh words."""
    law = Law.laplace(Fraction(1000))
    plan = _plan(law)
    assert AGAIN == settled(plan, 1, 0, os.urandom)
    tape = Tape([(1, 32), (0, 32), (0, 32), (5, 32)])
    assert [5] == draw(law, 1, tape).tolist()
    assert tape.empty


@pytest.mark.parametrize("law", laws.LAWS, ids=laws.name)
def test_the_loop_and_python_agree(law: Law) -> None:
    """What the loop decides is what the exact path makes of the same words."""
    plan = _plan(law)
    words = plan.read(500, os.urandom)
    found = decided(plan, words)
    for (first, *rest), value in zip(words.tolist(), found.tolist(), strict=True):
        second = rest[0] if rest else 0
        assert value in (UNDECIDED, settled(plan, first, second, os.urandom))


# Bits are the system's, used once, and nobody else's.


def test_bits_are_asked_for_when_they_are_used() -> None:
    """A draw of single magnitudes reads four bytes a cell, each time again, and keeps none."""
    asked: list[int] = []

    def counted(size: int) -> bytes:
        asked.append(size)
        return bytes([17]) * size

    for _ in range(2):
        draw(Law.laplace(Fraction(2)), 100_000, counted)
        assert 400_000 == sum(asked)
        asked.clear()


def test_a_forked_process_draws_its_own() -> None:
    """After a fork parent and child draw different noise: no bits were held in store."""
    noise = SystemNoise()
    noise.laplace(Fraction(1000), 10)
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(into, noise.laplace(Fraction(1000), 100).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(out, 800), np.int64)
    os.close(out)
    os.close(into)
    assert noise.laplace(Fraction(1000), 100).tolist() != theirs.tolist()


def test_threads_draw_their_own() -> None:
    """Draws in threads at once are all different, and each has its scale."""
    law = Law.gaussian(Fraction(10**6))
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda _: draw(law, 50_000), range(8)))
    assert 8 == len({values.tobytes() for values in drawn})
    assert all(950 < values.std() < 1050 for values in drawn)


@pytest.mark.parametrize("size", [0, 1, 2**15, 2**15 + 1])
def test_sizes(size: int) -> None:
    """As many draws come as were asked for, none included."""
    assert (size,) == draw(Law.laplace(Fraction(100)), size).shape


def test_tiny_scales_are_drawn() -> None:
    """Noise that is nearly always zero is drawn like any other."""
    assert [0] * 5 == draw(Law.gaussian(Fraction(1, 10**30)), 5).tolist()


def test_scales_beyond_64_bits_are_refused() -> None:
    """The largest scale is 2⁴⁰; twice that is refused."""
    assert 10 == draw(Law.laplace(Fraction(2**40)), 10).size
    with pytest.raises(UsageError, match="2⁴⁰"):
        draw(Law.laplace(Fraction(2**41)), 10)


@pytest.mark.parametrize("bound", [1, 2, 3, 100, 2**33 + 1, 2**62])
def test_numbers_below_a_bound_are_all_alike(bound: int) -> None:
    """Draws fill the range evenly; a bound half as large again would show."""
    drawn = draw_below(bound, 20_000)
    assert 0 <= drawn.min() <= drawn.max() < bound
    parts = min(bound, 16)
    shares = np.diff([(bound * i + parts - 1) // parts for i in range(parts + 1)]) / bound
    assert fit_of_choices((drawn.astype(object) * parts // bound).astype(np.int64), shares) > NEVER


def test_numbers_out_of_bounds_are_drawn_again() -> None:
    """Word by word: 3 of two bits is refused, and its place is taken by the next."""
    words = iter([bytes(7) + bytes([0b11 << 6]) + bytes(7) + bytes([0b10 << 6]), bytes(8)])
    assert [2, 0] == draw_below(3, 2, lambda size: next(words)).tolist()
    with pytest.raises(UsageError, match="from 1 to 2⁶²"):
        draw_below(0, 1)


@pytest.mark.parametrize("scale", ["1/3", "40", "3000", "10000000"])
def test_few_draws_are_decided_as_compiled_loops_decide_them(
    scale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same words give the same draws, rejections and doubts, also at the ends of the range."""
    plan = _plan(Law.laplace(Fraction(scale)))
    words = plan.read(400, np.random.default_rng(5).bytes).copy()
    words[:2] = 0
    words[2:4] = 2**plan.layout.word - 1
    found = []
    for most in (draws.FEW_DRAWS, 0):
        monkeypatch.setattr(draws, "FEW_DRAWS", most)
        found.append(decided(plan, words).tolist())
    assert found[0] == found[1]
