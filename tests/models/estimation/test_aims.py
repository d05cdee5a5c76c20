"""Aims: what released tables say together about the sets of attributes that they share."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.models.estimation.aims import aims_of, towards_even
from understudy.privacy.noisy_marginal import NoisyMarginal

DOMAIN = Domain({"a": 2, "b": 3})


def _aims(*marginals: NoisyMarginal) -> dict[tuple[str, ...], tuple[list[float], float]]:
    found = aims_of(marginals, DOMAIN)
    return {aim.attributes: (aim.counts.ravel().tolist(), aim.variance) for aim in found}


def test_tables_are_averaged_by_the_inverse_of_their_variances() -> None:
    """The mean of two measurements, and the variance that it has."""
    one = NoisyMarginal(("a",), np.array([10, 20]), 1.0)
    other = NoisyMarginal(("a",), np.array([14, 12]), 3.0)
    [(counts, variance)] = _aims(one, other).values()
    assert [11.0, 18.0] == pytest.approx(counts)
    assert 0.75 == pytest.approx(variance)


def test_a_table_speaks_for_every_set_of_its_attributes() -> None:
    """Sums over the others, whose noise adds up; smaller sets come first."""
    pair = NoisyMarginal(("b", "a"), 10 * np.arange(6).reshape(3, 2), 2.0)
    found = _aims(pair)
    assert [("a",), ("b",), ("a", "b")] == [*found]
    assert ([60.0, 90.0], 6.0) == found["a",]
    assert ([10.0, 50.0, 90.0], 4.0) == found["b",]
    assert ([0.0, 20.0, 40.0, 10.0, 30.0, 50.0], 2.0) == found["a", "b"]


def test_exact_tables_outweigh_all_others() -> None:
    """Without noise a variance is not zero, so that means are numbers."""
    exact, noisy = NoisyMarginal(("a",), np.array([7, 3]), 0.0), np.array([90, 90])
    counts, variance = _aims(exact, NoisyMarginal(("a",), noisy, 4.0))["a",]
    assert [7.0, 3.0] == pytest.approx(counts, abs=1e-3)
    assert 0 < variance < 1e-5


def test_the_number_of_rows_by_itself_has_no_cells_to_aim_at() -> None:
    """A table of no attributes is left to the total."""
    assert {} == _aims(NoisyMarginal((), np.array(9), 1.0))


COLUMNS = {"a": {"kind": "boolean", "missing": []}, "b": {"kind": "boolean", "missing": []}}
RULED = Schema.parse({"columns": COLUMNS, "constraints": ["if a = true then b = true"]})


def test_cells_that_a_constraint_forbids_are_emptied() -> None:
    """They hold noise alone, unless private rows are against it."""
    domain = Domain.of(RULED)
    counts = np.full(domain.shape(("a", "b")), 5)
    nogoods = {nogood for constraint in RULED.constraints for nogood in constraint.nogoods}
    found = aims_of([NoisyMarginal(("a", "b"), counts, 1.0)], domain, nogoods)
    emptied = next(aim.counts for aim in found if aim.attributes == ("a", "b"))
    assert 0 < (emptied == 0).sum() < emptied.size


def test_counts_of_one_attribute_that_may_be_noise_are_shrunk_to_equal_ones() -> None:
    """All of them where they spread less than noise; a part where they spread a little more."""
    assert [5.0, 5.0, 5.0] == towards_even(np.array([4.0, 5.0, 6.0]), 9.0).tolist()
    found = towards_even(np.array([2.0, 5.0, 8.0]), 6.0)
    assert [4.0, 5.0, 6.0] == pytest.approx(found.tolist())


def test_clear_counts_of_one_attribute_stay_as_they_are() -> None:
    """Shrinking them would make them wrong; exact ones have no noise at all."""
    for counts, variance in (([0.0, 5.0, 100.0], 9.0), ([4.0, 5.0, 6.0], 1e-6)):
        assert counts == towards_even(np.array(counts), variance).tolist()


def test_equal_counts_stay_equal() -> None:
    """There is nothing to shrink."""
    assert [3.0, 3.0] == towards_even(np.array([3.0, 3.0]), 1.0).tolist()
