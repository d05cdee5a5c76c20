"""SBA section V-A: greedy and genetic networks, what they take and what classifiers learn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from understudy.evaluation.prediction.scoring import Labels
from understudy.evaluation.sheets import EvaluationTable
from understudy.models.pictures.charts import Line, Panel
from understudy_studies.cells import CellValues, Results, Setting, Size, Spread
from understudy_studies.sba import (
    FIVE,
    GENETIC,
    GREEDY,
    OFF,
    RIVALLED,
    SMALL,
    Caps,
    Task,
    TimedRows,
    ensure_classifiers,
    made,
    named,
    predictors,
    share_right,
    task,
)
from understudy_studies.study import JudgedClaim, Study, StudyTable
from understudy_studies.tables import ADULT, CMC, CREDIT_CARD, DataFolder

REAL = "real rows"
SEARCHES = (GREEDY, GENETIC, RIVALLED)
FRAUDS = "credit card"
_DEGREES = {"cmc": (1, 2, 3, 4), "adult": (1, 2, 3, 4), FRAUDS: (1, 2, 3), SMALL: (1,)}
_CAPS = {"cmc": Caps(5_000, 5_000), "adult": Caps(8_000, 40_000), FRAUDS: Caps(40_000, 40_000)}
# The averages of tables V, VI (accuracy) and VII (F2), in percent, for degrees from 1.
_PRINTED: dict[tuple[str, str], tuple[float, ...]] = {
    ("cmc", GREEDY): (43.0, 48.0, 50.7, 49.3),
    ("cmc", GENETIC): (43.2, 49.3, 49.7, 49.9),
    ("adult", GREEDY): (79.7, 81.1, 79.5, 79.9),
    ("adult", GENETIC): (79.9, 79.7, 81.4, 81.4),
    (FRAUDS, GREEDY): (49.4, 59.8, 40.7),
    (FRAUDS, GENETIC): (54.4, 59.4, 57.4),
}
_PRINTED_REAL = {"cmc": 49.8, "adult": 81.8, FRAUDS: 66.5}
_BOTH = (GREEDY, GENETIC)
# How many points of accuracy below the printed average are near enough.
_REACH = 1.5


class GeneticNetworks(Study):
    """Seconds and utility of two searches over degree, without privacy and with it."""

    title = "Greedy and genetic networks: seconds, and what classifiers learn"
    source = "SBA section V-A, tables II to VII"
    claim = (
        "The genetic search is much faster than the greedy one where there are many columns: on "
        "Credit Card with three parents it takes under 10 minutes for almost 12 hours. "
        "Classifiers that learn from its rows do about as well: on Contraceptive Method Choice "
        "(cmc) for two to four parents nearly as well as from real rows, on Adult better than "
        "with the greedy search for three of four degrees, on Credit Card for two of three."
    )
    words = (
        "A network of at most 1 to 4 parents is fitted to the training rows, as many rows are "
        "drawn, and five classifiers learn from them and are tested on real rows held out: a "
        "random fifth, on Adult the published split. Without ε scores and tables are exact, as in "
        "the paper, and scores are mutual information; the paper has no other. With ε = 1 it is "
        "`privbayes`, noise on scores and tables; on Adult and Credit Card there is one fit of "
        "each setting, as in the paper, and with noise another would come out points apart. "
        "Averages are percent of rows named rightly, on Credit Card F2 of frauds. Categories are "
        "numbers, as the paper's label encoding has it, and Adult lacks `fnlwgt` and `education`, "
        "as the authors' published copy does; the paper's own numbers for real rows tell that its "
        "columns were still others, so that a difference to them is worth less than one to our "
        "real rows. Bins are public choices: capital gains and losses have one of their own for "
        "none, components of Credit Card lie between -10 and 10. The genetic search has the "
        "paper's P, S, r and e, and one population. *With a grown rival* is what `understudy` "
        "does: several populations, and the network that grows parent by parent from the same "
        "scores where it is fitter. Seconds are the processor's, of all cores together, and "
        "differ from run to run; the paper's tables of seconds are charts that did not survive in "
        "its text."
    )
    reduced = (
        "30 splits of cmc for ten; other bins than the paper's, and fewer rows: support vector "
        "machines learn from 8,000 rows of Adult at most, all classifiers from 40,000 of Credit "
        "Card"
    )
    files = (*CMC, *ADULT, *CREDIT_CARD)

    def check(self, size: Size, shelf: DataFolder) -> None:
        """Refuse a run without the package that holds the classifiers."""
        super().check(size, shelf)
        ensure_classifiers()

    def settings(self, size: Size) -> list[Setting]:
        """For each table the real rows, then each search over ε and degree."""
        tables = size.pick(smoke=(SMALL,), quick=("cmc",), full=("cmc", "adult", FRAUDS))
        runs = size.pick(smoke=1, quick=2, full=30)
        names = tuple(FIVE)[: size.pick(smoke=1, quick=5, full=5)]
        plan: list[dict[str, Any]] = []
        # Rivals come last, so that the seeds of the others are what they were without them.
        for choices, table in product((_choices, _rivalled), tables):
            caps = _CAPS.get(table, Caps(1_000, 1_000))
            same = {
                "runs": runs if table == "cmc" else 1,
                "classifiers": " ".join(names),
                "kernel_rows": caps.kernels,
                "most_rows": caps.others,
            }
            plan += [{"table": table, **choice, **same} for choice in choices(table)]
        return [{**setting, "seed": seed} for seed, setting in enumerate(plan)]

    def laws(self, setting: Setting) -> dict[str, int]:
        """The genetic lines became the paper's search alone; the others measure what they did."""
        return super().laws(setting) | ({"study": 2} if setting["search"] == GENETIC else {})

    def made_by(self, setting: Setting) -> Sequence[str]:
        """Return the method of synthetic rows; without noise its tables need no consistency."""
        return [] if setting["epsilon"] == OFF else ["privbayes"]

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Which averages are reached, which search is the better one, and which the faster."""
        tables = [t for t in results.values("table") if (t, GENETIC) in _PRINTED]
        found = [_averages(results.where(table=t, epsilon=OFF), str(t)) for t in tables]
        return [*found, *(_faster(results.where(table=t, epsilon=OFF), str(t)) for t in tables)]

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """Utility of every classifier and run, the baseline's, and seconds."""
        about = task(str(setting["table"]), shelf)
        runs = [_run(about, setting, number) for number in range(int(setting["runs"]))]
        names = runs[0]["utility"]
        return {
            "utility": {name: [run["utility"][name] for run in runs] for name in names},
            "mean": [float(np.mean(list(run["utility"].values()))) for run in runs],
            **{
                part: [run[part] for run in runs]
                for part in ("baseline", "describing", "generating")
            },
            "confusion": runs[0]["confusion"],
        }

    def sentence(self, results: Results) -> str:
        """Whether the printed averages are reached, what noise costs, and who is faster."""
        parts = [_reached(results)]
        for table in results.values("table"):
            parts += [_cost(results.where(table=table)), _speed(results.where(table=table))]
        return " ".join(part for part in parts if part)

    def summary(self, results: Results) -> StudyTable:
        """A line for each cell, SBA's average beside ours."""
        columns = ("table", "rows from", "parents", "ε", *FIVE.values(), "average", "±")
        more = ("SBA's average", "difference", "describing, s", "generating, s")
        lines = []
        for cell in results:
            found = Spread.of([100 * value for value in cell.numbers["mean"]])
            printed = _printed(cell.setting)
            lines.append(
                (
                    *(cell.setting[name] for name in ("table", "search", "degree", "epsilon")),
                    *(_percent(cell.numbers["utility"].get(name)) for name in FIVE),
                    f"{found.mean:.1f}",
                    f"{found.deviation:.1f}" if found.count > 1 else "",
                    "" if printed is None else f"{printed:.1f}",
                    "" if printed is None else f"{found.mean - printed:+.1f}",
                    *(_seconds(cell.numbers[part]) for part in ("describing", "generating")),
                )
            )
        return StudyTable((*columns, *more), lines)

    def panels(self, results: Results) -> Sequence[Panel]:
        """For each table utility and seconds, over degree."""
        return [
            panel(results.where(table=table))
            for table in results.values("table")
            for panel in (_utility_panel, _seconds_panel)
        ]


def _choices(table: str) -> list[dict[str, Any]]:
    fits = [
        {"search": search, "degree": degree, "epsilon": epsilon}
        for epsilon in (OFF, "1")
        for search in (GREEDY, GENETIC)
        for degree in _DEGREES[table]
    ]
    return [{"search": REAL, "degree": 0, "epsilon": OFF}, *fits]


def _rivalled(table: str) -> list[dict[str, Any]]:
    """The same degrees by this package's search, without privacy: the paper's are beside it."""
    return [{"search": RIVALLED, "degree": k, "epsilon": OFF} for k in _DEGREES[table]]


def _run(about: Task, setting: Setting, number: int) -> dict[str, Any]:
    """One split: rows to learn from, and what every classifier makes of them."""
    train, test = about.split(number)
    seed = 1_000 * int(setting["seed"]) + number
    rows = TimedRows(train, 0.0, 0.0)
    if setting["search"] != REAL:
        rows = made(about, train, setting=setting, seed=seed)
    caps = Caps(int(setting["kernel_rows"]), int(setting["most_rows"]))
    found = {
        name: _named(about, name, rows=rows.rows, test=test, caps=caps)
        for name in _classifiers(setting)
    }
    truth = test.table.codes[about.target].astype(np.int64)
    most = int(np.bincount(train.table.codes[about.target]).argmax())
    return {
        "utility": {name: _utility(about, truth, codes) for name, codes in found.items()},
        "baseline": _utility(about, truth, np.full(truth.size, most)),
        "describing": round(rows.describing, 3),
        "generating": round(rows.generating, 3),
        "confusion": {n: confusion(truth, c) for n, c in found.items()}
        if about.name == FRAUDS
        else {},
    }


def _classifiers(setting: Setting) -> list[str]:
    return str(setting["classifiers"]).split()


def _named(
    about: Task, learner: str, *, rows: EvaluationTable, test: EvaluationTable, caps: Caps
) -> Labels:
    return named(
        about.schema,
        learner,
        rows=rows,
        asked=test,
        known=predictors(about),
        wanted=about.target,
        caps=caps,
    )


def _utility(about: Task, truth: Labels, codes: Labels) -> float:
    """Accuracy, or F2 where the class that matters is rare."""
    return f2(confusion(truth, codes)) if about.name == FRAUDS else share_right(truth, codes)


def confusion(truth: Labels, codes: Labels) -> list[int]:
    """True and false negatives and positives of code 1, as the paper prints them: TN FP FN TP."""
    counts = np.bincount(2 * (truth == 1) + (codes == 1), minlength=4)
    return [int(count) for count in counts]


def f2(counts: Sequence[int]) -> float:
    """The harmonic mean of precision and recall that weighs recall twice; 0 where none is found."""
    _, false_positives, false_negatives, found = counts
    return 5 * found / (5 * found + 4 * false_negatives + false_positives) if found else 0.0


def _printed(setting: Setting) -> float | None:
    """Return the paper's number for a setting; it prints none with noise."""
    table, search = str(setting["table"]), str(setting["search"])
    if search == REAL:
        return _PRINTED_REAL.get(table)
    if setting["epsilon"] != OFF or (table, search) not in _PRINTED:
        return None
    return _PRINTED[table, search][int(setting["degree"]) - 1]


def _percent(values: Sequence[float] | None) -> str:
    return "" if values is None else f"{100 * Spread.of(values).mean:.1f}"


def _seconds(values: Sequence[float]) -> str:
    mean = Spread.of(values).mean
    return f"{mean:.2f}" if mean else ""


def _average(results: Results) -> float:
    """In percent, over all runs of the cells."""
    return 100 * Spread.of([value for run in results.numbers("mean") for value in run]).mean


def _utility_panel(results: Results) -> Panel:
    table = str(results.values("table")[0])
    degrees = [degree for degree in results.values("degree") if degree]
    lines = []
    for epsilon in results.values("epsilon"):
        for search in _searches(results.where(epsilon=epsilon)):
            cells = results.where(epsilon=epsilon, search=search)
            spreads = [Spread.of([100 * v for v in c.numbers["mean"]]) for c in cells]
            parts = ([getattr(s, part) for s in spreads] for part in ("mean", "low", "high"))
            lines.append(Line(_name(search, epsilon), degrees, *parts))
    real = _average(results.where(search=REAL))
    lines.append(Line(REAL, degrees, [real] * len(degrees)))
    for search in (GREEDY, GENETIC):
        if (table, search) in _PRINTED:
            lines.append(Line(f"SBA's {search}", degrees, _PRINTED[table, search]))
    what = "average F2" if table == FRAUDS else "average accuracy"
    return Panel(f"{table}: {what}", "parents at most", f"{what}, %", lines)


def _seconds_panel(results: Results) -> Panel:
    degrees = [degree for degree in results.values("degree") if degree]
    lines = []
    for epsilon in results.values("epsilon"):
        for search in _searches(results.where(epsilon=epsilon)):
            cells = results.where(epsilon=epsilon, search=search)
            # The least that the clock could have told of them is a thousandth.
            seconds = [max(Spread.of(c.numbers["describing"]).mean, 0.001) for c in cells]
            lines.append(Line(_name(search, epsilon), degrees, seconds))
    title = f"{results.values('table')[0]}: seconds of describing"
    return Panel(title, "parents at most", "seconds", lines, log_up=True)


def _searches(results: Results) -> list[str]:
    """The searches that there are cells of; an older record has no rival."""
    return [search for search in SEARCHES if search in results.values("search")]


def _name(search: str, epsilon: object) -> str:
    return search if epsilon == OFF else f"{search}, ε = {epsilon}"


def _off(results: Results) -> dict[str, dict[str, float]]:
    """By table and setting, the points of accuracy that are more than the printed ones."""
    found: dict[str, dict[str, float]] = {}
    for cell in results.where(epsilon=OFF):
        printed, table = _printed(cell.setting), str(cell.setting["table"])
        if table != FRAUDS and printed is not None:
            name = "{table}, {search}, {degree}".format(**cell.setting)
            found.setdefault(table, {})[name] = _average(Results((cell,))) - printed
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
    table, real = results.values("table")[0], _average(results.where(search=REAL))
    what = "F2" if table == FRAUDS else "accuracy"
    parts = []
    for epsilon in results.values("epsilon"):
        found = results.where(epsilon=epsilon)
        best = [f"{_best(found.where(search=s)):.1f} ({s})" for s in _searches(found)]
        when = "without privacy" if epsilon == OFF else f"at ε = {epsilon}"
        parts.append(f"{' and '.join(best)} {when}")
    baseline = 100 * Spread.of(results.where(search=REAL).numbers("baseline")[0]).mean
    return (
        f"On {table} the average {what} of the best degree is {', '.join(parts)}, from real rows "
        f"{real:.1f}, the zero rule's {baseline:.1f}."
    )


def _best(results: Results) -> float:
    return max(_average(results.where(degree=degree)) for degree in results.values("degree"))


def _averages(results: Results, table: str) -> JudgedClaim:
    """For how many degrees the genetic search does no worse than the greedy one, as printed."""
    ours = [[_average(results.where(search=s, degree=k)) for k in _DEGREES[table]] for s in _BOTH]
    theirs = [_PRINTED[table, search] for search in _BOTH]
    wins = [sum(g >= f for f, g in zip(*pair, strict=True)) for pair in (theirs, ours)]
    what = "F2 of frauds" if table == FRAUDS else "accuracy"
    degrees = len(_DEGREES[table])
    listed = ["; ".join(_listed(line) for line in pair) for pair in (theirs, ours)]
    real = _average(results.where(degree=0))
    return JudgedClaim.judged(
        f"On {table} the genetic search does as well as the greedy one or better for {wins[0]} of "
        f"{degrees} degrees ({what}, greedy; genetic: {listed[0]})",
        f"For {wins[1]} of {degrees} ({listed[1]}; real rows {real:.1f}, "
        f"in the paper {_PRINTED_REAL[table]:.1f})",
        wins[1] >= wins[0],
        otherwise="for fewer degrees, of one fit each" if table != "cmc" else "for fewer degrees",
    )


def _faster(results: Results, table: str) -> JudgedClaim:
    """Which search takes less of the processor for the most parents."""
    degree = _DEGREES[table][-1]
    greedy, genetic = (
        Spread.of(results.where(search=s, degree=degree).numbers("describing")[0]).mean
        for s in _BOTH
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


def _listed(values: Sequence[float]) -> str:
    return " ".join(f"{value:.1f}" for value in values)


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


STUDY = GeneticNetworks()
