"""Two neighbouring tables that are hard on a method: one person unlike all the others, or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.domain import Domain
from understudy.engines.memory import MemorySource
from understudy.privacy.unit import Neighbours
from understudy.schema import Schema
from understudy.synthesizers import Histogram, Synthesizer
from understudy.table import Codes, Table

# Two columns are the fewest that have a structure, and leave the most budget for each answer.
SCHEMA = Schema.parse({"columns": {"first": {"kind": "boolean"}, "second": {"kind": "boolean"}}})

# A pair score moves by 2n / (n + 1) of its sensitivity's 2: from here on nearly by all of it.
_ROWS = 20


@dataclass(frozen=True)
class Pair:
    """Neighbouring tables, with and without the person that an attacker looks for."""

    present: MemorySource
    absent: MemorySource


def neighbours_for(synthesizer: Synthesizer) -> Pair:
    """Tables of equal rows, and one unlike them in every column: added, or in another's place.

    The values of that row occur nowhere else. In a histogram a row weighs the more the fewer
    there are, so that there it is the only one.
    """
    rows = 1 if isinstance(synthesizer, Histogram) else _ROWS
    ordinary = rows - (synthesizer.unit.neighbours is Neighbours.REPLACE)
    domain = Domain.of(synthesizer.schema)
    return Pair(_source(domain, ordinary, unlike=1), _source(domain, rows, unlike=0))


def _source(domain: Domain, ordinary: int, *, unlike: int) -> MemorySource:
    codes: dict[str, Codes] = {
        attribute: np.array([0] * ordinary + [size - 1] * unlike, np.uint16)
        for attribute, size in domain.sizes.items()
    }
    return MemorySource(Table(domain, codes, ordinary + unlike))
