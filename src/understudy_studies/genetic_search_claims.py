"""Claims of SBA about its genetic search: averages, seconds, and what the numbers say of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from understudy_studies.cells import Results, Spread
from understudy_studies.sba import GENETIC, GREEDY, OFF
from understudy_studies.searched_averages import (
    BOTH,
    DEGREES,
    FRAUDS,
    PRINTED,
    PRINTED_REAL,
    REAL,
    mean_average,
    printed_average,
    searches_of,
)
from understudy_studies.study import JudgedClaim, Reproduction

# Seconds this part below a straight line from the first degree to the last bend away from it.
_BEND = 0.1
# Seconds that at least double with every parent more grow exponentially.
_EXPONENTIAL = 2.0
# How many points of accuracy below the printed average are near enough.
_REACH = 1.5


def judged_searches(results: Results) -> list[JudgedClaim]:
    """Which averages are reached, which search is the better one, and which the faster."""
    tables = [t for t in results.values("table") if (t, GENETIC) in PRINTED]
    found = [_averages(results.where(table=t, epsilon=OFF), str(t)) for t in tables]
    exact = {str(t): results.where(table=t, epsilon=OFF) for t in tables}
    seconds = [claim(exact[t], t) for claim in (_faster, _growth, _drawing) for t in exact]
    return [*found, *seconds]


def about_searches(results: Results) -> str:
    """Whether the printed averages are reached, what noise costs, and who is faster."""
    parts = [_reached(results)]
    for table in results.values("table"):
        parts += [_cost(results.where(table=table)), _speed(results.where(table=table))]
    return " ".join(part for part in parts if part)


def _off(results: Results) -> dict[str, dict[str, float]]:
    """By table and setting, the points of accuracy that are more than the printed ones."""
    found: dict[str, dict[str, float]] = {}
    for cell in results.where(epsilon=OFF):
        printed, table = printed_average(cell.setting), str(cell.setting["table"])
        if table != FRAUDS and printed is not None:
            name = "{table}, {search}, {degree}".format(**cell.setting)
            found.setdefault(table, {})[name] = mean_average(Results((cell,))) - printed
    return found


def _reached(results: Results) -> str:
    """How many printed averages of accuracy are reached without privacy, and which are not."""
    off = _off(results)
    real = {table: found.pop(f"{table}, {REAL}, 0") for table, found in off.items()}
    differences = {name: value for found in off.values() for name, value in found.items()}
    if not differences:
        return ""
    beside = [value - real[table] for table, found in off.items() for value in found.values()]
    missed = {name: value for name, value in differences.items() if value < -_REACH}
    said = (
        f"Without privacy average accuracy is {min(differences.values()):+.1f} to "
        f"{max(differences.values()):+.1f} points off tables V and VI, and no more than "
        f"{_REACH} points below them in {len(differences) - len(missed)} of "
        f"{len(differences)} settings"
    )
    if missed:
        listed = "; ".join(f"{name}: {value:+.1f}" for name, value in missed.items())
        said = f"{said} (below: {listed})"
    rows = ", ".join(f"{value:+.1f} on {table}" for table, value in real.items())
    return (
        f"{said}. Real rows are off these tables too ({rows}); counted from them on either side, "
        f"it is {min(beside):+.1f} to {max(beside):+.1f}."
    )


def _cost(results: Results) -> str:
    """The best of either search beside real rows, without privacy and with it."""
    table, real = results.values("table")[0], mean_average(results.where(search=REAL))
    what = "F2" if table == FRAUDS else "accuracy"
    parts = []
    for epsilon in results.values("epsilon"):
        found = results.where(epsilon=epsilon)
        best = [f"{_best(found.where(search=s)):.1f} ({s})" for s in searches_of(found)]
        when = "without privacy" if epsilon == OFF else f"at ε = {epsilon}"
        parts.append(f"{' and '.join(best)} {when}")
    baseline = 100 * Spread.of(results.where(search=REAL).numbers("baseline")[0]).mean
    return (
        f"On {table} the average {what} of the best degree is {', '.join(parts)}, from real rows "
        f"{real:.1f}, the zero rule's {baseline:.1f}."
    )


def _best(results: Results) -> float:
    return max(mean_average(results.where(degree=degree)) for degree in results.values("degree"))


def _averages(results: Results, table: str) -> JudgedClaim:
    """For how many degrees the genetic search does no worse than the greedy one, as printed."""
    ours = [[mean_average(results.where(search=s, degree=k)) for k in DEGREES[table]] for s in BOTH]
    theirs = [PRINTED[table, search] for search in BOTH]
    better = [[g >= f for f, g in zip(*pair, strict=True)] for pair in (theirs, ours)]
    wins = [sum(each) for each in better]
    what = "F2 of frauds" if table == FRAUDS else "accuracy"
    degrees = len(DEGREES[table])
    listed = ["; ".join(_listed(line) for line in pair) for pair in (theirs, ours)]
    real = mean_average(results.where(degree=0))
    claim = (
        f"On {table} the genetic search does as well as the greedy one or better for {wins[0]} of "
        f"{degrees} degrees ({what}, greedy; genetic: {listed[0]})"
    )
    shown = (
        f"For {wins[1]} of {degrees} ({listed[1]}; real rows {real:.1f}, "
        f"in the paper {PRINTED_REAL[table]:.1f})"
    )
    gains = [_gain(results, degree) for degree in DEGREES[table]]
    if gains[0].count > 1 and all(abs(gain.mean) <= 2 * gain.error for gain in gains):
        each = ", ".join(f"{gain.mean:+.2f} ± {gain.error:.2f}" for gain in gains)
        reason = f"no degree differs by two standard errors (genetic less greedy: {each})"
        return JudgedClaim(claim, shown, Reproduction.NOT_COMPARABLE, reason)
    if wins[1] >= wins[0] and better[0] != better[1]:
        reason = "for as many, but not the same degrees, of one fit each"
        return JudgedClaim(claim, shown, Reproduction.PARTLY, reason)
    return JudgedClaim.judged(claim, shown, wins[1] >= wins[0], otherwise="for fewer degrees")


def _gain(results: Results, degree: int) -> Spread:
    """Points of the genetic search beyond the greedy one, split by split."""
    runs = (results.where(search=s, degree=degree).numbers("mean")[0] for s in BOTH)
    pairs = zip(*runs, strict=True)
    return Spread.of([100 * (genetic - greedy) for greedy, genetic in pairs])


def _faster(results: Results, table: str) -> JudgedClaim:
    """Which search takes less of the processor for the most parents."""
    degree = DEGREES[table][-1]
    greedy, genetic = (
        Spread.of(results.where(search=s, degree=degree).numbers("describing")[0]).mean
        for s in BOTH
    )
    claim = f"On {table} with {degree} parents the genetic search is faster"
    if table == FRAUDS:
        claim = f"{claim}: under 10 minutes for almost 12 hours"
    return JudgedClaim.judged(
        claim,
        f"{genetic:.2f} seconds of the processor for {greedy:.2f}",
        genetic < greedy,
        otherwise="so few columns are searched greedily in less time",
    )


def _growth(results: Results, table: str) -> JudgedClaim:
    """Whether the seconds of the genetic search lie on a straight line through both ends."""
    degrees = [int(d) for d in DEGREES[table]]
    found = [_mean_seconds(results, GENETIC, degree, "describing") for degree in degrees]
    steps = [after / before for before, after in pairwise(found)]
    line = np.linspace(found[0], found[-1], len(found))
    return JudgedClaim.judged(
        f"On {table} the seconds of the genetic search grow linearly with the parents",
        f"{_listed(found, 2)} seconds for {', '.join(map(str, degrees))} parents",
        bool((np.array(found) >= (1 - _BEND) * line).all()),
        otherwise=f"with one parent more they grow up to {max(steps):.1f} times: "
        "tables of more parents are counted too, whose cells multiply",
    )


def _drawing(results: Results, table: str) -> JudgedClaim:
    """Whether drawing rows takes many times longer for every further parent."""
    degrees = [int(d) for d in DEGREES[table]]
    found = {
        search: [_mean_seconds(results, search, degree, "generating") for degree in degrees]
        for search in BOTH
    }
    step = min(b / max(a, 0.001) for a, b in pairwise(found[GREEDY]))
    shown = "; ".join(f"{search} {_listed(found[search], 3)}" for search in BOTH)
    return JudgedClaim.judged(
        f"On {table} the seconds of drawing rows grow exponentially with the parents",
        f"{shown} seconds for {', '.join(map(str, degrees))} parents",
        step >= _EXPONENTIAL,
        otherwise=f"from the first degree to the last they become "
        f"{found[GREEDY][-1] / max(found[GREEDY][0], 0.001):.1f} times as many, and do not "
        f"double with every parent",
    )


def _mean_seconds(results: Results, search: str, degree: int, part: str) -> float:
    return Spread.of(results.where(search=search, degree=degree).numbers(part)[0]).mean


def _listed(values: Sequence[float], places: int = 1) -> str:
    return " ".join(f"{value:.{places}f}" for value in values)


def _speed(results: Results) -> str:
    """Seconds of both searches for the most parents, without privacy."""
    degree = max(results.values("degree"))
    seconds = {
        search: Spread.of(
            results.where(epsilon=OFF, search=search, degree=degree).numbers("describing")[0]
        ).mean
        for search in (GREEDY, GENETIC)
    }
    faster = "genetic" if seconds[GENETIC] < seconds[GREEDY] else "greedy"
    return (
        f"Describing it with {degree} parent{'s' * (degree > 1)} takes {seconds[GREEDY]:.2f} "
        f"seconds greedily and {seconds[GENETIC]:.2f} genetically: the {faster} search is faster."
    )
