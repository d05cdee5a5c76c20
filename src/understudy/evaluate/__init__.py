"""What a stand-in is worth. Everything computed here from real rows is private."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.evaluate.disclosure import disclosure_risk
    from understudy.evaluate.evaluation import Evaluation, evaluate
    from understudy.evaluate.exposure import Disclosure

__all__ = ["Disclosure", "Evaluation", "disclosure_risk", "evaluate"]

_HOMES = {
    "Disclosure": "exposure",
    "disclosure_risk": "disclosure",
    "Evaluation": "evaluation",
    "evaluate": "evaluation",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: a child process needs one learner alone."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
