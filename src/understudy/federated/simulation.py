"""All holders in one process: the same messages, for studies and tests; no disk is touched."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from understudy.facts.schema import Schema
from understudy.facts.unit import Unit
from understudy.federated.analyst.analyst import Analyst
from understudy.federated.analyst.plan import Collaboration
from understudy.federated.channel import LocalChannel
from understudy.federated.holder.holder import Holder
from understudy.federated.terms import Terms
from understudy.privacy.curator import Instruments
from understudy.privacy.noise.system import Noise
from understudy.rows.counting import CountSource
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.testing import SeededNoise


@dataclass(frozen=True)
class AgreeToAll:
    """Agrees to whatever is asked: for simulations, where there is nothing to guard."""

    def refusal(self, terms: Terms) -> str | None:
        """Nothing is refused."""
        del terms
        return None


def simulated(
    tables: Mapping[str, Table | CountSource],
    schema: Schema,
    unit: Unit,
    *,
    noise: Noise | None = None,
) -> LocalChannel:
    """Holders of some tables, each with books of its own that end with this process.

    Args:
        tables: the rows of each holder.
        schema: the declared values of each column.
        unit: whom the promise protects.
        noise: another source of noise; a seeded one makes the result NOT PRIVATE.
    """
    instruments = Instruments() if noise is None else Instruments(noise=noise)
    return LocalChannel(
        {
            name: Holder(
                MemorySource(held) if isinstance(held, Table) else held,
                schema,
                unit,
                ledger=None,
                dataset=name,
                limit=None,
                policy=AgreeToAll(),
                store=None,
                name=name,
                instruments=instruments,
            )
            for name, held in tables.items()
        }
    )


def seeded_analyst(tables: Mapping[str, Table], plan: Collaboration, seed: int) -> Analyst:
    """A run that is the same every time, for studies; what it learns says NOT PRIVATE."""
    channel = simulated(tables, plan.schema, plan.unit, noise=SeededNoise(seed))
    return Analyst(channel, plan, run=hashlib.sha256(str(seed).encode()).hexdigest()[:32])
