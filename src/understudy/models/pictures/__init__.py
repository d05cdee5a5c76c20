"""Pictures of a model's network: rows of attributes, lines as strong as the dependence they mean.

`layers` orders the rows, `places` sets boxes and trunks, `drawing` puts the parts on a sheet, `svg`
and `png` write it. Everything is post-processing of a model and costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.facts.protection import Protection
from understudy.models.pictures.drawing import drawn
from understudy.models.pictures.png import png_of
from understudy.models.pictures.svg import Marks, svg_of
from understudy.models.strengths import MEASURE, Strengths, strengths_of
from understudy.system.amounts import at_most_text

if TYPE_CHECKING:
    from understudy.models.model import Model

__all__ = ["network_png", "network_svg"]


def network_svg(
    model: Model,
    *,
    protected: Collection[str] | None = None,
    target: str | None = None,
    theme: str = "auto",
    strengths: Strengths | None = None,
) -> str:
    """A model's network as an SVG document.

    Args:
        model: what is drawn.
        protected: attributes to mark as sensitive; those that the model knows unless given.
        target: an attribute to mark as the one to be predicted; the model's unless given.
        theme: "light", "dark", or "auto", which follows the reader's own choice.
        strengths: the scores of the edges, where they are known already.
    """
    model.distribution.sampling_network()
    known_of = model.protection or Protection()
    protected = tuple(known_of.protected) if protected is None else protected
    target = known_of.target if target is None else target
    named = [*protected, *([] if target is None else [target])]
    for unknown in (name for name in named if name not in model.domain.sizes):
        known = ", ".join(model.domain)
        raise UsageError(f"attribute {unknown!r} is unknown; known are {known}")
    found = strengths or strengths_of(model)
    measure = f"{MEASURE}, {found.basis}"
    marks = Marks(protected, target, _caption(model), measure)
    return svg_of(drawn(model.network, found.scores), marks, theme=theme)


def network_png(
    model: Model,
    *,
    protected: Collection[str] | None = None,
    target: str | None = None,
    theme: str = "light",
    strengths: Strengths | None = None,
) -> bytes:
    """A model's network as a PNG picture: the same drawing, light by default."""
    theme = "light" if theme == "auto" else theme
    svg = network_svg(model, protected=protected, target=target, theme=theme, strengths=strengths)
    return png_of(svg)


def _caption(model: Model) -> str:
    """The method, the size of the network, and the budget."""
    network, bound = model.network, model.statement.bound
    size = f"{_count(len(network.families), 'attribute')}, {_count(len(network.edges), 'edge')}"
    if not model.statement.private or bound.epsilon is None:
        return f"{model.statement.method}: {size}; NOT PRIVATE"
    delta = f", δ = {at_most_text(bound.delta)}" if bound.delta else ""
    return f"{model.statement.method}: {size}; ε = {at_most_text(bound.epsilon)}{delta}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
