"""A statement on the page: its terms, and every answer that it covers."""

from __future__ import annotations

from collections.abc import Mapping

from understudy.privacy.statement import Statement
from understudy.report.figure import NONE, Listing


def promise_facts(statement: Statement) -> Mapping[str, str]:
    """The statement's terms, one by one."""
    document = statement.document()
    epsilon = document["epsilon"]
    return {
        "ε": NONE if epsilon is None else f"{epsilon:g}",
        "δ": f"{document['delta']:g}",
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
        return f"ε = {event['epsilon']:.4g}"
    return f"ρ = {event['rho']:.4g}" if "rho" in event else "no privacy"
