"""Holders that trust nobody learn one model together; no row leaves its holder.

Names are imported when first used: the network's own processes need none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.federated.analyst import Analyst, Promise, learn_together
    from understudy.federated.channel import Channel, LocalChannel
    from understudy.federated.consent import AskSomebody, Consent, Policy
    from understudy.federated.holder import Holder
    from understudy.federated.plan import Form, Plan
    from understudy.federated.simulation import seeded_analyst, simulated
    from understudy.federated.splits import SPLITS, split
    from understudy.federated.terms import ProtocolName, Terms

__all__ = [
    "SPLITS",
    "Analyst",
    "AskSomebody",
    "Channel",
    "Consent",
    "Form",
    "Holder",
    "LocalChannel",
    "Plan",
    "Policy",
    "Promise",
    "ProtocolName",
    "Terms",
    "learn_together",
    "seeded_analyst",
    "simulated",
    "split",
]

_HOMES = {
    "analyst": ("Analyst", "Promise", "learn_together"),
    "channel": ("Channel", "LocalChannel"),
    "consent": ("AskSomebody", "Consent", "Policy"),
    "holder": ("Holder",),
    "plan": ("Form", "Plan"),
    "simulation": ("seeded_analyst", "simulated"),
    "splits": ("SPLITS", "split"),
    "terms": ("ProtocolName", "Terms"),
}


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
