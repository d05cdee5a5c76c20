"""Attribute disclosure about persons whose key is known: CAP and GCAP.

An attacker knows some columns of a person, the key, and looks for it in a table that they hold. Of
the rows with that key, CAP is the share that has the person's sensitive value; it is undefined
where no row has the key. GCAP then takes the rows that differ from the key in the fewest columns.

Columns are compared as the schema codes them: two numbers in one bin are the same.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.evaluation.metric import Goal, Metric
from understudy.rows.table import Table
from understudy.system.arrays import Integers, Probabilities

# Counts of sensitive values, a line for each key; scipy publishes no types.
Sparse = Any

# Sorting a number takes as long as comparing so many.
_SORTING = 100
# So many comparisons are made at a time.
_BLOCK = 1 << 22
_MOST_NUMBERS = 2**62

_GCAP = (
    "The mean chance of a real row's sensitive value among the rows whose key is nearest to its "
    "own."
)
_CAP = (
    "The mean chance of a real row's sensitive value among the rows of exactly its key, over real "
    "rows whose key is found at all."
)


def metrics(guess: float | None) -> dict[str, Metric]:
    """Describe GCAP and CAP; uninformative keys have the value of a guess."""
    useless = "that of the original table"
    return {
        name: Metric(
            name=name.upper(),
            about=about,
            goal=Goal.LESS,
            low=0.0,
            high=1.0,
            perfect=guess or 0.0,
            useless=useless,
        )
        for name, about in (("gcap", _GCAP), ("cap", _CAP))
    }


@dataclass(frozen=True)
class Attribution:
    """The disclosure by one key, on average over real rows.

    Attributes:
        gcap: the mean of GCAP; None where either table has no rows.
        cap: the mean of CAP over rows whose key is found; None where none is.
        matched: the share of rows whose key is found.
        vote: the share of rows whose value is the most frequent one among the nearest rows; of
            several that are as frequent one is tossed for.
        guess: GCAP of uninformative keys: the chance that a row of one table and a row
            of the other have the same value.

    Privacy: exact functions of real rows.
    """

    key: tuple[str, ...]
    gcap: float | None
    cap: float | None
    matched: float | None
    vote: float | None
    guess: float | None

    def document(self) -> dict[str, Any]:
        """Return the key's numbers for JSON."""
        return {
            "key": list(self.key),
            "gcap": self.gcap,
            "cap": self.cap,
            "matched": self.matched,
            "vote": self.vote,
            "guess": self.guess,
        }


@dataclass(frozen=True, repr=False, eq=False)
class Attributed:
    """The disclosure by one key about each real row.

    Attributes:
        chances: GCAP of each row; CAP as well where `distances` is 0.
        distances: ρ, in how many columns the nearest rows differ from the key.
        votes: the chance that the most frequent value among the nearest rows is the row's own.

    Privacy: a number for every real row; more private than any mean.
    """

    chances: Probabilities
    distances: Integers
    votes: Probabilities

    def __repr__(self) -> str:
        return "Attributed(private)"


def attribution(real: Table, other: Table, *, sensitive: str, key: Sequence[str]) -> Attribution:
    """Measure the disclosure about real rows by one key, on average.

    Privacy: exact functions of real rows.
    """
    each = attributed(real, other, sensitive=sensitive, key=key)
    found = each.distances == 0
    return Attribution(
        tuple(key),
        gcap=_mean(each.chances),
        cap=_mean(each.chances[found]),
        matched=_mean(found),
        vote=_mean(each.votes),
        guess=_guess(real, other, sensitive),
    )


def _mean(values: npt.NDArray[Any]) -> float | None:
    return float(values.mean()) if values.size else None


def _guess(real: Table, other: Table, sensitive: str) -> float | None:
    """Σ p(t)·q(t) over the sensitive values of either table."""
    if not real.rows or not other.rows:
        return None
    size = real.domain[sensitive]
    ours, theirs = (
        np.bincount(table.codes[sensitive], minlength=size) / table.rows for table in (real, other)
    )
    return float(ours @ theirs)


def attributed(real: Table, other: Table, *, sensitive: str, key: Sequence[str]) -> Attributed:
    """Measure the disclosure about each real row by one key; nothing where it has no rows.

    Source: SBA equation 1, GCAP_{S,j} = Σᵢ [T_{S,i} = T_{O,j} ∧ Δ(K_{S,i}, K_{O,j}) = ρ] /
    Σᵢ [Δ(K_{S,i}, K_{O,j}) = ρ] with Δ the Hamming distance and ρ the least there is.

    Privacy: exact functions of real rows.
    """
    if not real.rows or not other.rows:
        return Attributed(np.empty(0), np.empty(0, np.int64), np.empty(0))
    asked, person = _different(real, key)
    held, place = _different(other, key)
    counts = _tally(place, other.codes[sensitive], (len(held), real.domain[sensitive]))
    nearest, distances = _nearest(asked, held, counts)
    chances, votes = _shares(nearest, person, real.codes[sensitive].astype(np.int64))
    return Attributed(chances, distances[person], votes)


def _different(table: Table, key: Sequence[str]) -> tuple[Integers, Integers]:
    """The keys that occur, a line each, and for every row which of them it has."""
    codes = np.column_stack([table.codes[name].astype(np.int64) for name in key])
    _, first, place = np.unique(_numbers(codes), return_index=True, return_inverse=True)
    return codes[first], place


def _numbers(codes: Integers) -> Integers:
    """A number for each line, the same for equal lines and for no others."""
    numbers, span = np.zeros(len(codes), np.int64), 1
    for column in codes.T:
        size = int(column.max(initial=0)) + 1
        if span > _MOST_NUMBERS // size:
            different, numbers = np.unique(numbers, return_inverse=True)
            span = different.size
        numbers = numbers * size + column
        span *= size
    return numbers


def _tally(lines: Integers, columns: npt.NDArray[Any], shape: tuple[int, int]) -> Sparse:
    """How often each pair of a line and a column occurs."""
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(lines), np.int64), (lines, columns)), shape).tocsr()


def _nearest(asked: Integers, held: Integers, counts: Sparse) -> tuple[Sparse, Integers]:
    """Sensitive values among the held keys nearest to each key asked about, and how far they are.

    A held key at the least distance ρ agrees in exactly one set of all but ρ columns, and no key
    agrees in more. So the keys at distance ρ are found by looking up every such set, and none is
    counted twice. Where few keys are left to ask about, comparing them with all is quicker.
    """
    from scipy.sparse import vstack

    left, width = np.arange(len(asked)), asked.shape[1]
    found, order, distances = [], [], np.zeros(len(asked), np.int64)
    for distance in range(width + 1):
        looking_up = _SORTING * math.comb(width, distance) * (left.size + len(held))
        if left.size * len(held) * width < looking_up:
            near, distances[left] = _compared(asked[left], held, counts)
            is_near = np.ones(left.size, bool)
        else:
            sets = combinations(range(width), width - distance)
            near = sum(_looked_up(asked[left][:, s], held[:, s], counts) for s in map(list, sets))
            is_near = np.diff(near.indptr) > 0
            distances[left] = distance
        found.append(near[is_near])
        order.append(left[is_near])
        left = left[~is_near]
        if not left.size:
            break
    return vstack(found).tocsr()[np.argsort(np.concatenate(order))], distances


def _looked_up(asked: Integers, held: Integers, counts: Sparse) -> Sparse:
    """The sensitive values of all held keys that equal those asked about."""
    numbers = _numbers(np.concatenate([asked, held]))
    groups, place = np.unique(numbers[len(asked) :], return_inverse=True)
    grouped = _tally(place, np.arange(len(held)), (groups.size, len(held))) @ counts
    nearby = np.minimum(np.searchsorted(groups, numbers[: len(asked)]), groups.size - 1)
    [equal] = np.nonzero(groups[nearby] == numbers[: len(asked)])
    return _tally(equal, nearby[equal], (len(asked), groups.size)) @ grouped


def _compared(asked: Integers, held: Integers, counts: Sparse) -> tuple[Sparse, Integers]:
    """Sensitive values among the nearest held keys, every key compared with all of them."""
    from scipy.sparse import csr_array, vstack

    # Codes have 16 bits; narrow numbers are compared many at a time.
    narrow, columns = asked.astype(np.uint16), np.ascontiguousarray(held.T, np.uint16)
    step = max(1, _BLOCK // len(held))
    found, distances = [], []
    for start in range(0, len(asked), step):
        block = narrow[start : start + step]
        apart = np.zeros((len(block), len(held)), np.uint16)
        for ours, theirs in zip(block.T, columns, strict=True):
            apart += ours[:, None] != theirs
        least = apart.min(axis=1)
        found.append(csr_array((apart == least[:, None]).astype(np.int64)) @ counts)
        distances.append(least)
    return vstack(found).tocsr(), np.concatenate(distances)


def _shares(
    nearest: Sparse, person: Integers, values: Integers
) -> tuple[Probabilities, Probabilities]:
    """For each row the share of its own value, and the chance that a vote names it."""
    nearest.sort_indices()
    starts, counts = nearest.indptr[:-1], nearest.data
    lines = np.repeat(np.arange(starts.size), np.diff(nearest.indptr))
    most = np.maximum.reduceat(counts, starts)
    winners = np.add.reduceat(counts == most[lines], starts, dtype=np.int64)
    pairs = lines * nearest.shape[1] + nearest.indices
    wanted = person * nearest.shape[1] + values
    place = np.minimum(np.searchsorted(pairs, wanted), pairs.size - 1)
    own = np.where(pairs[place] == wanted, counts[place], 0)
    total = np.add.reduceat(counts, starts)
    return own / total[person], np.where(own == most[person], 1 / winners[person], 0.0)
