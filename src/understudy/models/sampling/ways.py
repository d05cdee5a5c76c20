"""Ways to draw rows that fit conditions, block after block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import StrEnum

import numpy as np

from understudy.errors import UsageError
from understudy.models.distribution import CodedRows, Distribution
from understudy.models.inference import Evidence
from understudy.models.sampling.forward import Sequential
from understudy.models.sampling.weighting import Proposal, fit_of

Sampler = Callable[[Sequential, int, np.random.Generator], CodedRows]

# Weighted rows that stand behind each row, and behind a few.
_DRAWS_PER_ROW, _LEAST_DRAWS = 8, 1 << 16
_LARGEST_POOL = 1 << 18
# Rows of a generator that are made for those that fit, before the search is given up.
_LEAST_MADE, _MADE_PER_ROW = 1 << 20, 1000


class How(StrEnum):
    """The ways to draw rows that fit conditions."""

    EXACT = "exact"
    REJECTION = "rejection"
    WEIGHTING = "weighting"
    FILTER = "filter"


class Way(ABC):
    """One way to draw rows that fit evidence, and what it knows of the evidence.

    Attributes:
        how: which way it is.
        known: the exact probability of the evidence, where it could be computed.
        remark: why rows are not drawn exactly, where that was left open.
    """

    how: How
    known: float | None = None
    remark: str = ""

    @property
    @abstractmethod
    def chance(self) -> float | None:
        """The probability of the evidence by the rows drawn so far; None before any was."""

    @property
    def worth(self) -> float | None:
        """How many independent rows the weighted draws so far are worth; None of other ways."""
        return None

    def wanted(self, rows: int | None, usual: int, generator: np.random.Generator) -> int:
        """How many rows to take: those asked for, else the usual number, else all there are."""
        del generator
        return usual if rows is None else rows

    @abstractmethod
    def take(self, rows: int, generator: np.random.Generator) -> CodedRows:
        """Draw the next rows."""


class Conditioning(Way):
    """Rows of a distribution that was conditioned exactly."""

    how = How.EXACT

    def __init__(self, conditioned: Distribution, chance: float, sampler: Sampler) -> None:
        self._conditioned = conditioned
        self._sampler = sampler
        self.known = chance

    @property
    def chance(self) -> float | None:
        """Return the probability of the evidence."""
        return self.known

    def take(self, rows: int, generator: np.random.Generator) -> CodedRows:
        """Draw the next rows."""
        return self._conditioned.draw(rows, generator, sampler=self._sampler)


class Weighting(Way):
    """Rows drawn towards the evidence, many more than wanted, and resampled by their weights.

    Attributes:
        effective: how many independent rows those behind all that were taken are worth.
    """

    how = How.WEIGHTING

    def __init__(self, proposal: Proposal, known: float | None = None) -> None:
        self._proposal = proposal
        self._weight = 0.0
        self._drawn = 0
        self.known = known
        self.effective = 0.0

    @property
    def worth(self) -> float | None:
        """How many independent rows the weighted draws so far are worth."""
        return self.effective

    @property
    def chance(self) -> float | None:
        """Return the probability of the evidence, estimated."""
        return self._weight / self._drawn if self._drawn else None

    def take(self, rows: int, generator: np.random.Generator) -> CodedRows:
        """Return the next rows."""
        most = _LARGEST_POOL // _DRAWS_PER_ROW
        parts = [min(most, rows - start) for start in range(0, max(rows, 1), most)]
        found = [self._pool(part, generator) for part in parts]
        return {a: np.concatenate([codes[a] for codes in found]) for a in found[0]}

    def _pool(self, rows: int, generator: np.random.Generator) -> CodedRows:
        pool = self._proposal.draw(max(rows * _DRAWS_PER_ROW, _LEAST_DRAWS), generator)
        if pool.chance == 0:
            raise UsageError(
                f"none of {pool.weights.size:,} rows fits the conditions; loosen one of them"
            )
        self._weight += float(pool.weights.sum())
        self._drawn += pool.weights.size
        self.effective += pool.effective
        return pool.resampled(rows, generator)


class Filter(Way):
    """Released rows that fit, in their order; there are no others."""

    how = How.FILTER

    def __init__(self, records: CodedRows, evidence: Evidence) -> None:
        self._records = records
        self._evidence = evidence
        self._kept: CodedRows = {}
        self._taken = 0
        self._chance: float | None = None

    @property
    def chance(self) -> float | None:
        """The share of rows that fit."""
        return self._chance

    def wanted(self, rows: int | None, usual: int, generator: np.random.Generator) -> int:
        """Find the rows that fit; of those in a bin that is cut, each with the part that fits.

        Returns:
            How many to take: as many as asked for, or all of them.
        """
        del usual
        chances = fit_of(self._records, self._evidence)
        fits = generator.random(chances.size) < chances
        self._kept = {attribute: codes[fits] for attribute, codes in self._records.items()}
        kept, self._taken = int(fits.sum()), 0
        self._chance = kept / max(fits.size, 1)
        wanted = max(kept, 1) if rows is None else rows
        if wanted > kept:
            raise UsageError(
                f"{kept:,} of {fits.size:,} released rows fit the conditions, and {wanted:,} are "
                "asked for; there are no others: loosen a condition, or ask for fewer"
            )
        return wanted

    def take(self, rows: int, generator: np.random.Generator) -> CodedRows:
        """Return the next rows."""
        del generator  # the rows were found before
        start, self._taken = self._taken, self._taken + rows
        return {a: codes[start : self._taken] for a, codes in self._kept.items()}


class Sieve(Way):
    """Rows of a generator that fit, found by making many: it takes no conditions."""

    how = How.REJECTION

    def __init__(self, made_by: Distribution, evidence: Evidence) -> None:
        self._made_by = made_by
        self._evidence = evidence
        self._made = 0
        self._fitted = 0.0

    @property
    def chance(self) -> float | None:
        """Return the probability of the evidence, estimated."""
        return self._fitted / self._made if self._made else None

    def take(self, rows: int, generator: np.random.Generator) -> CodedRows:
        """Return the next rows.

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

    def _kept(self, rows: int, generator: np.random.Generator) -> CodedRows:
        codes = self._made_by.draw(rows, generator)
        chances = fit_of(codes, self._evidence)
        self._made, self._fitted = self._made + rows, self._fitted + float(chances.sum())
        fits = generator.random(rows) < chances
        return {attribute: held[fits] for attribute, held in codes.items()}
