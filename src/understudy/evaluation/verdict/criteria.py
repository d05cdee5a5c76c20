"""The public rules behind the lights.

They were fixed on half of a set of stand-ins that were made good and bad on purpose, and are tested
on the other half (`tests/evaluation/verdict`) and on public tables (`benchmarks/verdicts.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from understudy.evaluation.verdict.light import Colour, Finding


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A number, and where it is good, limited or bad.

    Attributes:
        about: what the number is, for rules in plain words.
        good: the light is green up to here. `limit`: amber up to here, red beyond.
        more: whether more is better; then both are lower bounds, and red is below.
        times: whether the number counts times in 100, and is not a share.
    """

    name: str
    about: str
    good: float
    limit: float
    more: bool = False
    times: bool = False

    def colour(self, value: float | None) -> Colour:
        """Judge a value; one that is not known is unknown."""
        if value is None:
            return Colour.UNKNOWN
        sign = -1 if self.more else 1
        if sign * value <= sign * self.good:
            return Colour.GREEN
        return Colour.AMBER if sign * value <= sign * self.limit else Colour.RED

    @property
    def rule(self) -> str:
        """Say the rule in plain words."""
        way, red = ("from", "below") if self.more else ("up to", "beyond")
        return (
            f"{self.about}: green {way} {self.text(self.good)}, amber {way} "
            f"{self.text(self.limit)}, red {red}."
        )

    def text(self, value: float | None) -> str:
        """A value of this criterion in few characters."""
        if value is None:
            return "–"
        if self.times:
            return f"{value:.0f} in 100"
        digits = f"{100 * value:.3g}" if value >= 0.1 else f"{100 * value:.2g}"
        return f"{digits} %"

    def finding(self, value: float | None, sentence: str) -> Finding:
        """A value that was found, judged."""
        return Finding(
            name=self.name,
            colour=self.colour(value),
            value=value,
            sentence=sentence,
            rule=self.rule,
            nearness=self._nearness(value),
        )

    def _nearness(self, value: float | None) -> float:
        if value is None:
            return 0.0
        return (1 - value) / (1 - self.limit) if self.more else value / self.limit


RIGHT_GUESSES = Criterion(
    name="right guesses",
    about="How often someone who tossed a coin before can be right about whether one row (or "
    "person, where persons are protected) is in the table; under replace, which of two rows is; "
    "the coin by itself is right 50 times in 100",
    good=75,
    limit=90,
    times=True,
)
EXPOSED = Criterion(
    name="delta times rows",
    about="δ times the number of rows, the rows for which the promise may fail",
    good=0.1,
    limit=1.0,
)
COPIED = Criterion(
    name="copied rows",
    about="The share of synthetic rows that equal a real row, beyond chance",
    good=0.002,
    limit=0.01,
)
SINGLE_COLUMN = Criterion(
    name="worst column",
    about="The share of rows that would have to change in the worst column, beyond what fresh "
    "real rows need",
    good=0.03,
    limit=0.1,
)
DEPENDENCE = Criterion(
    name="lost dependence",
    about="How much of the dependence between two columns is lost, on average over all pairs",
    good=0.25,
    limit=0.6,
)
PAIRS = Criterion(
    name="pairs of columns",
    about="The share of rows that would have to change in pairs of columns, beyond what fresh "
    "real rows need",
    good=0.03,
    limit=0.1,
)
LOST_VALUE = Criterion(
    name="lost value",
    about="The share of real rows with the most frequent value that no synthetic row has",
    good=0.005,
    limit=0.02,
)
LOST_GROUPS = Criterion(
    name="lost groups",
    about="Of groups by two columns with at least 1 % of rows, and 100, the share that lost "
    "over half of them",
    good=0.0,
    limit=0.01,
)
OUT_OF_RANGE = Criterion(
    name="values out of range",
    about="The share of synthetic values in the worst column that are beyond the real range by "
    "more than a tenth of it, or that the schema does not allow",
    good=0.0005,
    limit=0.02,
)
CHANGED = Criterion(
    name="changed by the schema",
    about="The share of values that the schema cannot keep (clipped, not listed, unreadable) in "
    "the worst column, or of rows that it drops",
    good=0.05,
    limit=0.2,
)
PREDICTION = Criterion(
    name="prediction kept",
    about="The skill of the best model trained on synthetic rows, beside the best trained on real "
    "ones, both tested on real rows",
    good=0.9,
    limit=0.7,
    more=True,
)
RELATIONS = Criterion(
    name="relations kept",
    about="Of all relations between two columns, the share that is as strong in the synthetic rows",
    good=0.85,
    limit=0.6,
    more=True,
)

CRITERIA = (
    RIGHT_GUESSES,
    EXPOSED,
    COPIED,
    SINGLE_COLUMN,
    DEPENDENCE,
    PAIRS,
    LOST_VALUE,
    LOST_GROUPS,
    OUT_OF_RANGE,
    CHANGED,
    PREDICTION,
    RELATIONS,
)
"""All rules, for the page and for the reference."""

CLEAR_RELATION = 0.1
"""Cramér's V from which on two columns of the real table have a relation."""
SAME_STRENGTH, SAME_PART, SAME_BY_CHANCE = 0.05, 1 / 3, 3.0
"""A relation is kept where V differs by this, by this part of it, or by this number over √rows."""
FAR_BEYOND = 0.5
"""A column whose numbers go beyond the real ones by this part of their range is named."""
FEW_ROWS = 200
"""With fewer rows on either side distances say little, and fidelity is not green."""
EXPECTED_ROWS = 10
"""A value is lost where this number of synthetic rows were to be expected and none has it."""
FRESH = 2**0.5
"""Fresh rows of the population are this number of floors away: the real rows are a sample too."""
DISTINCT = 1.25
"""The ceiling is above the floor where it is this many times as high."""
