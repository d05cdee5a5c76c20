"""Public tables of the shared folder, coded by public schemas, and one of a random network.

The folder is $UNDERSTUDY_SHARED, else ../shared. Adult is the coded training split that other tools
were measured on; the rest are coded by schemas made from their published descriptions.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet

from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import Random
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import sample_codes
from understudy.rows.table import Table
from understudy_studies.tables import DataFolder, coded, published_columns

SHARED = Path(os.environ.get("UNDERSTUDY_SHARED", Path(__file__).parents[2] / "shared"))
ADULT = SHARED / "benchmark" / "adult_train_coded.parquet"
CREDIT_CARD = SHARED / "data" / "creditcard_fraud.parquet"
# Fixed bounds of the credit card table's columns; the others are standardised components.
_BOUNDS = {"Time": (0.0, 172_800.0), "Amount": (0.0, 500.0), "Class": (0.0, 2.0)}


def adult() -> tuple[Schema, Table]:
    """The coded training split of the Adult benchmark."""
    schema = Schema.load(SHARED / "benchmark" / "adult.json")
    rows = pyarrow.parquet.read_table(ADULT)
    codes: dict[str, Codes] = {
        name: rows[name].to_numpy().astype(code_type(size))
        for name, size in schema.attributes.items()
    }
    return schema, Table(Domain.of(schema), codes, rows.num_rows)


def generated() -> tuple[Schema, Table]:
    """Rows of a random network: 20 attributes of 2 to 12 values, up to three parents each."""
    generator = np.random.default_rng(2)
    sizes = {f"a{i}": int(generator.integers(2, 13)) for i in range(20)}
    columns = {n: {"kind": "integer", "min": 0, "max": s - 1} for n, s in sizes.items()}
    schema, names = Schema.parse({"columns": columns}), list(sizes)
    conditionals = []
    for i, child in enumerate(names):
        count = min(i, int(generator.integers(0, 4)))
        parents = tuple(generator.choice(names[:i], count, replace=False).tolist()) if count else ()
        shape = [sizes[a] for a in parents]
        table = generator.dirichlet(np.full(sizes[child], 0.5), shape)
        conditionals.append(Conditional(Family(child, parents), table))
    empty = (
        Random(schema, epsilon=1, rows=50_000).fit({name: [] for name in names}, ledger=None).model_
    )
    model = Model(schema, BayesNet.of(schema, conditionals), 50_000, empty.statement)
    return schema, Table(Domain.of(schema), sample_codes(model, 50_000, generator), 50_000)


def described(stem: str, data: str) -> tuple[Schema, Table]:
    """A table coded by its description file; columns without a published domain are left out."""
    shelf = DataFolder(SHARED)
    columns = published_columns(shelf.description(f"data/{stem}.json"), ids=True)
    return coded(columns, [shelf.path(f"data/{data}")])


TABLES: dict[str, Callable[[], tuple[Schema, Table]]] = {
    "adult": adult,
    "cmc": lambda: described("cmc", "cmc.csv"),
    "generated": generated,
    "diabetes": lambda: described("diabetes_130us", "diabetes_130us.parquet"),
    "poker": lambda: described("poker_hand_train", "poker_hand_train.parquet"),
}


def credit_card() -> Table:
    """The credit card table cut into 20 equal bins between fixed bounds, the class kept."""
    rows = pyarrow.parquet.read_table(CREDIT_CARD)
    codes: dict[str, Codes] = {}
    for name in rows.column_names:
        values = rows[name].to_numpy().astype(float)
        low, high = _BOUNDS.get(name, (-5.0, 5.0))
        size = 2 if name == "Class" else 20
        cut = np.clip((values - low) / (high - low) * size, 0, size - 1)
        codes[name] = cut.astype(np.uint8)
    sizes = {name: 2 if name == "Class" else 20 for name in codes}
    return Table(Domain(sizes), codes, rows.num_rows)


def part(table: Table, *, rows: int, columns: int) -> Table:
    """The first rows and columns of a table."""
    names = table.domain.attributes[:columns]
    codes: dict[str, Codes] = {name: table.codes[name][:rows] for name in names}
    return Table(Domain({name: table.domain[name] for name in names}), codes, min(rows, table.rows))
