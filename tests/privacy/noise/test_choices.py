"""Choices are exact: integers enclose every chance; bits that do not decide are refined."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import laws
from support.statistics import NEVER, fit_of_choices
from support.words import Tape
from understudy.errors import UsageError
from understudy.privacy.mechanisms.selection import PermuteAndFlip
from understudy.privacy.noise.choices import (
    FAR,
    Buckets,
    Field,
    decided,
    exponential,
    permute_and_flip,
    tossed,
)
from understudy.privacy.noise.laws import DOUBT
from understudy.system.arrays import Integers

Choose = Callable[[Integers, Fraction], int]

ONES = 2**64 - 1
SCALES = [Fraction(s) for s in ("1/1000", "1/128", "3/10", "1", "22/7", "1000/3", "1e9", "1e15")]
scales = st.one_of(
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**6),
    st.fractions(min_value=1, max_value=2**80),
    st.builds(lambda n: Fraction(n, 2**80), st.integers(1, 2**130)),
)


def _field(gaps: Iterable[int], scale: Fraction) -> Field:
    return Field(np.array(list(gaps), np.uint64), scale)


def _scores(*scores: int) -> Integers:
    return np.array(scores, np.int64)


# Exponents in fixed point, and the chances made of them.


@given(scales, st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5), st.integers(0, 2**20))
def test_exponents_lie_between_their_bounds(scale: Fraction, gaps: list[int], more: int) -> None:
    """L ≤ x·2¹⁶ < L + 2 up to 128 scales; beyond, all that is said is that x is at least 128."""
    near = [min(math.floor(scale * Fraction(more + i, 2**13)), 2**64 - 1) for i in range(5)]
    field = _field(gaps + near, scale)
    for index, low in enumerate(field.lows.tolist()):
        x = field.exponent(index)
        assert low <= x * 2**16
        assert x * 2**16 < low + 2 if low < FAR else x >= 128


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_what_a_first_word_decides_is_right(scale: Fraction) -> None:
    """Words near a chance: true only below it, false only above it, and few are left open."""
    gaps = {
        0,
        1,
        2,
        *(math.floor(scale * Fraction(x)) for x in ("1/9", "1", "2.5", "9", "22", "40")),
    }
    gaps |= {math.floor(130 * scale) + 1, 2**52}
    for gap in gaps:
        field = _field([gap], scale)
        line = laws.exponential(field.exponent(0)) * 2**32 if field.exponent(0) < 300 else 0
        middle = math.floor(line)
        band = (middle >> 15) + 12
        spread = np.linspace(middle - band, middle + band, 999).astype(np.int64)
        words = np.clip([*range(middle - 99, middle + 99), *spread], 0, 2**32 - 1)
        true, false = decided(Field(np.full(words.size, gap, np.uint64), scale), words)
        assert (words[true] < middle).all()
        assert (words[false] >= math.ceil(line)).all()
        assert not (true & false).any()
        if band < middle < 2**32 - band:
            assert true[words.argmin()]
            assert false[words.argmax()]


def test_coins_over_a_grid_of_words() -> None:
    """Words spread evenly make coins as often true as their chances say, within one word."""
    count, scale = 4096, Fraction(7)
    grid = (np.arange(count) * 2**20 + 2**19).astype("<u4")
    for gap in (0, 1, 3, 7, 20, 60):
        field = _field([gap] * count, scale)
        source = Tape([(int(word), 32) for word in grid] + [(2**63, 64)] * 20)
        assert abs(tossed(field, source).sum() - count * math.exp(-gap / 7)) <= 1


@pytest.mark.parametrize("side", [-1, 1], ids=["below", "above"])
@pytest.mark.parametrize("scale", SCALES[2:], ids=str)
def test_a_coin_is_settled_by_more_bits(scale: Fraction, side: int) -> None:
    """A first word at the chance reads on; a step of 2⁻⁹⁰ makes the coin true or false."""
    for x in (Fraction(1, 8), Fraction(1), Fraction(9), Fraction(30)):
        gap = math.ceil(x * scale)
        field = _field([gap], scale)
        bits = math.floor((laws.exponential(field.exponent(0)) + Fraction(side, 2**90)) * 2**96)
        tape = Tape([(bits >> 64, 32), (bits % 2**64, 64)])
        assert [side < 0] == tossed(field, tape).tolist()
        assert tape.empty


def test_a_coin_that_cannot_show_in_a_word_is_still_tossed() -> None:
    """A candidate 300 scales below is accepted by the words that are as rare, and by no others."""
    field = _field([300], Fraction(1))
    line = laws.exponential(Fraction(300))
    for step, expected in ((-4, True), (4, False)):
        bits = math.floor(line * 2**480) + step
        words = [(bits >> shift) % 2**64 for shift in range(384, -1, -64)]
        tape = Tape([(bits >> 448, 32), *((word, 64) for word in words)])
        assert [expected] == tossed(field, tape).tolist()


# Permute-and-flip.


def test_one_of_those_accepted_is_the_first_in_a_random_order() -> None:
    """Tossing all coins and taking one accepted alike has the closed form of permute-and-flip."""
    scores, scale = _scores(0, 2, 3, 3, 7), Fraction(3)
    accept = np.exp((scores - scores.max()) / float(scale))
    chances = np.zeros(scores.size)
    for coins in itertools.product((False, True), repeat=scores.size):
        accepted = np.array(coins)
        if accepted.any():
            chances[accepted] += np.where(accepted, accept, 1 - accept).prod() / accepted.sum()
    expected = PermuteAndFlip(scale, Fraction(1)).probabilities(scores)
    assert expected == pytest.approx(chances, abs=1e-12)


def test_permute_and_flip_word_by_word() -> None:
    """Four bytes a coin, then a number that takes one of those accepted, in their order."""
    scores = _scores(5, 0, 5, 4)
    low, high = (0, 32), (2**32 - 1, 32)
    for number, expected in ((0, 0), (1, 2), (2, 3)):
        # Three are accepted, so two bits choose among them.
        words = [(0, 32), high, low, low, (number << 62, 64)]
        tape = Tape(words)
        assert expected == permute_and_flip(scores, Fraction(1), tape)
        assert tape.empty


def test_three_of_two_bits_is_drawn_again() -> None:
    """A number that names none of three candidates is refused, and the next one counts."""
    tape = Tape([(0, 32)] * 3 + [(0b11 << 62, 64), (0b10 << 62, 64)])
    assert 2 == permute_and_flip(_scores(1, 1, 1), Fraction(1), tape)
    assert tape.empty


# The exponential mechanism.


def _shares(levels: Buckets) -> dict[int, Fraction]:
    """P(level ≤ k) of every level, to 120 digits."""
    field = levels.field
    weights = Counter[int]()
    exact: dict[int, Fraction] = {}
    for index, low in enumerate(field.lows.tolist()):
        level = low >> 16 if low < FAR else int(field.exponent(index))
        weights[level] += 1
    total, reached = Fraction(0), Fraction(0)
    for level, count in sorted(weights.items()):
        exact[level] = count * laws.exponential(Fraction(level))
        total += exact[level]
    shares = {}
    for level, weight in exact.items():
        reached += weight
        shares[level] = reached / total
    return shares


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("bits", [64, 128, 320])
def test_ends_of_levels_lie_between_their_bounds(scale: Fraction, bits: int) -> None:
    """e ≤ P(level ≤ k)·2^bits < e + 2 for every level, near and far."""
    steps = (0, 0, 1, 1, 2, 5, 5, 5, 30, 90, 127, 128, 129, 200, 350, 10**4)
    levels = Buckets(_field([math.floor(step * scale) for step in steps], scale))
    expected = _shares(levels)
    found = dict(zip(*levels.ends(bits), strict=True))
    assert found.keys() <= expected.keys()
    for level, end in found.items():
        line = expected[level] * 2**bits
        assert end <= line * (1 + laws.ERROR)
        assert line * (1 - laws.ERROR) < end + DOUBT


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_a_level_is_never_above_the_exponent(scale: Fraction) -> None:
    """Every candidate is proposed at least as often as it should be, and accepted for the rest."""
    gaps = [math.floor(scale * Fraction(step, 16)) for step in range(2100)]
    levels = Buckets(_field(gaps, scale))
    for level in levels.ends(320)[0]:
        for index in levels.members(level).tolist():
            assert 0 <= levels.field.exponent(index) - level < 1 + Fraction(1, 2**15)
    members = [levels.members(level).tolist() for level in levels.ends(320)[0]]
    assert list(range(2100)) == sorted(itertools.chain(*members))


@pytest.mark.parametrize("side", [-1, 1], ids=["below", "above"])
def test_a_level_is_settled_by_more_bits(side: int) -> None:
    """A word at the end of a level reads on; a step of 2⁻¹⁰⁰ leads to either level."""
    levels = Buckets(_field([0, 1, 1, 2, 5], Fraction(1)))
    ends = list(_shares(levels).items())
    for (level, end), (after, _) in itertools.pairwise(ends):
        bits = math.floor((end + Fraction(side, 2**100)) * 2**128)
        tape = Tape([(bits >> 64, 64), (bits % 2**64, 64)])
        assert (level if side < 0 else after) == levels.draw(tape)
        assert tape.empty


def test_levels_over_a_grid_of_words() -> None:
    """Words spread evenly lead to each level as often as its chance says, within one word."""
    levels = Buckets(_field([0, 3, 3, 9, 10, 10, 24], Fraction(3)))
    count = 5000
    seen = Counter(
        levels.draw(Tape([(2**64 * (2 * i + 1) // (2 * count), 64)])) for i in range(count)
    )
    reached = 0
    for level, share in _shares(levels).items():
        reached += seen[level]
        assert abs(reached - count * share) <= 1


@pytest.mark.parametrize(("distance", "words"), [(100, 3), (200, 5), (2000, 46)])
def test_no_candidate_is_out_of_reach(distance: int, words: int) -> None:
    """A candidate whose weight is exp(−2000) is chosen by words of ones that are as rare."""
    tape = Tape([(ONES, 64)] * words + [(0, 64)] * 2)
    assert 1 == exponential(_scores(0, -distance), Fraction(1), tape)


def test_exponential_word_by_word() -> None:
    """A word for the level, one for the place in it, more for acceptance; refused, all again."""
    scores, scale = _scores(0, -1, -1), Fraction(2)
    # All are of level 0; the second is accepted below exp(−1/2) = 0.6065.
    above, below = (int(0.61 * 2**64), 64), (int(0.60 * 2**64), 64)
    place = [(number << 62, 64) for number in (0, 1, 2, 3)]
    tape = Tape([(0, 64), place[1], above, (5, 64), place[3], place[2], below])
    assert 2 == exponential(scores, scale, tape)
    assert tape.empty
    tape = Tape([(0, 64), place[0]])
    assert 0 == exponential(scores, scale, tape)
    assert tape.empty


# Extremes.

CHOICES: list[Choose] = [permute_and_flip, exponential]


@pytest.mark.parametrize("choose", CHOICES)
def test_scores_as_far_apart_as_they_can_be(choose: Choose) -> None:
    """Scores 2⁵² and 2⁶⁴ − 1 apart: the best at small scales, either at huge ones."""
    for other in (-(2**52), -(2**63)):
        scores = _scores(other, 2**63 - 1 if other == -(2**63) else 0)
        assert {1} == {choose(scores, Fraction(2**40)) for _ in range(20)}
        assert {0, 1} == {choose(scores, Fraction(2**80)) for _ in range(200)}


@pytest.mark.parametrize("choose", CHOICES)
@pytest.mark.parametrize("scale", [Fraction(1, 10**30), Fraction(1), Fraction(2**200, 3)], ids=str)
def test_equal_scores_are_chosen_alike(choose: Choose, scale: Fraction) -> None:
    """Among equals the scale does not matter, and a single candidate is always the one."""
    drawn = np.array([choose(_scores(7, 7, 7, 7), scale) for _ in range(2000)])
    assert fit_of_choices(drawn, np.full(4, 0.25)) > NEVER
    assert 0 == choose(_scores(-5), scale)


@pytest.mark.parametrize("choose", CHOICES)
def test_a_tiny_scale_takes_the_best(choose: Choose) -> None:
    """At a scale of 10⁻³⁰ nothing but the best is ever seen; at 2²⁰⁰ all are alike."""
    scores = _scores(3, 9, 8, 9)
    assert {1, 3} == {choose(scores, Fraction(1, 10**30)) for _ in range(100)}
    drawn = np.array([choose(scores, Fraction(2**200)) for _ in range(2000)])
    assert fit_of_choices(drawn, np.full(4, 0.25)) > NEVER


@pytest.mark.parametrize("choose", CHOICES)
def test_a_million_candidates(choose: Choose) -> None:
    """One clear winner among a million is found; among a million equals it is not the same one."""
    scores = np.zeros(10**6, np.int64)
    assert len({choose(scores, Fraction(9)) for _ in range(3)}) > 1
    scores[123_456] = 2**52
    assert 123_456 == choose(scores, Fraction(2**40))


@pytest.mark.parametrize("choose", CHOICES)
def test_what_cannot_be_chosen_is_refused(choose: Choose) -> None:
    """No candidates, and scales that are not above zero, are refused by name."""
    with pytest.raises(UsageError, match="no candidates"):
        choose(_scores(), Fraction(1))
    for scale in (Fraction(0), Fraction(-1)):
        with pytest.raises(UsageError, match="above zero"):
            choose(_scores(1), scale)


def test_bits_are_asked_for_when_they_are_used() -> None:
    """Coins read four bytes each and the choice eight more, each time again."""
    asked: list[int] = []

    def counted(size: int) -> bytes:
        asked.append(size)
        return bytes(size)

    for _ in range(2):
        permute_and_flip(np.zeros(1000, np.int64), Fraction(5), counted)
        assert [4000, 8] == asked
        asked.clear()


def test_the_system_never_repeats() -> None:
    """Choices among 2¹⁶ equals differ: there is no seed to know."""
    scores = np.zeros(2**16, np.int64)
    for choose in CHOICES:
        assert len({choose(scores, Fraction(1)) for _ in range(5)}) > 1
