"""Claims of TUC-2 about accuracy and divergence among holders, and what the numbers say of them.

Every point is one fit. An order of two protocols is therefore judged by the mean difference over
all ε and degrees, and only where it is larger than two of its standard errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from understudy_studies.cells import Results
from understudy_studies.federated_accuracy import (
    BITS,
    CHOSEN,
    POINTS,
    PRINTED,
    PROTOCOLS,
    REAL,
    DrawnNumber,
    OverEpsilon,
    baseline_lost,
    curve,
    difference_over_epsilon,
    epsilons,
    number,
    printed_range,
)
from understudy_studies.study import JudgedClaim, Reproduction

# How many points more than the thesis' are near enough.
_NEAR = 2.0
# The thesis calls differences of up to so many points small (its remarks on figures 26 to 37).
_SMALL = 10.0
_ERRORS = 2.0
# The split of figures 14 to 25.
_SPLIT = "random"
_BEST = 6


def findings(results: Results, table: str) -> Iterator[JudgedClaim]:
    """Every claim on one table: best cases, then figures 14 to 49 in their order."""
    yield judged_best(results, table)
    yield judged_fall(results, table, POINTS)
    yield judged_order(results, table, POINTS)
    yield judged_fall(results, table, BITS)
    yield judged_order(results, table, BITS)
    yield _judged_degrees(results, table)
    if table != "heart":
        yield judged_splits(table, means_by_split(results, POINTS), POINTS)
    yield judged_splits(table, means_by_split(results, BITS), BITS)


# --- tables 10 to 15 --------------------------------------------------------------------------


def best_cases(results: Results, epsilon: str) -> list[float]:
    """The smallest losses at one ε among holders, in the thesis' form."""
    at = results.where(epsilon=epsilon, form=PRINTED)
    here = Results((*results.where(protocol=REAL), *at))
    splits = [s for s in at.values("split") if s != "central"]
    cases = product(splits, PROTOCOLS, _degrees(at))
    losses = (number(here, POINTS, split=s, protocol=p, degree=k) for s, p, k in cases)
    return sorted(loss.mean for loss in losses)[:_BEST]


def judged_best(results: Results, table: str) -> JudgedClaim:
    """Whether the best cases lose as little as the thesis', at each ε that it tabulates."""
    ours = {e: best_cases(results, e) for e in epsilons(results) if printed_range(table, e)}
    theirs = {e: printed_range(table, e) or (0.0, 0.0) for e in ours}
    near = [e for e in ours if ours[e][-1] <= theirs[e][1] + _NEAR]
    claim = "; ".join(f"{low:.1f} to {high:.1f} at {e}" for e, (low, high) in theirs.items())
    shown = "; ".join(f"{best[0]:.1f} to {best[-1]:.1f} at {e}" for e, best in ours.items())
    measured = f"{shown}; naming the most frequent class loses {baseline_lost(results):.1f}"
    return _partly(
        f"On {table} the best cases lose, in points by ε: {claim}",
        measured,
        holds=len(near),
        of=len(ours),
        wrong=f"as little, or at most {_NEAR:g} points more, at ε = {', '.join(near)} alone"
        if near
        else "more is lost where the fit never sees the rows tested on",
    )


def _partly(claim: str, measured: str, *, holds: int, of: int, wrong: str) -> JudgedClaim:
    """A claim of several parts: reproduced where all hold, in part where some do."""
    if 0 < holds < of:
        return JudgedClaim(claim, measured, Reproduction.PARTLY, wrong)
    return JudgedClaim.judged(claim, measured, holds == of, otherwise=wrong)


# --- figures 14 to 25 -------------------------------------------------------------------------


def judged_fall(results: Results, table: str, measure: DrawnNumber) -> JudgedClaim:
    """Whether a number falls as ε grows, for each protocol and degree, rows of random sizes."""
    curves = {
        f"{p}, degree {k}": curve(results, measure, split=_SPLIT, protocol=p, degree=k)
        for p in PROTOCOLS
        for k in _degrees(results)
    }
    falls = [name for name, values in curves.items() if _fall(values) > 0]
    ends = "; ".join(f"{name} {_ends(values)}" for name, values in curves.items())
    return _partly(
        f"On {table} {measure.title} decrease as ε grows",
        f"Means of the smaller and the larger half of ε: {ends}",
        holds=len(falls),
        of=len(curves),
        wrong=f"not with {'; '.join(name for name in curves if name not in falls)}",
    )


def _degrees(results: Results) -> list[int]:
    return [int(k) for k in results.where(form=PRINTED).values("degree")]


def _halves(values: OverEpsilon) -> tuple[float, float]:
    """The means of the smaller and of the larger half of ε."""
    ordered = [values[e] for e in sorted(values)]
    middle = len(ordered) // 2
    return float(np.mean(ordered[: middle or 1])), float(np.mean(ordered[middle:]))


def _fall(values: OverEpsilon) -> float:
    low, high = _halves(values)
    return low - high


def _ends(values: OverEpsilon) -> str:
    return " → ".join(f"{value:.1f}" for value in _halves(values))


def judged_order(results: Results, table: str, measure: DrawnNumber) -> JudgedClaim:
    """Whether statistics lose or diverge the least, regarding chance."""
    found = {
        p: [curve(results, measure, split=_SPLIT, protocol=p, degree=k) for k in _degrees(results)]
        for p in PROTOCOLS
    }
    means = {
        p: float(np.mean([v for c in curves for v in c.values()])) for p, curves in found.items()
    }
    rivals = ("votes",) if measure is BITS else PROTOCOLS[1:]
    gaps = {p: difference_over_epsilon(found["statistics"], found[p]) for p in rivals}
    shown = ", ".join(f"{p} {means[p]:.2f}" for p in means)
    against = ", ".join(f"{p} {gap.mean:+.2f} ± {gap.error:.2f}" for p, gap in gaps.items())
    claim = f"On {table} statistics have the fewest {measure.title}, rows of random sizes"
    measured = f"Averaged over ε and degrees: {shown}; more than statistics: {against}"
    worse = [p for p, gap in gaps.items() if gap.mean < -_ERRORS * gap.error]
    if worse:
        reason = f"there are fewer with {' and '.join(worse)}"
        return JudgedClaim(claim, measured, Reproduction.CONTRADICTED, reason)
    near = [p for p, gap in gaps.items() if gap.mean <= _ERRORS * gap.error]
    if near:
        reason = f"one fit of each setting cannot separate statistics from {' and '.join(near)}"
        return JudgedClaim(claim, measured, Reproduction.NOT_COMPARABLE, reason)
    return JudgedClaim(claim, measured, Reproduction.REPRODUCED)


def _judged_degrees(results: Results, table: str) -> JudgedClaim:
    """Whether two parents diverge by more than one at the smallest ε."""
    least = epsilons(results)[0]
    at = {
        p: [
            number(
                results, BITS, form=PRINTED, split=_SPLIT, protocol=p, degree=k, epsilon=least
            ).mean
            for k in _degrees(results)
        ]
        for p in PROTOCOLS[:2]
    }
    shown = "; ".join(f"{p} {' and '.join(f'{v:.2f}' for v in bits)}" for p, bits in at.items())
    more = [p for p, bits in at.items() if bits[-1] > bits[0]]
    return _partly(
        f"On {table} degree 2 diverges by more than degree 1 at the smallest ε",
        f"Bits of degrees 1 and 2 at ε = {least}: {shown}",
        holds=len(more),
        of=len(at),
        wrong="noise leaves nearly uniform rows of either degree"
        if not more
        else f"with {more[0]} alone",
    )


# --- figures 26 to 49 -------------------------------------------------------------------------


def means_by_split(results: Results, measure: DrawnNumber) -> dict[str, list[float]]:
    """The mean over ε of every protocol and degree, by split."""
    protocols = PROTOCOLS[:2] if measure is BITS else PROTOCOLS
    return {
        str(s): [
            float(np.mean(list(curve(results, measure, split=s, protocol=p, degree=k).values())))
            for p in protocols
            for k in _degrees(results)
        ]
        for s in results.where(form=PRINTED).values("split")
    }


def judged_splits(
    table: str, splits: Mapping[str, Sequence[float]], measure: DrawnNumber
) -> JudgedClaim:
    """Both halves of the claim on splits: they differ little, and the central one is the best."""
    cases = len(splits["central"])
    best = sum(
        all(splits["central"][case] <= values[case] for values in splits.values())
        for case in range(cases)
    )
    means = {name: float(np.mean(values)) for name, values in splits.items()}
    shown = ", ".join(f"{name} {mean:.2f}" for name, mean in means.items())
    apart = max(
        max(v[i] for v in splits.values()) - min(v[i] for v in splits.values())
        for i in range(cases)
    )
    wrong = []
    if measure is POINTS and apart > _SMALL:
        wrong.append(f"they differ by up to {apart:.1f} points, more than {_SMALL:g}")
    if 2 * best <= cases:
        wrong.append(f"central is the best in {best} of {cases} pairs of protocol and degree")
    claims = 2 if measure is POINTS else 1
    little = "ways of splitting differ little, and the central one is usually the best"
    claim = little if measure is POINTS else "the central split diverges the least"
    return _partly(
        f"On {table} {claim}",
        f"Mean {measure.title} over ε, protocols and degrees: {shown}; up to {apart:.2f} apart for "
        f"one protocol and degree; central is the best in {best} of {cases}",
        holds=claims - len(wrong),
        of=claims,
        wrong="; ".join(wrong),
    )


# --- the sentence -----------------------------------------------------------------------------


def about(results: Results) -> str:
    """One table: the baselines, and each protocol and form at the ε that the thesis chose."""
    table = str(results.values("table")[0])
    real = 100 * next(iter(results.where(protocol=REAL))).numbers["mean"]
    level = baseline_lost(results)
    named = f"loses {level:.1f}" if level >= 0 else f"gains {-level:.1f}"
    epsilon = CHOSEN[table]
    at = Results((*results.where(protocol=REAL), *results.where(epsilon=epsilon)))
    parts = ", ".join(_forms(at, protocol) for protocol in PROTOCOLS)
    return (
        f"On {table}, where real rows give {real:.1f} % and naming the most frequent class {named} "
        f"points, at ε = {epsilon} as printed and improved, averaged over splits and degrees: "
        f"{parts}."
    )


def _forms(at: Results, protocol: str) -> str:
    forms = [f for f in at.values("form") if f != REAL]
    lost = [number(at, POINTS, protocol=protocol, form=f).mean for f in forms]
    bits = [number(at, BITS, protocol=protocol, form=f).mean for f in forms]
    points = " and ".join(f"{value:.1f}" for value in lost)
    return f"{protocol} {points} points ({' and '.join(f'{value:.2f}' for value in bits)} bits)"
