"""A ledger in memory, for simulations in which all holders live in one process."""

from __future__ import annotations

from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.stores.scratch import ScratchStore


class ScratchLedger(Ledger):
    """A ledger that keeps nothing: for simulations, where all holders live in one process."""

    def __init__(self) -> None:
        super().__init__(ScratchStore())
