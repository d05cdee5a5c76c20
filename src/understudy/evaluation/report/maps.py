"""How columns hang together: matrices of association, and the network of the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from understudy.evaluation.evaluation import Evaluation
from understudy.evaluation.marginals.association import Association
from understudy.evaluation.metric import Result
from understudy.evaluation.report.figure import (
    NONE,
    Figure,
    Listing,
    TableRow,
    anchor_of,
    decimal,
    signed,
)
from understudy.evaluation.report.heat import Colours, HeatGrid, heat_map
from understudy.evaluation.report.shapes import ticks
from understudy.evaluation.report.subject import Subject
from understudy.models.pictures import network_svg

_MOST_PAIRS = 1_000

_MEASURES = {
    "cramers_v": ("Cramér’s V", "Strength of dependence of any kind, from 0 to 1."),
    "spearman": ("Spearman’s correlation", "Monotone dependence of ordered columns, from −1 to 1."),
    "pearson": ("Pearson’s correlation", "Linear dependence of ordered columns, from −1 to 1."),
}


@dataclass(frozen=True, kw_only=True)
class Maps:
    """One measure of association: real, synthetic and difference, and all pairs as a table."""

    title: str
    about: str
    result: Result
    figures: tuple[Figure, ...]
    pairs: Listing


def maps(found: Evaluation) -> list[Maps]:
    """Every measure of association that there are two columns for."""
    return [
        _maps(*_MEASURES[name], association, signed_scale=name != "cramers_v")
        for name, association in found.associations.items()
        if len(association.columns) > 1
    ]


def _maps(title: str, about: str, found: Association, *, signed_scale: bool) -> Maps:
    sides = {
        "real rows": _off_diagonal(found.real),
        "synthetic rows": _off_diagonal(found.synthetic),
    }
    colours = Colours(_reach(sides.values()), diverging=signed_scale)
    difference = _difference(*sides.values())
    pairs = _pairs(found)
    figures = [
        _map(found, side=side, title=title, matrix=matrix, colours=colours, pairs=pairs)
        for side, matrix in sides.items()
    ]
    turning = Colours(_reach([difference]), diverging=True)
    figures.append(
        _map(
            found,
            side="synthetic minus real",
            title=title,
            matrix=difference,
            colours=turning,
            pairs=pairs,
        )
    )
    return Maps(
        title=title, about=about, result=found.difference, figures=tuple(figures), pairs=pairs
    )


def _map(
    found: Association, *, side: str, title: str, matrix: HeatGrid, colours: Colours, pairs: Listing
) -> Figure:
    about = f"{title} of all pairs, {side}; the table of pairs has it"
    picture = heat_map(found.columns, matrix, colours, about=about)
    caption = f"{title}, {side}. Rows are named; columns have the same numbers."
    return Figure(title=side, picture=picture, caption=caption, data=pairs, group=anchor_of(title))


def _off_diagonal(matrix: HeatGrid) -> list[list[float | None]]:
    return [
        [None if i == j else value for j, value in enumerate(line)] for i, line in enumerate(matrix)
    ]


def _difference(real: HeatGrid, synthetic: HeatGrid) -> list[list[float | None]]:
    return [
        [None if a is None or b is None else b - a for a, b in zip(ours, theirs, strict=True)]
        for ours, theirs in zip(real, synthetic, strict=True)
    ]


def _reach(matrices: Iterable[HeatGrid]) -> float:
    """A round number that no cell exceeds."""
    cells = [abs(v) for m in matrices for line in m for v in line if v is not None]
    return min(ticks(0, max(cells, default=0.0) or 1.0, most=2)[-1], 1.0)


def _pairs(found: Association) -> Listing:
    """All pairs, those that differ most first."""
    names = found.columns
    known: list[tuple[float, TableRow]] = []
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            a, b = found.real[i][j], found.synthetic[i][j]
            apart = None if a is None or b is None else b - a
            line = (names[i], names[j], decimal(a), decimal(b), signed(apart))
            known.append((-1.0 if apart is None else abs(apart), line))
    known.sort(key=lambda pair: -pair[0])
    left = len(known) - _MOST_PAIRS
    note = f"{left:,} pairs that differ less are left out; --json has them all." if left > 0 else ""
    lines = tuple(line for _, line in known[:_MOST_PAIRS])
    return Listing(("column", "column", "real", "synthetic", "difference"), lines, 2, note)


def network(subject: Subject) -> Markup | None:
    """The picture of the model's network; a model without one has none."""
    if subject.model is None or not subject.model.network.families:
        return None
    named = 'role="img" aria-label="Network of the model; the table below has its edges"'
    return Markup(network_svg(subject.model).replace('role="img"', named, 1))


def network_edges(subject: Subject) -> Listing:
    """Every attribute with its parents."""
    assert subject.model is not None
    lines = tuple(
        (family.child, ", ".join(family.parents) or NONE) for family in subject.model.network
    )
    return Listing(("attribute", "parents"), lines, 2)
