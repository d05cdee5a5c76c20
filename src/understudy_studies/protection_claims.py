"""Claims on protected networks, and the lines and charts of their study, from its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.models.pictures.charts import Line, Panel
from understudy.models.pictures.heat import HeatMap
from understudy_studies.cells import Cell, Results, Spread
from understudy_studies.sba import FIVE, OFF
from understudy_studies.study import JudgedClaim
from understudy_studies.two_sensitive import GCAP, ORDINARY, PROTECTED

ORIGINAL = "original"
ATTACKERS = {GCAP: "GCAP", **FIVE}


@dataclass(frozen=True)
class _Printed:
    """The averages of tables IX to XII, in percent: attackers' accuracy, and utility."""

    attack: float
    utility: float | None


_PRINTED = {
    ("cmc", ORIGINAL): _Printed(69.6, 49.8),
    ("cmc", ORDINARY): _Printed(64.6, 49.9),
    ("cmc", PROTECTED): _Printed(57.9, 49.8),
    ("adult", ORIGINAL): _Printed(56.9, 81.8),
    ("adult", ORDINARY): _Printed(56.3, 81.4),
    ("adult", PROTECTED): _Printed(42.2, 80.8),
}
# Points above the zero rule, and points of utility lost, that are near enough.
_REACH_ATTACK, _REACH_UTILITY = 2.0, 1.5


def protection_claims(results: Results, table: str) -> list[JudgedClaim]:
    """The claims on one table: ordinary rows help attackers, protected ones do not, at no cost."""
    if (table, ORIGINAL) not in _PRINTED:
        return []
    kinds = (ORIGINAL, ORDINARY, PROTECTED)
    attack, utility = (
        [100 * Spread.of(results.where(network=k).numbers(what)[0]).mean for k in kinds]
        for what in ("attack_mean", "utility_mean")
    )
    zero = 100 * float(results.numbers("zero_rule")[0])
    printed = [_PRINTED[table, kind] for kind in kinds]
    above = ", ".join(f"{p.attack:.1f}" for p in printed)
    cost = (printed[1].utility or 0) - (printed[2].utility or 0)
    return [
        JudgedClaim.judged(
            f"On {table} attackers of original, ordinary and protected rows name {above} %: "
            "protected rows bring them to the zero rule",
            f"{attack[0]:.1f}, {attack[1]:.1f} and {attack[2]:.1f} %; zero rule {zero:.1f}; at "
            f"most {_REACH_ATTACK:g} points above it are taken for it; the best attacker of "
            f"protected rows is {_best(results.where(network=PROTECTED).cells[0]):+.1f} points "
            f"off it{_unexplained(dict(zip(kinds, attack, strict=True)), table)}",
            attack[1] > zero and attack[2] - zero <= _REACH_ATTACK,
            otherwise="protected rows leave attackers more than 2 points above it",
        ),
        JudgedClaim.judged(
            f"Protection costs {cost:.1f} points of utility on {table}",
            f"{utility[1] - utility[2]:.1f} points, from {utility[1]:.1f} %; up to "
            f"{_REACH_UTILITY:g} are taken for as few",
            utility[1] - utility[2] <= _REACH_UTILITY,
            otherwise="it costs more",
        ),
    ]


def _unexplained(attack: Mapping[str, float], table: str) -> str:
    """Say which attackers are further off the paper's than what is near enough."""
    off = {kind: value - _PRINTED[table, kind].attack for kind, value in attack.items()}
    far = [f"{v:+.1f} points ({kind})" for kind, v in off.items() if abs(v) > _REACH_ATTACK]
    return f"; off the paper's, which is unexplained: {', '.join(far)}" if far else ""


def _percent(values: Sequence[float]) -> Spread:
    return Spread.of([100 * value for value in values])


def _above(cell: Cell) -> float:
    """How many points attackers are above the zero rule, on average."""
    return _percent(cell.numbers["attack_mean"]).mean - 100 * float(cell.numbers["zero_rule"])


def _best(cell: Cell) -> float:
    """Return how many points the best attacker is above the zero rule; none knows who is best."""
    each = (_percent(values).mean for values in cell.numbers["attack"].values())
    return max(each) - 100 * float(cell.numbers["zero_rule"])


def line_of(cell: Cell) -> tuple[Any, ...]:
    """Return the line of one cell in the table."""
    numbers, setting = cell.numbers, cell.setting
    printed = None
    if setting["epsilon"] == OFF:
        printed = _PRINTED.get((str(setting["table"]), str(setting["network"])))
    attack, utility = _percent(numbers["attack_mean"]), _percent(numbers["utility_mean"])
    each = (numbers["attack"].get(name) for name in ATTACKERS)
    return (
        *(setting[name] for name in ("table", "network", "epsilon")),
        *("" if values is None else f"{_percent(values).mean:.1f}" for values in each),
        f"{attack.mean:.1f}",
        f"{_above(cell):+.1f}",
        "" if printed is None else f"{printed.attack:.1f}",
        f"{utility.mean:.1f}",
        f"{utility.deviation:.1f}" if utility.count > 1 else "",
        "" if printed is None or printed.utility is None else f"{printed.utility:.1f}",
    )


def heat_maps(results: Results) -> list[HeatMap]:
    """One for each table that is held, on one scale."""
    found = [cell.numbers["correlations"] for cell in results]
    cells = [abs(v) for each in found for line in each["matrix"] for v in line if v is not None]
    reach = np.ceil(10 * max(cells, default=0.1)) / 10
    table = results.values("table")[0]
    return [
        HeatMap(_title(table, cell), each["columns"], each["matrix"], float(reach))
        for cell, each in zip(results, found, strict=True)
    ]


def _title(table: object, cell: Cell) -> str:
    return f"{table}, {cell.setting['network']}: correlation"


def votes_panel(results: Results) -> Panel:
    """Chart the accuracy of votes over the number of columns known."""
    lines = []
    for cell in results:
        epsilon = cell.setting["epsilon"]
        name = str(cell.setting["network"]) + ("" if epsilon == OFF else f", ε = {epsilon}")
        votes = [100 * vote for vote in cell.numbers["votes"]]
        lines.append(Line(name, range(1, len(votes) + 1), votes))
    zero = 100 * results.numbers("zero_rule")[0]
    known = list(lines[0].across)
    lines.append(Line("zero rule", known, [zero] * len(known)))
    title = f"{results.values('table')[0]}: named rightly by GCAP"
    return Panel(title, "quasi-identifiers known", "%", lines)


def about_table(results: Results, epsilon: str) -> str:
    """One table and ε: ordinary and protected rows beside the zero rule, and utility."""
    table = results.values("table")[0]
    [ordinary], [protected] = (
        results.where(epsilon=epsilon, network=network).cells for network in (ORDINARY, PROTECTED)
    )
    above = {cell.setting["network"]: _above(cell) for cell in (ordinary, protected)}
    useful, guarded = (_percent(c.numbers["utility_mean"]).mean for c in (ordinary, protected))
    lost = useful - guarded
    when = "without privacy" if epsilon == OFF else f"at ε = {epsilon}"
    return (
        f"On {table} {when} attackers are {above[ORDINARY]:+.1f} points off the zero rule with "
        f"ordinary rows and {above[PROTECTED]:+.1f} with protected ones "
        f"({_judged(above[PROTECTED], _REACH_ATTACK, 'at most')} above it; the best attacker "
        f"{_best(ordinary):+.1f} and {_best(protected):+.1f}), and protection changes "
        f"utility by {-lost:+.1f} points, from {useful:.1f} to {guarded:.1f} "
        f"({_judged(lost, _REACH_UTILITY, 'less than')} lost)."
    )


def _judged(value: float, most: float, words: str) -> str:
    held = value <= most if words == "at most" else value < most
    return f"{words} {most:g}" if held else f"not {words} {most:g}"
