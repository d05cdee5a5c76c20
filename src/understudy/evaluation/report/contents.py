"""The contents of the page, from an evaluation: everything in words, numbers and figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from understudy.evaluation.evaluation import Evaluation
from understudy.evaluation.marginals.distributions import ColumnShares
from understudy.evaluation.marginals.variation import Variation
from understudy.evaluation.metric import Result
from understudy.evaluation.report.bars import bars_of, distribution_picture
from understudy.evaluation.report.dots import DotChart, DotLine
from understudy.evaluation.report.figure import (
    NONE,
    Figure,
    Listing,
    TableRow,
    decimal,
    percent,
)

OPEN_COLUMNS = 12
# References nearer than this are one: a part of the way between them means nothing.
_APART = 1.25

REAL_AND_SYNTHETIC = (("real", "real rows"), ("synthetic", "synthetic rows"))
_BANDS = (
    ("synthetic-dot", "synthetic rows"),
    ("floor", "floor: a resample of the real rows"),
    ("ceiling", "ceiling: independent columns"),
)


@dataclass(frozen=True)
class Tile:
    """The mean distance of marginals, in large letters, for a given number of columns."""

    title: str
    value: str
    lines: tuple[str, ...]


def tiles(found: Evaluation) -> list[Tile]:
    """How near the stand-in is, for one, two and three columns at a time."""
    return [_tile(variation) for variation in found.variations if variation.mean.value is not None]


def _tile(found: Variation) -> Tile:
    mean = found.mean
    # Columns drawn independently keep their own tables: there is no ceiling for one at a time.
    ceiling = f", ceiling {decimal(mean.independent)}" if found.ways > 1 else ""
    between = f"floor {decimal(mean.resampled)}{ceiling}"
    lines = [between, *(_way(mean) if found.ways > 1 else _above(mean)), _equivalent(found)]
    return Tile(columns_at_a_time(found.ways), decimal(mean.value), tuple(lines))


def columns_at_a_time(ways: int) -> str:
    """Name the marginals of a given number of columns."""
    return {1: "Single columns", 2: "Pairs of columns", 3: "Three columns at a time"}[ways]


def _way(mean: Result) -> Iterator[str]:
    """Say where between floor and ceiling a mean is, when there is something between."""
    low, high, value = mean.resampled, mean.independent, mean.value
    if low is None or high is None or value is None:
        return
    if high <= _APART * low:
        yield "floor and ceiling are too near each other for rows to show where it is"
        return
    part = (value - low) / (high - low)
    if part <= 0:
        yield "as near as a resample of the real rows"
    elif part >= 1:
        yield "no nearer than independent columns"
    else:
        yield f"{percent(part)} of the way from floor to ceiling"


def _above(mean: Result) -> Iterator[str]:
    """Say how many times the floor a mean is."""
    low, value = mean.resampled, mean.value
    if low is None or value is None:
        return
    if value <= low:
        yield "as near as a resample of the real rows"
    elif low > 0:
        yield f"{value / low:.1f} times the floor"


def _equivalent(found: Variation) -> str:
    same = found.equivalent
    if same.rows is None or same.fraction is None:
        return f"no resample is just as near: {same.reason}"
    part = percent(same.fraction) if same.fraction < 1 else f"{same.fraction:,.1f} times"
    of = "of" if same.fraction < 1 else "as many as"
    rows = "row" if same.rows == 1 else "rows"
    return f"as near as a resample of {same.rows:,} {rows}, {part} {of} the real rows"


def bands(found: Evaluation) -> Figure | None:
    """Return the three means between their references."""
    known = [v for v in found.variations if v.mean.value is not None]
    if not known:
        return None
    lines = [
        DotLine(
            columns_at_a_time(v.ways),
            {
                "floor": v.mean.resampled,
                "ceiling": v.mean.independent,
                "synthetic-dot": v.mean.value,
            },
            _band(v.mean),
        )
        for v in known
    ]
    axis = "mean total variation distance"
    about = "Mean distance of marginals between floor and ceiling; the table below has it"
    data = Listing(
        ("marginals of", "synthetic", "floor", "ceiling", "largest", "compared", "of"),
        tuple(_variation_line(v) for v in known),
    )
    return Figure(
        title="Between floor and ceiling",
        picture=DotChart(lines, axis, about).picture(),
        caption=_BANDS_CAPTION,
        data=data,
        legend=_BANDS,
    )


_BANDS_CAPTION = (
    "Distance is the share of rows that would have to change: 0 is the same, 1 has nothing in "
    "common. The floor is the sampling error of as many rows drawn from the real ones; fresh real "
    "rows are √2 floors away, because the real rows are a sample too. The ceiling is what is left "
    "when every column is right and all dependence is lost; for single columns both are the same. "
    "Left is better."
)


def _band(mean: Result) -> tuple[float, float] | None:
    if mean.resampled is None or mean.independent is None:
        return None
    return min(mean.resampled, mean.independent), max(mean.resampled, mean.independent)


def _variation_line(found: Variation) -> TableRow:
    mean = found.mean
    numbers = (mean.value, mean.resampled, mean.independent, found.largest.value)
    return (
        columns_at_a_time(found.ways),
        *map(decimal, numbers),
        f"{found.sets:,}",
        f"{found.of:,}",
    )


def worst_sets(found: Evaluation) -> Listing:
    """The pairs and triples that are farthest apart."""
    lines = [
        (", ".join(d.columns), decimal(d.distance), decimal(d.floor), decimal(d.ceiling))
        for variation in found.variations[1:]
        for d in variation.worst
    ]
    return Listing(("columns", "distance", "floor", "ceiling"), tuple(lines))


def other_measures(found: Evaluation) -> Listing:
    """Every other metric of whole tables, with its references and its goal."""
    results = [r for v in found.variations for r in (v.divergence, v.cross_entropy)]
    results += [a.difference for a in found.associations.values()]
    results += found.ranges
    tasks = found.tasks
    results += [tasks.clustering, tasks.classification, tasks.regression]
    lines = [
        (r.metric.name, *map(decimal, (r.value, r.resampled, r.independent)), _goal(r))
        for r in results
    ]
    head = ("measure", "synthetic", "resample", "independent", "goal")
    return Listing(head, tuple(lines))


def _goal(result: Result) -> str:
    return str(result.metric.goal) if result.value is not None else result.reason or NONE


def column_figures(found: Evaluation) -> list[Figure]:
    """Every column as a chart, the one farthest off first."""
    order = sorted(found.distributions, key=lambda d: -d.distance)
    return [_column_figure(distribution) for distribution in order]


def _column_figure(found: ColumnShares) -> Figure:
    bars = bars_of(found)
    lines = tuple(
        (b.label, percent(b.real), percent(b.synthetic), _points(b.synthetic - b.real))
        for b in bars
    )
    caption = f"Distance {decimal(found.distance)}; floor {decimal(found.floor)}."
    if found.never_generated:
        values = "value" if found.never_generated == 1 else "values"
        caption += f" {found.never_generated:,} {values} of the real rows never generated."
    head = ("value", "real", "synthetic", "difference, points")
    return Figure(
        title=found.column,
        group="column",
        picture=distribution_picture(found, bars),
        caption=caption,
        data=Listing(head, lines),
    )


def _points(difference: float) -> str:
    return f"{100 * difference:+.2f}".replace("-", "−")


def sides(found: Evaluation) -> Listing:
    """How many rows were read, fit the schema, and were compared."""
    lines = [
        (name, *(f"{count:,}" for count in (side.read, side.fitting, side.used)))
        for name, side in found.sides.items()
    ]
    return Listing(("table", "rows read", "fit the schema", "compared"), tuple(lines))
