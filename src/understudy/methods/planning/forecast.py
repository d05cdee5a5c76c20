"""How a plan is made: the method read through once, then rehearsed on made-up tables."""

from __future__ import annotations

import copy
import statistics
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from understudy.errors import UsageError
from understudy.facts.capacity import bytes_of_tables
from understudy.facts.codes import code_type
from understudy.facts.domain import Domain
from understudy.facts.unit import Neighbours
from understudy.methods import Synthesizer
from understudy.methods.base import check_synthesizer
from understudy.methods.network import NetworkSynthesizer
from understudy.methods.planning.band import Band, experience_of
from understudy.methods.planning.plan import Families, Outlook, Plan, Resources
from understudy.methods.planning.rehearsal import Agenda, Rehearsal, grant_of, read_through
from understudy.methods.planning.scene import NARROW, Scene, Thinning, workloads
from understudy.methods.planning.watching import Stage
from understudy.privacy.budget import Budget, Measure
from understudy.system.notebooks import notebook_bar
from understudy.system.progress import ProgressCallback

EPSILONS = tuple(Fraction(text) for text in ("0.1", "0.3", "1", "3", "10"))
MOST_ROWS = 10**12
MOST_COLUMNS = 200

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
    asked, synthesizer = synthesizer, synthesizer.rehearsing
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
        cost=_cost(asked, rows, scene.size, here),
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
    """The other budgets; of wide tables every other one is left out."""
    return EPSILONS if columns <= NARROW else EPSILONS[::2]


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


def _cost(
    asked: Synthesizer, rows: int, size: Thinning, rehearsals: Sequence[Rehearsal]
) -> Resources:
    """Seconds as rehearsed, scaled to all rows and made-up ones; bytes by formula."""
    domain, scale, part = Domain.of(asked.schema), rows / size.rows, asked.rehearsed_part
    clocks = [rehearsal.clock for rehearsal in rehearsals]
    cells = max(sum(sum(stage.cells) for stage in r.stages) for r in rehearsals)
    return Resources(
        fit_seconds=statistics.fmean(c.counting * scale + c.learning / part for c in clocks),
        sample_seconds=statistics.fmean(c.sampling * scale for c in clocks),
        row_bytes=rows * sum(np.dtype(code_type(size)).itemsize for size in domain.sizes.values()),
        table_bytes=bytes_of_tables(cells),
        pool_bytes=asked.pool_bytes(domain),
    )
