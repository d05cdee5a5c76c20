"""Ways to draw rows that fit conditions, block after block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from understudy.errors import UsageError
from understudy.infer import Evidence, conditioned
from understudy.model import Model, Records
from understudy.sample.weighting import Proposal, fit_of
from understudy.table import Codes

Sampler = Callable[[Model, int, np.random.Generator], dict[str, Codes]]

# Weighted rows that stand behind each row, and behind a few.
_DRAWS_PER_ROW, _LEAST_DRAWS = 8, 1 << 16
_LARGEST_POOL = 1 << 18
# Rows of a generator that are made for those that fit, before the search is given up.
_LEAST_MADE, _MADE_PER_ROW = 1 << 20, 1000


class Way(Protocol):
    """One way to draw: rows as codes, and what it knows of the evidence."""

    @property
    def chance(self) -> float | None:
        """The probability of the evidence; None while nothing is known of it."""

    def take(self, rows: int, generator: np.random.Generator) -> dict[str, Codes]:
        """The next rows."""


@dataclass(frozen=True, eq=False)
class Exact:
    """Rows of a network that was conditioned."""

    model: Model
    sampler: Sampler
    chance: float

    @classmethod
    def of(cls, model: Model, evidence: Evidence, sampler: Sampler) -> Exact:
        """The model conditioned; refused where it is too dense, or constraints shape its rows."""
        model.require_unconstrained("draw by rejection instead")
        conditionals, chance = conditioned(model.conditionals, evidence, model.domain)
        return cls(replace(model, conditionals=conditionals), sampler, chance)

    def take(self, rows: int, generator: np.random.Generator) -> dict[str, Codes]:
        """The next rows."""
        return self.sampler(self.model, rows, generator)


class Weighting:
    """Rows drawn towards the evidence, many more than wanted, and resampled by their weights.

    Attributes:
        effective: how many independent rows those behind all that were taken are worth.
    """

    def __init__(self, proposal: Proposal) -> None:
        self._proposal = proposal
        self._weight = 0.0
        self._drawn = 0
        self.effective = 0.0

    @property
    def chance(self) -> float | None:
        """The probability of the evidence, estimated."""
        return self._weight / self._drawn if self._drawn else None

    def take(self, rows: int, generator: np.random.Generator) -> dict[str, Codes]:
        """The next rows."""
        most = _LARGEST_POOL // _DRAWS_PER_ROW
        parts = [min(most, rows - start) for start in range(0, max(rows, 1), most)]
        found = [self._pool(part, generator) for part in parts]
        return {a: np.concatenate([codes[a] for codes in found]) for a in found[0]}

    def _pool(self, rows: int, generator: np.random.Generator) -> dict[str, Codes]:
        pool = self._proposal.draw(max(rows * _DRAWS_PER_ROW, _LEAST_DRAWS), generator)
        if pool.chance == 0:
            raise UsageError(
                f"none of {pool.weights.size:,} rows fits the conditions; loosen one of them"
            )
        self._weight += float(pool.weights.sum())
        self._drawn += pool.weights.size
        self.effective += pool.effective
        return pool.resampled(rows, generator)


class Filter:
    """Released rows that fit, in their order; there are no others."""

    def __init__(self, records: Records, evidence: Evidence) -> None:
        self._records = records
        self._evidence = evidence
        self._kept: Records = {}
        self._taken = 0
        self.chance: float | None = None

    def find(self, asked: int | None, generator: np.random.Generator) -> int:
        """Find the rows that fit; of those in a bin that is cut, each with the part that fits.

        Returns:
            How many to take: as many as asked for, or all of them.
        """
        chances = fit_of(self._records, self._evidence)
        fits = generator.random(chances.size) < chances
        self._kept = {attribute: codes[fits] for attribute, codes in self._records.items()}
        kept, self._taken = int(fits.sum()), 0
        self.chance = kept / max(fits.size, 1)
        wanted = max(kept, 1) if asked is None else asked
        if wanted > kept:
            raise UsageError(
                f"{kept:,} of {fits.size:,} released rows fit the conditions, and {wanted:,} are "
                "asked for; there are no others: loosen a condition, or ask for fewer"
            )
        return wanted

    def take(self, rows: int, generator: np.random.Generator) -> dict[str, Codes]:
        """The next rows."""
        del generator  # the rows were found before
        start, self._taken = self._taken, self._taken + rows
        return {a: codes[start : self._taken] for a, codes in self._kept.items()}


class Sieve:
    """Rows of a generator that fit, found by making many; it cannot be told what to make."""

    def __init__(self, model: Model, evidence: Evidence) -> None:
        self._model = model
        self._evidence = evidence
        self._made = 0
        self._fitted = 0.0

    @property
    def chance(self) -> float | None:
        """The probability of the evidence, estimated."""
        return self._fitted / self._made if self._made else None

    def take(self, rows: int, generator: np.random.Generator) -> dict[str, Codes]:
        """The next rows.

        Raises:
            UsageError: when too few are found among all that may be made.
        """
        found = [self._kept(0, generator)]
        left, most = rows, self._made + _LEAST_MADE + rows * _MADE_PER_ROW
        while left > 0:
            if self._made >= most:
                raise UsageError(
                    f"{rows - left:,} of {self._made:,} rows made fit the conditions, and "
                    f"{rows:,} are asked for; loosen a condition, or ask for fewer"
                )
            found.append(self._kept(min(max(2 * left, 1024), _LARGEST_POOL), generator))
            left -= len(next(iter(found[-1].values())))
        return {a: np.concatenate([part[a] for part in found])[:rows] for a in found[0]}

    def _kept(self, rows: int, generator: np.random.Generator) -> dict[str, Codes]:
        assert self._model.generator is not None
        codes = self._model.generator.draw(rows, generator, self._model.domain)
        chances = fit_of(codes, self._evidence)
        self._made, self._fitted = self._made + rows, self._fitted + float(chances.sum())
        fits = generator.random(rows) < chances
        return {attribute: held[fits] for attribute, held in codes.items()}
