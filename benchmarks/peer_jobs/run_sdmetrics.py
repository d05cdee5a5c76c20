"""SDMetrics on two CSV files: scores of columns, pairs and correlations as JSON on stdout.

Run: python run_sdmetrics.py REAL.csv SYNTHETIC.csv NUMBERS, with the columns of numbers by name.
"""

import json
import sys
from itertools import combinations

import pandas
from sdmetrics.column_pairs import ContingencySimilarity, CorrelationSimilarity
from sdmetrics.single_column import KSComplement, TVComplement

real, synthetic = (pandas.read_csv(path, keep_default_na=False) for path in sys.argv[1:3])
numbers = sys.argv[3].split(",")
found = {
    "one": {name: TVComplement.compute(real[name], synthetic[name]) for name in real},
    "smirnov": {name: KSComplement.compute(real[name], synthetic[name]) for name in numbers},
    "two": {
        f"{a},{b}": ContingencySimilarity.compute(
            real[[a, b]], synthetic[[a, b]], num_rows_subsample=None
        )
        for a, b in combinations(real, 2)
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
