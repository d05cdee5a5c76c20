"""How often intervals of answers that rest on the model held the truth, as measured."""

from __future__ import annotations

# By the kind of the model, as `benchmarks/results/coverage.json` has them; a test compares.
MODELLED_COVERAGE: dict[str, float] = {"network": 0.0, "log-linear": 0.0}
