"""Pan-private streams: how many different users came by, without ever holding who."""

from understudy.stream.density import Answer, DensityEstimator, StreamEstimator
from understudy.stream.design import Design
from understudy.stream.universe import Edges, Hashed, Keys, Range

__all__ = [
    "Answer",
    "DensityEstimator",
    "Design",
    "Edges",
    "Hashed",
    "Keys",
    "Range",
    "StreamEstimator",
]
