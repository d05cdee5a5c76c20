"""Curves over logarithmic axes as a small SVG picture, one panel for each curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from understudy.models.pictures.charts import Line, Panel, chart_sheet


@dataclass(frozen=True)
class Curve:
    """Seconds over what grew, and the exponent of the power law nearest to them."""

    title: str
    axis: str
    over: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """The slope of the least-squares line through the logarithms."""
        x, y = [math.log(v) for v in self.over], [math.log(v) for v in self.seconds]
        middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
        along = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
        return along / sum((a - middle_x) ** 2 for a in x)

    @property
    def last_exponent(self) -> float:
        """The slope between the last two points, where fixed costs weigh least."""
        (a, b), (c, d) = zip(self.over[-2:], self.seconds[-2:], strict=True)
        return math.log(d / b) / math.log(c / a)


def picture(curves: Sequence[Curve]) -> str:
    """All panels in one SVG document."""
    return chart_sheet([_panel(curve) for curve in curves])


def _panel(curve: Curve) -> Panel:
    title = f"{curve.title}: exponent {curve.exponent:.2f}, last {curve.last_exponent:.2f}"
    lines = [Line("", curve.over, curve.seconds)]
    return Panel(title, curve.axis, "seconds", lines, log_across=True, log_up=True)
