"""Rows from a model. All of it is post-processing: it costs no budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from understudy.codec import Codec
from understudy.errors import UsageError
from understudy.model import Model
from understudy.sample.forward import sample_codes
from understudy.sample.without_replacement import deal_codes
from understudy.table import Codes

__all__ = ["Sampler", "deal_codes", "sample_blocks", "sample_codes", "sample_rows"]

_BLOCK = 1 << 18

Sampler = Callable[[Model, int, np.random.Generator], dict[str, Codes]]


def sample_blocks(
    model: Model,
    rows: int | None = None,
    *,
    seed: int | None = None,
    sampler: Sampler = deal_codes,
) -> Iterator[pa.Table]:
    """Synthetic rows in blocks, at least one block even when there are no rows.

    Args:
        model: what to sample from.
        rows: how many; as many as the model was told or paid to know, unless given.
        seed: makes the rows repeatable; it has no part in the privacy of the model.
        sampler: `deal_codes`, without replacement, whose tables stray less from the model, or
            `sample_codes`, which draws rows independently. A model of records has neither: its
            rows come as they were released, the first ones first.
    """
    wanted = model.rows if rows is None else rows
    if wanted < 0:
        raise UsageError(f"rows is {wanted}; ask for none or more")
    if model.records is not None and wanted > model.rows:
        raise UsageError(
            f"rows is {wanted:,}; this model holds {model.rows:,} released rows and has no "
            "others: ask for those at most, or fit again for more"
        )
    codec, generator = Codec(model.schema), np.random.default_rng(seed)
    for start in range(0, max(wanted, 1), _BLOCK):
        count = min(_BLOCK, wanted - start)
        if model.records is None:
            codes = sampler(model, count, generator)
        else:
            codes = {a: held[start : start + count] for a, held in model.records.items()}
        yield codec.decode(codes, generator=generator, first_row=start + 1)


def sample_rows(
    model: Model,
    rows: int | None = None,
    *,
    seed: int | None = None,
    sampler: Sampler = deal_codes,
) -> pa.Table:
    """Synthetic rows as one Arrow table."""
    return pa.concat_tables(sample_blocks(model, rows, seed=seed, sampler=sampler))
