"""Raw columns side by side: what schema and bins lost, quantiles, moments, tails, rare values.

Codes show both tables after the schema has clipped, merged and dropped. Here real cells are taken
as they are in the file, so that a loss through the schema shows.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.evaluation.metric import finite
from understudy.evaluation.raw.cells import RawCells, raw_cells
from understudy.evaluation.sheets import blocks_of
from understudy.facts.codec import Codec
from understudy.facts.column import BinnedColumn, LearnedColumn
from understudy.facts.constraints.meaning import spelled
from understudy.facts.file_format import DECLARED, FileFormat
from understudy.facts.schema import Schema
from understudy.rows.table import Table
from understudy.system.arrays import Floats
from understudy.system.frames import Rows

PROBABILITIES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
_TAIL = 0.01
# Numbers beyond the real range by this part of it are far from what any real row has.
_MARGIN = 0.1
_RARE = 0.01
_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class Moments:
    """Numbers of one column of one table; dates are counted in days, moments in seconds."""

    mean: float | None = None
    deviation: float | None = None
    skewness: float | None = None
    least: float | None = None
    most: float | None = None
    quantiles: tuple[float, ...] = ()

    @classmethod
    def of(cls, values: Floats) -> Moments:
        """Moments and quantiles of sorted values; nothing of no values."""
        if not values.size:
            return cls(
                mean=None, deviation=None, skewness=None, least=None, most=None, quantiles=()
            )
        mean, deviation = float(values.mean()), float(values.std())
        third = float(((values - mean) ** 3).mean()) / deviation**3 if deviation > 0 else math.nan
        return cls(
            mean=finite(mean),
            deviation=finite(deviation),
            skewness=finite(third),
            least=float(values[0]),
            most=float(values[-1]),
            quantiles=tuple(float(q) for q in np.quantile(values, PROBABILITIES)),
        )

    def document(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "mean": self.mean,
            "deviation": self.deviation,
            "skewness": self.skewness,
            "min": self.least,
            "max": self.most,
            "quantiles": dict(zip(map(str, PROBABILITIES), self.quantiles, strict=False)),
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class RawColumn:
    """One column of both files, before it is coded.

    Attributes:
        declared: what the schema says of it.
        cells: how many real cells there are. `missing`: how many are empty or a missing marker.
        clipped: real cells beyond the bounds. `undeclared`: with a value that is not listed, which
            become the catch-all or lose their row. `unreadable`: not a value of this kind.
        dropped: real rows that this column sends away.
        changed: the share of real values that the schema cannot keep.
        distance: between raw columns: total variation of values, or the largest difference of the
            shares of rows up to a number (Kolmogorov–Smirnov).
        within_bins: the part of a number's standard deviation that lies inside bins, which is
            drawn at random again.
        real, synthetic: moments and quantiles of numbers and dates.
        tails: the shares of synthetic rows below the real 1 % quantile and above the 99 % one.
        values: how many different values the real column has, and the synthetic one never has.
        rare: of values that fewer than 1 % of real rows have, together: real and synthetic share.
        lost: the most frequent listed values that no synthetic row has, with their share of real
            rows. Values that the schema does not list are counted and never named.
        outside: the share of synthetic values that the schema does not allow.
        beyond: the share of synthetic numbers beyond the real range by more than a tenth of it.
    """

    column: str
    declared: LearnedColumn
    cells: int
    missing: int
    clipped: int
    undeclared: int
    unreadable: int
    dropped: int
    changed: float
    distance: float | None
    within_bins: float | None = None
    real: Moments | None = None
    synthetic: Moments | None = None
    tails: tuple[float, float] | None = None
    values: tuple[int, int] | None = None
    rare: tuple[float, float] | None = None
    lost: tuple[tuple[str, float], ...] = ()
    outside: float = 0.0
    beyond: float = 0.0

    @property
    def out_of_range(self) -> float:
        """The share of synthetic values that no real row has, or that the schema does not allow."""
        return max(self.outside, self.beyond)

    @property
    def excess(self) -> float:
        """How far the synthetic numbers go beyond the real ones, in parts of the real range."""
        ours, made = self.real, self.synthetic
        if ours is None or made is None or ours.least is None or ours.most is None:
            return 0.0
        if made.least is None or made.most is None or ours.most == ours.least:
            return 0.0
        over = max(ours.least - made.least, made.most - ours.most, 0.0)
        return over / (ours.most - ours.least)

    @property
    def reach(self) -> str:
        """Say how far synthetic values go beyond the real ones; empty where none does."""
        if self.beyond and self.real is not None and self.synthetic is not None:
            return self._ends(self.real, self.synthetic)
        return "are not all declared" if self.outside else ""

    def _ends(self, real: Moments, synthetic: Moments) -> str:
        assert isinstance(self.declared, BinnedColumn)
        words = []
        for verb, end, ours, made in (
            ("start at", "minimum", real.least, synthetic.least),
            ("go up to", "maximum", real.most, synthetic.most),
        ):
            beyond = made != ours and (end == "minimum") == ((made or 0.0) < (ours or 0.0))
            if ours is not None and made is not None and beyond:
                texts = [number_text(self.declared, value) for value in (made, ours)]
                words.append(f"{verb} {texts[0]}, where the real {end} is {texts[1]}")
        return " and ".join(words)

    @property
    def sentence(self) -> str:
        """Say what the schema did to the real cells; empty where it kept them all."""
        whole = max(self.cells, 1)
        parts = [
            f"{_share(count / whole)} {words}"
            for count, words in (
                (self.clipped, "clipped at the bounds"),
                (self.undeclared, "not a listed value"),
                (self.unreadable, "unreadable"),
                (self.dropped, "of rows dropped by it"),
            )
            if count
        ]
        return ", ".join(parts)

    def document(self) -> dict[str, Any]:
        """Return the column for JSON."""
        return {
            "column": self.column,
            "cells": self.cells,
            "missing": self.missing,
            "clipped": self.clipped,
            "undeclared": self.undeclared,
            "unreadable": self.unreadable,
            "dropped": self.dropped,
            "changed": self.changed,
            "distance": self.distance,
            "within_bins": self.within_bins,
            "real": None if self.real is None else self.real.document(),
            "synthetic": None if self.synthetic is None else self.synthetic.document(),
            "tails": None if self.tails is None else list(self.tails),
            "values": None if self.values is None else list(self.values),
            "rare": None if self.rare is None else list(self.rare),
            "lost": [{"value": value, "share": share} for value, share in self.lost],
            "outside": self.outside,
            "beyond": self.beyond,
        }

    def __repr__(self) -> str:
        return f"RawColumn({self.column}; numbers private)"


def _share(part: float) -> str:
    digits = f"{100 * part:.1f}" if part >= 0.001 else f"{100 * part:.1g}"
    return f"{digits} %"


def raw_columns(
    real: Rows | Table,
    synthetic: Rows | Table,
    schema: Schema,
    *,
    file_format: FileFormat = DECLARED,
) -> tuple[RawColumn, ...]:
    """Every column of both tables as it is in the files; nothing of tables of codes.

    Privacy: exact, for the owner's eyes alone.
    """
    if isinstance(real, Table) or isinstance(synthetic, Table):
        return ()
    codec = Codec(schema)
    ours = raw_cells(blocks_of(real, codec, file_format), codec)
    theirs = raw_cells(blocks_of(synthetic, codec, DECLARED), codec)
    return tuple(_compared(name, cells, theirs[name]) for name, cells in ours.items())


def _compared(name: str, real: RawCells, synthetic: RawCells) -> RawColumn:
    common: dict[str, Any] = {
        "column": name,
        "declared": real.column,
        "cells": real.rows,
        "missing": real.missing,
        "clipped": real.clipped,
        "undeclared": real.undeclared,
        "unreadable": real.unreadable,
        "dropped": real.dropped,
        "changed": real.changed,
        "outside": synthetic.changed,
    }
    more = _listed(real, synthetic) if real.texts else _line(real, synthetic)
    return RawColumn(**common, **more)


def _listed(real: RawCells, synthetic: RawCells) -> dict[str, Any]:
    """Compare values without a line: distance, and those that are rare or lost."""
    seen, made = _shares(real), _shares(synthetic)
    strange = [count / max(_total(real), 1) for count in real.strange.values()]
    apart = sum(abs(seen.get(v, 0.0) - made.get(v, 0.0)) for v in seen.keys() | made.keys())
    lost = sorted((v for v in seen if v not in made), key=lambda v: (-seen[v], v))
    rare = [v for v, share in seen.items() if share < _RARE]
    hidden = sum(share for share in strange if share < _RARE)
    return {
        "distance": 0.5 * (apart + sum(strange)) if made else 1.0,
        "values": (len(seen) + len(strange), len(lost) + len(strange)),
        "rare": (sum(seen[v] for v in rare) + hidden, sum(made.get(v, 0.0) for v in rare)),
        "lost": tuple((v, seen[v]) for v in lost[:_SHOWN]),
    }


def _total(cells: RawCells) -> int:
    return cells.texts.total() + cells.strange.total()


def _shares(cells: RawCells) -> dict[str, float]:
    """The share of each listed value among all cells with a value."""
    whole = max(_total(cells), 1)
    return {value: count / whole for value, count in cells.texts.items() if count}


def _line(real: RawCells, synthetic: RawCells) -> dict[str, Any]:
    """Compare numbers and dates: distance, moments, quantiles and tails."""
    ours, theirs = real.numbers, synthetic.numbers
    found: dict[str, Any] = {
        "real": Moments.of(ours),
        "synthetic": Moments.of(theirs),
        "distance": kolmogorov(ours, theirs),
        "within_bins": _within_bins(real),
    }
    if ours.size and theirs.size:
        found["beyond"] = _beyond(ours, theirs)
        low, high = np.quantile(ours, (_TAIL, 1 - _TAIL))
        found["tails"] = (float((theirs < low).mean()), float((theirs > high).mean()))
    return found


def _beyond(real: Floats, synthetic: Floats) -> float:
    """The share of sorted synthetic numbers that are far beyond the real ones."""
    low, high = float(real[0]), float(real[-1])
    margin = _MARGIN * (high - low)
    return float(((synthetic < low - margin) | (synthetic > high + margin)).mean())


def kolmogorov(first: Floats, second: Floats) -> float | None:
    """The largest difference of the shares of sorted values up to a number; 1 if one is empty.

    Example:
        >>> kolmogorov(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
        0.5
    """
    if not first.size and not second.size:
        return None
    if not first.size or not second.size:
        return 1.0
    places = np.concatenate([first, second])
    shares = [np.searchsorted(v, places, side="right") / v.size for v in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())


def _within_bins(cells: RawCells) -> float | None:
    """The root mean squared distance from the middle of the bin, in standard deviations."""
    column, values = cells.column, cells.numbers
    if not isinstance(column, BinnedColumn) or not values.size or values.std() == 0:
        return None
    low, high = map(float, column.bounds)
    inside = values[(values >= low) & (values <= high)]
    edges = np.append(np.array(column.left_edges, np.float64), high + bool(column.whole))
    places = np.clip(np.searchsorted(edges, inside, side="right") - 1, 0, edges.size - 2)
    last = 1.0 if column.whole else 0.0
    middles = (edges[places] + edges[places + 1] - last) / 2
    return (
        finite(float(np.sqrt(((inside - middles) ** 2).mean()) / values.std()))
        if inside.size
        else None
    )


def number_text(column: BinnedColumn, value: float | None) -> str:
    """A number or date of a column as people write it."""
    if value is None:
        return "–"
    if column.whole:
        return spelled(column, round(value))
    return f"{value:.6g}"
