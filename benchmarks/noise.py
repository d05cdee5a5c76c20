"""Exact noise: nanoseconds a cell, beside OpenDP's samplers in the same run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from typing import Any

from benchmarks.measuring import Work, cpu_seconds, in_turns
from benchmarks.scoreboard import Scoreboard
from understudy.privacy.noise.system import SystemNoise

Draw = Callable[[Fraction, int], object]

# One random word is enough below about 8; above that a draw takes two.
_SCALES = (3, 300, 20_000)
_MANY = 10**7


def run(board: Scoreboard) -> None:
    """Both laws at small, middling and large scales; OpenDP is not asked for many cells."""
    cells = board.size.pick(10**6, 10**3)
    for law, (ours, theirs) in _laws().items():
        for about in _SCALES:
            scales = _unseen(about)
            taken = in_turns(
                {"ours": _drawing(ours, scales, cells), "theirs": _drawing(theirs, scales, cells)},
                rounds=board.size.pick(2, 1),
            )
            what = f"{law} noise of scale {about:,}"
            board.add(f"{what}, a cell", taken["ours"] / cells * 1e9, "ns", 100)
            faster = taken["theirs"] / taken["ours"]
            board.add(f"{what}, times OpenDP's speed", faster, "×", 100, at_most=False)
    if board.size.pick(True, False):
        scales = _unseen(300)
        many = cpu_seconds(lambda: SystemNoise().laplace(next(scales), _MANY))
        board.add("Laplace noise of scale 300, ten million cells", many, "s", 1.5)


def _drawing(draw: Draw, scales: Iterator[Fraction], cells: int) -> Work:
    return lambda: draw(next(scales), cells)


def _laws() -> dict[str, tuple[Draw, Draw]]:
    """Our draws and OpenDP's, for both laws."""
    import opendp.measurements as measurements
    import opendp.metrics as metrics
    import opendp.mod

    opendp.mod.enable_features("contrib")
    laplace = _opendp(measurements.make_laplace, metrics.l1_distance(T="i64"))
    gaussian = _opendp(measurements.make_gaussian, metrics.l2_distance(T="f64"))
    return {
        "Laplace": (SystemNoise().laplace, laplace),
        "Gaussian": (lambda sigma, size: SystemNoise().gaussian(sigma**2, size), gaussian),
    }


def _opendp(make: Any, metric: Any) -> Draw:
    import opendp.domains as domains

    integers = domains.vector_domain(domains.atom_domain(T="i64"))
    return lambda scale, size: make(integers, metric, scale=float(scale))([0] * size)


def _unseen(about: int) -> Iterator[Fraction]:
    """Scales near one, each once, so that what is computed for each scale counts."""
    return (about + Fraction(i, 10**6) for i in count())
