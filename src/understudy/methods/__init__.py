"""Methods that make a stand-in for a private table.

Names are imported when first used, so that the registry can be read without loading numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.system.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.methods.adaptive import AdaptiveMarginals as AdaptiveMarginals
    from understudy.methods.base import Synthesizer as Synthesizer
    from understudy.methods.estimation.learned import Learned as Learned
    from understudy.methods.histogram import Histogram as Histogram
    from understudy.methods.independent import Independent as Independent
    from understudy.methods.nist import Nist as Nist
    from understudy.methods.privbayes import PrivBayes as PrivBayes
    from understudy.methods.random import Random as Random

_HOMES = {
    "AdaptiveMarginals": "understudy.methods.adaptive",
    "Histogram": "understudy.methods.histogram",
    "Independent": "understudy.methods.independent",
    "Learned": "understudy.methods.estimation.learned",
    "Nist": "understudy.methods.nist",
    "PrivBayes": "understudy.methods.privbayes",
    "Random": "understudy.methods.random",
    "Synthesizer": "understudy.methods.base",
}

__all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
