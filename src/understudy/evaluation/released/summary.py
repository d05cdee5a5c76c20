"""A summary of an evaluation that may leave: a few distances, under differential privacy.

The synthetic rows are fixed and public, the real ones are private. Distances are taken in rows,
½ Σ |C − n·q| with the real counts C, their sum n and the synthetic shares q: one row moves such a
distance, and a mean of them, by less than one. All arithmetic is in whole numbers; the proof is
docs/proofs/released_summary.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from understudy.errors import DataError, UsageError
from understudy.evaluation.marginals.variation import WAYS
from understudy.facts.capacity import in_batches
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.facts.workload import workload
from understudy.privacy.budget import Amount, Budget
from understudy.privacy.curator import Instruments, Measurement
from understudy.privacy.mechanisms.additive import (
    Additive,
    DiscreteGaussian,
    DiscreteLaplace,
    FineGaussian,
    additive,
)
from understudy.privacy.run import PaidRun
from understudy.privacy.spending.pricing import Adaptive
from understudy.privacy.spending.record import DEFAULT, LedgerChoice
from understudy.privacy.statements.statement import Statement, inherited
from understudy.rows.counting import Counts, CountSource
from understudy.system.arrays import Integers, Numbers

METHOD = "evaluate"
# A distance of one row is so many steps: rounding is then nothing beside the noise.
STEPS = 2**16
# Of the columns together and of every other question.
_COLUMNS_WEIGHT, _WEIGHT = 6, 1
# Larger tables are left out of the workload: which ones is public.
_MOST_CELLS = 1 << 22
_MEMORY = 1 << 28
_MOST_ROWS = 2**29
# Either of two noises is beyond its reach with half of this chance.
_DOUBT = 0.05


@dataclass(frozen=True)
class NoisyNumber:
    """A noisy number, and an interval that holds the exact one 95 times of 100."""

    value: float
    low: float
    high: float

    def document(self) -> dict[str, float]:
        """Return the number for JSON."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Distances that may leave.

    Attributes:
        rows: of the real table that fit the schema.
        means: of the distances of marginals, by how many columns they have.
        sets: how many marginals each mean is over.
        columns: the distance of every column.
    """

    rows: NoisyNumber
    means: Mapping[int, NoisyNumber]
    sets: Mapping[int, int]
    columns: Mapping[str, NoisyNumber]
    statement: Statement


@dataclass(frozen=True)
class Summarizer:
    """The budget of a summary, and for whom its promise holds.

    Args:
        schema: what both tables hold; public.
        epsilon: what all answers together may cost.
        delta: the chance allowed for a larger loss.
        unit: whom the promise protects.
        person_id: the column that names persons, where they are the unit.
    """

    schema: Schema
    epsilon: Amount
    delta: Amount = 0
    unit: Unit = field(default_factory=lambda: Unit(Neighbours.ADD_REMOVE))
    person_id: str | None = None
    instruments: Instruments = field(default_factory=Instruments)

    def __post_init__(self) -> None:
        self.schema.check_reviewed()
        if self.budget.amount == 0:
            raise UsageError("epsilon is 0; nothing can be released for free, give more")
        if self.schema.inference is not None:
            inherited(self.schema.inference, self.unit, self.person_id)

    @property
    def budget(self) -> Budget:
        """Return the cost of a run."""
        return Budget.approximate(self.epsilon, self.delta)

    def run(
        self,
        real: CountSource,
        synthetic: CountSource,
        *,
        dataset: str | None = None,
        ledger: LedgerChoice = DEFAULT,
    ) -> Summary:
        """Distances between private rows and public ones.

        Args:
            real: the private rows, opened for the unit of the promise.
            synthetic: rows that may leave themselves.
            dataset: the name of the private rows in the ledger.
            ledger: where the spending is kept: the user's own ledger unless given. None keeps no
                record, and the statement says so.

        Privacy: every answer is charged before it is drawn. The promise is for the real rows given
        the synthetic ones; where these were made from the same rows, their own promise adds up.
        """
        if real.rows_per_person != self.unit.rows_per_person:
            raise UsageError(f"the promise is for a {self.unit.label}; open the rows for the same")
        books = self._run.books(ledger, dataset)
        work = SummaryWorkload.of(Domain.of(self.schema), synthetic)
        # Noise that would be too wide is refused here, before a ledger hears of it.
        asked = list(self._asked(work, Adaptive().counted(self.budget)))
        with self._run.granted(books) as run:
            answers = run.curator_over(real).release_all(asked, work.exact)
        return _summary(work, asked, answers, run.statement())

    def _asked(self, work: SummaryWorkload, budget: Budget) -> Iterator[_SummaryMeasurement]:
        """The number of rows, a mean for every kind of marginal, and the columns one by one."""
        step, columns = Fraction(STEPS * self.unit.rows), len(work.domain)
        weights = [_WEIGHT] * (1 + len(work.sets)) + [_COLUMNS_WEIGHT]
        first, *means, last = budget.split(weights)
        rows = Fraction(self.unit.rows)
        yield _SummaryMeasurement("number of rows", additive(first, l1=rows, l2_squared=rows**2))
        for ways, share in zip(work.sets, means, strict=True):
            name = f"mean distance of {len(work.sets[ways])} {ways}-way marginals"
            yield _SummaryMeasurement(name, additive(share, l1=step, l2_squared=step**2))
        together = additive(last, l1=step * columns, l2_squared=step**2 * columns)
        yield _SummaryMeasurement(f"distances of {columns} columns", together)

    @property
    def _run(self) -> PaidRun:
        """Return the budget of a run, its unit, and how it draws noise."""
        return PaidRun(
            method=METHOD,
            budget=self.budget,
            unit=self.unit,
            schema=self.schema,
            inference=self.schema.inference,
            person_id=self.person_id,
            instruments=self.instruments,
        )


@dataclass(frozen=True)
class _SummaryMeasurement(Measurement[Integers, Numbers]):
    mechanism: Additive


@dataclass(frozen=True, repr=False, eq=False)
class SummaryWorkload:
    """The marginals that are compared, and the synthetic counts of each.

    Attributes:
        sets: by how many columns they have.
        rows: of the synthetic table, those that fit the schema.
    """

    domain: Domain
    sets: Mapping[int, Sequence[Attributes]]
    counts: Mapping[Attributes, Counts]
    rows: int

    @classmethod
    def of(cls, domain: Domain, synthetic: CountSource) -> SummaryWorkload:
        """The fixed workload of a domain, as far as tables are small enough, counted in public."""
        sets = {ways: _small(domain, ways) for ways in WAYS}
        sets = {ways: found for ways, found in sets.items() if found}
        counts = dict(_counted(domain, synthetic, [s for part in sets.values() for s in part]))
        rows = int(synthetic.count([()])[0].counts.sum())
        if not 0 < rows < _MOST_ROWS:
            raise DataError(
                f"the synthetic data has {rows:,} rows that fit the schema; give one at least, "
                f"and fewer than {_MOST_ROWS:,}"
            )
        return cls(domain, sets, counts, rows)

    def exact(self, source: CountSource) -> list[Integers]:
        """The exact answers, in the order in which they are asked. Private."""
        everything = [attributes for part in self.sets.values() for attributes in part]
        rows = int(source.count([()])[0].counts.sum())
        apart = {
            attributes: self._apart(attributes, counts, rows)
            for attributes, counts in _counted(self.domain, source, everything)
        }
        means = [
            in_steps(sum(apart[attributes] for attributes in part), self.rows * len(part))
            for part in self.sets.values()
        ]
        columns = [in_steps(apart[(name,)], self.rows) for name in self.domain]
        return [np.array(answer, np.int64) for answer in ([rows], *([m] for m in means), columns)]

    def _apart(self, attributes: Attributes, real: Counts, rows: int) -> int:
        """Σ |m·C − n·S|, which is 2m times the distance in rows."""
        # m < 2²⁹ and n < 2³³ keep every product and the sum below 2⁶³.
        return int(np.abs(self.rows * real - rows * self.counts[attributes]).sum())

    def __repr__(self) -> str:
        return f"SummaryWorkload({', '.join(self.domain)})"


def in_steps(apart: int, scale: int) -> int:
    """Half of apart / scale, in steps, rounded; one row more or less moves it by STEPS at most.

    ⌊x + ½⌋ grows with x and moves with whole numbers, so numbers that are k apart, k whole, are
    rounded to numbers that are at most k apart.
    """
    return (STEPS * apart + scale) // (2 * scale)


def _small(domain: Domain, ways: int) -> list[Attributes]:
    return [s for s in workload(domain, ways) if ways == 1 or domain.cells(s) <= _MOST_CELLS]


def _counted(
    domain: Domain, source: CountSource, sets: Sequence[Attributes]
) -> Iterator[tuple[Attributes, Counts]]:
    for batch in in_batches(domain, sets, memory=_MEMORY):
        for attributes, marginal in zip(batch, source.count(batch), strict=True):
            yield attributes, marginal.counts


def _summary(
    work: SummaryWorkload,
    asked: Sequence[_SummaryMeasurement],
    answers: Sequence[Numbers],
    statement: Statement,
) -> Summary:
    """Noisy rows and distances as shares; post-processing."""
    rows = _Noisy(int(answers[0][0]), _reach(asked[0].mechanism), 1)
    means = {
        ways: _Noisy(int(answer[0]), _reach(question.mechanism), STEPS).over(rows)
        for ways, question, answer in zip(work.sets, asked[1:], answers[1:-1], strict=False)
    }
    reach = _reach(asked[-1].mechanism)
    columns = {
        name: _Noisy(int(steps), reach, STEPS).over(rows)
        for name, steps in zip(work.domain, answers[-1], strict=True)
    }
    sets = {ways: len(part) for ways, part in work.sets.items()}
    return Summary(rows=rows.alone, means=means, sets=sets, columns=columns, statement=statement)


@dataclass(frozen=True)
class _Noisy:
    """A released whole number, and how far its noise reaches but for a small chance."""

    number: int
    reach: float
    per_row: int

    @property
    def low(self) -> float:
        return max(self.number - self.reach, 0.0) / self.per_row

    @property
    def high(self) -> float:
        return max(self.number + self.reach, 0.0) / self.per_row

    @property
    def value(self) -> float:
        return max(self.number, 0) / self.per_row

    @property
    def alone(self) -> NoisyNumber:
        return NoisyNumber(self.value, self.low, self.high)

    def over(self, rows: _Noisy) -> NoisyNumber:
        """The share that this is of all rows, between 0 and 1; there is one row at the least."""
        return NoisyNumber(
            min(self.value / max(rows.value, 1.0), 1.0),
            min(self.low / max(rows.high, 1.0), 1.0),
            min(self.high / max(rows.low, 1.0), 1.0),
        )


def _reach(mechanism: Additive) -> float:
    """Return the bound that noise exceeds with half of the error probability."""
    match mechanism:
        case DiscreteLaplace():
            # P(|Z| > t) = q^t · 2q/(1 + q) ≤ q^t for whole t, with q = exp(−1/scale).
            return math.ceil(float(mechanism.scale) * math.log(2 / _DOUBT))
        case DiscreteGaussian() | FineGaussian():
            sigma = math.sqrt(mechanism.sigma_squared)
            return math.ceil(sigma * NormalDist().inv_cdf(1 - _DOUBT / 4))
        case _:
            return 0.0
