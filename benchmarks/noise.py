"""Exact noise: nanoseconds a cell, beside OpenDP's samplers in the same run.

Run: python benchmarks/noise.py

CPU seconds, but for ten million cells, which are wall seconds. Every draw is at a scale not seen
before, as tables of a run have it, so that what is computed once for each scale counts. OpenDP
would take minutes for ten million cells and is not asked to.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from typing import Any

import opendp.domains
import opendp.measurements
import opendp.metrics
import opendp.mod

from scoreboard import Scoreboard, seconds
from understudy.privacy.noise import SystemNoise

Draw = Callable[[Fraction, int], object]

# One random word is enough below about 8; above that a draw takes two.
SCALES = (3, 300, 20_000)
# Cells, the most nanoseconds each may take, and how many times OpenDP's speed that must be.
SIZES = ((10**3, 1000, 10), (10**5, 100, 100), (10**6, 100, 100))


def gaussian(sigma: Fraction, size: int) -> object:
    """Discrete Gaussian draws, ours."""
    return SystemNoise().gaussian(sigma**2, size)


def opendp_sampler(make: Any, metric: Any) -> Draw:
    """OpenDP's draws of the same law."""
    integers = opendp.domains.vector_domain(opendp.domains.atom_domain(T="i64"))
    return lambda scale, size: make(integers, metric, scale=float(scale))([0] * size)


def pairs() -> dict[str, tuple[Draw, Draw]]:
    """Our draws and OpenDP's, for both laws."""
    make, metrics = opendp.measurements, opendp.metrics
    laplace = opendp_sampler(make.make_laplace, metrics.l1_distance(T="i64"))
    normal = opendp_sampler(make.make_gaussian, metrics.l2_distance(T="f64"))
    return {"Laplace": (SystemNoise().laplace, laplace), "Gaussian": (gaussian, normal)}


def unseen(about: int) -> Iterator[Fraction]:
    """Scales near one, each once."""
    return (about + Fraction(i, 10**6) for i in count())


def nanoseconds(draw: Draw, scales: Iterator[Fraction], cells: int) -> float:
    """CPU time for a cell: the median of some draws, fewer when they take long."""
    taken: list[float] = []
    while len(taken) < 3 or (len(taken) < 25 and sum(taken) < 1):
        started = time.process_time()
        draw(next(scales), cells)
        taken.append(time.process_time() - started)
        if taken[0] > 5:
            break
    return statistics.median(taken) / cells * 1e9


def compare(board: Scoreboard, law: str, about: int, ours: Draw, theirs: Draw) -> None:
    """Ours and OpenDP's at all sizes."""
    scales = unseen(about)
    for cells, most, target in SIZES:
        taken, awaited = (nanoseconds(draw, scales, cells) for draw in (ours, theirs))
        what = f"{law} of scale {about:,}, {cells:,} cells"
        board.add(f"{what}, a cell", taken, "ns", most)
        board.add(f"{what}, times OpenDP's speed", awaited / taken, "×", target, at_most=False)


def many(board: Scoreboard, law: str, about: int, ours: Draw) -> None:
    """Ten million cells."""
    scales = unseen(about)
    taken = seconds(lambda: ours(next(scales), 10**7), times=3)
    board.add(f"{law} of scale {about:,}, 10,000,000 cells", taken, "s", 1.5)


def main() -> None:
    """Measure both laws at small, middling and large scales."""
    opendp.mod.enable_features("contrib")
    board = Scoreboard("noise")
    for law, (ours, theirs) in pairs().items():
        for about in SCALES:
            compare(board, law, about, ours, theirs)
            many(board, law, about, ours)
    board.write()


if __name__ == "__main__":
    main()
