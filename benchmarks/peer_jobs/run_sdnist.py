"""SDNist's k-marginal score of coded rows, by its own function.

Run: python run_sdnist.py REAL.csv SYNTHETIC.csv
"""

from __future__ import annotations

import json
import sys

import pandas as pd

# Each of the two imports the other; only this order works.
import sdnist.report  # noqa: F401
from sdnist.metrics.kmarginal import KMarginal


def main() -> None:
    """Print the score: 1000 is the same, 0 has nothing in common."""
    real, synthetic = (pd.read_csv(path) for path in sys.argv[1:])
    print(json.dumps({"k-marginal": float(KMarginal(real, synthetic).compute_score())}))


if __name__ == "__main__":
    main()
