"""How often intervals of answers that rest on the model held the truth, as measured."""

from __future__ import annotations

# By the method, as `benchmarks/results/coverage.json` has them, on tables whose pairs and triples
# were measured in part; a test compares.
MODELLED_COVERAGE: dict[str, float] = {
    "adaptive": 0.91,
    "nist": 0.58,
    "privbayes": 0.67,
    "independent": 0.20,
}

PAIRS_COVERAGE: dict[str, float] = {
    "adaptive": 0.70,
    "nist": 0.70,
    "privbayes": 0.70,
    "independent": 0.0,
}
"""The same for the distances of the strongest pairs."""
