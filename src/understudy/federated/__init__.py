"""Holders that trust nobody learn one model together; no row leaves its holder.

Names are imported when first used: the network's own processes need none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.system.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.federated.analyst.analyst import Analyst as Analyst
    from understudy.federated.analyst.analyst import Promise as Promise
    from understudy.federated.analyst.analyst import learn_together as learn_together
    from understudy.federated.analyst.plan import Collaboration as Collaboration
    from understudy.federated.analyst.plan import Form as Form
    from understudy.federated.channel import Channel as Channel
    from understudy.federated.channel import LocalChannel as LocalChannel
    from understudy.federated.holder.consent import AskSomebody as AskSomebody
    from understudy.federated.holder.consent import Consent as Consent
    from understudy.federated.holder.consent import Policy as Policy
    from understudy.federated.holder.holder import Holder as Holder
    from understudy.federated.simulation import seeded_analyst as seeded_analyst
    from understudy.federated.simulation import simulated as simulated
    from understudy.federated.splits import SPLITS as SPLITS
    from understudy.federated.splits import split as split
    from understudy.federated.terms import ProtocolName as ProtocolName
    from understudy.federated.terms import Terms as Terms

_HOMES = {
    "Analyst": "understudy.federated.analyst.analyst",
    "AskSomebody": "understudy.federated.holder.consent",
    "Channel": "understudy.federated.channel",
    "Collaboration": "understudy.federated.analyst.plan",
    "Consent": "understudy.federated.holder.consent",
    "Form": "understudy.federated.analyst.plan",
    "Holder": "understudy.federated.holder.holder",
    "LocalChannel": "understudy.federated.channel",
    "Policy": "understudy.federated.holder.consent",
    "Promise": "understudy.federated.analyst.analyst",
    "ProtocolName": "understudy.federated.terms",
    "SPLITS": "understudy.federated.splits",
    "Terms": "understudy.federated.terms",
    "learn_together": "understudy.federated.analyst.analyst",
    "seeded_analyst": "understudy.federated.simulation",
    "simulated": "understudy.federated.simulation",
    "split": "understudy.federated.splits",
}

__all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
