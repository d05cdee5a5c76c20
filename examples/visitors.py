"""How many different visitors there were, from a state that holds no list of them."""

from __future__ import annotations

import random

from understudy.stream import DensityEstimator

UNIVERSE = 20_000


def main() -> None:
    """Count a stream of 30,000 visits by 5,000 visitors."""
    draw = random.Random(5)
    visitors = draw.sample(range(UNIVERSE), 5_000)
    estimator = DensityEstimator(UNIVERSE, epsilon=1, dataset="visitors", ledger=None)
    for _ in range(30):
        estimator.update([draw.choice(visitors) for _ in range(1_000)])
    found = estimator.answer()
    print(f"{found.distinct:,.0f} visitors, give or take {found.distinct_error:,.0f}")
    estimator.close()


if __name__ == "__main__":
    main()
