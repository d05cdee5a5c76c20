"""One of dpmm's mechanisms: read codes, fit, sample as many rows, write them.

Run: python run_dpmm_mechanism.py ROWS.csv SIZES.json OUT.csv EPSILON DELTA MECHANISM SETTINGS
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

_PLACES = {"aim": "AIMGM", "mst": "MSTGM", "priv_bayes": "PrivBayesGM"}


def main() -> None:
    """One job, on codes of a declared domain: no budget goes into finding bins."""
    data, sizes, output, epsilon, delta, mechanism, settings = sys.argv[1:]
    rows = pd.read_csv(data)
    module: Any = importlib.import_module(f"dpmm.models.{mechanism}")
    model = getattr(module, _PLACES[mechanism])(
        epsilon=float(epsilon),
        delta=float(delta),
        domain=json.loads(Path(sizes).read_text()),
        # Worker processes would escape the limit on CPU seconds.
        n_jobs=1,
        **json.loads(settings),
    )
    model.fit(rows)
    model.generate(n_records=len(rows)).to_csv(output, index=False)


if __name__ == "__main__":
    main()
