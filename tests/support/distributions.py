"""One small model of every kind of distribution, for whatever all kinds must keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from understudy.facts.axes import Axes
from understudy.facts.codes import code_type
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.gan.convolutions import ImageMaker, Shape
from understudy.gan.image_model import ImageGenerator
from understudy.gan.image_size import ImageSize
from understudy.gan.images import label_schema
from understudy.gan.moment_model import ImageMoments, sizes
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.distribution import CodedRows, Distribution
from understudy.models.generator import RowGenerator
from understudy.models.log_linear import LogLinear
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.records import ReleasedRecords
from understudy.models.weighted.pool import Pool
from understudy.models.weighted.raking import Aim, log_weights
from understudy.privacy.accounting.composition import PURE, Bound
from understudy.privacy.accounting.events import Charge, GaussianEvent
from understudy.privacy.mechanisms.released import table_question
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.privacy.statements.statement import Statement
from understudy.system.arrays import Floats

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


FACTORS: dict[tuple[str, ...], float] = {("sex",): 0.3, ("age", "well"): 1.0, ("sex", "well"): 0.5}


def log_linear() -> LogLinear:
    """The network times factors of three tables, whose counts are those of the law."""
    random = np.random.default_rng(9)
    logarithms = {
        names: random.normal(0, size, DOMAIN.shape(names)) for names, size in FACTORS.items()
    }
    return with_factors(network(), logarithms)


def with_factors(base: BayesNet, logarithms: Mapping[tuple[str, ...], Floats]) -> LogLinear:
    """A log-linear model whose tables have the counts that its own law expects."""
    aims = [
        Aim(names, np.zeros(table.shape), 1e-4, 1.0, table) for names, table in logarithms.items()
    ]
    law = LogLinear(base, tuple(aims), float(ROWS))
    counted = [replace(aim, counts=ROWS * table_of(law, aim.attributes)) for aim in aims]
    pool = Pool.of(law.domain, base.draw(50_000, np.random.default_rng(2)), 1.0)
    scale = float(np.log(np.exp(log_weights(pool, aims)).mean()))
    return replace(law, aims=tuple(counted), scale=scale, effective=0.5)


def enumerated(law: LogLinear) -> Floats:
    """The probability of every row of a small law, by multiplication; an axis each attribute."""
    every = law.domain.attributes
    grid = np.indices(law.domain.shape(every)).reshape(len(every), -1)
    codes: CodedRows = {
        a: held.astype(np.uint16).astype(code_type(law.domain[a]))
        for a, held in zip(every, grid, strict=True)
    }
    pool = Pool.of(law.domain, codes, 1.0)
    chances = np.exp(log_weights(pool, law.aims)) * law.base.chances_of(codes)
    return np.asarray((chances / chances.sum()).reshape(law.domain.shape(every)))


def table_of(law: LogLinear, names: tuple[str, ...]) -> Floats:
    """The distribution of some attributes, or coarser copies, by enumeration of all rows."""
    return Axes(law.domain.attributes).project(enumerated(law), names, law.domain)


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


def image_moments() -> ImageMoments:
    """Images of 5 by 4 pixels in two classes, two Gaussians for each."""
    random, size = np.random.default_rng(8), ImageSize(5, 4, classes=2)
    arrays = {name: random.normal(size=shape) / 9 for name, shape in sizes(size, 2).items()}
    plain = np.linspace(0, 255, len(arrays["drawn"]))
    positive = {"weights": np.array([1.0, 2.0, 3.0, 4.0]), "length": np.array([1e9])}
    return ImageMoments.of(size, {**arrays, **positive, "drawn": plain, "shown": plain})


KINDS: dict[str, Callable[[], Distribution]] = {
    "network": network,
    "log-linear": log_linear,
    "records": records,
    "generator": generator,
    "images": images,
    "image-moments": image_moments,
}
SCHEMAS = dict.fromkeys(KINDS, SCHEMA) | dict.fromkeys(("images", "image-moments"), label_schema(2))
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
