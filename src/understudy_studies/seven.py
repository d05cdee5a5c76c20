"""TUC-1's made-up network: seven attributes, six of two values and one of three, 5.12 bits.

The printed network is lost: the one here has its shape and its entropy and is fixed below.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from understudy.evaluation.marginals.fidelity import row_probabilities
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import Random
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import sample_codes
from understudy.rows.table import Table
from understudy.system.arrays import Probabilities

ENTROPY = 5.12
PARENTS = {
    "a": (),
    "b": ("a",),
    "c": ("a",),
    "d": ("b", "c"),
    "e": ("c",),
    "f": ("d",),
    "g": ("d", "e"),
}
SIZES = {"a": 2, "b": 2, "c": 3, "d": 2, "e": 2, "f": 2, "g": 2}


@cache
def seven_attributes() -> tuple[Schema, Model]:
    """The fixed network, its conditionals sharpened until the entropy is 5.12 bits."""
    columns = {n: {"kind": "integer", "min": 0, "max": s - 1} for n, s in SIZES.items()}
    schema = Schema.parse({"columns": columns})
    low, high = 0.0, 8.0
    for _ in range(60):
        sharpness = (low + high) / 2
        low, high = (
            (sharpness, high)
            if entropy(_network(schema, sharpness)) > ENTROPY
            else (low, sharpness)
        )
    return schema, _network(schema, high)


def _network(schema: Schema, sharpness: float) -> Model:
    generator = np.random.default_rng(7)
    conditionals = []
    for child, parents in PARENTS.items():
        weights = np.exp(sharpness * generator.random([SIZES[a] for a in (*parents, child)]))
        conditionals.append(Conditional.from_weights(Family(child, parents), weights))
    empty = Random(schema, epsilon=1, rows=1).fit({name: [] for name in SIZES}, ledger=None).model_
    return Model(schema, BayesNet.of(schema, conditionals), 1, empty.statement)


def every_row() -> Table:
    """Each of the 192 rows that there can be, once."""
    rows = np.array(list(product(*(range(size) for size in SIZES.values()))), np.uint8)
    codes: dict[str, Codes] = {name: rows[:, i].copy() for i, name in enumerate(SIZES)}
    return Table(Domain.of(_schema()), codes, len(rows))


def _schema() -> Schema:
    columns = {n: {"kind": "integer", "min": 0, "max": s - 1} for n, s in SIZES.items()}
    return Schema.parse({"columns": columns})


def chances() -> Probabilities:
    """Return the true probability of every row."""
    return row_probabilities(seven_attributes()[1], every_row())


def entropy(model: Model) -> float:
    """The exact entropy in bits, by going through every row there can be."""
    probability = row_probabilities(model, every_row())
    return float(-(probability * np.log2(probability)).sum())


def drawn(rows: int, generator: np.random.Generator) -> Table:
    """Rows of the fixed network."""
    schema, truth = seven_attributes()
    return Table(Domain.of(schema), sample_codes(truth, rows, generator), rows)
