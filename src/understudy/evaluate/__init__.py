"""What a stand-in is worth. Everything computed here from real rows is private."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.evaluate.evaluation import Evaluation, evaluate

__all__ = ["Evaluation", "evaluate"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: a child process needs one learner alone."""
    if name in __all__:
        return getattr(import_module("understudy.evaluate.evaluation"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
