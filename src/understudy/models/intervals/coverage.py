"""How often intervals of answers that rest on the model held the truth, as measured."""

from __future__ import annotations

# By the method, as `benchmarks/results/coverage.json` has them, on tables whose pairs and triples
# were measured in part; a test compares.
MODELLED_COVERAGE: dict[str, float] = {
    "adaptive": 0.52,
    "nist": 0.56,
    "privbayes": 0.67,
    "independent": 0.22,
}
