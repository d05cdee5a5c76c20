"""Which way rows of a network are drawn that fit evidence: exactly where that can be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.errors import CapacityError, UsageError
from understudy.models.inference import Evidence
from understudy.models.sampling.rejection import Rejection
from understudy.models.sampling.ways import Conditioning, How, Sampler, Way, Weighting
from understudy.models.sampling.weighting import Proposal

if TYPE_CHECKING:
    from understudy.models.bayes_net import BayesNet

_DRAWN = (How.EXACT, How.REJECTION, How.WEIGHTING)


def way_of(law: BayesNet, evidence: Evidence, how: How | str | None, *, sampler: Sampler) -> Way:
    """Choose how rows of a network are drawn; exactly, else by rejection, by default."""
    if how is None:
        return _chosen(law, evidence, sampler)
    if how not in _DRAWN:
        raise UsageError(f"how is {str(how)!r}; use {', '.join(_DRAWN)}, or leave it out")
    return _asked(law, evidence, How(how), sampler)


def _chosen(law: BayesNet, evidence: Evidence, sampler: Sampler) -> Way:
    """Exactly where that can be done, else by rejection."""
    remark = "constraints shape the rows"
    if not law.is_constrained:
        try:
            return _asked(law, evidence, How.EXACT, sampler)
        except CapacityError:
            remark = "the network is too dense to be conditioned"
    way = _asked(law, evidence, How.REJECTION, sampler)
    way.remark = remark
    return way


def _asked(law: BayesNet, evidence: Evidence, how: How, sampler: Sampler) -> Way:
    if how is How.EXACT:
        return Conditioning(*law.conditioned(evidence), sampler)
    proposal, known = Proposal.towards(law, evidence), _chance_of(law, evidence)
    return (Rejection if how is How.REJECTION else Weighting)(proposal, known)


def _chance_of(law: BayesNet, evidence: Evidence) -> float | None:
    """The exact probability of the evidence where there is one; none at all is refused here."""
    if law.is_constrained:
        return None
    try:
        return law.posterior((), evidence)[1]
    except CapacityError:
        return None
