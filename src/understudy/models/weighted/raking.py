"""Raking: weights of a pool are brought near to tables, as near as the tables can be trusted.

The weights that are sought are the most probable ones. A table was measured with noise of a known
variance; how far reality may stray from the network that the pool was drawn from is bounded in two
ways: by a multiple of Poisson variance, which the table itself shows (`spread`), and by a prior of
log ratios, so that hardly seen combinations of codes do not take over. For the cell of a table
with mass a, of which y was measured with variance v, the new log factor x solves

    A·(A − y)/v + (A/κ + 1/τ²)·x = 0,   A = a·exp(x − x before),

by damped Gauss-Newton steps; then all rows of the cell are multiplied by exp(x − x before). Sweeps
over all tables repeat that. Without noise (v → 0) this is iterative proportional fitting (Deming,
Stephan 1940); weights that are brought to known totals are called calibrated in surveys (Deville,
Särndal 1992).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.facts.domain import Attributes
from understudy.models.weighted.pool import (
    Pool,
    RowCells,
    add_values,
    add_weights,
    multiply_and_add,
    multiply_weights,
)
from understudy.system.arrays import Floats
from understudy.system.jit import kernel_after

# Log ratios of a row, over all tables together, are improbable beyond this; of single attributes
# every ratio is possible.
_TAU, _TAU_ALONE = 2.5, 20.0
# No row weighs more than so many others: a few rows would stand for all otherwise.
_HEAVIEST = 20.0
# No table is trusted less than this, whatever it shows.
_LEAST_SPREAD, _LEAST_SPREAD_ALONE = 0.5, 50.0
# A pool that is worth less than this part of its rows has been moved to too few of them. Tables of
# several attributes are then doubted, this many times more in each attempt, until it is worth half
# of that; or twice that where factors are kept, which have to hold for other rows too.
_COLLAPSED, _WORTH_DRAWN, _WORTH_KEPT = 0.1, 0.05, 0.2
_MORE_DOUBT, _ATTEMPTS, _MORE_SWEEPS = 4.0, 6, 2
# Places of all tables are kept while they fit, and found again in every sweep where they do not.
_MOST_KEPT = 2**28


@dataclass(frozen=True, eq=False)
class Aim:
    """A table that weights are to come near to, and what the weights owe to it so far.

    Attributes:
        attributes: of the table.
        counts: as they were measured, an axis for each attribute.
        variance: of the noise of every cell.
        spread: how far counts may stray from the network's, in units of Poisson variance; None
            until a pool of the network has shown it.
        logarithms: the logarithm of the factor of every cell.
    """

    attributes: Attributes
    counts: Floats
    variance: float
    spread: float | None
    logarithms: Floats

    @classmethod
    def of(
        cls, attributes: Attributes, counts: Floats, variance: float, *, spread: float | None = None
    ) -> Aim:
        """Return an aim that weights owe nothing to yet."""
        return cls(attributes, counts, variance, spread=spread, logarithms=np.zeros(counts.shape))


def spread_out(
    pool: Pool, aims: Sequence[Aim], *, sweeps: int, doubt: float = 0.0
) -> tuple[Pool, list[Aim]]:
    """Bring the weights of a pool near to tables, as far as its rows can stand for them.

    Many tables together may ask of every row to be rare in some of them. Nearly all weight then
    moves to a few rows, whose accidents are larger than what the tables put right. Where that
    happens, tables of several attributes are trusted less; those of one never are.

    Args:
        pool: as for `raked`.
        aims: as for `raked`.
        sweeps: as for `raked`.
        doubt: as for `raked`.

    Returns:
        As `raked`; exactly the same where no weights have collapsed.
    """
    found = raked(pool, aims, sweeps=sweeps, doubt=doubt)
    if found[0].effective >= _COLLAPSED * len(pool):
        return found
    worth = _WORTH_KEPT if doubt else _WORTH_DRAWN
    wanted = min(worth * len(pool), pool.effective)
    # Single attributes come last, so that their tables are met exactly.
    order = sorted(range(len(aims)), key=lambda number: -len(aims[number].attributes))
    for attempt in range(1, _ATTEMPTS + 1):
        several = max(doubt, 1.0) * _MORE_DOUBT**attempt
        weighted, others = raked(
            pool,
            [aims[n] for n in order],
            sweeps=_MORE_SWEEPS * sweeps,
            doubt=doubt,
            several=several,
        )
        if weighted.effective >= wanted:
            break
    return weighted, [others[order.index(number)] for number in range(len(aims))]


def raked(
    pool: Pool,
    aims: Sequence[Aim],
    *,
    sweeps: int,
    doubt: float = 0.0,
    several: float | None = None,
    loose: bool = False,
    kept: Sequence[RowCells] | None = None,
) -> tuple[Pool, list[Aim]]:
    """Bring the weights of a pool near to tables.

    Args:
        pool: whose weights begin as products of the factors that the aims have.
        aims: the tables.
        sweeps: how often all tables are gone through.
        doubt: how much of the pool's own sampling variance is added to the noise of a table. With
            1 the factors do not follow what is accidental in this pool; with 0 its weights come as
            near to the tables as they can.
        several: the doubt about tables of several attributes, where it is another.
        loose: whether every log ratio is possible, as where a pool holds every combination.
        kept: what `kept_places` found for these aims, where the same ones are met many times.

    Returns:
        The pool with other weights, of the same total, and the aims with other factors.
    """
    weights, total = pool.weights.copy(), pool.total
    found = [replace(aim, logarithms=aim.logarithms.ravel().copy()) for aim in aims]
    kept = kept_places(pool, aims) if kept is None else kept
    tau = _TAU_ALONE if loose else _TAU / math.sqrt(len(aims) or 1)
    chance = total / max(len(pool), 1)
    # A pool that holds every combination was not drawn; one of more rows than the table has varies
    # by less than the table itself.
    drawn = 0.0 if loose else max(chance - 1, 0.0)
    brought = [
        _Bringing(aim, tau, chances=(drawn, _doubt_about(aim, doubt, several) * chance))
        for aim in found
    ]
    for _ in range(sweeps):
        turn = _Turn(weights)
        for number, each in enumerate(brought):
            each.bring(kept[number] if kept else pool.places(each.aim.attributes), turn)
        turn.finish()
        weights *= total / weights.sum()
    shaped = [
        replace(each.aim, logarithms=each.aim.logarithms.reshape(each.aim.counts.shape))
        for each in brought
    ]
    return pool.with_weights(weights), shaped


def _doubt_about(aim: Aim, doubt: float, several: float | None) -> float:
    """Return the doubt about one table: about those of several attributes it may be another."""
    return doubt if several is None or len(aim.attributes) == 1 else several


def kept_places(pool: Pool, aims: Sequence[Aim]) -> list[RowCells]:
    """The cells of all rows in the table of every aim; none where they would take too much."""
    wide = sum(2 if aim.counts.size <= 2**16 else 4 for aim in aims)
    return [pool.places(aim.attributes) for aim in aims] if wide * len(pool) <= _MOST_KEPT else []


class _Turn:
    """Weights whose last factors are still to be multiplied: the next table does it in passing."""

    def __init__(self, weights: Floats) -> None:
        self._weights = weights
        self._waiting: tuple[RowCells, Floats] | None = None

    def masses(self, places: RowCells, found: Floats) -> Floats:
        """Sum the weights of every cell into an array, after all factors so far."""
        found.fill(0.0)
        if self._waiting is None:
            add_weights(places, self._weights, found)
        else:
            multiply_and_add(*self._waiting, places, self._weights, found)
            self._waiting = None
        return found

    def multiply(self, places: RowCells, factors: Floats) -> None:
        """Multiply weights by the factors of their cells, with the next pass."""
        self._waiting = places, factors

    def finish(self) -> None:
        """Multiply by the last factors."""
        if self._waiting is not None:
            places, factors = self._waiting
            multiply_weights(places, self._weights, factors)
            self._waiting = None


class _Bringing:
    """One table in all sweeps: what is the same in each of them is made once.

    Args:
        aim: the table; its spread is found in the first sweep where it has none.
        tau: of the prior of its log ratios.
        chances: of the pool's own variance, the part that a spread is free of, and the part that
            is added to the noise.
    """

    def __init__(self, aim: Aim, tau: float, *, chances: tuple[float, float]) -> None:
        self.aim = aim
        self._prior = tau if len(aim.attributes) > 1 else _TAU_ALONE
        self._drawn, self._sampling = chances
        self._counts = aim.counts.ravel()
        self._masses, self._factors = np.empty(aim.counts.size), np.empty(aim.counts.size)
        self._freedom = self._freedom_of(aim) if aim.spread is not None else None

    def bring(self, places: RowCells, turn: _Turn) -> None:
        """Find the factors of the table's cells, and multiply weights by them."""
        masses = turn.masses(places, self._masses)
        if self._freedom is None:
            self.aim = replace(self.aim, spread=_spread(self.aim, masses, self._drawn))
            self._freedom = self._freedom_of(self.aim)
        solve(masses, self._counts, self._freedom, self.aim.logarithms, self._factors)
        turn.multiply(places, self._factors)

    def _freedom_of(self, aim: Aim) -> Floats:
        return np.array([aim.variance, aim.spread, self._prior, self._sampling], np.float64)


def _spread(aim: Aim, masses: Floats, chance: float) -> float:
    """How far the counts are from the masses beyond noise, in units of Poisson variance.

    What is expected of the noise of the table, and of the chance by which a pool was drawn, is
    taken off. Single attributes are held to their counts, which would drift otherwise.
    """
    rows = max(float(masses.sum()), 1.0)
    expected = aim.variance * masses.size + chance * rows
    beyond = float(((aim.counts.ravel() - masses) ** 2).sum()) - expected
    least = _LEAST_SPREAD if len(aim.attributes) > 1 else _LEAST_SPREAD_ALONE
    return max(beyond / rows, least)


def solve_in_vectors(
    masses: Floats, counts: Floats, freedom: Floats, logarithms: Floats, factors: Floats
) -> None:
    """Find the same log factors, all cells step by step together."""
    variance, prior, sampling = freedom[0], 1.0 / (freedom[2] * freedom[2]), freedom[3]
    poisson, before = 1.0 / freedom[1], logarithms.copy()
    noise = 1.0 / np.maximum(variance + sampling * masses, 1e-9)
    left = np.arange(masses.size)
    for _ in range(25):
        x = logarithms[left]
        mass = masses[left] * _exponentials(x - before[left])
        count, exact = counts[left], noise[left]
        slope = mass * (mass - count) * exact + (mass * poisson + prior) * x
        bend = mass * np.maximum(mass, 0.5 * count) * exact + mass * poisson + prior
        step = np.minimum(np.maximum(slope / bend, -1.0), 1.0)
        logarithms[left] = x - step
        left = left[~(np.abs(step) < 1e-4)]
        if not left.size:
            break
    factors[:] = _exponentials(logarithms - before)


def _exponentials(numbers: Floats) -> Floats:
    """Exponentials as a compiled loop has them; those of NumPy differ in their last bits."""
    return np.array([math.exp(number) for number in numbers.tolist()])


@kernel_after(solve_in_vectors)
def solve(
    masses: Floats, counts: Floats, freedom: Floats, logarithms: Floats, factors: Floats
) -> None:
    """Find the log factors of all cells; the Hessian is taken as what it is at the least."""
    variance, prior, sampling = freedom[0], 1.0 / (freedom[2] * freedom[2]), freedom[3]
    poisson = 1.0 / freedom[1]
    for c in range(masses.size):
        before = logarithms[c]
        x = before
        noise = 1.0 / max(variance + sampling * masses[c], 1e-9)
        for _ in range(25):
            mass = masses[c] * math.exp(x - before)
            slope = mass * (mass - counts[c]) * noise + (mass * poisson + prior) * x
            bend = mass * max(mass, 0.5 * counts[c]) * noise + mass * poisson + prior
            step = min(max(slope / bend, -1.0), 1.0)
            x -= step
            if abs(step) < 1e-4:
                break
        logarithms[c] = x
        factors[c] = math.exp(x - before)


def weighed(pool: Pool, aims: Sequence[Aim]) -> Pool:
    """Multiply the weights of a pool by the factors of all aims; the total stays.

    Weights far above their mean are cut (truncated importance sampling, Ionides 2008).
    """
    logarithms = log_weights(pool, aims)
    weights = pool.weights * np.exp(logarithms - logarithms.max(initial=0.0))
    weights = np.minimum(weights, _HEAVIEST * weights.mean())
    return pool.with_weights(weights * (pool.total / max(float(weights.sum()), 1e-300)))


def log_weights(pool: Pool, aims: Sequence[Aim]) -> Floats:
    """For every row of a pool, the logarithm of the product of its factors."""
    logarithms = np.zeros(len(pool))
    for aim in aims:
        add_values(pool.places(aim.attributes), aim.logarithms.ravel(), logarithms)
    return logarithms
