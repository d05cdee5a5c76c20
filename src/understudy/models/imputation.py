"""Missing cells of coded rows, filled from a released model. All of it is post-processing.

A missing cell has a level, which is measured with the others and paid for. Where a column says
`missing_as = "mean"`, `"median"` or `"model"`, the cells of that level are filled when rows are
made: by a number of the released distribution, or by a draw from it given the row's other cells.
Each filled cell is a function of its row, of released numbers and of the sampling seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.facts.codes import Mask
from understudy.facts.column import BinnedColumn, CategoricalColumn, LearnedColumn, Ordinate
from understudy.facts.constraints.masks import flags
from understudy.models.distribution import CodedRows, Distribution
from understudy.system.arrays import Floats, Probabilities

if TYPE_CHECKING:
    from understudy.models.model import Model

# The rows that stand for a law without probabilities; always the same ones.
_POOL_ROWS, _SEED = 20_000, 28
# Rows are compared with the pool this many at a time.
_TOGETHER = 512
# A row with several gaps is drawn again so often, one cell given all others (Gibbs sampling).
_SWEEPS = 10

Gaps = Mapping[str, Mask]


@dataclass(frozen=True)
class Imputation:
    """How a model fills the missing cells of its rows.

    Attributes:
        model: the released model.
    """

    model: Model

    @property
    def treatments(self) -> dict[str, str]:
        """The treatment of each column whose missing cells are filled or whose rows go."""
        columns = self.model.schema.learned.items()
        return {name: c.missing_as for name, c in columns if c.missing_as != "level"}

    @cached_property
    def fills(self) -> dict[str, Ordinate]:
        """For each column filled by its mean or median, the number or the code."""
        columns = self.model.schema.learned.items()
        wanted = {n: c for n, c in columns if c.missing_as in ("mean", "median")}
        return {name: _centre(column, self._shares(name)) for name, column in wanted.items()}

    def _shares(self, name: str) -> Probabilities:
        """The released distribution of a column's values, the missing level left out."""
        column = self.model.schema.learned[name]
        shares = one_way(self.model.law, name)[: column.levels]
        return shares if shares.sum() > 0 else np.ones(column.levels)

    def filled(self, codes: CodedRows, generator: np.random.Generator) -> CodedRows:
        """Return rows whose missing cells are filled where their columns ask for a model."""
        columns = self.model.schema.learned.items()
        asking = {n: c.missing_code for n, c in columns if c.missing_as == "model"}
        gaps = {name: codes[name] == code for name, code in asking.items()}
        return fill(self.model, codes, gaps, generator)


def one_way(law: Distribution, name: str) -> Probabilities:
    """Return the distribution of one attribute: exact where the law has it, else of its rows."""
    try:
        return law.project((name,))
    except UsageError:
        codes = _pool_of(law)[name]
        counts = np.bincount(codes, minlength=law.domain[name]).astype(np.float64)
        return np.asarray(counts / max(counts.sum(), 1.0))


def _pool_of(law: Distribution) -> CodedRows:
    return law.stand_ins(_POOL_ROWS, np.random.default_rng(_SEED))


def _centre(column: LearnedColumn, shares: Probabilities) -> Ordinate:
    """The mean or the median of a column: an ordinate, or the code of an ordered category."""
    shares = shares / shares.sum()
    if isinstance(column, CategoricalColumn):
        return int(np.searchsorted(shares.cumsum(), 0.5))
    if not isinstance(column, BinnedColumn):
        raise UsageError(f"a column of kind {column.kind} has no {column.missing_as}")
    ends = np.array(column.bin_ends, np.float64)
    if column.missing_as == "mean":
        return _written(column, float(shares @ ends.mean(axis=1)))
    reached = shares.cumsum()
    place = min(int(np.searchsorted(reached, 0.5)), shares.size - 1)
    part = (0.5 - (reached[place] - shares[place])) / max(shares[place], 1e-300)
    low, high = ends[place]
    return _written(column, low + min(max(part, 0.0), 1.0) * (high - low))


def _written(column: BinnedColumn, place: float) -> Ordinate:
    """The value nearest to a place that the column writes, within its bounds."""
    low, high = column.bounds
    if column.steps is not None:
        number = column.steps.last_to(place + 0.5 * column.steps.stride / column.steps.scale)
        place = column.steps.value(number)
    place = min(max(place, float(low)), float(high))
    return round(place) if column.whole else place


# --- a draw given the other cells ---------------------------------------------------------------


def fill(model: Model, codes: CodedRows, gaps: Gaps, generator: np.random.Generator) -> CodedRows:
    """Return rows whose gaps are filled by draws of the model given the cells that are there.

    A row with one gap is drawn exactly where the model has probabilities. With several, cells are
    drawn in turn, ten times over. A model of rows alone lends the cell of a released row that
    agrees in most columns.

    Args:
        model: the released model.
        codes: of all attributes; those of gaps do not matter.
        gaps: for some attributes, which cells are to be filled.
        generator: what the draws are made from.

    Privacy: post-processing of the model, for rows that are synthetic or public.
    """
    asked = {name: mask for name, mask in gaps.items() if mask.any()}
    if not asked:
        return codes
    touched = np.logical_or.reduce([*asked.values()])
    rows = {name: column[touched] for name, column in codes.items()}
    holes = {name: mask[touched] for name, mask in asked.items()}
    rows = _begun(model, rows, holes, generator)
    several = bool((np.sum([*holes.values()], axis=0) > 1).any())
    for _ in range(_SWEEPS if several else 1):
        for name, hole in holes.items():
            rows[name] = rows[name].copy()
            rows[name][hole] = _drawn(model, rows, name, hole, generator=generator)
    found = dict(codes)
    for name in asked:
        found[name] = codes[name].copy()
        found[name][touched] = rows[name]
    return found


def _begun(model: Model, rows: CodedRows, holes: Gaps, generator: np.random.Generator) -> CodedRows:
    """Rows whose gaps hold draws of single columns, to begin with."""
    begun = dict(rows)
    for name, hole in holes.items():
        levels = model.schema.learned[name].levels
        shares = one_way(model.law, name)[:levels] + 1e-12
        drawn = generator.choice(levels, int(hole.sum()), p=shares / shares.sum())
        begun[name] = rows[name].copy()
        begun[name][hole] = drawn
    return begun


def _drawn(
    model: Model, rows: CodedRows, name: str, hole: Mask, *, generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """New codes for the gaps of one attribute, given all other cells of their rows."""
    held = {other: column[hole] for other, column in rows.items()}
    levels = model.schema.learned[name].levels
    weights = _weights(model, held, name, levels)
    if weights is None:
        return _lent(model, held, name, levels, generator=generator)
    reached = weights.cumsum(axis=1)
    draws = generator.random(len(reached))[:, None] * reached[:, -1:]
    return np.asarray(np.minimum((reached <= draws).sum(axis=1), levels - 1), np.int64)


def _weights(model: Model, held: CodedRows, name: str, levels: int) -> Floats | None:
    """How likely each value makes each row, up to a factor for the row; None without a law."""
    rows = len(held[name])
    logarithms = np.empty((rows, levels))
    for code in range(levels):
        trial = held | {name: np.full_like(held[name], code)}
        chances = model.distribution.log_chances(trial)
        if chances is None:
            return None
        logarithms[:, code] = np.where(_obeys(model, trial), chances, -np.inf)
    largest = logarithms.max(axis=1, keepdims=True)
    weights = np.exp(logarithms - np.where(np.isfinite(largest), largest, 0.0))
    impossible = weights.sum(axis=1) == 0
    if impossible.any():
        # A row that is impossible whatever the cell holds says nothing about it.
        weights[impossible] = one_way(model.law, name)[:levels] + 1e-12
    return weights


def _obeys(model: Model, codes: CodedRows) -> Mask:
    """Which rows obey the schema's constraints."""
    rows = len(next(iter(codes.values())))
    broken = np.zeros(rows, bool)
    for nogood in model.completions.nogoods:
        met = np.ones(rows, bool)
        for attribute, held in nogood:
            met &= flags(held, model.domain[attribute])[codes[attribute]]
        broken |= met
    return ~broken


def _lent(
    model: Model, held: CodedRows, name: str, levels: int, *, generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """The codes of released rows that agree with each row in most other columns."""
    pool = _pool_of(model.law)
    given = pool[name] < levels
    donors = {other: column[given] for other, column in pool.items()}
    rows, count = len(held[name]), int(given.sum())
    if not count:
        return generator.integers(0, levels, rows)
    found = np.empty(rows, np.int64)
    for start in range(0, rows, _TOGETHER):
        part = slice(start, start + _TOGETHER)
        # Less than one agreement: among equally good donors the choice is by chance.
        score = generator.random((len(held[name][part]), count))
        for other in held:
            if other != name:
                score += held[other][part][:, None] == donors[other][None, :]
        found[part] = donors[name][score.argmax(axis=1)]
    return found
