"""dpmm's PrivBayes: read codes, fit, sample as many rows, write them.

Run: python run_dpmm.py ROWS.csv SIZES.json OUT.csv PARENTS EPSILON DELTA ITERATIONS
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
from dpmm.models.priv_bayes import PrivBayesGM


def main() -> None:
    """One job, on codes of a declared domain: no budget goes into finding bins."""
    data, sizes, output, parents, epsilon, delta, iterations = sys.argv[1:]
    rows = pd.read_csv(data)
    # dpmm's degree is the size of the largest clique: the child and its parents.
    model = PrivBayesGM(
        epsilon=float(epsilon),
        delta=float(delta),
        degree=int(parents) + 1,
        n_iters=int(iterations),
        domain=json.loads(Path(sizes).read_text()),
    )
    model.fit(rows)
    model.generate(n_records=len(rows)).to_csv(output, index=False)


if __name__ == "__main__":
    main()
