"""How a plan is made: the method read through once, then rehearsed on made-up tables."""

from __future__ import annotations

import copy
import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import TypeVar

import numpy as np

from understudy.errors import UsageError
from understudy.facts.capacity import bytes_of_tables
from understudy.facts.codes import code_type
from understudy.facts.domain import Attributes, Domain
from understudy.facts.unit import Neighbours
from understudy.facts.workload import workload
from understudy.methods import Learned, Synthesizer
from understudy.methods.base import check_synthesizer
from understudy.methods.network import NetworkSynthesizer
from understudy.methods.planning.band import Band, experience_of
from understudy.methods.planning.plan import Families, Outlook, Plan, Resources
from understudy.methods.planning.populations import LADDER, Character, imagine
from understudy.methods.planning.rehearsal import (
    Agenda,
    ReferenceTables,
    Rehearsal,
    grant_of,
    read_through,
    rehearse,
    unpromised,
)
from understudy.methods.planning.watching import Stage
from understudy.models.bayes_net import BayesNet
from understudy.models.sampling import sample_codes
from understudy.privacy.budget import Budget, Measure
from understudy.rows.made_up import MadeUp, ScaledSource
from understudy.system.notebooks import notebook_bar
from understudy.system.progress import ProgressCallback

EPSILONS = tuple(Fraction(text) for text in ("0.1", "0.3", "1", "3", "10"))
# Wide tables take long to rehearse. For more columns than these every other ε is left out, and the
# budgets that are not asked for are rehearsed on the made-up table in the middle alone.
_NARROW = 12
MOST_ROWS = 10**12
MOST_COLUMNS = 200

# A rehearsal counts so many rows for all scores together, within bounds on how many it has.
_COUNTED = 7 * 10**8
_FEWEST_ROWS, _MOST_ROWS = 20_000, 60_000
# Nor more cells of rows than these.
_MOST_CODES = 10**6
# Tables of more cells are not compared, nor more tables than these.
_MOST_CELLS, _MOST_TABLES = 2**20, 150
# Made-up tables of one character have so many columns together, in so many draws at the most.
_COLUMNS_IN_ALL, _MOST_DRAWS = 24, 4

S = TypeVar("S", bound=Synthesizer)


def plan_fit(
    synthesizer: Synthesizer,
    rows: int,
    *,
    epsilons: Sequence[Fraction] | None = None,
    watch: ProgressCallback | None = None,
) -> Plan:
    """Forecast what a method asks, and how near its rows come, on a table that nobody opens.

    Args:
        synthesizer: the method, with its schema and budget.
        rows: how many the table is declared to have.
        epsilons: for which other budgets to look ahead; a few from 0.1 to 10 unless given.
        watch: called with how many rehearsals are done, of how many.

    Privacy: nothing is read and nothing is spent.

    Example:
        >>> from understudy.facts.schema import Schema
        >>> from understudy.methods import Independent
        >>> schema = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
        >>> plan = plan_fit(Independent(schema, epsilon=1), 1000, epsilons=())
        >>> [stage.name for stage in plan.stages]
        ['one-way tables']
    """
    domain = _checked(synthesizer, rows)
    synthesizer = synthesizer.rehearsing
    reading = read_through(synthesizer, domain, rows)
    ahead = _epsilons(len(domain)) if epsilons is None else epsilons
    budgets = _budgets(synthesizer, reading, domain=domain, rows=rows, epsilons=ahead)
    size = Thinning.of(rows, reading, columns=len(domain))
    scene = Scene(synthesizer, size, workloads(domain))
    found = scene.rehearse_all(budgets, watch or notebook_bar("Rehearsing"))
    here = found[synthesizer.budget.amount]
    return Plan(
        method=synthesizer.method,
        rows=rows,
        cells=tuple(domain.sizes.values()),
        budget=synthesizer.budget,
        unit=synthesizer.unit,
        spendable=reading.spendable,
        stages=_stages(reading, here),
        families=_families(synthesizer, domain, rows=rows, reading=reading, rehearsals=here),
        outlooks=tuple(Outlook(e, _bands(synthesizer, found[e], here)) for e in sorted(found)),
        cost=_cost(domain, rows, scene.size, here),
        rehearsed_rows=scene.size.rows,
        rehearsals=len(here),
    )


def _checked(synthesizer: Synthesizer, rows: int) -> Domain:
    """The domain, when a plan for it can be made at all."""
    check_synthesizer(synthesizer)
    synthesizer.check()
    domain = Domain.of(synthesizer.schema)
    if synthesizer.budget.measure is Measure.UNLIMITED:
        raise UsageError("the budget is unlimited; a plan is for a budget, give an epsilon")
    if not 1 <= rows <= MOST_ROWS:
        raise UsageError(f"rows is {rows:,}; a plan is for 1 to {MOST_ROWS:,} rows, declare those")
    if len(domain) > MOST_COLUMNS:
        raise UsageError(
            f"the schema has {len(domain):,} learned columns; a plan rehearses at most "
            f"{MOST_COLUMNS}, so leave some out for planning"
        )
    return domain


def _epsilons(columns: int) -> Sequence[Fraction]:
    return EPSILONS if columns <= _NARROW else EPSILONS[::2]


def _budgets(
    synthesizer: Synthesizer,
    reading: Agenda,
    *,
    domain: Domain,
    rows: int,
    epsilons: Sequence[Fraction],
) -> dict[Fraction, Budget]:
    """Find what can be spent for each ε, in the measure that questions are paid in.

    A method that announces its questions has more to spend, how much being found by a reading.
    """
    announces = reading.spendable != grant_of(synthesizer).spendable
    budgets = {synthesizer.budget.amount: reading.spendable}
    for epsilon in epsilons:
        twin = _with_epsilon(synthesizer, epsilon)
        spendable = read_through(twin, domain, rows).spendable if announces else None
        budgets.setdefault(epsilon, spendable or grant_of(twin).spendable)
    return budgets


def _with_epsilon(synthesizer: S, epsilon: Fraction) -> S:
    budget = synthesizer.budget
    twin = copy.copy(synthesizer)
    twin.epsilon = Budget(budget.measure, epsilon, budget.delta)
    return twin


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
        found: dict[Fraction, list[Rehearsal]] = {epsilon: [] for epsilon in budgets}
        cast = characters(len(self.domain))
        tries = [
            (seed, epsilon)
            for seed in range(len(cast))
            for epsilon in budgets
            if self._is_rehearsed(seed, epsilon, of=len(cast))
        ]
        for seed, group in itertools.groupby(tries, key=itemgetter(0)):
            source, yardsticks = self.imagined(cast[seed], seed)
            for _, epsilon in group:
                watch(sum(map(len, found.values())), len(tries))
                budget = budgets[epsilon]
                found[epsilon].append(
                    rehearse(self.synthesizer, source, budget, yardsticks, seed=seed)
                )
        watch(len(tries), len(tries))
        return found

    def _is_rehearsed(self, seed: int, epsilon: Fraction, *, of: int) -> bool:
        own = epsilon == self.synthesizer.budget.amount
        return own or len(self.domain) <= _NARROW or seed == of // 2

    @property
    def domain(self) -> Domain:
        """The attributes that every made-up table has."""
        return Domain.of(self.synthesizer.schema)

    def imagined(
        self, character: Character, seed: int
    ) -> tuple[ScaledSource, list[ReferenceTables]]:
        """A made-up table of a character, and what rows are compared with it by."""
        learned = Learned(
            BayesNet(self.domain, imagine(self.domain, character, seed=seed)), self.size.rows
        )
        model, generator = unpromised(self.synthesizer, learned), np.random.default_rng(seed)
        codes = sample_codes(model, self.size.rows, generator)
        source = ScaledSource(MadeUp.of_codes(self.domain, codes, self.size.rows), self.size.times)
        return source, [ReferenceTables.of(source, sets) for sets in self.workloads]


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


def _stages(reading: Agenda, rehearsals: Sequence[Rehearsal]) -> tuple[Stage, ...]:
    """The stages read, and from the first answers about structure on, those of a rehearsal."""
    asking = [place for place, stage in enumerate(reading.stages) if stage.asks_structure]
    known = asking[0] + 1 if asking else len(reading.stages)
    middle = rehearsals[len(rehearsals) // 2]
    return (*reading.stages[:known], *middle.stages[known:])


def _bands(
    synthesizer: Synthesizer, rehearsals: Sequence[Rehearsal], own: Sequence[Rehearsal]
) -> tuple[Band | None, ...]:
    """Forecasts of 1-, 2- and 3-way distances.

    Where one made-up table was tried alone, the others are taken to differ from it as they do at
    the budget that was asked for.
    """
    known = experience_of(synthesizer.method)
    tried, asked = ([*zip(*(r.distances for r in each), strict=True)] for each in (rehearsals, own))
    return tuple(
        Band.of(_as_apart(way, like), experience)
        for way, like, experience in zip(tried, asked, known, strict=True)
    )


def _as_apart(way: Sequence[float | None], like: Sequence[float | None]) -> list[float | None]:
    """The distances of all made-up tables, from that of the middle one where it is alone."""
    middle = like[len(like) // 2]
    if len(way) == len(like) or not middle or way[0] is None:
        return [*way]
    return [None if each is None else way[0] * each / middle for each in like]


def _families(
    synthesizer: Synthesizer,
    domain: Domain,
    *,
    rows: int,
    reading: Agenda,
    rehearsals: Sequence[Rehearsal],
) -> Families | None:
    """Say how large tables of several attributes may be, and how large they were."""
    if not isinstance(synthesizer, NetworkSynthesizer):
        return None
    last = reading.stages[-1].cost(reading.spendable.measure)
    table_cost = synthesizer.table_cost(domain, Budget(reading.spendable.measure, last), rows)
    in_rows = rows if synthesizer.unit.neighbours is Neighbours.REPLACE else 1
    # One-way tables are measured beside those of families.
    tables = [sorted(r.stages[-1].cells[: -len(domain)]) for r in rehearsals]
    return Families(
        table_cost.most_cells,
        table_cost.price * in_rows,
        statistics.fmean(len(cells) for cells in tables),
        max((cells[-1] for cells in tables if cells), default=0),
    )


def _cost(domain: Domain, rows: int, size: Thinning, rehearsals: Sequence[Rehearsal]) -> Resources:
    """Seconds as rehearsed, scaled to all rows; bytes by formula."""
    scale = rows / size.rows
    clocks = [rehearsal.clock for rehearsal in rehearsals]
    cells = max(sum(sum(stage.cells) for stage in r.stages) for r in rehearsals)
    return Resources(
        fit_seconds=statistics.fmean(c.counting * scale + c.learning for c in clocks),
        sample_seconds=statistics.fmean(c.sampling * scale for c in clocks),
        row_bytes=rows * sum(np.dtype(code_type(size)).itemsize for size in domain.sizes.values()),
        table_bytes=bytes_of_tables(cells),
    )
