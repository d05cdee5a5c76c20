"""Exact answers from a network: distributions given evidence, and the most probable row.

All of it is post-processing of released conditionals and costs nothing.
"""

from understudy.infer.elimination import Evidence, most_probable, posterior
from understudy.infer.evidence import allowed

__all__ = ["Evidence", "allowed", "most_probable", "posterior"]
