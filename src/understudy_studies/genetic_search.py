"""SBA section V-A: greedy and genetic networks, what they take and what classifiers learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from understudy.models.pictures.charts import Line, Panel
from understudy_studies.cells import CellValues, Results, Setting, Size, Spread
from understudy_studies.genetic_search_claims import about_searches, judged_searches
from understudy_studies.sba import (
    FIVE,
    GENETIC,
    GREEDY,
    OFF,
    RIVALLED,
    SMALL,
    Caps,
    ensure_classifiers,
    task,
)
from understudy_studies.searched_averages import (
    DEGREES,
    FRAUDS,
    PRINTED,
    REAL,
    mean_average,
    printed_average,
    searches_of,
)
from understudy_studies.searched_utility import utility_of_split
from understudy_studies.study import JudgedClaim, Study, StudyTable
from understudy_studies.tables import ADULT, CMC, CREDIT_CARD, DataFolder

_CAPS = {"cmc": Caps(5_000, 5_000), "adult": Caps(8_000, 40_000), FRAUDS: Caps(40_000, 40_000)}


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
        "as the authors' published copy does; the paper's own numbers for real rows show that its "
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
        return judged_searches(results)

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """Utility of every classifier and run, the baseline's, and seconds."""
        about = task(str(setting["table"]), shelf)
        runs = [utility_of_split(about, setting, number) for number in range(int(setting["runs"]))]
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
        return about_searches(results)

    def summary(self, results: Results) -> StudyTable:
        """A line for each cell, SBA's average beside ours."""
        columns = ("table", "rows from", "parents", "ε", *FIVE.values(), "average", "±")
        more = ("SBA's average", "difference", "describing, s", "generating, s")
        lines = []
        for cell in results:
            found = Spread.of([100 * value for value in cell.numbers["mean"]])
            printed = printed_average(cell.setting)
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

    def further(self, results: Results) -> Mapping[str, StudyTable]:
        """Return the confusion matrices of the frauds, which the paper prints too."""
        columns = ("table", "rows from", "parents", "ε", *FIVE.values())
        lines = [
            (
                *(cell.setting[name] for name in ("table", "search", "degree", "epsilon")),
                *(" ".join(map(str, cell.numbers["confusion"][name])) for name in FIVE),
            )
            for cell in results
            if cell.numbers["confusion"]
        ]
        title = "Test rows by their class and the one that was named: TN FP FN TP of frauds"
        return {title: StudyTable(columns, lines)} if lines else {}

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
        for degree in DEGREES[table]
    ]
    return [{"search": REAL, "degree": 0, "epsilon": OFF}, *fits]


def _rivalled(table: str) -> list[dict[str, Any]]:
    """The same degrees by this package's search, without privacy: the paper's are beside it."""
    return [{"search": RIVALLED, "degree": k, "epsilon": OFF} for k in DEGREES[table]]


def _percent(values: Sequence[float] | None) -> str:
    return "" if values is None else f"{100 * Spread.of(values).mean:.1f}"


def _seconds(values: Sequence[float]) -> str:
    mean = Spread.of(values).mean
    return f"{mean:.2f}" if mean else ""


def _utility_panel(results: Results) -> Panel:
    table = str(results.values("table")[0])
    degrees = [degree for degree in results.values("degree") if degree]
    lines = []
    for epsilon in results.values("epsilon"):
        for search in searches_of(results.where(epsilon=epsilon)):
            cells = results.where(epsilon=epsilon, search=search)
            spreads = [Spread.of([100 * v for v in c.numbers["mean"]]) for c in cells]
            parts = ([getattr(s, part) for s in spreads] for part in ("mean", "low", "high"))
            lines.append(Line(_name(search, epsilon), degrees, *parts))
    real = mean_average(results.where(search=REAL))
    lines.append(Line(REAL, degrees, [real] * len(degrees)))
    for search in (GREEDY, GENETIC):
        if (table, search) in PRINTED:
            lines.append(Line(f"SBA's {search}", degrees, PRINTED[table, search]))
    what = "average F2" if table == FRAUDS else "average accuracy"
    return Panel(f"{table}: {what}", "parents at most", f"{what}, %", lines)


def _seconds_panel(results: Results) -> Panel:
    degrees = [degree for degree in results.values("degree") if degree]
    lines = []
    for epsilon in results.values("epsilon"):
        for search in searches_of(results.where(epsilon=epsilon)):
            cells = results.where(epsilon=epsilon, search=search)
            # The least that the clock could have told of them is a thousandth.
            seconds = [max(Spread.of(c.numbers["describing"]).mean, 0.001) for c in cells]
            lines.append(Line(_name(search, epsilon), degrees, seconds))
    title = f"{results.values('table')[0]}: seconds of describing"
    return Panel(title, "parents at most", "seconds", lines, log_up=True)


def _name(search: str, epsilon: object) -> str:
    return search if epsilon == OFF else f"{search}, ε = {epsilon}"


STUDY = GeneticNetworks()
