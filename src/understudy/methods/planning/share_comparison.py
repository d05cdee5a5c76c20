"""Which share of the budget a network should cost: β, tried on made-up rows.

Source: AAU section 4.2 finds that much is right for a large budget and little for a small one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from understudy.errors import UsageError
from understudy.methods import Synthesizer
from understudy.methods.network import NetworkSynthesizer
from understudy.methods.planning.forecast import plan_fit
from understudy.system.progress import ProgressCallback

TRIED = tuple(Fraction(text) for text in ("0.05", "0.1", "0.2", "0.35", "0.5", "0.7"))
"""The shares that are tried beside the method's own."""

# Less than this part of a distance is the noise of rehearsals.
_ALIKE = 0.03


@dataclass(frozen=True)
class TriedShare:
    """One share of the budget for the network, and the distance that rehearsals had with it.

    Attributes:
        share: β; None is the method's own rule.
        distance: the expected distance of the largest tables that are compared.
    """

    share: Fraction | None
    distance: float


@dataclass(frozen=True)
class ShareComparison:
    """Shares of the budget for the network, compared at one budget.

    Attributes:
        way: which distance it is, such as 3-way.
        tried: the method's own first, then the others, the smallest first.
    """

    way: str
    tried: tuple[TriedShare, ...]

    @property
    def best(self) -> TriedShare:
        """The share with the least distance; the method's own where none is clearly better."""
        own, found = self.tried[0], min(self.tried, key=lambda each: each.distance)
        return found if found.distance < own.distance * (1 - _ALIKE) else own

    @property
    def sentence(self) -> str:
        """Advise a share in words."""
        own, best = self.tried[0].distance, self.best
        if best.share is None:
            return (
                f"Keep the method's own structure share: its {self.way} distance of {own:.3g} is "
                f"within {_ALIKE:.0%} of the best of {len(self.tried) - 1} others."
            )
        return (
            f"Take --structure-share {float(best.share):g}: the expected {self.way} distance is "
            f"{best.distance:.3g}, and {own:.3g} with the method's own."
        )

    def document(self) -> dict[str, Any]:
        """Make a JSON object of the comparison."""
        best = self.best.share
        return {
            "way": self.way,
            "tried": [
                {
                    "structure_share": None if t.share is None else float(t.share),
                    self.way: t.distance,
                }
                for t in self.tried
            ],
            "advised": None if best is None else float(best),
        }


def compare_shares(
    synthesizer: Synthesizer,
    rows: int,
    *,
    shares: Sequence[Fraction] = TRIED,
    watch: ProgressCallback = lambda done, total: None,
) -> ShareComparison:
    """Rehearse a method with several shares of its budget for the network.

    Args:
        synthesizer: a method that learns a network.
        rows: how many rows the table is declared to have.
        shares: which β to try beside the method's own.
        watch: called with how many shares are done, of how many.

    Privacy: nothing is read and nothing is spent.
    """
    if not isinstance(synthesizer, NetworkSynthesizer):
        raise UsageError(
            f"{synthesizer.method} learns no network and has no structure share; plan for nist or "
            "privbayes"
        )
    fixed = synthesizer.one_way_share
    if fixed is not None:
        raise UsageError("one-way share is given; shares are compared where it may follow β")
    found, way = [], "1-way"
    tried: list[Fraction | None] = [None, *shares]
    for done, share in enumerate(tried, 1):
        plan = plan_fit(
            replace(synthesizer, structure_share=share), rows, epsilons=(), watch=lambda *_: None
        )
        way = plan.expected.largest
        band = plan.expected.band(way)
        found.append(TriedShare(share, band.expected))
        watch(done, len(tried))
    return ShareComparison(way, tuple(found))
