"""The public space of rows."""

from __future__ import annotations

import pytest
from hypothesis import given

from support.tables import schemas
from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema

DOMAIN = Domain({"sex": 2, "age": 16, "one": 1})


def test_shapes_and_cells_follow_the_order_asked_for() -> None:
    """A table over attributes has their sizes as its shape, and their product as its cells."""
    assert (16, 2) == DOMAIN.shape(("age", "sex"))
    assert 32 == DOMAIN.cells(("age", "sex"))
    assert () == DOMAIN.shape(())
    assert 1 == DOMAIN.cells(())


def test_a_domain_is_its_attributes_in_order() -> None:
    """Iteration, length and attributes agree."""
    assert ("sex", "age", "one") == DOMAIN.attributes == tuple(DOMAIN)
    assert 3 == len(DOMAIN)


def test_an_unknown_attribute_is_refused_by_name() -> None:
    """The message lists those that are known."""
    with pytest.raises(UsageError, match="attribute 'size' is unknown; known are sex, age, one"):
        DOMAIN.cells(("sex", "size"))


@given(schemas)
def test_the_domain_of_a_schema_has_every_learned_column(schema: Schema) -> None:
    """Ids are left out; every other column has its size, in order."""
    domain = Domain.of(schema)
    assert tuple(schema.learned) == domain.attributes
    assert all(1 <= size == schema.learned[name].size for name, size in domain.sizes.items())
