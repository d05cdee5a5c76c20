"""OpenDP's exact samplers, to compare ours with."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt


def laplace(scale: Fraction, size: int) -> npt.NDArray[np.int64]:
    """Discrete Laplace draws."""
    import opendp.measurements as measurements
    import opendp.metrics as metrics

    return _drawn(measurements.make_laplace, metrics.l1_distance(T="i64"), scale, size)


def gaussian(sigma: Fraction, size: int) -> npt.NDArray[np.int64]:
    """Discrete Gaussian draws."""
    import opendp.measurements as measurements
    import opendp.metrics as metrics

    return _drawn(measurements.make_gaussian, metrics.l2_distance(T="f64"), sigma, size)


def noisy_max(measure: str, scale: Fraction) -> Any:
    """Permute-and-flip under `max_divergence`, the exponential mechanism under zCDP."""
    import opendp.domains as domains
    import opendp.measurements as measurements
    import opendp.measures as measures
    import opendp.metrics as metrics
    import opendp.mod

    opendp.mod.enable_features("contrib")
    integers = domains.vector_domain(domains.atom_domain(T="i64"))
    return measurements.make_noisy_max(
        integers, metrics.linf_distance(T="i64"), getattr(measures, measure)(), scale=float(scale)
    )


def _drawn(make: Any, metric: Any, scale: Fraction, size: int) -> npt.NDArray[np.int64]:
    import opendp.domains as domains
    import opendp.mod

    opendp.mod.enable_features("contrib")
    integers = domains.vector_domain(domains.atom_domain(T="i64"))
    measurement = make(integers, metric, scale=float(scale))
    return np.array(measurement([0] * size), np.int64)
