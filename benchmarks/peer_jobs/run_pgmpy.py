"""pgmpy's state counts and hill climbing, timed inside so that loading is not counted.

Run: python run_pgmpy.py count ROWS.npz SETS_AS_JSON OUT.npz
     python run_pgmpy.py climb ROWS.npz PARENTS
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pgmpy.estimators import HillClimbSearch
from pgmpy.estimators.base import BaseEstimator


def main() -> None:
    """Do one of the two and print its CPU seconds."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    what, rows, *rest = sys.argv[1:]
    loaded = np.load(rows)
    sizes = json.loads((Path(rows).parent / "sizes.json").read_text())
    table = pd.DataFrame({name: loaded[name] for name in loaded.files})
    states = {name: list(range(size)) for name, size in sizes.items()}
    taken = count(table, states, *rest) if what == "count" else climb(table, states, *rest)
    print(json.dumps({"cpu_seconds": taken}))


def count(table: pd.DataFrame, states: dict[str, list[int]], sets: str, output: str) -> float:
    """The contingency table of each set, in the order of its attributes."""
    estimator = BaseEstimator(table, state_names=states)
    asked, counted = json.loads(sets), {}
    estimator.state_counts(asked[0][0], parents=list(asked[0][1:]))
    started = time.process_time()
    for place, (child, *parents) in enumerate(asked):
        counted[str(place)] = estimator.state_counts(child, parents=parents)
    taken = time.process_time() - started
    shapes = {str(i): [len(states[a]) for a in names] for i, names in enumerate(asked)}
    arrays: dict[str, Any] = {
        place: counts.to_numpy().astype(np.int64).reshape(shapes[place])
        for place, counts in counted.items()
    }
    np.savez(output, **arrays)
    return taken


def climb(table: pd.DataFrame, states: dict[str, list[int]], parents: str) -> float:
    """Learn a network with at most this number of parents, by BIC."""
    search = HillClimbSearch(table.astype("category"), state_names=states)
    started = time.process_time()
    search.estimate(scoring_method="bic-d", max_indegree=int(parents), show_progress=False)
    return time.process_time() - started


if __name__ == "__main__":
    main()
