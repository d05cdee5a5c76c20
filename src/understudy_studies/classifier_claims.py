"""Claims of TUC-2 about twelve classifiers of a single holder, and what the numbers say of them."""

from __future__ import annotations

from collections import Counter

from understudy_studies.accuracy import FLAGS, difference, winners
from understudy_studies.cells import Results, Spread
from understudy_studies.study import JudgedClaim

REAL = "real rows"
# What the paper found good enough, and the least ε at which it did so.
_ACCEPTED = 0.1
_CHOSEN = {"heart": 0.5, "poker": 0.1, "adult": 0.02}


def accuracy_lost(of_table: Results, cells: Results) -> Spread:
    """Accuracy learnt from real rows minus that from these, split by split."""
    real = {c.setting["split"]: c.numbers for c in of_table.where(epsilon=REAL)}
    return Spread.of([difference(real[c.setting["split"]], c.numbers) for c in cells])


def about_table(results: Results) -> str:
    """One table: what is lost at both ends of ε, and the least ε that loses little enough."""
    table = str(results.values("table")[0])
    epsilons = [e for e in results.values("epsilon") if e != REAL]
    losses = {float(e): _least_lost(results, str(e)) for e in epsilons}
    enough = _enough(results)
    first, last = min(losses), max(losses)
    said = f"On {table} classifiers of the better degree at each ε lose {_points(losses[first])} "
    said += f"points of accuracy at ε = {first:g} and {_points(losses[last])} at {last:g}, "
    paper = f" (the paper: {_CHOSEN[table]:g})" if table in _CHOSEN else ""
    if enough is None:
        return f"{said}still more than 10 points at the largest{paper}."
    return f"{said}and at most 10 points from ε = {enough:g} on{paper}."


def _least_lost(results: Results, epsilon: str) -> Spread:
    """The loss of the better degree by splits, as the paper's tables pick their best."""
    degrees = results.where(epsilon=epsilon).values("degree")
    losses = (accuracy_lost(results, results.where(epsilon=epsilon, degree=k)) for k in degrees)
    return min(losses, key=lambda loss: loss.mean)


def _points(loss: Spread) -> str:
    """A loss in points, and how far splits scatter where there are several."""
    scatter = f" ± {100 * loss.deviation:.1f}" if loss.count > 1 else ""
    return f"{100 * loss.mean:.1f}{scatter}"


def best_classifier(results: Results) -> str:
    """Which classifier is best in how many of the fits in which one beats the baseline."""
    private = [cell for cell in results if cell.setting["epsilon"] != REAL]
    won = [winners(cell.numbers) for cell in private]
    useful, counts = sum(map(bool, won)), Counter(name for names in won for name in names)
    said = (
        f"In {len(private) - useful} of {len(private)} fits no classifier beats naming the most "
        "frequent class"
    )
    if not counts:
        return f"{said}."
    best, count = counts.most_common(1)[0]
    return f"{said}; of the other {useful}, {best} is best, or as good as the best, in {count}."


def judged_best_classifier(results: Results) -> JudgedClaim:
    """Whether XGBoost is the best in most fits that learn anything."""
    private = [cell for cell in results if cell.setting["epsilon"] != REAL]
    won = [names for names in (winners(cell.numbers) for cell in private) if names]
    xgboost = sum("xgboost" in names for names in won)
    return JudgedClaim.judged(
        "XGBoost is the best classifier in most cases, then the perceptron and gradient boosting",
        f"{best_classifier(results)} XGBoost is among the best in {xgboost}.",
        2 * xgboost > len(won) > 0,
        otherwise="another is best more often, and in many fits nothing is learnt",
    )


def judged_budgets(results: Results) -> list[JudgedClaim]:
    """For each table the least ε at which no more than 10 points are lost, beside the paper's."""
    found = []
    for table in (name for name in results.values("table") if name in _CHOSEN):
        of_table = results.where(table=table)
        enough = _enough(of_table)
        level = 100 * _baseline_lost(of_table)
        found.append(
            JudgedClaim.judged(
                f"On {table} at most 10 points are lost from ε = {_CHOSEN[table]:g} on",
                f"{_from(of_table, enough)}; naming the most frequent class loses {level:.1f} "
                "points",
                enough is not None and enough <= _CHOSEN[table],
                otherwise="more ε is needed here, where the fit never sees the test rows",
            )
        )
    return found


def _from(results: Results, enough: float | None) -> str:
    """The ε from which on little is lost, with the losses of the better degree at each ε."""
    epsilons = [e for e in results.values("epsilon") if e != REAL]
    listed = ", ".join(f"{_points(_least_lost(results, str(e)))} at {e}" for e in epsilons)
    first = _least_lost(results, str(epsilons[0])).count
    splits = "one split" if first == 1 else f"± between {first} splits"
    start = "More at every ε" if enough is None else f"From ε = {enough:g} on"
    return f"{start}, by the better of both degrees at each ε ({listed}; {splits})"


def _enough(results: Results) -> float | None:
    epsilons = [e for e in results.values("epsilon") if e != REAL]
    losses = {float(e): _least_lost(results, str(e)).mean for e in epsilons}
    enough = [e for e in losses if all(losses[f] <= _ACCEPTED for f in losses if f >= e)]
    return min(enough, default=None)


def _baseline_lost(results: Results) -> float:
    """Return the accuracy that naming the most frequent class loses against real rows."""
    real = results.where(epsilon=REAL)
    pairs = zip(real.numbers("mean"), real.numbers("baseline"), strict=True)
    return Spread.of([mean - baseline for mean, baseline in pairs]).mean


def judged_divergence(results: Results) -> list[JudgedClaim]:
    """Whether divergence falls with ε, and is larger for degree 2 where ε is small."""
    falls, parts, first = [], [], {}
    for table in results.values("table"):
        for degree in (d for d in results.where(table=table).values("degree") if d):
            bits = _divergences(results.where(table=table, degree=degree))
            falls.append(bits[0] > bits[-1] or len(bits) == 1)
            first[table, degree] = bits[0]
            parts.append(f"{table}, degree {degree}: {bits[0]:.2f} to {bits[-1]:.2f} bits")
    larger = {t: first[t, 2] > bits for (t, k), bits in first.items() if k == 1 and (t, 2) in first}
    found = [
        JudgedClaim.judged(
            "Divergence decreases as ε grows",
            "; ".join(parts),
            all(falls),
            otherwise="not everywhere",
        )
    ]
    if not larger:
        return found
    shown = "; ".join(f"{t}: {first[t, 1]:.2f} and {first[t, 2]:.2f} bits" for t in larger)
    return [
        *found,
        JudgedClaim.judged(
            "Divergence is larger for degree 2 than for 1 where ε is small",
            f"at the least ε, {shown}",
            all(larger.values()),
            otherwise=f"not on {', '.join(str(t) for t, holds in larger.items() if not holds)}",
        ),
    ]


def _divergences(cells: Results) -> list[float]:
    """The mean divergence at each ε, in the order of the record."""
    epsilons = cells.values("epsilon")
    return [Spread.of(cells.where(epsilon=e).numbers("divergence")).mean for e in epsilons]


def about_coding(results: Results) -> str:
    """Compare flags with whole numbers for classifiers of real rows."""
    real = results.where(epsilon=REAL)
    if any(FLAGS not in cell.numbers for cell in real):
        return ""
    parts = []
    for table in real.values("table"):
        cells = real.where(table=table)
        means = (Spread.of(cells.numbers(*path, "mean")).mean for path in ((), (FLAGS,)))
        whole, flags = (100 * mean for mean in means)
        parts.append(f"{whole:.1f} and {flags:.1f} % on {table}")
    return f"With whole numbers and with flags real rows give {', '.join(parts)} on average."
