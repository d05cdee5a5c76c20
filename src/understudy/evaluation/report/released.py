"""A page that may leave: released distances, their statement, and nothing else of the real rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from understudy.evaluation.released.summary import NoisyNumber, Summary
from understudy.evaluation.released.yardsticks import Yardstick
from understudy.evaluation.report import promise
from understudy.evaluation.report.contents import columns_at_a_time
from understudy.evaluation.report.dots import DotChart, DotLine
from understudy.evaluation.report.figure import Figure, Listing, TableRow, decimal
from understudy.evaluation.report.page import rendered
from understudy.evaluation.report.subject import Subject
from understudy.evaluation.verdict import Verdict, judge_released
from understudy.privacy.statements.statement import Statement
from understudy.system.amounts import at_most_text

_OPEN_LINES = 20
_INTERVAL = ("interval", "holds the exact distance 95 times of 100")
_DOT = ("synthetic-dot", "distance, with noise")
_AXIS = "total variation distance"


@dataclass(frozen=True)
class Release:
    """The released numbers of a comparison, and their yardsticks.

    Privacy: made of released answers and synthetic rows alone; it may leave.
    """

    summary: Summary
    subject: Subject
    yardsticks: Mapping[int, Yardstick]

    @property
    def rows_text(self) -> str:
        """The noisy number of real rows, for people."""
        return f"{self.summary.rows.value:,.0f}"

    @property
    def verdict(self) -> Verdict:
        """Show the verdict by released numbers alone."""
        subject = self.subject
        return judge_released(
            self.summary, self.yardsticks, subject.statement, unpromised=subject.unpromised
        )

    def document(self) -> dict[str, Any]:
        """Return the release for JSON."""
        summary, own = self.summary, self.subject.statement
        return {
            "verdict": self.verdict.document(),
            "private": False,
            "rows": summary.rows.document(),
            "tvd": {str(ways): self._mean(ways) for ways in summary.means},
            "columns": {name: found.document() for name, found in summary.columns.items()},
            "statement": summary.statement.document(),
            "synthetic": None if own is None else own.document(),
        }

    def _mean(self, ways: int) -> dict[str, Any]:
        found, (resampled, independent) = self.summary.means[ways], self.yardsticks[ways]
        return {
            "mean": found.value,
            "low": found.low,
            "high": found.high,
            "sets": self.summary.sets[ways],
            "synthetic_floor": resampled,
            "synthetic_ceiling": independent,
        }

    def page(self) -> str:
        """Return the page."""
        statement, own = self.summary.statement, self.subject.statement
        return rendered(
            "released.html",
            verdict=self.verdict,
            subject=self.subject,
            statement=statement,
            facts=promise.promise_facts(statement),
            events=promise.events(statement),
            own=own,
            together=None if own is None else together(own, statement),
            no_sum=NO_SUM,
            rows=self.rows_text,
            means=_means(self),
            columns=_columns(self.summary.columns),
        )


NO_SUM = "They promise different things, so that what they promise together is not stated here."


def together(first: Statement, second: Statement) -> str | None:
    """Add up two results of the same rows; None where they promise different things."""
    known = first.bound.epsilon, second.bound.epsilon
    if first.unit != second.unit or known[0] is None or known[1] is None or not first.private:
        return None
    epsilon, delta = known[0] + known[1], first.bound.delta + second.bound.delta
    slack = f", δ = {at_most_text(delta)}" if delta else ""
    return f"ε = {at_most_text(epsilon)}{slack}"


def _means(release: Release) -> Figure:
    means, held = release.summary.means, release.yardsticks
    lines = [
        DotLine(
            columns_at_a_time(ways),
            {"floor": held[ways][0], "ceiling": held[ways][1], "synthetic-dot": found.value},
            spans=(found.low, found.high),
        )
        for ways, found in means.items()
    ]
    about = "Mean distances with their intervals; the table below has them"
    legend = (
        _DOT,
        _INTERVAL,
        ("floor", "synthetic rows against a resample of themselves"),
        ("ceiling", "and against independent columns"),
    )
    caption = (
        "Distance is the share of rows that would have to change: 0 is the same, 1 has nothing in "
        "common. The two references are made only of synthetic rows. Left is better."
    )
    data = _listing("marginals of", {columns_at_a_time(w): found for w, found in means.items()})
    picture = DotChart(lines, f"mean {_AXIS}", about).picture()
    return Figure(
        title="Distance of the synthetic rows",
        picture=picture,
        caption=caption,
        data=data,
        legend=legend,
    )


def _columns(columns: Mapping[str, NoisyNumber]) -> list[Figure]:
    """All columns, the farthest off first, on one scale."""
    order = sorted(columns, key=lambda name: -columns[name].value)
    high = max(found.high for found in columns.values())
    parts = [order[at : at + _OPEN_LINES] for at in range(0, len(order), _OPEN_LINES)]
    return [_column_part(part, columns, high) for part in parts]


def _column_part(names: Sequence[str], columns: Mapping[str, NoisyNumber], high: float) -> Figure:
    lines = [
        DotLine(
            name,
            {"synthetic-dot": columns[name].value},
            spans=(columns[name].low, columns[name].high),
        )
        for name in names
    ]
    about = "Distance of each column with its interval; the table below has it"
    picture = DotChart(lines, _AXIS, about, high=high).picture()
    caption = "An interval that begins at 0 cannot be told from no difference at all."
    data = _listing("column", {name: columns[name] for name in names})
    return Figure(
        title="Column by column",
        picture=picture,
        caption=caption,
        data=data,
        legend=(_DOT, _INTERVAL),
    )


def _listing(head: str, found: Mapping[str, NoisyNumber]) -> Listing:
    lines: tuple[TableRow, ...] = tuple(
        (name, decimal(e.value), decimal(e.low), decimal(e.high)) for name, e in found.items()
    )
    return Listing((head, "distance", "from", "to"), lines)
