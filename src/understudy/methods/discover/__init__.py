"""A schema learned from private rows, and paid for."""

from understudy.methods.discover.discovery import Discovery, Inferred, infer_schema
from understudy.methods.discover.kinds import KindDiscovery, LearnedKinds, infer_kinds
from understudy.methods.discover.skeleton import Skeleton

__all__ = [
    "Discovery",
    "Inferred",
    "KindDiscovery",
    "LearnedKinds",
    "Skeleton",
    "infer_kinds",
    "infer_schema",
]
