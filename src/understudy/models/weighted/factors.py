"""The archive of factors: how the tables of a log-linear model are written, read and checked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.errors import UsageError
from understudy.facts.domain import Attributes, Domain
from understudy.models.archive import (
    FACTORS,
    LOGARITHMS,
    Parts,
    arrow_bytes,
    json_bytes,
    within,
)
from understudy.models.weighted.raking import Aim
from understudy.system.files.arrow import Types, UnsoundArrow, read_arrow
from understudy.system.files.members import parsed_document

# Numbers that squares and exponentials of stay finite.
MOST_ROWS, LARGEST_LOGARITHM = 2.0**63, 600.0
_NUMBERS = pa.large_list(pa.float64())
_OF_FACTORS: Types = {"counts": (_NUMBERS,), "logarithms": (_NUMBERS,)}


def factor_members(aims: Sequence[Aim], facts: Mapping[str, object]) -> dict[str, bytes]:
    """The list of tables, beside facts of the whole law, and the numbers of all tables."""
    listed = [
        {"attributes": list(a.attributes), "variance": a.variance, "spread": a.spread} for a in aims
    ]
    columns = {
        "counts": pa.array([a.counts.ravel() for a in aims], _NUMBERS),
        "logarithms": pa.array([a.logarithms.ravel() for a in aims], _NUMBERS),
    }
    return {
        FACTORS: json_bytes({**facts, "tables": listed}),
        LOGARITHMS: arrow_bytes(pa.table(columns)),
    }


def read_factors(parts: Parts, domain: Domain) -> tuple[Mapping[str, Any], tuple[Aim, ...]]:
    """Read the facts of the law, then as many numbers as the list of tables announces."""
    document = parsed_document(parts.document(FACTORS))
    listed = [_announced(entry, domain) for entry in document["tables"]]
    cells = 2 * sum(domain.cells(attributes) for attributes, _, _ in listed)
    data = parts.table(LOGARITHMS, cells=cells)
    with within(LOGARITHMS):
        held = read_arrow(data, _OF_FACTORS, rows=len(listed))
        return document, tuple(_aims(listed, held, domain))


def _announced(entry: Any, domain: Domain) -> tuple[Attributes, float, float]:
    """The attributes of a table, its variance and its spread, if there can be such a table."""
    attributes = tuple(map(str, entry["attributes"]))
    if not attributes or len({*map(domain.base, attributes)}) < len(attributes):
        raise ValueError(FACTORS)
    return attributes, float(entry["variance"]), float(entry["spread"])


def _aims(
    listed: list[tuple[Attributes, float, float]], held: pa.Table, domain: Domain
) -> Iterator[Aim]:
    """The tables, whose numbers are counted before they are taken."""
    for (attributes, variance, spread), counts, logarithms in zip(
        listed, held["counts"], held["logarithms"], strict=True
    ):
        shape = domain.shape(attributes)
        if {len(counts.values), len(logarithms.values)} != {math.prod(shape)}:
            raise UnsoundArrow("holds another number of factors than the list announces")
        found = [np.array(each.values, np.float64).reshape(shape) for each in (counts, logarithms)]
        yield Aim(attributes, found[0], variance, spread=spread, logarithms=found[1])


def check_aim(aim: Aim, domain: Domain) -> None:
    """Refuse numbers that are not those of a table over these attributes."""
    shape = domain.shape(aim.attributes)
    fits = shape == aim.counts.shape == aim.logarithms.shape
    counted = fits and bool((np.abs(aim.counts) <= MOST_ROWS).all())
    sound = counted and bool((np.abs(aim.logarithms) < LARGEST_LOGARITHM).all())
    spread = 0.0 if aim.spread is None else aim.spread
    if not sound or not 0 <= aim.variance <= MOST_ROWS**2 or not 0 < spread < math.inf:
        raise UsageError(f"the factors of {', '.join(aim.attributes)} do not fit the attributes")
