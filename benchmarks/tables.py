"""Made-up tables of known shape, for work whose cost does not depend on real values."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from understudy.facts.codec import Codec
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import Random
from understudy.models.row_writing import write_rows
from understudy.models.sampling import sample_blocks
from understudy.rows.table import Table

# The shape of the Adult census table: fifteen columns, nine of them categorical.
_ADULT_SIZES = {
    "age": 74, "work": 9, "weight": 1_500_000, "school": 16, "years": 16, "married": 7, "job": 15,
    "role": 6, "origin": 5, "sex": 2, "gain": 99_999, "loss": 4_500, "hours": 99, "country": 42,
    "income": 2,
}  # fmt: skip
_ADULT_NUMBERS = ("age", "weight", "years", "gain", "loss", "hours")


def adult_shaped() -> Schema:
    """A schema of Adult's shape: numbers in 16 to 20 bins, categories of realistic length."""
    columns: dict[str, object] = {}
    for name, size in _ADULT_SIZES.items():
        if name in _ADULT_NUMBERS:
            columns[name] = {"kind": "integer", "min": 0, "max": size, "bins": min(size, 20)}
        else:
            values = [f"{name}-value-{i}" for i in range(size)]
            columns[name] = {"kind": "categorical", "values": values}
    return Schema.parse({"columns": columns})


def integers(sizes: dict[str, int]) -> Schema:
    """Whole numbers from 0, each a bin of its own, so that codes and values are the same."""
    columns = {
        name: {"kind": "integer", "min": 0, "max": max(size - 1, 1), "bins": max(size, 2)}
        for name, size in sizes.items()
    }
    return Schema.parse({"columns": columns})


def write_uniform(schema: Schema, rows: int, path: Path) -> None:
    """Write a file of random legal rows."""
    empty: dict[str, list[object]] = {name: [] for name in schema.columns}
    model = Random(schema, epsilon=1, rows=rows).fit(empty, ledger=None).model_
    write_rows(sample_blocks(model, seed=1), path, Codec(schema))


def skewed(rows: int, columns: int) -> Table:
    """The shape of the NIST challenge's census table: skewed columns of 2 to 100 values."""
    generator = np.random.default_rng(0)
    drawn = np.exp(generator.normal(2, 0.95, columns))
    sizes = {f"c{i}": int(np.clip(round(size), 2, 100)) for i, size in enumerate(drawn)}
    codes: dict[str, Codes] = {
        name: np.minimum(generator.zipf(1.6, rows) - 1, size - 1).astype(np.uint8)
        for name, size in sizes.items()
    }
    return Table(Domain(sizes), codes, rows)
