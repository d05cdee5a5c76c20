"""Rows from a model. All of it is post-processing: it costs no budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from understudy.errors import UsageError
from understudy.models.imputation import Imputation
from understudy.models.sampling.backtracking import step_back_codes
from understudy.models.sampling.conditional import ConditionedModel, given
from understudy.models.sampling.forward import sample_codes
from understudy.models.sampling.ways import How, Sampler
from understudy.models.sampling.weighting import weighted_codes
from understudy.models.sampling.without_replacement import deal_codes

if TYPE_CHECKING:
    from understudy.models.model import Model

__all__ = [
    "ConditionedModel",
    "How",
    "Sampler",
    "deal_codes",
    "given",
    "sample_blocks",
    "sample_codes",
    "sample_rows",
    "step_back_codes",
    "weighted_codes",
]

_BLOCK = 1 << 18


def sample_blocks(
    model: Model,
    rows: int | None = None,
    *,
    seed: int | None = None,
    sampler: Sampler = deal_codes,
    where: str | ConditionedModel | None = None,
    how: How | str | None = None,
) -> Iterator[pa.Table]:
    """Synthetic rows in blocks, at least one block even when there are no rows.

    Args:
        model: what to sample from.
        rows: how many; as many as the model declares by default.
        seed: makes the rows repeatable; it has no part in the privacy of the model.
        sampler: `deal_codes`, without replacement, whose tables stray less from the model, or
            `sample_codes`, which draws rows independently. A model of records has neither: its
            rows come as they were released, the first ones first.
        where: what all rows must fit, such as "age >= 30, sex = Female", or what `given` made of
            that. A model of records keeps those of its rows that fit: all of them, unless fewer
            are asked for.
        how: for conditions in a text, "exact", "rejection" or "weighting"; exact where the network
            allows it, unless given.
    """
    if rows is not None and rows < 0:
        raise UsageError(f"rows is {rows}; ask for none or more")
    if where is not None:
        known = given(model, where, how=how, sampler=sampler) if isinstance(where, str) else where
        yield from _blocks_given(known, rows, seed)
        return
    if how is not None:
        raise UsageError(
            f"how is {how!r}, which says how rows under conditions are drawn, and there are none; "
            "give conditions as where, or leave out how"
        )
    wanted = model.rows if rows is None else rows
    model.law.check_rows(wanted)
    imputation, generator = Imputation(model), np.random.default_rng(seed)
    decoder = model.decoder.filling(imputation.fills)
    starts = range(0, max(wanted, 1), _BLOCK)
    sizes = (min(_BLOCK, wanted - start) for start in starts)
    blocks = model.law.blocks(sizes, generator, sampler=sampler)
    for start, drawn in zip(starts, blocks, strict=True):
        codes = imputation.filled(drawn, generator)
        yield decoder.decode(codes, generator=generator, first_row=start + 1)


def _blocks_given(
    known: ConditionedModel, rows: int | None, seed: int | None
) -> Iterator[pa.Table]:
    generator = np.random.default_rng(seed)
    model = known.model
    imputation = Imputation(model)
    decoder = model.distribution.decoder(model.schema, known.conditions.within)
    decoder = decoder.filling(imputation.fills)
    wanted = known.way.wanted(rows, model.rows, generator)
    model.law.check_rows(wanted)
    for start in range(0, max(wanted, 1), _BLOCK):
        drawn = known.way.take(min(_BLOCK, wanted - start), generator)
        codes = imputation.filled(drawn, generator)
        yield decoder.decode(codes, generator=generator, first_row=start + 1)


def sample_rows(
    model: Model,
    rows: int | None = None,
    *,
    seed: int | None = None,
    sampler: Sampler = deal_codes,
    where: str | ConditionedModel | None = None,
    how: How | str | None = None,
) -> pa.Table:
    """Synthetic rows as one Arrow table; the arguments are those of `sample_blocks`.

    Privacy: post-processing of the model; costs nothing, however often.
    """
    return pa.concat_tables(
        sample_blocks(model, rows, seed=seed, sampler=sampler, where=where, how=how)
    )
