"""A statement on the page: its terms, and every answer that it covers."""

from __future__ import annotations

from collections.abc import Mapping

from understudy.evaluation.report.figure import NONE, Listing
from understudy.privacy.statements.statement import Statement
from understudy.system.amounts import at_most_text

# Of the cost of a single answer.
_DIGITS = 4


def promise_facts(statement: Statement) -> Mapping[str, str]:
    """Return the statement's terms, one by one."""
    document = statement.document()
    epsilon = statement.bound.epsilon
    return {
        "ε": NONE if epsilon is None else at_most_text(epsilon),
        "δ": at_most_text(statement.bound.delta),
        "protects": f"one {document['unit']}",
        "neighbours": document["neighbours"],
        "method": document["method"],
        "accounting": document["accounting"],
        "answers drawn": f"{len(document['events']):,}",
    }


def events(statement: Statement) -> Listing:
    """Every answer that the promise covers."""
    lines = tuple(
        (event["question"], event["mechanism"], _cost(event))
        for event in statement.document()["events"]
    )
    return Listing(("answer", "mechanism", "cost"), lines, 2)


def _cost(event: Mapping[str, float]) -> str:
    if "epsilon" in event:
        return f"ε = {at_most_text(event['epsilon'], digits=_DIGITS)}"
    return f"ρ = {at_most_text(event['rho'], digits=_DIGITS)}" if "rho" in event else "no privacy"
