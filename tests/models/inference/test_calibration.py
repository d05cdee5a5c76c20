"""All families' distributions at once are those of single questions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.networks import model_of, random_network
from support.tiers import examples
from understudy.errors import CapacityError
from understudy.models.inference import posterior
from understudy.models.inference.calibration import family_distributions


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(1, 9), st.integers(0, 3), st.integers(0, 2**32))
def test_families_are_as_asked_one_by_one(count: int, degree: int, seed: int) -> None:
    """For every family, axes in its own order, unseen combinations included."""
    model = model_of(random_network("abcdefghi"[:count], degree, seed), seed=seed)
    found = family_distributions(model.conditionals, model.domain, most_cells=10**6)
    for family in model.network:
        expected, _ = posterior(model.conditionals, family.attributes, {})
        np.testing.assert_allclose(expected, found[family.child], atol=1e-12)


def test_too_much_work_is_refused_before_it_begins() -> None:
    """With the cells that would be needed and those allowed."""
    model = model_of(random_network("abcdef", 3, 1))
    with pytest.raises(CapacityError, match=r"need [\d,]+ cells, and 20 are allowed"):
        family_distributions(model.conditionals, model.domain, most_cells=20)
