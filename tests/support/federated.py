"""Holders of small tables, and channels that lose, repeat, alter and record what they carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from support.neighbours import DOMAIN, SCHEMA, random_rows, source_of
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.federated import Collaboration, Holder, LocalChannel, Policy
from understudy.federated.messages import Body, Message
from understudy.federated.simulation import AgreeToAll
from understudy.models.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Instruments
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.counting import CountSource

NAMES = ("north", "south", "west")
RUN, ONE, TWO = "a" * 32, "1" * 32, "2" * 32

NETWORK = Network((Family("colour"), Family("size", ("colour",)), Family("sold"), Family("one")))

PLANS: dict[str, dict[str, Any]] = {
    f"{protocol} {neighbours} {noise}": {
        "protocol": protocol,
        "epsilon": 1,
        "delta": "1e-6" if noise == "gaussian" else 0,
        "neighbours": neighbours,
        **({"network": NETWORK} if protocol == "parameters" else {}),
    }
    for protocol in ("statistics", "votes", "model", "parameters", "adaptive")
    for neighbours in ("replace", "add-remove")
    for noise in ("laplace", "gaussian")
}


# Log-linear models take longer than networks: tests that learn every plan have these as slow ones.
QUICK = [name for name in PLANS if not name.startswith("adaptive")]


def plan_of(name: str, **other: Any) -> Collaboration:
    """One of `PLANS`, perhaps with something changed; patient, for kernels may yet compile."""
    return Collaboration(SCHEMA, **(PLANS[name] | {"deadline": 600.0, "attempts": 2} | other))


def unit_of(plan: Collaboration) -> Unit:
    """Whom a plan protects."""
    return plan.unit


def holder_of(
    source: CountSource,
    *,
    schema: Schema = SCHEMA,
    unit: Unit | None = None,
    folder: Path | None = None,
    limit: Budget | None = None,
    policy: Any = None,
    name: str = "north",
    instruments: Instruments | None = None,
) -> Holder:
    """A holder of some rows: on a disk where a folder is given, else in memory."""
    return Holder(
        source,
        schema,
        unit or Unit(Neighbours.REPLACE),
        ledger=None if folder is None else Ledger(folder / f"{name}.jsonl"),
        dataset="rows",
        limit=limit,
        policy=policy or AgreeToAll(),
        store=None if folder is None else folder / name,
        name=name,
        instruments=instruments,
    )


def holders_of(unit: Unit, *, folder: Path | None = None, rows: int = 200) -> dict[str, Holder]:
    """Three holders of different rows."""
    return {
        name: holder_of(source_of(random_rows(rows, seed)), unit=unit, folder=folder, name=name)
        for seed, name in enumerate(NAMES)
    }


def asked(holder: Holder, body: Body, *arrays: Any, request: str = ONE, run: str = RUN) -> Message:
    """A holder's answer to one question."""
    return Message.decoded(holder.handle(Message(run, request, body, arrays).encoded()))


def strict_policy() -> Policy:
    """Agrees to a run at ε = 1 at most."""
    return Policy(most_epsilon=Fraction(1))


@dataclass
class Recording:
    """A channel that remembers all it carried, by holder and in order."""

    inner: LocalChannel
    exchanges: dict[str, list[tuple[bytes, bytes]]] = field(default_factory=dict)

    @property
    def holders(self) -> Sequence[str]:
        """The names of all holders."""
        return self.inner.holders

    def ask(self, requests: Mapping[str, bytes], *, deadline: float) -> Mapping[str, bytes]:
        """The replies, remembered beside their requests."""
        replies = self.inner.ask(requests, deadline=deadline)
        for name, reply in replies.items():
            self.exchanges.setdefault(name, []).append((requests[name], reply))
        return replies


@dataclass
class Tampering:
    """A channel that does something to the replies of one holder."""

    inner: Any
    victim: str
    change: Callable[[int, bytes, bytes], bytes | None]
    count: int = 0

    @property
    def holders(self) -> Sequence[str]:
        """The names of all holders."""
        names: Sequence[str] = self.inner.holders
        return names

    def ask(self, requests: Mapping[str, bytes], *, deadline: float) -> Mapping[str, bytes]:
        """The replies; the victim's as `change` makes it of its number, request and reply."""
        replies = dict(self.inner.ask(requests, deadline=deadline))
        if self.victim in replies:
            altered = self.change(self.count, requests[self.victim], replies.pop(self.victim))
            self.count += 1
            if altered is not None:
                replies[self.victim] = altered
        return replies


__all__ = ["DOMAIN", "SCHEMA"]
