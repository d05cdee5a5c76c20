"""Random rows: any declared value, each as likely as the next. The floor of every comparison."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from understudy.conditional import Conditional
from understudy.domain import Domain
from understudy.network import Family
from understudy.privacy.budget import Amount, Budget
from understudy.privacy.curator import Curator
from understudy.privacy.unit import Neighbours
from understudy.schema import Schema
from understudy.synthesizers.base import Learned, Synthesizer


class Random(Synthesizer):
    """Learns nothing but, unless told, how many rows there are.

    Args:
        schema: what may stand in each column.
        epsilon: spent on the number of rows, when that is private and not declared.
        delta: as for every synthesizer.
        neighbours: as for every synthesizer.
        rows: a declared number of rows, which makes the method free of charge.
    """

    method: ClassVar[str] = "random"

    def __init__(
        self,
        schema: Schema,
        *,
        epsilon: Amount | Budget,
        delta: Amount = 0,
        neighbours: Neighbours | str | None = None,
        person_id: str | None = None,
        rows_per_person: int | None = None,
        rows: int | None = None,
    ) -> None:
        super().__init__(
            schema,
            epsilon=epsilon,
            delta=delta,
            neighbours=neighbours,
            person_id=person_id,
            rows_per_person=rows_per_person,
        )
        self.rows = rows

    @property
    def is_free(self) -> bool:
        """With a declared number of rows there is nothing left to ask."""
        return self.rows is not None

    def learn(self, curator: Curator) -> Learned:
        """Uniform conditionals, and the number of rows: declared, public, or paid for."""
        rows = curator.public_rows if self.rows is None else self.rows
        if rows is None:
            budget = curator.announce([()], [1])
            [count] = curator.measure([()], budget)
            rows = max(count.total, 0)
        return Learned(uniform(curator.domain), rows)


def uniform(domain: Domain) -> tuple[Conditional, ...]:
    """Every attribute on its own, every code equally likely."""
    return tuple(
        Conditional(Family(attribute), np.full(size, 1 / size))
        for attribute, size in domain.sizes.items()
    )
