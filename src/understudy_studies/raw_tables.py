"""Rows from tables as they were released, before they were made to agree: NIST section 3.3.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.models.model import Model
from understudy.models.sampling import step_back_codes
from understudy.models.sampling.inconsistent import ProbabilityTables, family_weights
from understudy.privacy.accounting.events import Charge
from understudy.privacy.curator import Live
from understudy.privacy.mechanisms.mechanism import Mechanism
from understudy.privacy.mechanisms.released import attributes_asked

E = TypeVar("E")
R = TypeVar("R")


class RawTape(Live):
    """Keeps every table as it was released."""

    def __init__(self) -> None:
        self.released: list[tuple[str, Any]] = []

    def answer(
        self, charge: Charge, mechanism: Mechanism[E, R], exact: E, draw: Callable[[], R]
    ) -> R:
        """A fresh draw, kept."""
        released = draw()
        self.released.append((charge.question, released))
        return released

    def tables(self, domain: Domain) -> ProbabilityTables:
        """Cells below 0 set to 0; of a table that was asked for twice the later, better one."""
        asked = [(attributes_asked(question, domain), counts) for question, counts in self.released]
        return {
            attributes: np.maximum(counts, 0).astype(np.float64)
            for attributes, counts in asked
            if attributes
        }

    def rows(self, model: Model, rows: int, generator: np.random.Generator) -> dict[str, Codes]:
        """Rows from the released tables, which do not agree, along the model's network."""
        tables = self.tables(model.domain)
        lines = {f.child: family_weights(f, tables, model.domain) for f in model.network}
        return step_back_codes(model.network, lines, rows, generator)
