"""The registry of the kinds of distributions, by the names that archives give them.

Kinds are named as text and imported when one is met, so that a room above can have a kind too.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from understudy.errors import UsageError
from understudy.models.distribution import Distribution

if TYPE_CHECKING:
    from understudy.models.model import Model

KINDS = {
    "network": ("understudy.models.bayes_net", "BayesNet"),
    "log-linear": ("understudy.models.log_linear", "LogLinear"),
    "records": ("understudy.models.records", "ReleasedRecords"),
    "generator": ("understudy.models.generator", "RowGenerator"),
    "images": ("understudy.gan.image_model", "ImageGenerator"),
    "image-moments": ("understudy.gan.moment_model", "ImageMoments"),
}
# Archives of another form that earlier versions wrote, by the member that tells each.
_EARLIER = {"document.npy": ("understudy.gan.earlier", "EarlierImages")}


class EarlierArchive(Protocol):
    """Reads archives of a form that is no longer written."""

    @staticmethod
    def load(path: Path) -> Model:
        """Read the model; a damaged one is refused."""

    @staticmethod
    def bound_content(path: Path) -> tuple[dict[str, Any], str]:
        """Return the statement as it is found, and the digest of everything else."""


def kind_named(name: str) -> type[Distribution]:
    """Return the class of a kind.

    Example:
        >>> kind_named("network").kind
        'network'
    """
    if name not in KINDS:
        raise UsageError(f"kind {name!r} is unknown; known are {', '.join(KINDS)}")
    module, home = KINDS[name]
    found: type[Distribution] = getattr(import_module(module), home)
    return found


def earlier_named(members: Collection[str]) -> type[EarlierArchive] | None:
    """Return the reader of an archive of an earlier form, found by its members; else None."""
    for telling, (module, home) in _EARLIER.items():
        if telling in members:
            found: type[EarlierArchive] = getattr(import_module(module), home)
            return found
    return None
