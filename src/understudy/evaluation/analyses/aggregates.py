"""Aggregates that a user lists: the answer of the real rows beside that of the synthetic ones.

A list is a text with one aggregate in a line; empty lines, and those that begin with #, are passed
over. Forms are those of `query`:

    count(age >= 60, sex = female)      mean(weight | sex = male)
    P(smoker = yes | age >= 60)         quantile(age, 0.9 | sex = male)

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import UsageError
from understudy.evaluation.comparison import Comparison
from understudy.evaluation.metric import finite
from understudy.evaluation.raw.columns import number_text
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.codec.regions import Region
from understudy.facts.column import BinnedColumn
from understudy.facts.schema import Schema
from understudy.models.inference.question import Conditions, bar_of, read_conditions
from understudy.system.arrays import Array, Floats

FORMS = (
    "count(conditions)",
    "P(conditions | conditions)",
    "mean(column | conditions)",
    "quantile(column, 0.9 | conditions)",
)
MOST_AGGREGATES = 1_000
_MOST_BYTES = 1 << 20
_CALL = re.compile(r"\s*(?P<word>count|p|mean|quantile)\s*\((?P<inside>.*)\)\s*", re.I | re.S)
_QUANTILE = re.compile(r"(?P<column>.*),(?P<share>[^,]*)", re.S)
_TIMES = 1.96


@dataclass(frozen=True)
class Aggregate:
    """One aggregate that was asked for.

    Attributes:
        text: as it was written.
        form: count, p, mean or quantile.
        event: conditions whose rows are counted; None where all are.
        given: conditions that rows must fit; None where all do.
        column: whose mean or quantile is asked for. `share`: which quantile.
    """

    text: str
    form: str
    event: Conditions | None = None
    given: Conditions | None = None
    column: str | None = None
    share: float | None = None


def read_aggregates(path: Path, schema: Schema) -> tuple[Aggregate, ...]:
    """Read a list of aggregates from a text file.

    Raises:
        UsageError: naming the line that cannot be read, and why.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        lines = data.decode("utf-8-sig").splitlines()
    except OSError as error:
        raise UsageError(f"aggregates {path}: cannot be read: {error.strerror}; check it") from None
    except UnicodeDecodeError:
        raise UsageError(f"aggregates {path}: is not text in UTF-8; save it as that") from None
    if len(data) > _MOST_BYTES:
        raise UsageError(f"aggregates {path}: has more than a million bytes; list fewer")
    asked = {n: line for n, line in enumerate(lines, 1) if line.strip() and line.strip()[0] != "#"}
    if not asked:
        raise UsageError(f"aggregates {path}: lists none; write one in a line, as mean(age)")
    return aggregates_of(asked, schema, where=f"aggregates {path}")


def aggregates_of(
    asked: Mapping[int, str], schema: Schema, *, where: str = "aggregates"
) -> tuple[Aggregate, ...]:
    """Read aggregates from texts by the number of their line; all findings at once."""
    if len(asked) > MOST_AGGREGATES:
        raise UsageError(f"{where}: lists {len(asked):,}; list at most {MOST_AGGREGATES:,}")
    found, problems = [], []
    for number, text in asked.items():
        try:
            found.append(read_aggregate(text, schema))
        except UsageError as error:
            problems.append(f"{where}, line {number}: {error}")
    if problems:
        raise UsageError("\n".join(problems))
    return tuple(found)


def read_aggregate(text: str, schema: Schema) -> Aggregate:
    """Read one aggregate from its text.

    Example:
        >>> schema = Schema.parse({"columns": {"age": {"kind": "integer", "min": 0, "max": 99}}})
        >>> read_aggregate("mean(age | age >= 18)", schema).column
        'age'
    """
    found = _CALL.fullmatch(text)
    if found is None:
        raise UsageError(f"{text.strip()!r} has none of the known forms; write {', '.join(FORMS)}")
    form, inside = found["word"].lower(), found["inside"]
    bar = bar_of(inside, 0, len(inside))
    asked = inside if bar is None else inside[:bar]
    given = None if bar is None else read_conditions(inside[bar + 1 :], schema.columns)
    if form in ("count", "p"):
        return _counted(text, asked, schema, form=form, given=given)
    return _of_column(text, asked, schema, form=form, given=given)


def _counted(
    text: str, asked: str, schema: Schema, *, form: str, given: Conditions | None
) -> Aggregate:
    if form == "count" and given is not None:
        raise UsageError(f"{text.strip()!r}: a count has no bar; put all conditions in one list")
    if form == "p" and not asked.strip():
        raise UsageError(f"{text.strip()!r}: no event is named; write {FORMS[1]}")
    event = read_conditions(asked, schema.columns) if asked.strip() else None
    return Aggregate(text.strip(), form, event=event, given=given)


def _of_column(
    text: str, asked: str, schema: Schema, *, form: str, given: Conditions | None
) -> Aggregate:
    share, name = None, asked.strip()
    if form == "quantile":
        parts = _QUANTILE.fullmatch(asked)
        if parts is None:
            raise UsageError(f"{text.strip()!r}: no share is named; write {FORMS[3]}")
        name, share = parts["column"].strip(), _share(parts["share"])
    name = name.strip("\"'")
    if not isinstance(schema.columns.get(name), BinnedColumn):
        numbers = [n for n, column in schema.learned.items() if isinstance(column, BinnedColumn)]
        known = ", ".join(numbers) or "none"
        raise UsageError(f"{name!r} is not a column of numbers or dates; these are {known}")
    return Aggregate(text.strip(), form, given=given, column=name, share=share)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"{text.strip()!r} is not a share; write one from 0 to 1, as 0.9")
    return share


@dataclass(frozen=True, kw_only=True)
class AggregateAnswer:
    """An aggregate of both tables.

    Attributes:
        real, synthetic: the answers; None where no row fits. Counts of synthetic rows are scaled to
            the number of real ones.
        texts: both answers as people write them.
        rows: how many real and synthetic rows fit the conditions.
        chance: by how much the real answer moves through sampling error, at 95 %.
    """

    asked: str
    real: float | None
    synthetic: float | None
    texts: tuple[str, str]
    rows: tuple[int, int]
    chance: float | None

    @property
    def is_within_chance(self) -> bool | None:
        """Whether fresh real rows could differ as much: by √2 times the sampling error."""
        if self.real is None or self.synthetic is None or self.chance is None:
            return None
        return abs(self.real - self.synthetic) <= math.sqrt(2) * self.chance

    def document(self) -> dict[str, Any]:
        """Return the answers for JSON."""
        return {
            "aggregate": self.asked,
            "real": self.real,
            "synthetic": self.synthetic,
            "texts": list(self.texts),
            "rows": {"real": self.rows[0], "synthetic": self.rows[1]},
            "sampling_error": self.chance,
            "within_sampling_error": self.is_within_chance,
        }


def answered(comparison: Comparison, asked: Sequence[Aggregate]) -> tuple[AggregateAnswer, ...]:
    """Compute every aggregate from the rows of both tables, numbers as they are inside bins."""
    return tuple(_answer(comparison, each) for each in asked)


def _answer(comparison: Comparison, asked: Aggregate) -> AggregateAnswer:
    ours, theirs = (_Answer.of(s, asked) for s in (comparison.real, comparison.synthetic))
    made = theirs.value
    if asked.form == "count" and made is not None:
        made *= comparison.real.rows / max(comparison.synthetic.rows, 1)
    column = comparison.schema.columns[asked.column] if asked.column else None
    texts = tuple(_text(value, asked.form, column) for value in (ours.value, made))
    return AggregateAnswer(
        asked=asked.text,
        real=ours.value,
        synthetic=made,
        texts=(texts[0], texts[1]),
        rows=(ours.rows, theirs.rows),
        chance=ours.chance,
    )


def _text(value: float | None, form: str, column: object) -> str:
    if value is None:
        return "–"
    if isinstance(column, BinnedColumn):
        whole = form == "quantile" or column.kind in ("date", "datetime")
        return number_text(column, value) if whole else f"{value:.6g}"
    return f"{value:,.0f}" if form == "count" else f"{value:.4f}"


@dataclass(frozen=True)
class _Answer:
    """The answer of one table, the rows behind it, and its sampling error at 95 %."""

    value: float | None
    rows: int
    chance: float | None

    @classmethod
    def of(cls, sheet: EvaluationTable, asked: Aggregate) -> _Answer:
        within = fitting(sheet, asked.given)
        if asked.column is not None:
            values = sheet.numbers[asked.column][within]
            return cls._of_values(values[~np.isnan(values)], asked.share)
        hits = int((within & fitting(sheet, asked.event)).sum())
        whole = int(within.sum())
        if asked.form == "count":
            part = hits / max(whole, 1)
            return cls(float(hits), hits, _TIMES * math.sqrt(whole * part * (1 - part)))
        if not whole:
            return cls(None, 0, None)
        part = hits / whole
        return cls(part, whole, _TIMES * math.sqrt(part * (1 - part) / whole))

    @classmethod
    def _of_values(cls, values: Floats, share: float | None) -> _Answer:
        if not values.size:
            return cls(None, 0, None)
        root = math.sqrt(values.size)
        if share is None:
            return cls(finite(values.mean()), values.size, _TIMES * float(values.std()) / root)
        off = _TIMES * math.sqrt(share * (1 - share)) / root
        ends = np.quantile(values, np.clip([share - off, share, share + off], 0, 1))
        return cls(float(ends[1]), values.size, float(ends[2] - ends[0]) / 2)


def fitting(sheet: EvaluationTable, conditions: Conditions | None) -> Array:
    """Which rows fit conditions: numbers and dates by their value, listed values by their code."""
    found: Array = np.ones(sheet.rows, bool)
    for name, weights in ({} if conditions is None else conditions.evidence).items():
        codes = sheet.table.codes[name]
        found &= weights[codes] > 0
        region = conditions.within.get(name) if conditions is not None else None
        if region is not None:
            values = sheet.numbers[name]
            found &= np.isnan(values) | _inside(values, region)
    return found


def _inside(values: Floats, region: Region) -> Array:
    """Which numbers lie in a region of the line."""
    inside: Array = (values >= float(region.low)) & (values <= float(region.high))
    if region.points is not None:
        inside &= np.isin(values, [float(point) for point in region.points])
    return inside & ~np.isin(values, [float(hole) for hole in region.without])
