"""The made-up tables that a method is rehearsed on, and its rehearsals, two at a time."""

from __future__ import annotations

import math
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.facts.domain import Attributes, Domain
from understudy.facts.workload import workload
from understudy.methods import Learned, Synthesizer
from understudy.methods.planning.populations import (
    LADDER,
    Character,
    class_rows,
    imagine,
    in_classes,
)
from understudy.methods.planning.rehearsal import (
    Agenda,
    ReferenceTables,
    Rehearsal,
    rehearse,
    unpromised,
)
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.distribution import CodedRows
from understudy.models.sampling import sample_codes
from understudy.models.weighted.pool import joined
from understudy.privacy.budget import Budget
from understudy.rows.made_up import MadeUp, ScaledSource
from understudy.system.progress import ProgressCallback

# Wide tables take long to rehearse. For more columns than these every other ε is left out, and the
# budgets that are not asked for are rehearsed on the made-up table in the middle alone.
NARROW = 12
# Rehearsals at the same time; most of one is in loops that hold no lock.
_AT_ONCE = 2

# A rehearsal counts so many rows for all scores together, within bounds on how many it has.
_COUNTED = 7 * 10**8
_FEWEST_ROWS, _MOST_ROWS = 20_000, 60_000
# Nor more cells of rows than these.
_MOST_CODES = 10**6
# Tables of more cells are not compared, nor more tables than these.
_MOST_CELLS, _MOST_TABLES = 2**20, 150
# Made-up tables of one character have so many columns together, in so many draws at the most.
_COLUMNS_IN_ALL, _MOST_DRAWS = 24, 4


@dataclass(frozen=True)
class Thinning:
    """How many made-up rows there are, and how many real ones each of them represents."""

    rows: int
    times: int

    @classmethod
    def of(cls, rows: int, reading: Agenda, *, columns: int) -> Thinning:
        """As many rows as declared, or fewer where counting them all would take long."""
        most = min(_COUNTED // max(reading.scored, 1), _MOST_ROWS, _MOST_CODES // columns)
        times = math.ceil(rows / max(most, _FEWEST_ROWS))
        return cls(rows // times, times)


@dataclass(frozen=True)
class Scene:
    """A method, made-up tables of a size, and the tables to compare."""

    synthesizer: Synthesizer
    size: Thinning
    workloads: Sequence[Sequence[Attributes]]

    def rehearse_all(
        self, budgets: Mapping[Fraction, Budget], watch: ProgressCallback
    ) -> dict[Fraction, list[Rehearsal]]:
        """Every budget on every made-up table, which stay the same from budget to budget.

        Of wide tables, other budgets than the method's own have the middle one alone.
        """
        cast = characters(len(self.domain))
        tries = self._tries(budgets, len(cast))
        tables = _SharedTables(
            lambda seed: self.imagined(cast[seed], seed), Counter(seed for seed, _ in tries)
        )

        def tried(one: tuple[int, Fraction]) -> Rehearsal:
            seed, epsilon = one
            with tables.held(seed) as (source, yardsticks):
                return rehearse(self.synthesizer, source, budgets[epsilon], yardsticks, seed=seed)

        found: dict[tuple[int, Fraction], Rehearsal] = {}
        watch(0, len(tries))
        with ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as pool:
            for one, rehearsal in zip(tries, pool.map(tried, tries), strict=True):
                found[one] = rehearsal
                watch(len(found), len(tries))
        return {
            epsilon: [found[one] for one in sorted(found) if one[1] == epsilon]
            for epsilon in budgets
        }

    def _tries(self, budgets: Mapping[Fraction, Budget], of: int) -> list[tuple[int, Fraction]]:
        """Tables and budgets to rehearse: the middle table and small budgets first.

        The middle table has the most budgets and small ones take longest, so that two rehearsals
        at a time end together, and few tables are in memory at once.
        """
        middle, own = of // 2, self.synthesizer.budget.amount
        every = len(self.domain) <= NARROW
        return [
            (seed, epsilon)
            for seed in sorted(range(of), key=lambda seed: (seed != middle, seed))
            for epsilon in sorted(budgets)
            if every or seed == middle or epsilon == own
        ]

    @property
    def domain(self) -> Domain:
        """The attributes that every made-up table has."""
        return Domain.of(self.synthesizer.schema)

    def imagined(
        self, character: Character, seed: int
    ) -> tuple[ScaledSource, list[ReferenceTables]]:
        """A made-up table of a character, and what rows are compared with it by."""
        codes = self._drawn(character, seed)
        source = ScaledSource(MadeUp.of_codes(self.domain, codes, self.size.rows), self.size.times)
        return source, [ReferenceTables.of(source, sets) for sets in self.workloads]

    def _drawn(self, character: Character, seed: int) -> CodedRows:
        """The made-up rows; by a learned schema those of one hidden class after another."""
        network, generator = imagine(self.domain, character, seed=seed), np.random.default_rng(seed)
        if self.synthesizer.schema.inference is None:
            return self._sampled(network, self.size.rows, generator)
        classes = in_classes(network, character, seed=seed)
        rows = class_rows(self.size.rows, seed=seed)
        return joined([self._sampled(n, k, generator) for n, k in zip(classes, rows, strict=True)])

    def _sampled(
        self, network: tuple[Conditional, ...], rows: int, generator: np.random.Generator
    ) -> CodedRows:
        learned = Learned(BayesNet(self.domain, network), rows)
        return sample_codes(unpromised(self.synthesizer, learned), rows, generator)


def characters(columns: int) -> list[Character]:
    """The characters of all made-up tables: several of each where columns are few.

    Few columns differ more from one draw to the next, and are quick.
    """
    times = min(max(_COLUMNS_IN_ALL // columns, 1), _MOST_DRAWS)
    return [character for character in LADDER for _ in range(times)]


def workloads(domain: Domain) -> list[list[Attributes]]:
    """The 1-, 2- and 3-way tables that fidelity is measured by, without the very large."""
    return [
        [
            sets
            for sets in workload(domain, ways, most=_MOST_TABLES)
            if domain.cells(sets) <= _MOST_CELLS
        ]
        for ways in (1, 2, 3)
    ]


_Table = tuple[ScaledSource, list[ReferenceTables]]


class _SharedTables:
    """Made-up tables, each made for its first rehearsal and forgotten after its last.

    Args:
        make: makes the table of a seed.
        uses: how many rehearsals each of them has.
    """

    def __init__(self, make: Callable[[int], _Table], uses: Counter[int]) -> None:
        self._make, self._left = make, uses
        self._made: dict[int, _Table] = {}
        self._lock = threading.Lock()

    @contextmanager
    def held(self, seed: int) -> Iterator[_Table]:
        """The table of a seed, for one of its rehearsals."""
        with self._lock:
            if seed not in self._made:
                self._made[seed] = self._make(seed)
            found = self._made[seed]
        yield found
        with self._lock:
            self._left[seed] -= 1
            if not self._left[seed]:
                del self._made[seed]
