"""Disclosure on the page: attackers' success with either table; membership inferred by distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from understudy.evaluation.disclosure.attack import Attack
from understudy.evaluation.disclosure.controlled import ControlledAttack
from understudy.evaluation.disclosure.exposure import Disclosure
from understudy.evaluation.disclosure.leaks import LEAKY
from understudy.evaluation.disclosure.linkage import Linkage
from understudy.evaluation.disclosure.membership import CAPTION, Membership
from understudy.evaluation.disclosure.singling_out import SinglingOut
from understudy.evaluation.report.dots import DotChart, DotLine
from understudy.evaluation.report.figure import NONE, Figure, Listing, TableRow, decimal, percent

STAND_IN = "synthetic"

_STYLES = ("real-dot", "synthetic-dot", "leaky-dot")
_HELD = (
    "holding the real table",
    "holding the synthetic table",
    "holding half of the real rows, copied: a leak made on purpose",
)


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
    return [told, *map(_sentence, (*found.notes, *dict.fromkeys(reasons)))]


def _sentence(clause: str) -> str:
    """A clause with a capital letter and a full stop."""
    return f"{clause[:1].upper()}{clause[1:]}".rstrip(".") + "."


def singled_out(found: Disclosure) -> Listing:
    """The success of predicates on real and held-out rows, with each stand-in."""
    head = ("predicates of", "one real row", "one held-out row", "risk beyond chance", "guesses")
    return _controlled(found.singled_out, head, SinglingOut.caption)


def linked(found: Disclosure) -> Listing:
    """How often two records of one row are linked, with each stand-in."""
    head = ("linked through", "real rows", "held-out rows", "risk beyond chance", "guesses")
    return _controlled(found.linked, head, Linkage.caption)


def _controlled(attacks: Mapping[str, ControlledAttack], head: TableRow, caption: str) -> Listing:
    lines = tuple(
        (
            _TABLES.get(name, name),
            *map(percent, (each.real, each.control, each.risk)),
            f"{each.guesses:,}",
        )
        for name, each in attacks.items()
        if each.guesses
    )
    return Listing(head, lines, note=caption if lines else "")


def _accuracy(found: Disclosure) -> Figure:
    names = [attack.name for attack in found.exposures[0].attacks]
    by_table = [{attack.name: attack for attack in e.attacks} for e in found.exposures]
    lines = [
        DotLine(
            by_table[0][name].title,
            {s: held[name].accuracy for s, held in zip(_STYLES, by_table, strict=False)},
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
    shown = list(zip(_STYLES, _HELD, strict=True))[: len(by_table)]
    legend = (*shown, ("reference", f"zero rule, {decimal(found.baseline)}"))
    caption = (
        "How often attackers name the sensitive value of a real row whose key they know. At the "
        "broken line they have learned nothing. What is above it is not always about a person: "
        "columns that depend on each other reveal something of strangers as well. An attack that "
        "finds little with copied rows cannot find much with any table."
    )
    data = Listing(
        ("attack", *(f"with {_TABLES[e.name]}" for e in found.exposures)),
        tuple(_line([held[name] for held in by_table]) for name in names),
    )
    return Figure(
        title="Attacks on a sensitive column",
        picture=chart.picture(),
        caption=caption,
        data=data,
        legend=legend,
    )


_TABLES = {"original": "the real table", STAND_IN: "the synthetic table", LEAKY: "copied rows"}
_TITLES = {STAND_IN: "members found", LEAKY: "with copied rows"}


def _line(attacks: Sequence[Attack]) -> TableRow:
    return (attacks[0].title, *(decimal(attack.accuracy) for attack in attacks))


def _membership(found: Disclosure) -> Figure:
    """Members told from others, with the stand-in and with a leak made on purpose."""
    known = {n: m for n, m in found.memberships.items() if n in _TITLES and m.auc is not None}
    lines = [
        DotLine(_TITLES[name], {_DOTS[name]: members.auc}, spans=_span(members))
        for name, members in known.items()
    ]
    chart = DotChart(
        lines,
        "chance that a member lies nearer",
        "Members told from others by distance",
        0.5,
        high=1.0,
    )
    legend = (("synthetic-dot", "with its 95 % interval"), ("reference", "a coin, 0.500"))
    leak = (("leaky-dot", "half of the real rows, copied: a leak made on purpose"),)
    data = Listing(
        ("attack", "AUC", "95 % interval", "members", "others"),
        tuple(_member_line(_TITLES[name], members) for name, members in known.items()),
    )
    return Figure(
        title="Who was in the table",
        picture=chart.picture(),
        caption=CAPTION,
        data=data,
        legend=(*legend, *(leak if LEAKY in known else ())),
    )


_DOTS = {STAND_IN: "synthetic-dot", LEAKY: "leaky-dot"}


def _span(members: Membership) -> tuple[float, float] | None:
    if members.low is None or members.high is None:
        return None
    return members.low, members.high


def _member_line(title: str, members: Membership) -> TableRow:
    span = _span(members)
    interval = NONE if span is None else f"{span[0]:.3f} to {span[1]:.3f}"
    counts = (f"{members.members:,}", f"{members.others:,}")
    return (title, decimal(members.auc), interval, *counts)
