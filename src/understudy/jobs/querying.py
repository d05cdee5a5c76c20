"""Job of `query`: answer a question about columns from a model alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from understudy.models.query import BaseAnswer


def query(
    model: Path, question: str, *, samples: int | None = None, seed: int | None = None
) -> BaseAnswer:
    """Ask a model, exactly or from sampled rows, with the interval of the noise of privacy.

    Refitted models, which some intervals need, are kept in the user's cache folder.

    Privacy: post-processing of a released model; costs nothing, however often it is done.
    """
    from understudy.jobs.refit_cache import cached_refits
    from understudy.models.model import Model
    from understudy.models.query import ask

    found = Model.load(model)
    return ask(found, question, samples=samples, seed=seed, refits=lambda: cached_refits(found))
