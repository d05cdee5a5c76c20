"""Pan-private streams: how many different users were seen, without ever holding who."""

from understudy.stream.cropped import CroppedMean, VisitStatistic, heavy_hitters, incidence
from understudy.stream.density import DensityEstimator, DistinctCount, StreamEstimator
from understudy.stream.design import Design
from understudy.stream.universe import Edges, Hashed, Keys, Range, Sketch

__all__ = [
    "CroppedMean",
    "DensityEstimator",
    "Design",
    "DistinctCount",
    "Edges",
    "Hashed",
    "Keys",
    "Range",
    "Sketch",
    "StreamEstimator",
    "VisitStatistic",
    "heavy_hitters",
    "incidence",
]
