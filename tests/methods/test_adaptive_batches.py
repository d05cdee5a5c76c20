"""The adaptive method asks a database or a cluster a few times, each for many tables at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from understudy.facts.codec import Codec
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.methods import AdaptiveMarginals
from understudy.rows.counting import Marginal, ScoreKernel, Scores
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

NAMES = [f"c{i}" for i in range(8)]
SCHEMA = Schema.parse(
    {"columns": {name: {"kind": "integer", "min": 0, "max": 2} for name in NAMES}}
)


@dataclass
class Asked:
    """An engine that remembers how many tables each question was for."""

    held: MemorySource
    questions: list[int] = field(default_factory=list)

    @property
    def domain(self) -> Domain:
        """The attributes."""
        return self.held.domain

    @property
    def rows_read(self) -> int:
        """How many rows there are."""
        return self.held.rows_read

    @property
    def rows_per_person(self) -> int | None:
        """Nobody is known to have several."""
        return self.held.rows_per_person

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact contingency tables."""
        self.questions.append(len(sets))
        return self.held.count(sets)

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores."""
        self.questions.append(len(sets))
        return self.held.score(sets, kernel)


def test_rounds_ask_in_batches() -> None:
    """A run with a delta asks for all its tables in at most eight questions."""
    draw = np.random.default_rng(5)
    first = draw.integers(0, 3, 4000)
    rows = {
        name: np.where(draw.random(4000) < 0.6, first, draw.integers(0, 3, 4000)) for name in NAMES
    }
    coded = Codec(SCHEMA).encode(pa.table(rows))
    source = Asked(MemorySource(Table.of(coded)))
    made = AdaptiveMarginals(SCHEMA, epsilon=2, delta=1e-6).fit(source, ledger=None)
    assert len(made.model_.statement.charges) > 20
    assert sum(source.questions) > 40
    assert len(source.questions) <= 8
