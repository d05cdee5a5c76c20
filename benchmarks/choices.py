"""Exact choices: microseconds for each, beside OpenDP's noisy max in the same run."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import count

import numpy as np

from benchmarks.measuring import Work, in_turns
from benchmarks.scoreboard import Scoreboard
from understudy.privacy.noise.system import SystemNoise
from understudy.system.arrays import Integers

Choose = Callable[[Integers, Fraction], int]

_CANDIDATES = (10, 1_000, 100_000)
_SCALE = 10**7


def run(board: Scoreboard) -> None:
    """Both laws among few, many and very many candidates, spread over thirty scales."""
    for law, (ours, theirs) in _laws().items():
        for candidates in _CANDIDATES:
            times = board.size.pick(max(2000 // candidates, 5), 1)
            taken = in_turns(
                {
                    "ours": _choosing(ours, candidates, times),
                    "theirs": _choosing(theirs, candidates, times),
                },
                rounds=board.size.pick(9, 1),
            )
            what = f"{law} among {candidates:,} candidates"
            board.add(f"{what}, a choice", taken["ours"] / times * 1e6, "µs")
            faster = taken["theirs"] / taken["ours"]
            board.add(f"{what}, times OpenDP's speed", faster, "×", 1, at_most=False)


def _choosing(choose: Choose, candidates: int, times: int) -> Work:
    """Some choices, each at a scale of its own as the charges of a run are."""
    scores = np.random.default_rng(1).integers(0, 30 * _SCALE, candidates)
    scales = (_SCALE + Fraction(i, 10**6) for i in count())
    return lambda: [choose(scores, next(scales)) for _ in range(times)]


def _laws() -> dict[str, tuple[Choose, Choose]]:
    """Our choices and OpenDP's, by both laws."""
    import opendp.mod

    opendp.mod.enable_features("contrib")
    noise = SystemNoise()
    return {
        "Permute-and-flip": (noise.permute_and_flip, _noisy_max("max_divergence")),
        "Exponential mechanism": (noise.exponential, _noisy_max("zero_concentrated_divergence")),
    }


def _noisy_max(measure: str) -> Choose:
    """OpenDP's choice, made for each scale."""
    import opendp.domains as domains
    import opendp.measurements as measurements
    import opendp.measures as measures
    import opendp.metrics as metrics

    integers = domains.vector_domain(domains.atom_domain(T="i64"))
    distance, divergence = metrics.linf_distance(T="i64"), getattr(measures, measure)()

    def choose(scores: Integers, scale: Fraction) -> int:
        make = measurements.make_noisy_max
        return int(make(integers, distance, divergence, scale=float(scale))(scores.tolist()))

    return choose
