"""Whether synthetic rows lie nearer to the rows they were made from than to others.

An attacker who holds the synthetic rows and someone's whole row calls that person a member where a
synthetic row is near. Rows that the fit has not seen show how near strangers come.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.evaluation.metric import Goal, Metric
from understudy.evaluation.prediction.overlap import names
from understudy.evaluation.prediction.prediction import at_most
from understudy.evaluation.prediction.scoring import area
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.column import BooleanColumn, CategoricalColumn
from understudy.facts.schema import Schema
from understudy.system.arrays import Singles
from understudy.system.jit import kernel

CAPTION = (
    "Similarity is not a proof of privacy. An AUC near 0.5 says that this one attack, by distance, "
    "fails on these rows; others may not, and a row that is rare may be given away while the mean "
    "shows nothing. What holds against every attack is the statement of a private fit."
)
AUC = Metric(
    name="membership AUC",
    about="The chance that a row the fit has seen lies nearer to the synthetic rows than one it "
    "has not "
    "seen, ties counting half.",
    goal=Goal.LESS,
    low=0.0,
    high=1.0,
    perfect=0.5,
    useless="1 where the synthetic rows are copies",
)

# More rows tell little more: with so many of either the interval is ±0.012.
MOST_MEMBERS = 5_000
MOST_SYNTHETIC = 100_000
_CONFIDENCE = 0.95
# Values that are no neighbours on a line stand so far apart; a difference counts 1 at most.
_APART = 2.0
_BLOCK = 1_024


@dataclass(frozen=True, kw_only=True)
class Membership:
    """The result of an attack by distance.

    Attributes:
        auc: the chance that a member lies nearer than another row; None where `reason` says why.
        low: the lower end of its 95 % interval. `high`: the upper end.
        members: rows of the real table that were looked at. `others`: held-out rows likewise.
        copied_members: the share of all real rows that equal a synthetic row, in every cell.
        copied_others: the share of all held-out rows that do.

    Privacy: exact functions of real rows.
    """

    auc: float | None
    low: float | None = None
    high: float | None = None
    members: int = 0
    others: int = 0
    copied_members: float | None = None
    copied_others: float | None = None
    reason: str | None = None

    def document(self) -> dict[str, Any]:
        """The attack for JSON, with the caption that must be shown beside it."""
        return {
            "auc": self.auc,
            "low": self.low,
            "high": self.high,
            "members": self.members,
            "others": self.others,
            "copied_members": self.copied_members,
            "copied_others": self.copied_others,
            "reason": self.reason,
            "caption": CAPTION,
        }


def membership(
    schema: Schema,
    *,
    members: EvaluationTable,
    others: EvaluationTable,
    synthetic: EvaluationTable,
    seed: int = 0,
    most: int = MOST_MEMBERS,
) -> Membership:
    """Distinguish rows that a fit has seen from others by their distance from the synthetic rows.

    Columns count the same. Categories are equal or differ by 1; numbers and dates differ by their
    share of the declared range; missing differs from everything else by 1.

    Args:
        members: rows that the synthetic ones were made from.
        others: rows of the same kind that the fit has not seen.
        most: the largest number of members, and of others, that are looked at, chosen by the seed.

    Privacy: an exact function of real rows.
    """
    sheets = {"real": members, "held-out": others, "synthetic": synthetic}
    empty = next((name for name, sheet in sheets.items() if not sheet.rows), None)
    if empty is not None:
        return Membership(auc=None, reason=f"there are no {empty} rows")
    inside, outside = at_most(members, most, seed), at_most(others, most, seed)
    held = at_most(synthetic, MOST_SYNTHETIC, seed)
    near, far = (distances(sheet, held, schema) for sheet in (inside, outside))
    auc = area(np.arange(near.size + far.size) < near.size, -np.concatenate([near, far]))
    assert auc is not None
    low, high = interval(auc, near.size, far.size)
    ours, theirs = (_copied(sheet, synthetic) for sheet in (members, others))
    return Membership(
        auc=auc,
        low=low,
        high=high,
        members=inside.rows,
        others=outside.rows,
        copied_members=ours,
        copied_others=theirs,
    )


def _copied(sheet: EvaluationTable, synthetic: EvaluationTable) -> float:
    return float(np.isin(names(sheet), names(synthetic)).mean())


def distances(
    sheet: EvaluationTable, synthetic: EvaluationTable, schema: Schema
) -> npt.NDArray[np.float64]:
    """How far each row is from the nearest synthetic one.

    Privacy: a number for every real row.
    """
    asked, held = (lines_of(each, schema, list(schema.learned)) for each in (sheet, synthetic))
    return _least(np.ascontiguousarray(asked.T), held).astype(np.float64)


def lines_of(sheet: EvaluationTable, schema: Schema, names: Sequence[str]) -> Singles:
    """Some columns laid on a line each, where what differs by 1 or more differs altogether.

    Privacy: the cells of real rows, on another scale.
    """
    lines = np.empty((len(names), sheet.rows), np.float32)
    for line, name in zip(lines, names, strict=True):
        column = schema.learned[name]
        if isinstance(column, CategoricalColumn | BooleanColumn):
            line[:] = sheet.table.codes[name] * _APART
            continue
        low, high = column.bounds
        share = (sheet.numbers[name] - float(low)) / (float(high - low) or 1.0)
        line[:] = np.nan_to_num(share, nan=_APART)
    return lines


@kernel
def _least(asked: Singles, held: Singles) -> Singles:
    """The least sum of differences, each at most 1, between a row and the columns of others."""
    found = np.empty(len(asked), np.float32)
    one = np.float32(1)
    sums = np.empty(_BLOCK, np.float32)
    for row in range(len(asked)):
        least = np.float32(np.inf)
        for start in range(0, held.shape[1], _BLOCK):
            width = min(_BLOCK, held.shape[1] - start)
            sums[:] = 0
            for column in range(len(held)):
                own = asked[row, column]
                for place in range(width):
                    apart = abs(held[column, start + place] - own)
                    sums[place] += apart if apart < one else one
            for place in range(width):
                least = min(least, sums[place])
        found[row] = least
    return found


def interval(auc: float, members: int, others: int) -> tuple[float, float]:
    """A 95 % interval of an AUC: the values whose own spread would allow the one that was found.

    It is of some width at 0 and 1 too, where the spread that was found is nothing.

    Source: Newcombe 2006, Statistics in Medicine 25, 559-573, method 5.
    """
    times = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)

    def allowed(truth: float) -> bool:
        return (auc - truth) ** 2 <= times**2 * _variance(truth, members, others)

    return _last(allowed, auc, 0.0), _last(allowed, auc, 1.0)


def _variance(truth: float, members: int, others: int) -> float:
    """Return the variance of an AUC: Hanley and McNeil (1982), of the mean size on either side."""
    more = (members + others) / 2 - 1
    pairs = 1 + more * (1 - truth) / (2 - truth) + more * truth / (1 + truth)
    return truth * (1 - truth) * pairs / (members * others)


def _last(allowed: Callable[[float], bool], start: float, end: float) -> float:
    """The allowed value farthest from the start, by halving."""
    if allowed(end):
        return end
    for _ in range(60):
        middle = (start + end) / 2
        start, end = (middle, end) if allowed(middle) else (start, middle)
    return start
