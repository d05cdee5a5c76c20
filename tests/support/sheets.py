"""Small tables for metrics: schemas and rows written out by hand, or drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from understudy.evaluation.comparison import Comparison
from understudy.evaluation.sheets import EvaluationTable, load
from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.rows.table import Table


def listed(**sizes: int) -> Schema:
    """A schema of categories named 0, 1, 2 and so on."""
    columns = {
        name: {"kind": "categorical", "values": [str(i) for i in range(size)]}
        for name, size in sizes.items()
    }
    return Schema.parse({"columns": columns})


def coded(schema: Schema, columns: Mapping[str, Sequence[int]]) -> Table:
    """A table of the given codes."""
    sizes = schema.attributes
    codes: dict[str, Codes] = {
        name: np.array(columns[name]).astype(code_type(size)) for name, size in sizes.items()
    }
    return Table(Domain.of(schema), codes, len(next(iter(columns.values()))))


def drawn(schema: Schema, rows: int, seed: int) -> Table:
    """A table of random codes, low ones more often than high ones."""
    generator = np.random.default_rng(seed)
    return coded(
        schema,
        {
            name: np.minimum(generator.geometric(0.4, rows) - 1, size - 1).tolist()
            for name, size in schema.attributes.items()
        },
    )


def sheet(schema: Schema, table: Table) -> EvaluationTable:
    """A table of codes as an evaluation sees it."""
    return load(table, schema, side="real", seed=0)


def comparison(schema: Schema, real: Table, synthetic: Table, *, seed: int = 0) -> Comparison:
    """Two tables side by side."""
    return Comparison.of(schema, sheet(schema, real), sheet(schema, synthetic), seed=seed)
