"""A made-up table with the columns of the census of the NIST challenge.

The challenge's rows are not public here; its specification is, which names 98 columns and their
largest codes. Rows are made up: each column is half of the time a function of an earlier one.
"""

from __future__ import annotations

import numpy as np

from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.rows.table import Table
from understudy_studies.tables import DataFolder

SPECIFICATION = "data/nist2018_match3_docs/colorado-specs.json"
ROLES = {"city": "CITY", "gender": "SEX", "income": "INCWAGE"}
_MOST_BINS = 100


def census_schema(shelf: DataFolder, columns: int = 98) -> Schema:
    """The first columns of the challenge's table, codes cut to at most 100 bins."""
    entries = list(shelf.description(SPECIFICATION).items())[:columns]
    largest = {name: max(int(entry["maxval"]), 1) for name, entry in entries}
    described = {name: _column(name, most) for name, most in largest.items()}
    roles = {role: name for role, name in ROLES.items() if name in described}
    return Schema.parse({"columns": described, "roles": roles})


def _column(name: str, most: int) -> dict[str, object]:
    # Genders are coded 1 and 2, and the task of regression needs two of them.
    low = 1 if name == ROLES["gender"] else 0
    return {"kind": "integer", "min": low, "max": most, "bins": min(most - low + 1, _MOST_BINS)}


def dependent(domain: Domain, rows: int, *, seed: int | None = None) -> Table:
    """Each attribute half of the time a function of an earlier one, else skewed noise.

    Args:
        domain: the attributes.
        rows: how many; the law follows from them and the domain.
        seed: asks for other rows of the same law; the table itself unless given.
    """
    generator = np.random.default_rng(0)
    fresh = None if seed is None else np.random.default_rng(seed)
    codes: dict[str, Codes] = {}
    for place, (name, size) in enumerate(domain.sizes.items()):
        own = generator.zipf(1.7, rows)
        earlier = list(codes.values())[int(generator.integers(0, place))] if place else None
        chance = generator.random(rows)
        if fresh is not None:
            own, chance = fresh.zipf(1.7, rows), fresh.random(rows)
        own = np.minimum(own - 1, size - 1)
        copied = ((own if earlier is None else earlier.astype(np.int64)) * 7 + place) % size
        codes[name] = np.where(chance < 0.5, copied, own).astype(code_type(size))
    return Table(domain, codes, rows)
