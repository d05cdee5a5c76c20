"""Methods that make a stand-in for a private table."""

from understudy.synthesizers.base import Learned, Synthesizer, dataset_name, open_source
from understudy.synthesizers.independent import Independent
from understudy.synthesizers.random import Random

__all__ = ["Independent", "Learned", "Random", "Synthesizer", "dataset_name", "open_source"]
