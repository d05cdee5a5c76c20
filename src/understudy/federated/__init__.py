"""Holders that trust nobody learn one model together; no row leaves its holder."""

from understudy.federated.analyst import Analyst, Promise, learn_together
from understudy.federated.channel import Channel, LocalChannel
from understudy.federated.consent import AskSomebody, Consent, Policy
from understudy.federated.holder import Holder
from understudy.federated.plan import Form, Plan
from understudy.federated.simulation import simulated
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
    "simulated",
    "split",
]
