"""The numbers of the laws that rows and models come from: raised when a distribution changes.

A record that was measured under an earlier law says so on its page, and a run measures its cells
again. Methods keep their own number, `Synthesizer.law`; protocols among holders, and
methods of images that share a name with one of tables, have theirs here.
"""

from __future__ import annotations

from collections.abc import Mapping

from understudy.methods.registry import method

PROTOCOLS: Mapping[str, int] = {
    "moments of images": 1,
    "federated statistics as printed": 1,
    "federated parameters as printed": 1,
    # 2: choices by the exponential mechanism for half of ε; local models by the theses' algorithms.
    "federated votes as printed": 2,
    "federated model as printed": 2,
    # 2: tables are made consistent until no cell is negative.
    "federated statistics": 2,
    "federated votes": 2,
    "federated model": 2,
    # Without lessons `dpgan` has the law that it had before it started from rows.
    "dpgan without lessons": 1,
    # 2: noise on sums over classes; generators are taught by draws of the moments.
    "dpgan of images": 2,
    "noise-gan of images": 2,
}


def law_of(name: str) -> int:
    """The present number of a method's or a protocol's law.

    Example:
        >>> law_of("federated votes")
        2
    """
    return PROTOCOLS[name] if name in PROTOCOLS else method(name).law
