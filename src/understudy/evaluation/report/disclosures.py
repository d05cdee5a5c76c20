"""Disclosure on the page: attackers' success with either table; membership inferred by distance."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.evaluation.disclosure.attack import Attack
from understudy.evaluation.disclosure.exposure import Disclosure
from understudy.evaluation.disclosure.membership import CAPTION
from understudy.evaluation.report.dots import DotChart, DotLine
from understudy.evaluation.report.figure import NONE, Figure, Listing, TableRow, decimal

STAND_IN = "synthetic"

_STYLES = ("real-dot", "synthetic-dot")


def disclosure_figures(found: Disclosure) -> list[Figure]:
    """Attackers' accuracy beside the zero rule, and the attack on membership where there is one."""
    members = found.memberships.get(STAND_IN)
    known = members is not None and members.auc is not None
    return [_accuracy(found), *([_membership(found)] if known else [])]


def disclosure_notes(found: Disclosure) -> list[str]:
    """Describe the attacks, before the figures."""
    scenario = found.scenario
    keys = ", ".join(scenario.quasi_identifiers)
    told = (
        f"Attackers know {keys} of {found.victims:,} real rows, hold one of the tables, and name "
        f"{scenario.sensitive}. Without any table they would always name {found.most_frequent}."
    )
    reasons = [f"membership: {m.reason}" for m in found.memberships.values() if m.reason]
    return [told, *found.notes, *reasons]


def _accuracy(found: Disclosure) -> Figure:
    names = [attack.name for attack in found.exposures[0].attacks]
    by_table = [{attack.name: attack for attack in e.attacks} for e in found.exposures]
    lines = [
        DotLine(
            by_table[0][name].title,
            {s: held[name].accuracy for s, held in zip(_STYLES, by_table, strict=True)},
        )
        for name in names
    ]
    chart = DotChart(
        lines,
        "share of real rows whose value is named",
        f"Accuracy of attacks on {found.scenario.sensitive}",
        found.baseline,
        high=1.0,
    )
    legend = (
        ("real-dot", "holding the real table"),
        ("synthetic-dot", "holding the synthetic table"),
        ("reference", f"zero rule, {decimal(found.baseline)}"),
    )
    caption = (
        "How often attackers name the sensitive value of a real row whose key they know. At the "
        "broken line they have learned nothing. What is above it is not always about a person: "
        "columns that depend on each other reveal something of strangers as well."
    )
    data = Listing(
        ("attack", "with the real table", "with the synthetic table"),
        tuple(_line([held[name] for held in by_table]) for name in names),
    )
    return Figure(
        title="Attacks on a sensitive column",
        picture=chart.picture(),
        caption=caption,
        data=data,
        legend=legend,
    )


def _line(attacks: Sequence[Attack]) -> TableRow:
    return (attacks[0].title, *(decimal(attack.accuracy) for attack in attacks))


def _membership(found: Disclosure) -> Figure:
    members = found.memberships[STAND_IN]
    span = None
    if members.low is not None and members.high is not None:
        span = (members.low, members.high)
    line = DotLine("members told", {"synthetic-dot": members.auc}, spans=span)
    chart = DotChart(
        [line],
        "chance that a member lies nearer",
        "Members told from others by distance",
        0.5,
        high=1.0,
    )
    legend = (("synthetic-dot", "with its 95 % interval"), ("reference", "a coin, 0.500"))
    interval = NONE if span is None else f"{span[0]:.3f} to {span[1]:.3f}"
    data = Listing(
        ("attack", "AUC", "95 % interval", "members", "others"),
        (
            (
                "by distance",
                decimal(members.auc),
                interval,
                f"{members.members:,}",
                f"{members.others:,}",
            ),
        ),
    )
    return Figure(
        title="Who was in the table",
        picture=chart.picture(),
        caption=CAPTION,
        data=data,
        legend=legend,
    )
