"""One small model of every kind of distribution, for whatever all kinds must keep."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.gan.convolutions import ImageMaker, Shape
from understudy.gan.image_model import ImageGenerator
from understudy.gan.images import label_schema
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.distribution import Distribution
from understudy.models.generator import RowGenerator
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.records import ReleasedRecords
from understudy.privacy.accounting.composition import PURE, Bound
from understudy.privacy.accounting.events import Charge, GaussianEvent
from understudy.privacy.mechanisms.released import table_question
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.privacy.statements.statement import Statement

SCHEMA = Schema.parse(
    {
        "columns": {
            "age": {"kind": "integer", "min": 0, "max": 39, "bins": 4},
            "sex": {"kind": "categorical", "values": ["female", "male"]},
            "well": {"kind": "boolean"},
        }
    }
)
DOMAIN = Domain.of(SCHEMA)
ROWS = 300


def network() -> BayesNet:
    """Age depends on sex, and health on both."""
    generator = np.random.default_rng(3)
    families = [Family("sex"), Family("age", ("sex",)), Family("well", ("age", "sex"))]
    shapes = [DOMAIN.shape(family.attributes) for family in families]
    return BayesNet(
        DOMAIN,
        tuple(
            Conditional.from_weights(family, generator.random(shape) + 0.1)
            for family, shape in zip(families, shapes, strict=True)
        ),
    )


def records() -> ReleasedRecords:
    """Rows that were drawn from the network once."""
    return ReleasedRecords(DOMAIN, network().draw(ROWS, np.random.default_rng(4)))


def generator() -> RowGenerator:
    """Two layers, and a target that is drawn first."""
    random, codes = np.random.default_rng(5), sum(DOMAIN.sizes.values())
    sizes = {"w0": (6, 8), "b0": (8,), "w1": (8, codes), "b1": (codes,)}
    weights = {name: random.normal(size=size).astype(np.float32) for name, size in sizes.items()}
    return RowGenerator(DOMAIN, weights, "sex", (0.25, 0.75))


def images() -> ImageGenerator:
    """Images of 8 by 8 pixels in two classes."""
    random, maker = np.random.default_rng(7), ImageMaker(Shape(8, 8, 2), 3, (4, 4, 4))
    weights = {name: random.normal(size=size) for name, size in maker.sizes.items()}
    singles = {name: array.astype(np.float32) for name, array in weights.items()}
    return ImageGenerator.of(maker, singles, (0.25, 0.75))


KINDS: dict[str, Callable[[], Distribution]] = {
    "network": network,
    "records": records,
    "generator": generator,
    "images": images,
}
SCHEMAS = dict.fromkeys(KINDS, SCHEMA) | {"images": label_schema(2)}
TABLES = ((), ("y",), ("sex",), ("well", "age"))
STATEMENT = Statement(
    "a method",
    Bound(PURE, Fraction(1), Fraction(0)),
    Unit(Neighbours.REPLACE),
    tuple(
        Charge(table_question(names), GaussianEvent(Fraction(5, 2) + place, Fraction(1)))
        for place, names in enumerate(TABLES)
    ),
)


def tables(domain: Domain) -> tuple[NoisyMarginal, ...]:
    """The number of rows, a column, and a pair in an order of its own, some counts negative."""
    random = np.random.default_rng(6)
    return tuple(
        NoisyMarginal(names, random.integers(-5, 90, domain.shape(names)), 2.5 + place)
        for place, names in enumerate(TABLES)
        if set(names) <= set(domain)
    )


def model_with(kind: str) -> Model:
    """A model of a kind that keeps its tables."""
    law = KINDS[kind]()
    return Model(
        schema=SCHEMAS[kind],
        distribution=law,
        rows=ROWS,
        statement=STATEMENT,
        tables=tables(law.domain),
    )
