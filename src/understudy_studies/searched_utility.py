"""One split of SBA's section V-A: rows from a search, and what five classifiers learn of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from understudy.evaluation.prediction.scoring import Labels
from understudy_studies.cells import Setting
from understudy_studies.sba import (
    Caps,
    Task,
    TimedRows,
    made,
    share_right,
    target_named,
)
from understudy_studies.searched_averages import FRAUDS, REAL


def utility_of_split(about: Task, setting: Setting, number: int) -> dict[str, Any]:
    """One split: rows to learn from, and what every classifier makes of them."""
    train, test = about.split(number)
    seed = 1_000 * int(setting["seed"]) + number
    rows = TimedRows(train, 0.0, 0.0)
    if setting["search"] != REAL:
        rows = made(about, train, setting=setting, seed=seed)
    caps = Caps(int(setting["kernel_rows"]), int(setting["most_rows"]))
    found = {
        name: target_named(about, name, rows=rows.rows, test=test, caps=caps)
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
