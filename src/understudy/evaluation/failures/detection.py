"""Detection: how well a classifier tells real rows from synthetic ones, and by which columns.

Half of the rows of either table teach it, and it is asked about the others. An AUROC of 0.5 is a
coin. A high one does not say that rows leak: only that they differ, and the columns say where.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.errors import UsageError
from understudy.evaluation.prediction.features import Features, Scaler, is_flagged
from understudy.evaluation.prediction.prediction import SECONDS_PER_MODEL, at_most
from understudy.evaluation.prediction.scoring import area
from understudy.evaluation.prediction.worker import Job, run
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.schema import Schema
from understudy.system.arrays import Array, Floats
from understudy.system.extras import require

LEARNER = "xgboost"
MOST_ROWS = 10_000
_FEWEST = 20
_SHOWN = 10


@dataclass(frozen=True)
class Detection:
    """How well real and synthetic rows are told apart.

    Attributes:
        auroc: the chance that a synthetic row is ranked before a real one; 0.5 is a coin. None
            where `reason` says why.
        columns: by how much it falls when one column is shuffled among the rows, the largest
            first.
        rows: that were asked about.
    """

    auroc: float | None
    columns: tuple[tuple[str, float], ...] = ()
    rows: int = 0
    reason: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the detection for JSON."""
        return {
            "auroc": self.auroc,
            "columns": [{"column": name, "falls_by": fall} for name, fall in self.columns],
            "rows": self.rows,
            "reason": self.reason,
        }


NOT_ASKED = Detection(None, reason="it was not asked for; ask with --detection")


def detection(
    schema: Schema,
    *,
    real: EvaluationTable,
    synthetic: EvaluationTable,
    seed: int = 0,
    seconds: float | None = SECONDS_PER_MODEL,
) -> Detection:
    """Teach a classifier to tell the tables apart, and ask it about other rows.

    Privacy: exact functions of real rows.
    """
    rows = min(real.rows, synthetic.rows, MOST_ROWS)
    if rows < _FEWEST:
        return Detection(None, reason=f"fewer than {_FEWEST} rows on either side")
    try:
        require("xgboost", extra="evaluate")
    except UsageError as error:
        return Detection(None, reason=str(error))
    sheets = [at_most(sheet, rows, seed) for sheet in (real, synthetic)]
    together = [Features.of(sheet, schema, target="") for sheet in sheets]
    scale = Scaler.of(np.vstack([each.numbers for each in together]))
    lines = np.vstack([each.matrix(scale) for each in together])
    made = np.repeat([0, 1], rows)
    order = np.random.default_rng([seed, 11]).permutation(2 * rows)
    taught, asked = order[:rows], order[rows:]
    groups = column_places(schema)
    job = Job(
        learner=LEARNER,
        task="classification",
        seed=seed,
        train=lines[taught],
        targets=made[taught],
        test=np.vstack([lines[asked], *_shuffled(lines[asked], groups.values(), seed)]),
    )
    answer = run(job, seconds=seconds)
    if answer.strength is None:
        return Detection(None, rows=rows, reason=answer.reason)
    return _found(answer.strength[:, 1].reshape(-1, rows), made[asked] == 1, list(groups))


def _found(strengths: Floats, is_made: Array, names: list[str]) -> Detection:
    """The first line is of the rows as they are, the others of one column shuffled."""
    found = [area(is_made, line) for line in strengths]
    areas = [0.5 if each is None else each for each in found]
    falls = sorted(
        ((name, areas[0] - each) for name, each in zip(names, areas[1:], strict=True)),
        key=lambda pair: -pair[1],
    )
    return Detection(areas[0], tuple(falls[:_SHOWN]), rows=is_made.size)


def column_places(schema: Schema) -> dict[str, list[int]]:
    """The places of every column among the features: numbers first, then flags."""
    numbers = [name for name, column in schema.learned.items() if not is_flagged(column)]
    places = {name: [place] for place, name in enumerate(numbers)}
    start = len(numbers)
    for name, column in schema.learned.items():
        width = column.size if is_flagged(column) else int(column.missing_code is not None)
        places.setdefault(name, []).extend(range(start, start + width))
        start += width
    return {name: places[name] for name in schema.learned}


def _shuffled(lines: Array, groups: Any, seed: int) -> list[Array]:
    """The rows again and again, each time with the features of one column in another order."""
    generator = np.random.default_rng([seed, 12])
    found = []
    for places in groups:
        other = lines.copy()
        other[:, places] = lines[generator.permutation(len(lines))][:, places]
        found.append(other)
    return found
