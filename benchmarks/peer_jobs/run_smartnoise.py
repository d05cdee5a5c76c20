"""One of smartnoise-synth's mechanisms: read codes, fit, sample as many rows, write them.

Run: python run_smartnoise.py ROWS.csv SIZES.json OUT.csv EPSILON DELTA MECHANISM SETTINGS
"""

from __future__ import annotations

import json
import sys

import pandas as pd
from snsynth import Synthesizer


def main() -> None:
    """One job on codes; the tool itself reads from the rows which codes occur."""
    data, _, output, epsilon, delta, mechanism, settings = sys.argv[1:]
    rows = pd.read_csv(data)
    model = Synthesizer.create(
        mechanism, epsilon=float(epsilon), delta=float(delta), **json.loads(settings)
    )
    model.fit(rows, categorical_columns=list(rows.columns), preprocessor_eps=0.0)
    made = model.sample(len(rows))
    pd.DataFrame(made, columns=rows.columns).to_csv(output, index=False)


if __name__ == "__main__":
    main()
