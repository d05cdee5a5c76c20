"""CAP and GCAP: closed forms, tables made by hand, and the equation taken row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.sheets import coded, drawn, listed
from understudy.evaluation.disclosure import attribution as room
from understudy.evaluation.disclosure.attribution import (
    Attribution,
    attributed,
    attribution,
)
from understudy.facts.domain import Domain
from understudy.rows.table import Table

ABC = listed(a=3, b=3, c=3, t=4)
KEY = ("a", "b", "c")

seeds = st.integers(0, 10_000)
sizes = st.integers(1, 40)


@pytest.fixture(params=["looked up", "compared", "as is quicker"])
def route(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearest keys are found by looking up sets of columns, by comparing, or by either."""
    prices = {"looked up": 0, "compared": 10**9}
    monkeypatch.setattr(room, "_SORTING", prices.get(request.param, room._SORTING))


def _one_by_one(
    real: Table, other: Table, sensitive: str, key: Sequence[str]
) -> list[tuple[Fraction, int, Fraction]]:
    """Equation 1 as it is printed, row by row: GCAP, ρ, and the chance of the vote."""

    def lines(table: Table) -> list[tuple[tuple[int, ...], int]]:
        codes = [table.codes[name].tolist() for name in key]
        return list(zip(zip(*codes, strict=True), table.codes[sensitive].tolist(), strict=True))

    found, held = [], lines(other)
    for asked, value in lines(real):
        apart = [sum(x != y for x, y in zip(asked, k, strict=True)) for k, _ in held]
        least = min(apart)
        values = Counter(t for (_, t), d in zip(held, apart, strict=True) if d == least)
        top = [t for t, n in values.items() if n == max(values.values())]
        vote = Fraction(value in top, len(top))
        found.append((Fraction(values[value], values.total()), least, vote))
    return found


def _table(**columns: Sequence[int]) -> Table:
    return coded(listed(a=3, b=3, t=3), columns)


def _found(real: Table, other: Table, key: Sequence[str] = ("a", "b")) -> Attribution:
    return attribution(real, other, sensitive="t", key=key)


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_row_is_as_the_equation_says(seed: int, length: int) -> None:
    """GCAP, distance and vote of each row, over small tables in which many keys are not found."""
    real, other = drawn(ABC, 30, seed), drawn(ABC, 1 + seed * 3, seed + 100)
    each = attributed(real, other, sensitive="t", key=KEY[:length])
    found = zip(each.chances, each.distances, each.votes, strict=True)
    expected = _one_by_one(real, other, "t", KEY[:length])
    assert [(float(g), d, float(v)) for g, d, v in expected] == list(found)


def test_some_of_those_keys_are_far() -> None:
    """The tables above ask for every distance there is, or the test would show nothing."""
    asked = [(drawn(ABC, 30, seed), drawn(ABC, 1 + seed * 3, seed + 100)) for seed in range(12)]
    each = [attributed(*pair, sensitive="t", key=KEY) for pair in asked]
    assert {0, 1, 2, 3} == {int(d) for found in each for d in found.distances}


@pytest.mark.usefixtures("route")
def test_means_by_hand() -> None:
    """Keys found, one column off, and all columns off.

    Row 1 has key (0, 0), which is there three times, with values 0, 0 and 1. Row 2 has (0, 1): not
    there, but (0, 0) three times and (1, 1) once are one column off, with values 0, 0, 1 and 2.
    Row 3 has (2, 2), which shares nothing with anything: all four rows are as near.
    """
    other = _table(a=[0, 0, 0, 1], b=[0, 0, 0, 1], t=[0, 0, 1, 2])
    real = _table(a=[0, 0, 2], b=[0, 1, 2], t=[0, 2, 1])
    found = _found(real, other)
    assert (2 / 3 + 1 / 4 + 1 / 4) / 3 == pytest.approx(found.gcap)
    assert 2 / 3 == pytest.approx(found.cap)
    assert (1 / 3, 1 / 3) == pytest.approx((found.matched, found.vote))
    assert (2 / 4 + 1 / 4 + 1 / 4) / 3 == pytest.approx(found.guess)


def test_ties_are_tossed_for() -> None:
    """Of two values that are as frequent each is named half of the time."""
    other = _table(a=[0, 0, 0], b=[0, 0, 1], t=[1, 2, 0])
    real = _table(a=[0, 0], b=[0, 0], t=[1, 0])
    assert 1 / 4 == _found(real, other).vote


def test_different_keys_give_everything_away() -> None:
    """A table with itself, no key twice: every value is attributed."""
    table = coded(listed(a=50, t=5), {"a": range(50), "t": [i % 5 for i in range(50)]})
    found = attribution(table, table, sensitive="t", key=["a"])
    assert (1.0, 1.0, 1.0, 1.0) == (found.gcap, found.cap, found.vote, found.matched)


def test_equal_keys_give_nothing_away() -> None:
    """A key that all rows share: GCAP is the guess, Σ p², and the vote is the zero rule."""
    table = coded(listed(a=2, t=3), {"a": [0] * 10, "t": [0] * 5 + [1] * 3 + [2] * 2})
    found = attribution(table, table, sensitive="t", key=["a"])
    assert (0.38, 0.38, 0.5) == pytest.approx((found.gcap, found.guess, found.vote))


def test_independent_keys_give_nothing_away() -> None:
    """Each key with the same values: GCAP is Σ p·q whatever the real rows are."""
    other = _table(a=[0] * 4 + [1] * 4 + [2] * 4, b=[0] * 12, t=[0, 0, 1, 2] * 3)
    found = _found(drawn(listed(a=3, b=3, t=3), 200, 1), other, ("a",))
    assert found.guess == pytest.approx(found.gcap)


def test_no_rows_have_no_numbers() -> None:
    """An empty table on either side gives None, and no warning."""
    none, some = _table(a=[], b=[], t=[]), _table(a=[1], b=[1], t=[1])
    for pair in ((none, some), (some, none), (none, none)):
        assert Attribution(("a",), None, None, None, None, None) == _found(*pair, ("a",))


def test_a_key_that_is_nowhere_has_no_cap() -> None:
    """CAP is undefined where no key is found; GCAP is not."""
    found = _found(_table(a=[0], b=[0], t=[1]), _table(a=[1], b=[1], t=[1]))
    assert (None, 0.0, 1.0) == (found.cap, found.matched, found.gcap)


@pytest.mark.usefixtures("route")
def test_long_keys_of_many_values_do_not_run_into_each_other() -> None:
    """Eight columns of 2¹⁶ codes have 2¹²⁸ keys, twice the bits of a number: none is mistaken."""
    key = [f"k{i}" for i in range(8)]
    domain = Domain({**dict.fromkeys(key, 2**16), "t": 2})
    generator = np.random.default_rng(3)

    def drawn_apart() -> Table:
        codes = {k: generator.choice([0, 1, 65_535], 60).astype(np.uint16) for k in key}
        return Table(domain, codes | {"t": generator.integers(0, 2, 60).astype(np.uint8)}, 60)

    real, other = drawn_apart(), drawn_apart()
    each = attributed(real, other, sensitive="t", key=key)
    expected = _one_by_one(real, other, "t", key)
    assert [float(gcap) for gcap, _, _ in expected] == each.chances.tolist()
    assert [distance for _, distance, _ in expected] == each.distances.tolist()


@given(seeds, sizes, sizes)
def test_order_and_repetition_do_not_matter(seed: int, ours: int, theirs: int) -> None:
    """Rows shuffled, or each held three times, attribute the same."""
    real, other = drawn(ABC, ours, seed), drawn(ABC, theirs, seed + 1)
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(theirs), 3))
    again = coded(ABC, {name: codes[order].tolist() for name, codes in other.codes.items()})
    first, second = (attributed(real, o, sensitive="t", key=KEY) for o in (other, again))
    assert first.chances == pytest.approx(second.chances)
    assert first.votes.tolist() == second.votes.tolist()
    assert first.distances.tolist() == second.distances.tolist()


@given(seeds, sizes)
def test_the_original_gives_away_more_with_every_column(seed: int, rows: int) -> None:
    """Jensen: over a table itself GCAP and the vote grow with the key, from guess and zero rule."""
    table = drawn(ABC, rows, seed)
    found = [attribution(table, table, sensitive="t", key=KEY[:n]) for n in (1, 2, 3)]
    most = np.bincount(table.codes["t"]).max() / rows
    gcaps = [found[0].guess or 0.0, *(f.gcap or 0.0 for f in found)]
    votes = [most, *(f.vote or 0.0 for f in found)]
    for values in (gcaps, votes):
        assert all(later >= earlier - 1e-12 for earlier, later in pairwise(values))


def test_a_row_shows_nothing_by_accident() -> None:
    """What was attributed to each row is not printed."""
    table = drawn(ABC, 5, 1)
    assert "Attributed(private)" == repr(attributed(table, table, sensitive="t", key=KEY))
