"""Networks and models of all shapes, drawn by a seed or by hypothesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.model import Model
from understudy.models.network import Family, Network
from understudy.models.records import ReleasedRecords
from understudy.privacy.accounting.composition import PURE, Bound
from understudy.privacy.statements.statement import Statement


def random_network(names: Sequence[str], degree: int, seed: int) -> Network:
    """Up to a number of parents for each name, among those before it."""
    draw = Random(seed)
    return Network(
        tuple(
            Family(name, tuple(draw.sample(names[:i], min(i, draw.randint(0, degree)))))
            for i, name in enumerate(names)
        )
    )


def named(count: int) -> list[str]:
    """Names of many lengths."""
    return [f"{'attribute of a person '[: 1 + 7 * i % 23]}{i}" for i in range(count)]


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Up to 25 attributes with up to four parents each."""
    count = draw(st.integers(1, 25))
    return random_network(named(count), draw(st.integers(0, 4)), draw(st.integers(0, 2**32)))


def model_of(
    network: Network,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    seed: int = 0,
    constraints: Sequence[str] = (),
) -> Model:
    """A model whose tables are drawn at random, some chances zero; three values by default."""
    generator = np.random.default_rng(seed)
    small = {"kind": "integer", "min": 0, "max": 2}
    schema = Schema.parse(
        {"columns": columns or dict.fromkeys(network.order, small), "constraints": [*constraints]}
    )
    sizes = schema.attributes
    conditionals = []
    for family in network:
        shape = [sizes[attribute] for attribute in family.attributes]
        weights = generator.random(shape) * (generator.random(shape) < 0.8)
        conditionals.append(Conditional.from_weights(family, weights))
    bound = Bound(PURE, Fraction(1), Fraction(0))
    statement = Statement("privbayes", bound, Unit(Neighbours.REPLACE), ())
    return Model(schema, BayesNet.of(schema, conditionals), 1000, statement)


def records_of(model: Model) -> ReleasedRecords:
    """The released rows that a model holds."""
    assert isinstance(model.distribution, ReleasedRecords)
    return model.distribution
