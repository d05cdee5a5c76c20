"""Releases as their laws say, where a shortcut would be tempting: tables, tails, nothing, keys."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.facts.unit import Neighbours, Unit
from understudy.methods import Random
from understudy.methods.auditing import SCHEMA
from understudy.methods.structure.scores import score_for
from understudy.privacy.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from understudy.privacy.mechanisms.keys import KeyRelease
from understudy.privacy.noise.system import SystemNoise
from understudy.privacy.replay import Recorder
from understudy.rows.counting import KeyCounts, Marginal

LAWS = {
    "Laplace": DiscreteLaplace(Fraction(10), Fraction(1)),
    "Gaussian": DiscreteGaussian(Fraction(100), Fraction(1)),
}
# How far a count of rare draws may be off, in standard deviations: once in 10¹⁰ tests.
WIDE = 7


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("shape", [(2, 2), (3, 4), (2, 3, 4)], ids=str)
def test_no_two_cells_of_a_table_share_noise(
    law: DiscreteLaplace | DiscreteGaussian, shape: tuple[int, ...]
) -> None:
    """Any two cells, not neighbours alone, whatever the table's shape."""
    exact = np.arange(np.prod(shape)).reshape(shape)
    drawn = np.stack([(law.release(exact, SystemNoise()) - exact).ravel() for _ in range(400)])
    for cell in range(drawn.shape[1]):
        equal = (drawn[:, cell + 1 :] == drawn[:, [cell]]).mean(axis=0)
        assert (equal < 0.3).all()


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_noise_reaches_as_far_as_its_law(law: DiscreteLaplace | DiscreteGaussian) -> None:
    """Beyond six scales, or three and a half deviations, are as many draws as should be."""
    far, draws = (60 if isinstance(law, DiscreteLaplace) else 35), 400_000
    drawn = law.release(np.zeros(draws, np.int64), SystemNoise())
    expected = draws * (1 - sum(law.probability(z) for z in range(-far, far + 1)))
    assert abs((np.abs(drawn) > far).sum() - expected) < WIDE * expected**0.5


@pytest.mark.parametrize("rows", [0, 1])
def test_the_number_of_no_rows_is_noisy(rows: int) -> None:
    """Through the Curator, with nothing or hardly anything to count."""
    made = {"first": ["usual"] * rows, "second": [0] * rows}
    noise = set()
    for _ in range(30):
        tape = Recorder()
        Random(SCHEMA, epsilon="1/10").with_tape(tape).fit(made, ledger=None)
        noise |= {int(exchange.released) - rows for exchange in tape.exchanges}
    assert len(noise) > 3


def test_keys_are_released_as_often_as_the_closed_form_says() -> None:
    """Keys of every count from one to above the threshold."""
    mechanism = KeyRelease.costing(Fraction(1, 2), Fraction(1, 20), Unit(Neighbours.ADD_REMOVE))
    keys = 20_000
    for count in range(1, mechanism.threshold + 3):
        exact = KeyCounts({f"{i}": count for i in range(keys)})
        found, chance = len(mechanism.release(exact, SystemNoise()).counts), mechanism.chance(count)
        assert abs(found - keys * chance) <= WIDE * (keys * chance * (1 - chance)) ** 0.5 + 1, count


def test_no_replaced_row_moves_information_by_more_than_its_sensitivity() -> None:
    """The score that a method takes where some columns have two values, and others three."""
    rows, generator = 6, np.random.default_rng(0)
    domain = Domain({"a": 2, "b": 3, "c": 3})
    score = score_for(Unit(Neighbours.REPLACE), rows, domain, name="MI")
    most = 0.0
    for _ in range(3000):
        cells = generator.integers(0, 9, rows)
        one = np.bincount(cells, minlength=9)
        two = one.copy()
        two[cells[0]] -= 1
        two[generator.integers(9)] += 1
        here, there = (score.kernel(Marginal(("b", "c"), c.reshape(3, 3))) for c in (one, two))
        most = max(most, abs(here - there))
    assert most <= score.sensitivity
