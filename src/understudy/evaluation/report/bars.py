"""One column of both tables as a chart: bars for what has no order, a histogram for what has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from understudy.evaluation.marginals.distributions import ColumnShares
from understudy.evaluation.report.shapes import (
    LETTERS,
    WIDTH,
    Scale,
    axis_below,
    axis_left,
    box,
    gutter,
    row_label,
    sheet,
    stroke,
    ticks,
    words,
)
from understudy.models.pictures.lettering import shortened, text_width

MOST_VALUES = 12
MOST_BINS = 40
_LABELS = 130.0
_BAR, _BETWEEN = 7.0, 6.0
_TOP, _HEIGHT, _LEFT, _RIGHT = 20.0, 140.0, 34.0, 6.0
_APART = 8.0
_TICK = 90.0


@dataclass(frozen=True)
class Bar:
    """One value, bin, or several of them together, and its share of either table."""

    label: str
    start: str
    real: float
    synthetic: float


def bars_of(found: ColumnShares) -> list[Bar]:
    """Choose the bars of a column: few enough, and together all rows.

    Values without an order are sorted by their share; the rarest of many share one bar. Bins that
    are too many are joined with their neighbours. Missing cells come last.
    """
    levels = len(found.labels) - found.has_missing
    bars = _ordered(found, levels) if found.is_ordered else _unordered(found, levels)
    return [*bars, _bar(found, [levels])] if found.has_missing else bars


def _bar(found: ColumnShares, codes: Sequence[int], label: str | None = None) -> Bar:
    real, synthetic = (float(side[list(codes)].sum()) for side in (found.real, found.synthetic))
    return Bar(label or found.labels[codes[0]], found.starts[codes[0]], real, synthetic)


def _unordered(found: ColumnShares, levels: int) -> list[Bar]:
    larger = np.maximum(found.real, found.synthetic)[:levels]
    order = np.argsort(-larger, kind="stable").tolist()
    shown = order if levels <= MOST_VALUES else order[: MOST_VALUES - 1]
    bars = [_bar(found, [code]) for code in shown]
    rest = order[len(shown) :]
    return [*bars, _bar(found, rest, f"{len(rest):,} other values")] if rest else bars


def _ordered(found: ColumnShares, levels: int) -> list[Bar]:
    together = math.ceil(levels / MOST_BINS)
    groups = [range(at, min(at + together, levels)) for at in range(0, levels, together)]
    return [_bar(found, group, _span(found, group)) for group in groups]


def _span(found: ColumnShares, group: range) -> str:
    if len(group) == 1:
        return found.labels[group[0]]
    last = found.labels[group[-1]]
    end = last if found.kind == "categorical" else last.rpartition(" to ")[2]
    return f"{found.starts[group[0]]} to {end}"


def distribution_picture(found: ColumnShares, bars: Sequence[Bar]) -> Markup:
    """Return the chart of a column."""
    return _histogram(found, bars) if found.is_ordered else _side_by_side(found, bars)


def _about(found: ColumnShares) -> str:
    return f"{found.column}: share of rows by value, real and synthetic; the table below has it"


def _top_of(bars: Sequence[Bar]) -> list[float]:
    """Ticks in percent up to the highest bar."""
    return ticks(0, 100 * max((max(b.real, b.synthetic) for b in bars), default=0.0) or 1, most=4)


def _side_by_side(found: ColumnShares, bars: Sequence[Bar]) -> Markup:
    """Two bars for each value, the real one above."""
    left = gutter([bar.label for bar in bars], most=_LABELS)
    marks = _top_of(bars)
    scale = Scale(0, marks[-1], left, WIDTH - _RIGHT - 8)
    pitch = 2 * _BAR + _BETWEEN
    bottom = 4 + pitch * len(bars)
    labels, drawn = [], []
    for place, bar in enumerate(bars):
        top = 4 + _BETWEEN / 2 + pitch * place
        labels.append(row_label(bar.label, left, top + _BAR))
        for row, (kind, share) in enumerate((("real", bar.real), ("synthetic", bar.synthetic))):
            wide = scale.at(100 * share) - left
            title = f"{bar.label}, {kind}: {100 * share:.2f} %"
            drawn.append(
                box(kind, left=left, top=top + _BAR * row, width=wide, height=_BAR, title=title)
            )
    axis = axis_below(scale, marks, top=4, bottom=bottom, title="share of rows, %")
    left_axis = f'<g class="axis y">{"".join(labels)}</g>'
    line = stroke("line", (left, 4), (left, bottom))
    return sheet(bottom + 34, _about(found), [axis, left_axis, *drawn, line])


def _histogram(found: ColumnShares, bars: Sequence[Bar]) -> Markup:
    """Real rows as a filled histogram, synthetic ones as a line over it."""
    marks = _top_of(bars)
    bottom = _TOP + _HEIGHT
    upright = Scale(0, marks[-1], bottom, _TOP)
    edges = _edges(len(bars), apart=found.has_missing)
    parts = [axis_left(upright, marks, left=_LEFT, right=WIDTH - _RIGHT, title="share of rows, %")]
    for bar, (start, end) in zip(bars, edges, strict=True):
        top = upright.at(100 * bar.real)
        title = f"{bar.label}: real {100 * bar.real:.2f} %, synthetic {100 * bar.synthetic:.2f} %"
        parts.append(
            box(
                "real",
                left=start + 0.4,
                top=top,
                width=end - start - 0.8,
                height=bottom - top,
                title=title,
            )
        )
    for group in _groups_of(bars, edges, apart=found.has_missing):
        parts.append(_steps(group, upright, bottom))
    parts.append(stroke("line", (_LEFT, bottom), (WIDTH - _RIGHT, bottom)))
    parts.append(_names_below(found, bars, edges, bottom))
    return sheet(bottom + 36, _about(found), parts)


_Spans = list[tuple[float, float]]


def _edges(count: int, *, apart: bool) -> _Spans:
    """Where each bar begins and ends; that of missing cells is apart."""
    gap = _APART if apart else 0.0
    wide = (WIDTH - _LEFT - _RIGHT - gap) / max(count, 1)
    starts = [_LEFT + wide * place for place in range(count)]
    if apart:
        starts[-1] += gap
    return [(start, start + wide) for start in starts]


def _groups_of(
    bars: Sequence[Bar], edges: _Spans, *, apart: bool
) -> list[list[tuple[Bar, tuple[float, float]]]]:
    both = list(zip(bars, edges, strict=True))
    return [part for part in ((both[:-1], both[-1:]) if apart else (both,)) if part]


def _steps(group: Sequence[tuple[Bar, tuple[float, float]]], upright: Scale, bottom: float) -> str:
    spots = [(group[0][1][0], bottom)]
    for bar, (start, end) in group:
        y = upright.at(100 * bar.synthetic)
        spots += [(start, y), (end, y)]
    return stroke("synthetic-line", *spots, (group[-1][1][1], bottom))


def _names_below(found: ColumnShares, bars: Sequence[Bar], edges: _Spans, bottom: float) -> str:
    """The first values of some bins, as many as have room, and what they are."""
    binned = found.kind != "categorical"
    names = [shortened(bar.start, LETTERS, _TICK) for bar in bars]
    parts, taken, limit = [], -math.inf, WIDTH
    if found.has_missing:
        last = names.pop()
        parts.append(words(last, WIDTH, bottom + 15, anchor="end"))
        limit -= text_width(last, LETTERS) + 6
    for name, (start, end) in zip(names, edges, strict=False):
        wide = text_width(name, LETTERS)
        x = max(start if binned else (start + end) / 2, wide / 2)
        if x - wide / 2 < taken + 8 or x + wide / 2 > limit:
            continue
        parts.append(words(name, x, bottom + 15, anchor="middle"))
        parts += [stroke("notch", (start, bottom), (start, bottom + 3))] if binned else []
        taken = x + wide / 2
    title = f"{found.kind}, each bin from its first value" if binned else "value, in order"
    middle = (_LEFT + WIDTH) / 2
    parts.append(words(title, middle, bottom + 30, anchor="middle", kind="title"))
    return f'<g class="axis x">{"".join(parts)}</g>'
