"""Noise that is as claimed passes; shared, repeated, narrow or shifted noise is named."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from support.methods import BUILDERS
from understudy.methods import Independent, Synthesizer
from understudy.methods.auditing import (
    SCHEMA,
    NoiseVerdict,
    Tally,
    draws_of,
    neighbours_for,
    run_on,
)
from understudy.privacy.curator import Instruments
from understudy.privacy.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, ExactAnswer
from understudy.privacy.mechanisms.histogram import SmoothedHistogram
from understudy.privacy.mechanisms.sampled import LineGaussian
from understudy.privacy.mechanisms.selection import Exponential, PermuteAndFlip
from understudy.privacy.noise.system import Noise, SystemNoise
from understudy.system.arrays import Integers

# All tests of noise together accuse noise without fault less than once in a million runs.
ERROR = 1e-6

one = Fraction(1)
ADDITIVE = [
    DiscreteLaplace(Fraction(1, 3), one),
    DiscreteLaplace(Fraction(7, 2), one),
    DiscreteGaussian(Fraction(1, 4), one),
    DiscreteGaussian(Fraction(90), one),
]
SCORES = np.array([0, 3, 8, 8, 12, 15])


# --- places within a law ---------------------------------------------------------------------


@pytest.mark.parametrize("law", ADDITIVE, ids=str)
def test_places_of_added_noise_have_mean_zero(law: DiscreteLaplace | DiscreteGaussian) -> None:
    """Summed over the closed form: both kinds of place, and no more spread than is allowed for."""
    values = np.arange(-120, 121)
    chances = np.array([law.probability(int(value)) for value in values])
    draws = draws_of(law, np.zeros(values.size, np.int64), values)
    assert draws is not None
    assert draws.side is not None
    for places in (draws.size, draws.side):
        assert (chances @ places) == pytest.approx(0, abs=1e-9)
        assert (chances @ places**2) <= 1 / 12 + 1e-12
        assert np.abs(places).max() <= 0.5
    assert (chances @ chances) == pytest.approx(draws.equal)


@pytest.mark.parametrize("kind", [PermuteAndFlip, Exponential])
def test_places_of_choices_have_mean_zero(kind: type[PermuteAndFlip | Exponential]) -> None:
    """Over all candidates by their closed-form chances; a better choice has a lower place."""
    choice = kind(Fraction(6), one)
    places = []
    for chosen in range(SCORES.size):
        draws = draws_of(choice, SCORES, np.array(chosen))
        assert draws is not None
        places.append(float(draws.size[0]))
    assert (choice.probabilities(SCORES) @ np.array(places)) == pytest.approx(0, abs=1e-12)
    assert places[5] < places[4] < places[1]


def test_places_of_drawn_rows_have_mean_zero() -> None:
    """By the chance that a row of the table, or any other, is drawn."""
    mechanism = SmoothedHistogram(
        epsilon=Fraction(5), smoothing=Fraction(1, 4), cells=(6,), table_rows=4, draws=1
    )
    exact = np.array([[0], [0], [3], [-1]])
    every = np.arange(6)[:, None]
    draws = draws_of(mechanism, exact, every)
    assert draws is not None
    chances = np.array([float(c) for c in mechanism.chances(exact, every)])
    assert chances.sum() == pytest.approx(1)
    assert (chances @ draws.size) == pytest.approx(0, abs=1e-12)


def test_wide_laws_have_the_places_of_continuous_ones() -> None:
    """Noise of lines, whose variance no table holds, and a table's last law agree."""
    wide, tabled = DiscreteGaussian(Fraction(10_001), one), DiscreteGaussian(Fraction(9_999), one)
    values = np.arange(-400, 401, 7)
    places = [draws_of(law, np.zeros_like(values), values) for law in (wide, tabled)]
    assert places[0] is not None
    assert places[1] is not None
    assert np.abs(places[0].size - places[1].size).max() < 2e-4
    lines = LineGaussian(Fraction(10_001), 3, 4)
    found = draws_of(lines, np.array([[1, 2]]), np.array([[103, -94]]))
    assert found is not None
    assert [100, -100] == (found.noise if found.noise is not None else np.array([])).tolist()


def test_what_has_no_noise_has_no_places() -> None:
    """An exact answer, or a mechanism whose law is not known here."""
    assert draws_of(ExactAnswer(), np.array([1]), np.array([1])) is None
    assert draws_of(PermuteAndFlip(one, one), np.array([7]), np.array(0)) is None


# --- tests of noise ---------------------------------------------------------------------------

LAW = DiscreteLaplace(Fraction(3), one)
Made = Callable[[int], list[Integers]]


def _verdict(made: Made, runs: int = 200, error: float = ERROR) -> NoiseVerdict:
    """Of runs with two questions of four cells each, whose noise is made by a function."""
    tally, zero = Tally(), np.zeros(4, np.int64)
    for run in range(runs):
        tally.add_run(["a", "b"], [draws_of(LAW, zero, zero + noise) for noise in made(run)])
    return tally.verdict(error)


def _fresh(scale: Fraction = LAW.scale, size: int = 4) -> Integers:
    return SystemNoise().laplace(scale, size)


def _shared(run: int) -> list[Integers]:
    return [_fresh()] * 2


def _opposite(run: int) -> list[Integers]:
    first = _fresh()
    return [first, -first]


def _reordered(run: int) -> list[Integers]:
    first = _fresh()
    return [first, first[::-1].copy()]


def _narrow(run: int) -> list[Integers]:
    return [_fresh(LAW.scale * Fraction(8, 10)) for _ in range(2)]


def _wide(run: int) -> list[Integers]:
    return [_fresh(LAW.scale * Fraction(12, 10)) for _ in range(2)]


def _shifted(run: int) -> list[Integers]:
    return [_fresh() + 1, _fresh()]


def _one_for_all_cells(run: int) -> list[Integers]:
    return [np.repeat(_fresh(size=1), 4) for _ in range(2)]


@pytest.mark.parametrize(
    ("made", "kinds"),
    [
        (_shared, {"equal noise in two questions", "independence of questions"}),
        (_opposite, {"independence of questions"}),
        (_reordered, {"independence of questions"}),
        (_narrow, {"scale"}),
        (_wide, {"scale"}),
        (_shifted, {"centre"}),
        (_one_for_all_cells, {"independence of cells"}),
    ],
)
def test_a_fault_of_noise_is_named(made: Made, kinds: set[str]) -> None:
    """Enough runs find it with certainty, and sentences say where."""
    verdict = _verdict(made, 1500)
    assert kinds <= {fault.kind for fault in verdict.faults}
    assert all(fault.sentence.startswith("the noise on ") for fault in verdict.faults)


def test_noise_that_comes_again_is_named() -> None:
    """Noise that repeats in every run, in the next one, or once much later is named."""
    kept = [_fresh(), _fresh()]
    assert "equal noise in two runs" in _kinds(_verdict(lambda run: kept))
    pairs = [[_fresh(), _fresh()] for _ in range(100)]
    assert "equal noise in two runs" in _kinds(_verdict(lambda run: pairs[run // 2]))
    law, zero, tally = DiscreteGaussian(Fraction(2**80), one), np.zeros(9, np.int64), Tally()
    noises = [SystemNoise().gaussian(law.sigma_squared, 9) for _ in range(50)]
    for noise in [*noises, noises[7]]:
        tally.add_run(["a"], [draws_of(law, zero, noise)])
    assert {"repeated runs"} == _kinds(tally.verdict(ERROR))


def _kinds(verdict: NoiseVerdict) -> set[str]:
    return {fault.kind for fault in verdict.faults}


@pytest.mark.slow
def test_noise_without_fault_is_hardly_ever_accused() -> None:
    """At an error of a tenth, fewer than one in ten of two hundred verdicts accuse."""
    accused = sum(
        bool(_verdict(lambda run: [_fresh(), _fresh()], 20, 0.1).faults) for _ in range(200)
    )
    assert accused < 20


def test_tallies_of_processes_add_up() -> None:
    """Two halves together are the whole but for the runs that meet where it was cut."""
    zero = np.zeros(4, np.int64)
    runs = [[draws_of(LAW, zero, _fresh()) for _ in range(2)] for _ in range(40)]
    halves = [Tally(), Tally()]
    for place, run in enumerate(runs):
        halves[place // 20].add_run(["a", "b"], run)
    whole = Tally()
    for run in runs:
        whole.add_run(["a", "b"], run)
    together = Tally()
    for half in halves:
        together.merge(half)
    assert whole.sums.keys() == together.sums.keys()
    for key in [("size", 0, 0), ("pair", 0, 1), ("pair means", 0, 1)]:
        assert whole.sums[key] == pytest.approx(together.sums[key])
    assert whole.equal["pair", 0, 1] == pytest.approx(together.equal["pair", 0, 1])
    assert 40 == together.whole.total()
    assert math.isclose(whole.rarest, together.rarest)


# --- methods ----------------------------------------------------------------------------------


class Same(SystemNoise):
    """Draws once for each law and size in the life of a fit."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[str, Fraction, int], Integers] = {}

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """The first draw, whenever it is asked for."""
        key = ("laplace", scale, size)
        return self._drawn.setdefault(key, super().laplace(scale, size))

    def gaussian(self, sigma_squared: Fraction, size: int) -> Integers:
        """The first draw, whenever it is asked for."""
        key = ("gaussian", sigma_squared, size)
        return self._drawn.setdefault(key, super().gaussian(sigma_squared, size))


# Methods that put additive noise on several answers.
SEVERAL = [
    name
    for name in BUILDERS
    if name.startswith(("independent", "nist", "privbayes")) and "genetic" not in name
]


@pytest.mark.slow
@pytest.mark.parametrize("name", SEVERAL)
def test_noise_shared_by_questions_is_found_in_every_method(name: str) -> None:
    """One draw for all tables of a size and scale, which most attacks do not see."""
    method = BUILDERS[name](SCHEMA)
    assert {"equal noise in two questions"} <= _kinds(_of_method(method, Same, runs=60))


def _of_method(method: Synthesizer, noise: Callable[[], Noise], *, runs: int) -> NoiseVerdict:
    table, tally = neighbours_for(method).present, Tally()
    for _ in range(runs):
        answers: Any = run_on(method.with_instruments(Instruments(noise=noise())), table).answers
        tally.add_run([a.charge.question for a in answers], [a.draws for a in answers])
    return tally.verdict(ERROR)


class Narrow(SystemNoise):
    """Laplace noise of 0.8 times its scale."""

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """Too little."""
        return super().laplace(scale * Fraction(4, 5), size)


@pytest.mark.slow
def test_narrow_noise_of_a_method_is_found() -> None:
    """By its scale, within twelve hundred fits."""
    verdict = _of_method(Independent(SCHEMA, epsilon=1), Narrow, runs=1200)
    assert {"scale"} <= _kinds(verdict)
