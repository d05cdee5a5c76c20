"""Pan-private streams: how many different users were seen, without ever holding who."""

from understudy.stream.density import DensityEstimator, DistinctCount, StreamEstimator
from understudy.stream.design import Design
from understudy.stream.universe import Edges, Hashed, Keys, Range

__all__ = [
    "DensityEstimator",
    "Design",
    "DistinctCount",
    "Edges",
    "Hashed",
    "Keys",
    "Range",
    "StreamEstimator",
]
