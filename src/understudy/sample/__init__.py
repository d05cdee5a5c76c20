"""Rows from a model. All of it is post-processing: it costs no budget."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from understudy.codec import Codec
from understudy.errors import UsageError
from understudy.model import Model
from understudy.sample.forward import sample_codes

__all__ = ["sample_blocks", "sample_codes", "sample_rows"]

_BLOCK = 1 << 18


def sample_blocks(
    model: Model, rows: int | None = None, *, seed: int | None = None
) -> Iterator[pa.Table]:
    """Synthetic rows in blocks, at least one block even when there are no rows.

    Args:
        model: what to sample from.
        rows: how many; as many as the model was told or paid to know, unless given.
        seed: makes the rows repeatable; it has no part in the privacy of the model.
    """
    wanted = model.rows if rows is None else rows
    if wanted < 0:
        raise UsageError(f"rows is {wanted}; ask for none or more")
    codec, generator = Codec(model.schema), np.random.default_rng(seed)
    for start in range(0, max(wanted, 1), _BLOCK):
        codes = sample_codes(model, min(_BLOCK, wanted - start), generator)
        yield codec.decode(codes, generator=generator, first_row=start + 1)


def sample_rows(model: Model, rows: int | None = None, *, seed: int | None = None) -> pa.Table:
    """Synthetic rows as one Arrow table."""
    return pa.concat_tables(sample_blocks(model, rows, seed=seed))
