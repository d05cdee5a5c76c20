"""The utility and risks of a stand-in. Everything computed here from real rows is private."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.system.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.evaluation.disclosure.disclosure import disclosure_risk as disclosure_risk
    from understudy.evaluation.disclosure.exposure import Disclosure as Disclosure
    from understudy.evaluation.evaluation import Evaluation as Evaluation
    from understudy.evaluation.evaluation import evaluate as evaluate

# Imported when first used: a child process needs one learner alone.
_HOMES = {
    "Disclosure": "understudy.evaluation.disclosure.exposure",
    "Evaluation": "understudy.evaluation.evaluation",
    "disclosure_risk": "understudy.evaluation.disclosure.disclosure",
    "evaluate": "understudy.evaluation.evaluation",
}

__all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
