"""SDMetrics on two CSV files: one-way, two-way and correlation scores as JSON on stdout."""

import json
import sys
from itertools import combinations

import pandas
from sdmetrics.column_pairs import ContingencySimilarity, CorrelationSimilarity
from sdmetrics.single_column import TVComplement

real, synthetic = (pandas.read_csv(path, keep_default_na=False) for path in sys.argv[1:3])
numbers = sys.argv[3].split(",")
found = {
    "one": {name: TVComplement.compute(real[name], synthetic[name]) for name in real},
    "two": {
        f"{a},{b}": ContingencySimilarity.compute(
            real[[a, b]], synthetic[[a, b]], num_rows_subsample=None
        )
        for a, b in combinations([name for name in real if name not in numbers], 2)
    },
    "correlation": {
        method: {
            f"{a},{b}": CorrelationSimilarity.compute(
                real[[a, b]].astype(float), synthetic[[a, b]].astype(float), coefficient=method
            )
            for a, b in combinations(numbers, 2)
        }
        for method in ("Pearson", "Spearman")
    },
}
sys.stdout.write(json.dumps(found) + "\n")
