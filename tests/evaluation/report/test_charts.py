"""Charts: what is drawn is the data, folded where there is much of it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from understudy.evaluation.marginals.distributions import ColumnShares
from understudy.evaluation.report.bars import (
    MOST_BINS,
    MOST_VALUES,
    bars_of,
    distribution_picture,
)
from understudy.evaluation.report.dots import DotChart, DotLine
from understudy.evaluation.report.figure import decimal, percent, signed
from understudy.evaluation.report.heat import STEPS, Colours, heat_map
from understudy.evaluation.report.shapes import Scale, ticks


def _distribution(size: int, *, ordered: bool, missing: bool = False) -> ColumnShares:
    generator = np.random.default_rng(size)
    real, synthetic = (generator.dirichlet(np.full(size, 0.5)) for _ in range(2))
    kind = "integer" if ordered else "categorical"
    labels = [f"{10 * i} to {10 * i + 9}" if ordered else f"v{i}" for i in range(size)]
    starts = [label.split(" ")[0] for label in labels]
    if missing:
        labels[-1] = starts[-1] = "missing"
    return ColumnShares(
        column="c",
        kind=kind,
        labels=tuple(labels),
        starts=tuple(starts),
        is_ordered=ordered,
        has_missing=missing,
        real=real,
        synthetic=synthetic,
        distance=0.1,
        floor=0.0,
        ceiling=0.0,
    )


def _parsed(svg: Markup) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("size", [2, 12, 13, 40, 41, 97, 5_000])
def test_bars_are_all_rows_and_not_many(size: int, ordered: bool, missing: bool) -> None:
    """However many values: few bars, which add up to all rows, and missing cells are the last."""
    found = _distribution(size, ordered=ordered, missing=missing)
    bars = bars_of(found)
    assert len(bars) <= (MOST_BINS if ordered else MOST_VALUES) + missing
    assert (1, 1) == pytest.approx((sum(b.real for b in bars), sum(b.synthetic for b in bars)))
    assert missing == (bars[-1].label == "missing")
    _parsed(distribution_picture(found, bars))


def test_joined_bins_say_where_they_begin_and_end() -> None:
    """Joined neighbours are labelled by both ends, and rare values by their number."""
    joined = bars_of(_distribution(80, ordered=True))
    assert ("0 to 19", "780 to 799") == (joined[0].label, joined[-1].label)
    assert "19 other values" == bars_of(_distribution(30, ordered=False))[-1].label


def test_the_largest_values_come_first() -> None:
    """Values without an order are sorted by the larger of their two shares."""
    bars = bars_of(_distribution(12, ordered=False))
    larger = [max(bar.real, bar.synthetic) for bar in bars]
    assert sorted(larger, reverse=True) == larger


def test_bars_are_as_long_as_their_share() -> None:
    """Lengths of real and synthetic bars are in proportion to the numbers."""
    found = _distribution(5, ordered=False)
    bars = bars_of(found)
    rects = _parsed(distribution_picture(found, bars)).iter("rect")
    widths = {"real": [], "synthetic": []}  # type: dict[str, list[float]]
    for rect in rects:
        widths[rect.attrib["class"]].append(float(rect.attrib["width"]))
    unit = widths["real"][0] / bars[0].real
    assert [b.real * unit for b in bars] == pytest.approx(widths["real"], abs=0.2)
    assert [b.synthetic * unit for b in bars] == pytest.approx(widths["synthetic"], abs=0.2)


@given(st.floats(-10, 10), st.floats(1e-4, 1e6))
def test_ticks_are_round_and_reach_both_ends(low: float, width: float) -> None:
    """Between two and eight ticks, evenly apart, from below the least number to above the most."""
    marks = ticks(low, low + width)
    assert 2 <= len(marks) <= 8
    step = marks[1] - marks[0]
    assert marks[0] <= low + 1e-6 * step
    assert low + width <= marks[-1] + 1e-6 * step
    digits = f"{step:.3e}".replace(".", "").split("e")[0].rstrip("0")
    assert digits in ("1", "2", "25", "5")


def test_scales_keep_what_is_beyond_on_their_ends() -> None:
    """A number outside lies on the end, not beyond it."""
    scale = Scale(0, 10, 100, 200)
    assert [100, 100, 150, 200, 200] == [scale.at(v) for v in (-5, 0, 5, 10, 99)]


def test_heat_maps_colour_every_cell() -> None:
    """The coloured areas of all steps together are all cells; a cell without a number too."""
    matrix = [[None, 0.2, 0.9], [0.2, None, 0.5], [0.9, 0.5, None]]
    svg = heat_map(["a", "b", "c"], matrix, Colours(1.0), about="three")
    widths = re.findall(r"h([\d.]+)v([\d.]+)", svg)
    cell = float(widths[0][1])
    assert 9 == pytest.approx(sum(float(wide) / cell for wide, _ in widths), abs=0.01)
    assert {"heat-none", "heat-1", "heat-4", "heat-8"} <= set(re.findall(r'class="(\S+)" d=', svg))


def test_colours_reach_from_end_to_end() -> None:
    """Nine steps; the middle of a scale that turns is neutral."""
    assert ["heat-0", "heat-8", "heat-8"] == [Colours(0.5).kind(v) for v in (0.0, 0.5, 0.9)]
    turning = Colours(0.4, diverging=True)
    assert ["turn-0", "turn-4", "turn-8"] == [turning.kind(v) for v in (-0.4, 0.0, 0.4)]
    assert f"turn-{STEPS // 2}" == turning.kind(0.01)


def test_dots_stand_where_their_numbers_are() -> None:
    """The place of a dot on the axis is its number's; one without a number is not drawn."""
    lines = [DotLine("a", {"synthetic-dot": 0.25, "real-dot": None}), DotLine("b", {"real-dot": 1})]
    root = _parsed(DotChart(lines, "score", "scores", high=1.0).picture())
    first, second = (float(dot.attrib["cx"]) for dot in root.iter("circle"))
    rail = next(p.attrib["d"] for p in root.iter("path") if p.attrib["class"] == "rail")
    start, end = (float(x) for x in re.findall(r"[ML]([\d.]+),", rail))
    assert 0.25 == pytest.approx((first - start) / (end - start), abs=0.01)
    assert end == pytest.approx(second)


def test_numbers_in_words() -> None:
    """Three places, signs that are minus signs, and small shares with two digits."""
    assert ("–", "0.123", "12,346") == (decimal(None), decimal(0.1234), decimal(12345.6))
    assert ("+0.100", "−0.100") == (signed(0.1), signed(-0.1))
    assert ("0.0\u00a0%", "0.012\u00a0%", "12.3\u00a0%") == tuple(
        map(percent, (0, 0.00012, 0.1234))
    )
