"""Job of `plan`: forecast what a budget can support, before anything is read or spent."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.method import FitRequest, MethodRequest, build, refuse_unplanned
from understudy.jobs.progress import SILENT
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from understudy.jobs.progress import JobProgress
    from understudy.methods.planning import Plan


@dataclass(frozen=True, kw_only=True)
class PlanRequest(JobRequest):
    """A schema, about how many rows there are, and the method that would learn from them.

    Attributes:
        schema: the file that declares the columns.
        rows: about how many rows the table has.
        error: a distance that is wanted; the plan says which ε it needs.
        way: which distance it is; the largest that can be compared unless given.
        method: what would learn, and its options.
    """

    schema: Path
    rows: int
    error: float | None = None
    way: str | None = None
    method: MethodRequest = field(default_factory=MethodRequest)


def plan(request: PlanRequest, *, progress: JobProgress = SILENT) -> Plan:
    """Rehearse a fit on made-up rows, and say what a budget can support.

    Privacy: reads no private rows and spends nothing.
    """
    from understudy.facts.schema import Schema
    from understudy.methods.planning import plan_fit
    from understudy.methods.planning.need import check_need

    if request.error is not None:
        check_need(request.error, request.way)
    elif request.way is not None:
        raise UsageError("--way says which distance --error is about; give --error too")
    asked = request.method
    fit = FitRequest(**{name: getattr(asked, name) for name in MethodRequest.__dataclass_fields__})
    refuse_unplanned(fit)
    synthesizer = build(fit, Schema.load(request.schema))
    synthesizer.check()
    with progress.bar("rehearsing") as update:
        return plan_fit(synthesizer, request.rows, watch=update)
