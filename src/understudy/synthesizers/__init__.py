"""Methods that make a stand-in for a private table."""

from understudy.synthesizers.base import Learned, Synthesizer
from understudy.synthesizers.histogram import Histogram
from understudy.synthesizers.independent import Independent
from understudy.synthesizers.nist import Nist
from understudy.synthesizers.privbayes import PrivBayes
from understudy.synthesizers.random import Random

__all__ = [
    "Histogram",
    "Independent",
    "Learned",
    "Nist",
    "PrivBayes",
    "Random",
    "Synthesizer",
]
