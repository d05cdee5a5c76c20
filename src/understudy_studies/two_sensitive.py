"""SBA section VI: two sensitive columns protected at once, which the paper leaves to others.

Attackers hold synthetic rows and know all quasi-identifiers of a person, once without and once with
the other sensitive column. Both columns may depend on the target alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from understudy.evaluation.disclosure.attribution import attribution
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.protection import Protection
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy_studies.cells import CellValues, Results, Setting, Spread
from understudy_studies.sba import SMALL, TARGETS, Caps, Task, made, named, share_right
from understudy_studies.study import JudgedClaim, Reproduction

ORDINARY, PROTECTED = "ordinary", "protected"
GCAP = "gcap"
SENSITIVE: Mapping[str, tuple[str, str]] = {
    "cmc": ("husband_education", "husband_occupation"),
    SMALL: ("c1", "c2"),
}
_KNOWN: Mapping[str, tuple[str, ...]] = {
    "cmc": ("wife_age", "wife_education", "children_born", "wife_religion", "wife_not_working"),
    SMALL: ("c0",),
}
_CAPS = Caps(8_000, 40_000)
# Points above the zero rule that count as none, as in the tables of one column.
_REACH = 2.0


def of_two(setting: Setting) -> bool:
    """Whether a setting has two sensitive columns."""
    return "protects" in setting


def of_one(results: Results) -> Results:
    """The cells of a single sensitive column."""
    return Results(tuple(cell for cell in results if not of_two(cell.setting)))


def attacked_twice(about: Task, setting: Setting) -> CellValues:
    """For each sensitive column what attackers name rightly, by fit, beside the zero rule."""
    rules = protection_of_two(about.name) if setting["network"] == PROTECTED else NONE
    fits = range(int(setting["fits"]))
    seeds = [1_000 * int(setting["seed"]) + number for number in fits]
    held = [
        made(about, about.rows, setting=setting, seed=seed, restrictions=rules).rows
        for seed in seeds
    ]
    return {
        column: {
            "attack_mean": [_attack(about, rows, column, setting) for rows in held],
            "other_known": [_vote(about, rows, column, other=True) for rows in held],
            "zero_rule": _zero_rule(about, column),
        }
        for column in SENSITIVE[about.name]
    }


def protection_of_two(table: str) -> Restrictions:
    """Both columns after the target, and no parents of anything."""
    protected = dict.fromkeys(SENSITIVE[table], None)
    return Restrictions(protection=Protection(TARGETS[table], protected, _KNOWN[table]))


def _attack(about: Task, held: EvaluationTable, column: str, setting: Setting) -> float:
    """The mean accuracy of the vote and of all classifiers."""
    truth = about.rows.table.codes[column]
    found = [_vote(about, held, column, other=False)]
    for learner in str(setting["classifiers"]).split():
        guessed = named(
            about.schema,
            learner,
            rows=held,
            asked=about.rows,
            known=_KNOWN[about.name],
            wanted=column,
            caps=_CAPS,
        )
        found.append(share_right(truth, guessed))
    return float(np.mean(found))


def _vote(about: Task, held: EvaluationTable, column: str, *, other: bool) -> float:
    """The accuracy of the vote, where the other sensitive column is known or not."""
    others = tuple(name for name in SENSITIVE[about.name] if name != column)
    key = _KNOWN[about.name] + (others if other else ())
    found = attribution(about.rows.table, held.table, sensitive=column, key=key).vote
    assert found is not None
    return found


def _zero_rule(about: Task, column: str) -> float:
    codes = about.rows.table.codes[column]
    return float(np.bincount(codes).max() / codes.size)


def judged_two(results: Results) -> Sequence[JudgedClaim]:
    """How far attackers are above the zero rule of each column, ordinary and protected."""
    found = []
    for table in results.values("table"):
        cells = {
            str(c.setting["network"]): c.numbers
            for c in results.where(table=table)
            if of_two(c.setting)
        }
        if not cells:
            continue
        parts, above = [], []
        for column in cells[PROTECTED]:
            points = {
                (network, what): _above(numbers[column], what)
                for network, numbers in cells.items()
                for what in ("attack_mean", "other_known")
            }
            above.append(points[PROTECTED, "attack_mean"])
            parts.append(
                f"{column} {points[ORDINARY, 'attack_mean']:+.1f} points with ordinary rows and "
                f"{points[PROTECTED, 'attack_mean']:+.1f} with protected ones, by the vote that "
                f"knows the other column too {points[ORDINARY, 'other_known']:+.1f} and "
                f"{points[PROTECTED, 'other_known']:+.1f}"
            )
        kept = "kept" if max(above) <= _REACH else "not kept"
        found.append(
            JudgedClaim(
                f"On {table} it is open what protection of two columns leaves to attackers",
                f"off the zero rule: {'; '.join(parts)}; {_REACH:g} points or fewer above it are "
                f"{kept} for both",
                Reproduction.NOT_COMPARABLE,
                "the paper leaves it to further work, and this is the answer on these rows",
            )
        )
    return found


def _above(numbers: Mapping[str, object], what: str) -> float:
    values, zero = numbers[what], numbers["zero_rule"]
    assert isinstance(values, list)
    assert isinstance(zero, float)
    return 100 * (Spread.of(values).mean - zero)
