"""Codes: how a coded row is held in memory, whoever it belongs to, and which cell it falls into."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.system.jit import kernel_after

Codes = npt.NDArray[np.uint8 | np.uint16]
Cells = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]


def code_type(size: int) -> type[np.uint8] | type[np.uint16]:
    """The narrowest type that holds codes below `size`; beyond 16 bits there is none."""
    if size > 2**16:
        raise UsageError(f"an attribute has {size:,} codes, more than {2**16:,}; group its values")
    return np.uint8 if size <= 2**8 else np.uint16


def as_coarse(codes: Codes, name: str, domain: Domain) -> Codes:
    """Codes of an attribute as those of a copy of it; as they are under its own name."""
    if name not in domain.coarser:
        return codes
    level = domain.coarser[name]
    groups: Codes = level.groups.astype(code_type(level.size))
    return groups[codes]


def _extend_in_vectors(cells: Cells, codes: Codes, size: int) -> None:
    cells *= np.uint32(size)
    cells += codes


@kernel_after(_extend_in_vectors)
def extend(cells: Cells, codes: Codes, size: int) -> None:
    """Mixed radix: cell ← cell · size + code."""
    for i in range(codes.size):
        cells[i] = cells[i] * np.uint32(size) + np.uint32(codes[i])
