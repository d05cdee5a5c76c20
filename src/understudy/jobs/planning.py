"""Job of `plan`: forecast what a budget can support, before anything is read or spent."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.method import FitRequest, MethodRequest, build, refuse_unplanned
from understudy.jobs.progress import SILENT
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from understudy.federated.analyst.advice import ProtocolAdvice
    from understudy.jobs.privacy_forecast import PrivacyForecast
    from understudy.jobs.progress import JobProgress
    from understudy.methods import Synthesizer
    from understudy.methods.planning import Plan
    from understudy.methods.planning.share_comparison import ShareComparison

AROUND = "1"
"""The ε of a plan that is asked for an error alone."""


@dataclass(frozen=True, kw_only=True)
class PlanRequest(JobRequest):
    """A schema, about how many rows there are, and the method that would learn from them.

    Attributes:
        schema: the file that declares the columns.
        rows: about how many rows the table has.
        error: a distance that is wanted; the plan says which ε it needs. Without an ε of its own
            the plan is made for ε = 1 and others around it.
        way: which distance it is; the largest that can be compared unless given.
        compare_shares: whether several shares of the budget for the network are tried.
        holders: how many have a part of the rows each; None for a single table.
        method: what would learn, and its options.
    """

    schema: Path
    rows: int
    error: float | None = None
    way: str | None = None
    compare_shares: bool = False
    holders: int | None = None
    method: MethodRequest = field(default_factory=MethodRequest)


def plan(request: PlanRequest, *, progress: JobProgress = SILENT) -> Plan:
    """Rehearse a fit on made-up rows, and say what a budget can support.

    Privacy: reads no private rows and spends nothing.
    """
    from understudy.methods.planning import plan_fit
    from understudy.methods.planning.need import check_need

    if request.error is not None:
        check_need(request.error, request.way)
    elif request.way is not None:
        raise UsageError("--way says which distance --error is about; give --error too")
    synthesizer = _planned(request)
    with progress.bar("rehearsing") as update:
        return plan_fit(synthesizer, request.rows, watch=update)


def privacy_of(request: PlanRequest) -> PrivacyForecast:
    """Foresee the privacy light of a release under the budget of a plan."""
    from understudy.jobs.privacy_forecast import forecast_privacy
    from understudy.privacy.preflight import Preflight

    return forecast_privacy(_planned(request), preflight=Preflight())


def shares_compared(request: PlanRequest, *, progress: JobProgress = SILENT) -> ShareComparison:
    """Rehearse a fit with several shares of the budget for its network.

    Privacy: reads no private rows and spends nothing.
    """
    from understudy.methods.planning.share_comparison import compare_shares

    with progress.bar("comparing shares") as update:
        return compare_shares(_planned(request), request.rows, watch=update)


def protocols_advised(request: PlanRequest) -> ProtocolAdvice | None:
    """Say from which ε on several holders do better with statistics than with votes.

    Privacy: reads no private rows and spends nothing.
    """
    if request.holders is None:
        return None
    from understudy.facts.schema import Schema
    from understudy.federated.analyst.advice import ProtocolAdvice

    return ProtocolAdvice.of(
        Schema.load(request.schema),
        degree=request.method.degree or 1,
        rows=request.rows,
        holders=request.holders,
    )


def _planned(request: PlanRequest) -> Synthesizer:
    """The method that is planned for; impossible requests are refused."""
    from understudy.facts.schema import Schema

    asked = request.method
    if request.error is not None and asked.epsilon is None:
        asked = replace(asked, epsilon=AROUND)
    fit = FitRequest(**{name: getattr(asked, name) for name in MethodRequest.__dataclass_fields__})
    refuse_unplanned(fit)
    synthesizer = build(fit, Schema.load(request.schema))
    synthesizer.check()
    return synthesizer
