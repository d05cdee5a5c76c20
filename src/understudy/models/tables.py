"""The released tables that a model was made from, as members of its archive.

The list of tables is in `tables.json`, with the variance of each, and says how many numbers
`tables.arrow` holds before any of them is read. They are released: keeping them costs nothing, and
another model can be fitted to them later without asking for anything again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.errors import UsageError
from understudy.facts.domain import Attributes, Domain
from understudy.models.archive import COUNTS, TABLES, Parts, arrow_bytes, json_bytes, within
from understudy.privacy.mechanisms.released import noise_of, table_question
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.privacy.statements.statement import Statement
from understudy.system.arrays import Numbers
from understudy.system.files.arrow import Types, UnsoundArrow, read_arrow
from understudy.system.files.members import parsed_document

_FEDERATED = "federated "
# Counts are whole, or multiples of a step: a model has tables of one kind.
_WHOLE, _IN_STEPS = pa.large_list(pa.int64()), pa.large_list(pa.float64())
_OF_COUNTS: Types = {"counts": (_WHOLE, _IN_STEPS)}


def table_members(tables: Sequence[NoisyMarginal]) -> dict[str, bytes]:
    """Return the members that hold some tables; none where there are no tables."""
    if not tables:
        return {}
    listed = [{"attributes": list(t.attributes), "variance": t.variance} for t in tables]
    whole = all(np.issubdtype(t.counts.dtype, np.integer) for t in tables)
    kind, numbers = (_WHOLE, np.int64) if whole else (_IN_STEPS, np.float64)
    counts = pa.array([np.asarray(t.counts, numbers).ravel() for t in tables], kind)
    return {
        TABLES: json_bytes({"tables": listed}),
        COUNTS: arrow_bytes(pa.table({"counts": counts})),
    }


def read_tables(parts: Parts, domain: Domain) -> tuple[NoisyMarginal, ...]:
    """Read the tables of an archive; versions before 3 kept none."""
    if TABLES not in parts:
        return ()
    announced = [_announced(entry, domain) for entry in _listed(parts)]
    cells = sum(domain.cells(attributes) for attributes, _ in announced)
    data = parts.table(COUNTS, cells=cells)
    with within(COUNTS):
        held = read_arrow(data, _OF_COUNTS, rows=len(announced))["counts"]
        return tuple(
            _table(attributes, variance, row, domain)
            for (attributes, variance), row in zip(announced, held, strict=True)
        )


def check_tables(tables: Sequence[NoisyMarginal], domain: Domain) -> None:
    """Refuse tables that are not over attributes of a domain."""
    for table in tables:
        if table.counts.shape != domain.shape(table.attributes):
            raise UsageError(f"the table of {', '.join(table.attributes)}: sizes do not match")


def check_paid(tables: Sequence[NoisyMarginal], statement: Statement) -> None:
    """Refuse tables that a private statement does not say were asked for, with that noise.

    Holders of a federation add up tables that each of them paid for; their sums are not compared.
    """
    if not statement.private or statement.method.startswith(_FEDERATED):
        return
    paid = [(charge.question, noise_of(charge.event)) for charge, _ in statement.grouped]
    for table in tables:
        question, noise = table_question(table.attributes), math.sqrt(table.variance)
        if not any(q == question and _same(n, noise) for q, n in paid):
            raise UsageError(
                f"the table of {', '.join(table.attributes)} is not among the answers that the "
                "statement lists; keep only tables that were released with it"
            )


def _same(paid: float | None, noise: float) -> bool:
    return paid is not None and math.isclose(paid, noise, rel_tol=1e-6)


def _listed(parts: Parts) -> list[Any]:
    found = parsed_document(parts.document(TABLES))["tables"]
    if not isinstance(found, list):
        raise ValueError(TABLES)
    return found


def _announced(entry: Any, domain: Domain) -> tuple[Attributes, float]:
    """The attributes and the variance of a table, if there can be such a table."""
    attributes, variance = tuple(map(str, entry["attributes"])), float(entry["variance"])
    if len(set(attributes)) < len(attributes) or set(attributes) - set(domain.names):
        raise ValueError(TABLES)
    if not math.isfinite(variance) or variance < 0:
        raise ValueError(TABLES)
    return attributes, variance


def _table(attributes: Attributes, variance: float, row: Any, domain: Domain) -> NoisyMarginal:
    """One table, whose numbers are counted before they are taken."""
    shape, found = domain.shape(attributes), len(row.values)
    if found != math.prod(shape) or row.values.null_count:
        raise UnsoundArrow(
            f"holds {found:,} numbers for a table that {TABLES} and the schema give "
            f"{math.prod(shape):,} cells"
        )
    return NoisyMarginal(attributes, _numbers(row.values).reshape(shape), variance)


def _numbers(values: Any) -> Numbers:
    """The counts of a table, whole or in steps."""
    if pa.types.is_integer(values.type):
        return np.array(values, np.int64)
    counts = np.array(values, np.float64)
    if not np.isfinite(counts).all():
        raise UnsoundArrow("holds a count that is not a finite number")
    return counts
