"""Groups of codes: names of their own, a domain with copies, and nothing that is not a grouping."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.facts.grouping import Grouping
from understudy.facts.hierarchy import Groups, Level

AGES = np.array([0, 0, 1, 2], np.uint16)


def test_copies_stand_beside_the_attributes() -> None:
    """The extended domain knows every copy by its name, with the size and the owner of it."""
    grouping = Grouping(Domain({"age": 4, "sex": 2}), {"age": AGES})
    extended = grouping.extended
    assert ("age in 3 groups", "sex") == grouping.seen(("age", "sex"))
    assert (3, "age") == (extended["age in 3 groups"], extended.base("age in 3 groups"))
    assert ("age", "sex") == grouping.finer(("age in 3 groups", "sex"))


def test_groups_are_made_of_the_coarsest_copy() -> None:
    """A group of groups holds the codes of all of them."""
    domain = Domain({"age": 4}, {"age / 2": Level("age", np.array([0, 0, 1, 1], np.uint16))})
    grouping = Grouping(domain, {"age": np.array([0, 0], np.uint16)})
    assert ("age / 2",) == grouping.finer(("age in 1 groups",))
    assert [0, 0, 0, 0] == grouping.extended.coarser["age in 1 groups"].groups.tolist()


def test_a_name_that_is_taken_is_not_given_again() -> None:
    """A column may be called what a copy would be called."""
    grouping = Grouping(Domain({"age": 4, "age in 3 groups": 2}), {"age": AGES})
    assert "age in 3 groups′" == grouping.names["age"]


@pytest.mark.parametrize(
    "groups",
    [
        {"height": AGES},
        {"age": AGES[:3]},
        {"age": AGES.reshape(2, 2)},
        {"age": np.array([0, 0, 2, 2], np.uint16)},
        {"age": np.array([1, 1, 2, 2], np.uint16)},
    ],
)
def test_what_is_not_a_grouping_is_refused(groups: dict[str, Groups]) -> None:
    """Unknown attributes, codes without a group, and groups without a code."""
    with pytest.raises(UsageError, match="group"):
        Grouping(Domain({"age": 4}), groups)
