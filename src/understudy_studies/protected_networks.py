"""SBA section V-B: what attackers learn from ordinary and protected networks, and what is lost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from understudy.evaluation.disclosure.attack import Scenario
from understudy.evaluation.disclosure.attribution import attribution
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.protection import Protection
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.models.pictures.charts import Panel
from understudy.models.pictures.heat import HeatMap
from understudy_studies.cells import CellValues, Results, Setting, Size
from understudy_studies.protection_claims import (
    ATTACKERS,
    ORIGINAL,
    about_table,
    heat_maps,
    line_of,
    protection_claims,
    votes_panel,
)
from understudy_studies.sba import (
    FIVE,
    OFF,
    SMALL,
    TARGETS,
    Caps,
    Task,
    ensure_classifiers,
    made,
    named,
    share_right,
    target_named,
    task,
)
from understudy_studies.study import JudgedClaim, Study, StudyTable
from understudy_studies.tables import ADULT, CMC, DataFolder
from understudy_studies.two_sensitive import (
    GCAP,
    ORDINARY,
    PROTECTED,
    SENSITIVE,
    attacked_twice,
    judged_two,
    of_one,
    of_two,
)

# Table VIII: quasi-identifiers, the sensitive column, and how many of the former are known.
_SCENARIOS = {
    "cmc": Scenario(
        "husband_education",
        ("wife_age", "wife_education", "children_born", "wife_religion", "wife_not_working"),
        4,
    ),
    "adult": Scenario("relationship", ("age", "workclass", "occupation", "race", "sex"), 5),
    SMALL: Scenario("c2", ("c0", "c1"), 2),
}
_DEGREE = 4
_CAPS = Caps(8_000, 40_000)


class ProtectedNetworks(Study):
    """Attackers' accuracy and classifiers', from original, ordinary and protected rows."""

    title = "Protected networks: what attackers learn, and what classifiers lose"
    source = "SBA section V-B, tables IX to XII and figure 1"
    claim = (
        "Attackers who hold ordinary synthetic rows name a sensitive value more often than the "
        "zero rule, which always names the most frequent one (64.6 for 61.0 % on Contraceptive "
        "Method Choice, cmc; 56.3 for 40.5 % on Adult). Protected networks bring them down to it "
        "(57.9 and 42.2 %), and classifiers lose little (0.1 and 0.6 points)."
    )
    words = (
        "Genetic networks of four parents at most are fitted to all rows of cmc and to the "
        "training rows of Adult, once as they are and once with the sensitive column protected: "
        "it depends on the target alone, and nothing depends on it. As many rows are drawn. "
        "Attackers learn from four of five quasi-identifiers (each choice in turn; on Adult from "
        "all five) and the sensitive column, and name everybody's: GCAP by majority, and five "
        "classifiers; the average is over the six. Utility is the average accuracy of the same "
        "classifiers that predict the target of real rows held out, from networks that were "
        "fitted to the others, as in the study `sba-search`, whose columns and encoding these "
        "are; it is to be read beside the share of the target's most frequent value, 42.7 % on "
        "cmc and, among the rows tested on, 76.4 % on Adult. Protection is not differential "
        "privacy; with ε = 1, `privbayes`, both hold. The charts show the vote by GCAP over the "
        "number of columns known, and the correlations of Adult's columns, categories as numbers "
        "in the order of their names. Two sensitive columns, the husband's education and "
        "occupation, are protected together on cmc as well (section VI), and attacked by those "
        "who know all five quasi-identifiers."
    )
    reduced = (
        "on cmc ten fits that are attacked and 30 splits, on Adult five fits with ε; support "
        "vector machines learn from 8,000 rows of Adult at most"
    )
    across = 3
    files = (*CMC, *ADULT)
    # 2: ordinary and protected networks are those of the paper's search, without a grown rival.
    law = 2

    def made_by(self, setting: Setting) -> Sequence[str]:
        """Return the method of synthetic rows; without noise its tables need no consistency."""
        return [] if setting["epsilon"] == OFF else ["privbayes"]

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """For each table what attackers name rightly, and what protection costs."""
        single = of_one(results)
        return [
            *(
                found
                for table in single.values("table")
                for found in protection_claims(single.where(table=table, epsilon=OFF), str(table))
            ),
            *judged_two(results),
        ]

    def check(self, size: Size, shelf: DataFolder) -> None:
        """Refuse a run without the package that holds the classifiers."""
        super().check(size, shelf)
        ensure_classifiers()

    def settings(self, size: Size) -> list[Setting]:
        """For each table the real rows, then both networks without ε and with one."""
        tables = size.pick(smoke=(SMALL,), quick=("cmc",), full=("cmc", "adult"))
        names = tuple(FIVE)[: size.pick(smoke=1, quick=5, full=5)]
        choices = [(ORIGINAL, OFF)]
        choices += [(network, e) for e in (OFF, "1") for network in (ORDINARY, PROTECTED)]
        plan: list[dict[str, Any]] = [
            {
                "table": table,
                "network": network,
                "epsilon": epsilon,
                "search": "genetic",
                "degree": _DEGREE,
                **_repeated(size, table, epsilon),
                "classifiers": " ".join(names),
            }
            for table in tables
            for network, epsilon in choices
        ]
        # Two sensitive columns come last, so that the seeds of the others are what they were.
        plan += [
            {
                "table": table,
                "network": network,
                "epsilon": OFF,
                "search": "genetic",
                "degree": _DEGREE,
                "fits": size.pick(smoke=1, quick=1, full=5),
                "classifiers": " ".join(names),
                "protects": " ".join(SENSITIVE[table]),
            }
            for table in tables
            if table in SENSITIVE
            for network in (ORDINARY, PROTECTED)
        ]
        return [{**setting, "seed": seed} for seed, setting in enumerate(plan)]

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """Attackers' accuracy by fit, classifiers' by split, votes by keys, and correlations."""
        about = task(str(setting["table"]), shelf)
        if of_two(setting):
            return attacked_twice(about, setting)
        fits = 1 if setting["network"] == ORIGINAL else int(setting["fits"])
        held = [_rows(about, about.rows, setting, number) for number in range(fits)]
        attacks = [_attacked(about, rows, setting) for rows in held]
        splits = [_useful(about, setting, number) for number in range(int(setting["splits"]))]
        return {
            "attack": {name: [each[name] for each in attacks] for name in attacks[0]},
            "attack_mean": [float(np.mean(list(each.values()))) for each in attacks],
            "votes": _votes(about, held[0]),
            "zero_rule": _zero_rule(about),
            "utility": {name: [each[name] for each in splits] for name in splits[0]},
            "utility_mean": [float(np.mean(list(each.values()))) for each in splits],
            "correlations": correlations(held[0]),
        }

    def sentence(self, results: Results) -> str:
        """For each table and ε, how far attackers are above the zero rule, and what it costs."""
        results = of_one(results)
        return " ".join(
            about_table(results.where(table=table), str(epsilon))
            for table in results.values("table")
            for epsilon in results.where(table=table).values("epsilon")
        )

    def summary(self, results: Results) -> StudyTable:
        """A line for each cell, SBA's averages beside ours, and the zero rule of each table."""
        results = of_one(results)
        columns = ("table", "rows", "ε", *ATTACKERS.values(), "attack", "above zero rule")
        more = ("SBA's attack", "utility", "±", "SBA's utility")
        lines: list[tuple[Any, ...]] = []
        for table in results.values("table"):
            of_table = results.where(table=table)
            lines += [line_of(cell) for cell in of_table]
            zero = f"{100 * of_table.numbers('zero_rule')[0]:.1f}"
            blank = [""] * len(ATTACKERS)
            lines.append((table, "zero rule", "", *blank, zero, "+0.0", *[""] * len(more)))
        return StudyTable((*columns, *more), lines)

    def panels(self, results: Results) -> Sequence[Panel | HeatMap]:
        """Correlations of the last table in three heat maps, then votes of every table."""
        results = of_one(results)
        last = results.where(table=results.values("table")[-1], epsilon=OFF)
        return [
            *heat_maps(last),
            *(votes_panel(results.where(table=table)) for table in results.values("table")),
        ]


def _repeated(size: Size, table: str, epsilon: str) -> dict[str, int]:
    """How many splits classifiers have, and how many fits are attacked; on Adult noise alone."""
    splits, fits = size.pick(smoke=(1, 1), quick=(2, 1), full=(30, 10))
    if table == "adult":
        splits = fits = 1 if epsilon == OFF else 5
    return {"splits": splits, "fits": fits}


def protection(table: str) -> Restrictions:
    """The network of section IV: the target first, the sensitive column after it and no parent."""
    scenario = _SCENARIOS[table]
    return Restrictions(
        protection=Protection(
            TARGETS[table], {scenario.sensitive: None}, scenario.quasi_identifiers
        )
    )


def _rows(about: Task, rows: EvaluationTable, setting: Setting, number: int) -> EvaluationTable:
    """The rows that an attacker or a classifier holds instead of these."""
    if setting["network"] == ORIGINAL:
        return rows
    rules = protection(about.name) if setting["network"] == PROTECTED else NONE
    return made(
        about, rows, setting=setting, seed=1_000 * int(setting["seed"]) + number, restrictions=rules
    ).rows


def _classifiers(setting: Setting) -> list[str]:
    return str(setting["classifiers"]).split()


def _attacked(about: Task, held: EvaluationTable, setting: Setting) -> dict[str, float]:
    """The accuracy of every attacker, over all keys."""
    scenario = _SCENARIOS[about.name]
    found = {GCAP: float(np.mean([_vote(about, held, key) for key in scenario.keys]))}
    truth = about.rows.table.codes[scenario.sensitive]
    for learner in _classifiers(setting):
        right = [
            share_right(
                truth,
                named(
                    about.schema,
                    learner,
                    rows=held,
                    asked=about.rows,
                    known=key,
                    wanted=scenario.sensitive,
                    caps=_CAPS,
                ),
            )
            for key in scenario.keys
        ]
        found[learner] = float(np.mean(right))
    return found


def _vote(about: Task, held: EvaluationTable, key: Sequence[str]) -> float:
    sensitive = _SCENARIOS[about.name].sensitive
    found = attribution(about.rows.table, held.table, sensitive=sensitive, key=key).vote
    assert found is not None
    return found


def _votes(about: Task, held: EvaluationTable) -> list[float]:
    """For k = 1, 2, … columns known, the accuracy of the vote over all choices of k columns."""
    known = _SCENARIOS[about.name].quasi_identifiers
    return [
        float(np.mean([_vote(about, held, key) for key in combinations(known, length)]))
        for length in range(1, len(known) + 1)
    ]


def _zero_rule(about: Task) -> float:
    codes = about.rows.table.codes[_SCENARIOS[about.name].sensitive]
    return float(np.bincount(codes).max() / codes.size)


def _useful(about: Task, setting: Setting, number: int) -> dict[str, float]:
    """The accuracy of every classifier on the held-out rows of one split."""
    train, test = about.split(number)
    rows = _rows(about, train, setting, 500 + number)
    truth = test.table.codes[about.target]
    return {
        learner: share_right(truth, target_named(about, learner, rows=rows, test=test, caps=_CAPS))
        for learner in _classifiers(setting)
    }


def correlations(sheet: EvaluationTable) -> dict[str, list[Any]]:
    """Pearson's coefficients of all columns, categories as numbers; none with itself."""
    names = list(sheet.table.domain)
    columns = [sheet.numbers.get(name, sheet.table.codes[name]).astype(float) for name in names]
    spread = [bool(np.ptp(column) > 0) for column in columns]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.corrcoef(columns)
    matrix = [
        [
            round(float(found[i, j]), 4) if i != j and spread[i] and spread[j] else None
            for j in range(len(names))
        ]
        for i in range(len(names))
    ]
    return {"columns": names, "matrix": matrix}


STUDY = ProtectedNetworks()
