"""Exact answers from a network: distributions and networks given evidence, the most probable row.

All of it is post-processing of released conditionals and costs nothing.
"""

from understudy.models.inference.elimination import (
    Evidence,
    conditioned,
    most_probable,
    posterior,
)
from understudy.models.inference.evidence import allowed

__all__ = ["Evidence", "allowed", "conditioned", "most_probable", "posterior"]
