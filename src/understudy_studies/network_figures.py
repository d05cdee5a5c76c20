"""Networks on record: families and strengths as numbers, and the picture that is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from understudy.models.model import Model
from understudy.models.network import Family, Network
from understudy.models.pictures.drawing import drawn
from understudy.models.pictures.svg import Marks, svg_of
from understudy.models.strengths import MEASURE, strengths_of
from understudy_studies.cells import CellValues


def network_numbers(model: Model) -> CellValues:
    """The families of a model's network in order, and the strength of every edge."""
    strengths = strengths_of(model)
    return {
        "families": [[family.child, *family.parents] for family in model.network.families],
        "strengths": [
            [parent, child, round(score, 3)] for (parent, child), score in strengths.scores.items()
        ],
        "basis": strengths.basis,
    }


def network_picture(numbers: Mapping[str, Any], caption: str) -> bytes:
    """The network as an SVG document, lines as strong as the dependence that they mean."""
    families = (Family(child, tuple(parents)) for child, *parents in numbers["families"])
    scores = {(parent, child): float(score) for parent, child, score in numbers["strengths"]}
    marks = Marks(caption=caption, measure=f"{MEASURE}, {numbers['basis']}")
    return svg_of(drawn(Network(tuple(families)), scores), marks, theme="auto").encode()
