"""Claims on the scores of NIST's tasks, and the lines that judge them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from understudy_studies.cells import Results, Spread
from understudy_studies.study import JudgedClaim, Reproduction

TASKS = ("clustering", "classification", "regression")
REPLACED, DEALT, STEPPED = "with replacement", "without replacement", "inconsistent tables"
SAMPLERS = (REPLACED, DEALT, STEPPED)
RESAMPLED, INDEPENDENT = "resampled", "independent"

# Tables whose rows are made up: a regression on them shows nothing of the paper's.
_MADE_UP = ("census", "small")
_NO_MEANING = "cities, genders and incomes of this table are made up"


def falls(results: Results, task: str, *, errors: float = 0.0) -> list[str]:
    """The steps of ε at which a task's mean score falls, for rows drawn without replacement.

    Args:
        errors: how many standard errors of the two means a fall must exceed to be listed.
    """
    epsilons = results.values("epsilon")
    scores = [Spread.of(results.where(epsilon=e).numbers(DEALT, task)) for e in epsilons]
    return [
        f"{a} to {b}: {x.mean:.0f} to {y.mean:.0f}"
        for (a, x), (b, y) in itertools.pairwise(zip(epsilons, scores, strict=True))
        if x.mean - y.mean > errors * math.hypot(x.error, y.error)
    ]


def said_to_grow(tasks_grown: Sequence[str]) -> str:
    """Say which tasks' mean scores never fall."""
    if not tasks_grown:
        return "every task's mean score falls somewhere"
    return f"the mean scores of {', '.join(tasks_grown)} never fall"


def said_to_fall(groups: Sequence[Results]) -> str:
    """List the falls in brackets, where there are any."""
    found = [
        f"{task} on {group.values('table')[0]}, {group.values('rule')[0]}, {'; '.join(steps)}"
        for group in groups
        for task in TASKS
        if (steps := falls(group, task))
    ]
    return f" (falls: {'. '.join(found)})" if found else ""


def judged_scores(results: Results, where: str) -> list[JudgedClaim]:
    """The claims on one table, for one rule; a task that shows nothing is not comparable."""
    ends = ScoreEnds.of(results)
    return [
        *(_grows(results, ends, task, where) for task in TASKS),
        _apart(results, "regression", (REPLACED, DEALT), f"On {where} not replacing helps"),
        _apart(results, "regression", (DEALT, STEPPED), f"On {where} inconsistent tables help"),
        _better(ends, where),
    ]


def _better(ends: ScoreEnds, where: str) -> JudgedClaim:
    """Whether regression does better than classification, where that shows anything."""
    claim = f"On {where} regression is much better than classification"
    regression, classification = (ends.high[DEALT][task] for task in reversed(TASKS[1:]))
    shown = f"{regression:.0f} and {classification:.0f} at the largest ε"
    if "classification" not in ends.telling:
        reason = "no row meets the conditions of its classification"
        return JudgedClaim(claim, shown, Reproduction.NOT_COMPARABLE, reason)
    other = "with our shares of the budget both are close"
    return JudgedClaim.judged(claim, shown, regression > classification, otherwise=other)


def _grows(results: Results, ends: ScoreEnds, task: str, where: str) -> JudgedClaim:
    epsilons, steps = results.values("epsilon"), falls(results, task)
    clear = falls(results, task, errors=2)
    means = [Spread.of(results.where(epsilon=e).numbers(DEALT, task)).mean for e in epsilons]
    claim = f"On {where} the scores of {task} grow with ε"
    shown = ", ".join(f"{m:.0f} at {e}" for m, e in zip(means, epsilons, strict=True))
    if task not in ends.telling:
        reason = "independent columns score as high as real rows on this table"
        return JudgedClaim(claim, shown, Reproduction.NOT_COMPARABLE, reason)
    if task == "regression" and results.values("table")[0] in _MADE_UP:
        return JudgedClaim(claim, shown, Reproduction.NOT_COMPARABLE, _NO_MEANING)
    if steps and not clear:
        fits = len(results.where(epsilon=epsilons[0]).cells)
        reason = f"it falls within chance of {fits} fits from {', '.join(steps)}"
        return JudgedClaim(claim, shown, Reproduction.PARTLY, reason)
    reason = f"it falls by more than chance from {', '.join(clear)}"
    return JudgedClaim.judged(claim, shown, not steps, otherwise=reason)


def _apart(results: Results, task: str, ways: tuple[str, str], claim: str) -> JudgedClaim:
    """Whether a second way of drawing rows is better at the least ε by more than chance."""
    least = results.where(epsilon=results.values("epsilon")[0])
    pairs = zip(*(least.numbers(way, task) for way in ways), strict=True)
    gain = Spread.of([second - first for first, second in pairs])
    shown = f"{gain.mean:+.0f} of 1,000 at ε = {results.values('epsilon')[0]}, ± {gain.error:.0f}"
    if results.values("table")[0] in _MADE_UP:
        return JudgedClaim(f"{claim} {task}", shown, Reproduction.NOT_COMPARABLE, _NO_MEANING)
    if abs(gain.mean) <= 2 * gain.error or gain.count < 2:
        most = gain.mean + 2 * gain.error
        reason = f"{gain.count} fits do not decide it, and would have shown more than {most:+.0f}"
        return JudgedClaim(f"{claim} {task}", shown, Reproduction.NOT_COMPARABLE, reason)
    reason = "consistency undoes noise that a sampler of raw tables keeps"
    if ways[0] == REPLACED:
        reason = "it harms here, by more than the fits scatter"
    return JudgedClaim.judged(f"{claim} {task}", shown, gain.mean > 0, otherwise=reason)


@dataclass(frozen=True)
class ScoreEnds:
    """The mean scores of one table and rule at the least ε and at the largest."""

    low: dict[str, dict[str, float]]
    high: dict[str, dict[str, float]]

    @classmethod
    def of(cls, results: Results) -> ScoreEnds:
        """Return the means of the scores in some cells."""
        epsilons = results.values("epsilon")
        return cls(*(_means(results.where(epsilon=e)) for e in (epsilons[0], epsilons[-1])))

    @property
    def telling(self) -> list[str]:
        """Tasks in which independent columns do worse than resampled rows."""
        return [t for t in TASKS if self.high[INDEPENDENT][t] < self.high[RESAMPLED][t] - 1]

    def gain(self, task: str, first: str, second: str) -> float:
        """Return how much one way of drawing rows improves another's score at the least ε."""
        return self.low[second][task] - self.low[first][task]


def range_of_clustering(results: Results) -> str:
    """Say how far clustering comes from the least ε to the largest."""
    ends = ScoreEnds.of(results)
    low, high = ends.low[DEALT]["clustering"], ends.high[DEALT]["clustering"]
    [about] = {f"{c.setting['table']}, {c.setting['rule']}" for c in results}
    return f"{low:.0f} to {high:.0f} ({about})"


def range_of(values: Sequence[float]) -> str:
    """Return the least and the largest value, with their signs."""
    return f"{min(values):+.0f} to {max(values):+.0f}"


def _means(results: Results) -> dict[str, dict[str, float]]:
    return {
        name: {task: Spread.of(results.numbers(name, task)).mean for task in TASKS}
        for name in (*SAMPLERS, RESAMPLED, INDEPENDENT)
    }
