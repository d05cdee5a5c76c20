"""From a question to what the Curator is asked, at the holder.

Every function here first checks the question against public facts, and raises before anything is
paid; what it returns asks the Curator, which pays, looks and draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from understudy.errors import UsageError
from understudy.facts.capacity import ensure_tables_fit
from understudy.facts.domain import Attributes, Domain
from understudy.facts.grouping import Grouping
from understudy.facts.schema import Schema
from understudy.facts.unit import Unit
from understudy.federated.holder.plain import learn_plain
from understudy.federated.messages import (
    MOST_BYTES,
    Chosen,
    Fit,
    Fitted,
    MeasureGroups,
    MeasureSums,
    MeasureTables,
    Message,
    Rate,
    Rated,
    Reply,
    Sums,
    Tables,
    Vote,
)
from understudy.federated.sums import SumProtocol, SumQuestion
from understudy.methods.estimation.learned import Learned
from understudy.methods.network import NetworkSynthesizer
from understudy.methods.structure.greedy import affordable_degree
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.scores import score_for
from understudy.models.conditional import Conditional
from understudy.models.network import Family
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator, SelectionRule
from understudy.privacy.mechanisms.selection import choice, exponential_choice
from understudy.rows.counting import Score
from understudy.system.arrays import Array

Handler = Callable[[Curator], tuple[Reply, tuple[Array, ...]]]
PaidRequest = MeasureTables | MeasureGroups | MeasureSums | Vote | Rate | Fit

_MOST_CELLS = MOST_BYTES // 16
# No analyst needs more at once, and each costs a holder time.
_MOST_TABLES, _MOST_SETS = 20_000, 200_000


@dataclass
class RequestReader:
    """Reads and checks requests to a holder; it knows no rows.

    Attributes:
        schema: of the rows.
        domain: of the rows.
        unit: whom the promise protects.
        rows: their number where it is public.
        sums: what is summed over records that are not rows; None for tables.
    """

    schema: Schema
    domain: Domain
    unit: Unit
    rows: int | None
    sums: SumProtocol | None = None
    _scores: dict[str, Score] = field(default_factory=dict)

    def prepare(self, message: Message, restrictions: Restrictions = NONE) -> Handler:
        """Return what to ask the Curator for; UsageError where the question is not valid.

        Args:
            message: the question.
            restrictions: what its run agreed on; tables that cannot be a family are not looked at.
        """
        match message.body:
            case MeasureSums():
                return self._sum(message.body, message.arrays)
            case _ if self.sums is not None:
                raise UsageError("this holder has images, and releases only sums of them")
            case MeasureTables():
                return self._measure(message.body, restrictions)
            case MeasureGroups():
                return self._measure_groups(message.body, message.arrays, restrictions)
            case Vote():
                return self._vote(message.body, message.arrays, restrictions)
            case Rate():
                return self._rate(message.body, message.arrays, restrictions)
            case Fit():
                return self._fit(message.body, restrictions)
            case body:
                raise UsageError(f"a message of kind {body.kind!r} is not a question to a holder")

    def _measure(self, asked: MeasureTables, restrictions: Restrictions) -> Handler:
        sets = self._asked_tables(asked, restrictions)
        _check_reply_fits(self.domain, sets)
        return partial(_measured, asked=asked, sets=sets)

    def _sum(self, asked: MeasureSums, arrays: tuple[Array, ...]) -> Handler:
        if self.sums is None:
            raise UsageError("this holder has rows and no images; ask for tables")
        question = self.sums.read(asked.step, arrays)
        cells = math.prod(question.shape)
        if cells > _MOST_CELLS:
            raise UsageError(f"the sum has {cells:,} cells; {_MOST_CELLS:,} fit into a reply")
        return partial(_summed, share=Fraction(asked.share), question=question)

    def _measure_groups(
        self, asked: MeasureGroups, arrays: tuple[Array, ...], restrictions: Restrictions
    ) -> Handler:
        grouping = self._grouping(asked.grouped, arrays)
        sets = [grouping.seen(names) for names in self._asked_tables(asked, restrictions)]
        _check_reply_fits(grouping.extended, sets)
        finer = [grouping.finer(names) for names in sets]
        if max(map(self.domain.cells, finer)) > _MOST_CELLS:
            raise UsageError(f"a table to be put in groups has more than {_MOST_CELLS:,} cells")
        ensure_tables_fit(self.domain, finer, kept=False)
        return partial(_measured_in_groups, asked=asked, grouping=grouping, sets=sets)

    def _grouping(self, grouped: Sequence[str], arrays: tuple[Array, ...]) -> Grouping:
        """The groups that a question brought along, all of them checked."""
        if len(set(grouped)) < len(grouped) or len(arrays) != len(grouped):
            raise UsageError("every attribute in groups is named once, and has one array of groups")
        if any(array.dtype != np.int16 or array.min(initial=0) < 0 for array in arrays):
            raise UsageError("groups come as 16-bit numbers from 0")
        groups = {n: a.astype(np.uint16) for n, a in zip(grouped, arrays, strict=True)}
        return Grouping(self.domain, groups)

    def _asked_tables(
        self, asked: MeasureTables | MeasureGroups, restrictions: Restrictions
    ) -> list[Attributes]:
        """The tables of a question: not too many, within what was agreed, a weight for each."""
        if len(asked.tables) > _MOST_TABLES:
            raise UsageError(
                f"{len(asked.tables):,} tables were asked for; {_MOST_TABLES:,} may be"
            )
        sets = [self._checked(names, restrictions) for names in asked.tables]
        if len(asked.weights) != len(sets) or min(asked.weights) < 1:
            raise UsageError("every table needs a weight of 1 or more")
        return sets

    def _vote(self, asked: Vote, arrays: tuple[Array, ...], restrictions: Restrictions) -> Handler:
        if len(arrays) != 2 or arrays[1].dtype != np.float64:
            raise UsageError("a vote has two arrays: axes of candidates, and penalties")
        sets = self._sets(arrays[0], restrictions)
        if not sets or arrays[1].shape != (len(sets),):
            raise UsageError("a vote needs candidates, and a penalty for each")
        score = self._score(asked.score)
        if np.abs(arrays[1]).max() > largest_penalty(score):
            raise UsageError("a penalty is larger than any score; scores would drown in it")
        return partial(
            _voted,
            share=Fraction(asked.share),
            score=score,
            sets=sets,
            penalty=arrays[1],
            by=exponential_choice if asked.plain else choice,
        )

    def _rate(self, asked: Rate, arrays: tuple[Array, ...], restrictions: Restrictions) -> Handler:
        if len(arrays) != 1:
            raise UsageError("a rating has one array: the axes of each set")
        sets = self._sets(arrays[0], restrictions)
        if not sets:
            raise UsageError("a rating needs sets of attributes")
        score = self._score(asked.score)
        return partial(_rated, share=Fraction(asked.share), score=score, sets=sets)

    def _fit(self, asked: Fit, restrictions: Restrictions) -> Handler:
        method = _local(self.schema, self.unit, asked, restrictions)
        if not asked.plain:
            return partial(_fit, method.learn)
        score = score_for(self.unit, self.rows or 0, self.domain, name=asked.score)
        degree = max(restrictions.most_required, 1) if asked.degree is None else asked.degree
        return partial(
            _fit,
            partial(learn_plain, score=score, degree=degree, restrictions=restrictions),
        )

    def _sets(self, numbers: Array, restrictions: Restrictions) -> list[Attributes]:
        """Sets of names, from lines of their numbers among the domain's."""
        names = self.domain.names
        if numbers.ndim != 2 or numbers.dtype != np.int16 or numbers.size == 0:
            raise UsageError("sets of attributes come as lines of 16-bit numbers")
        if len(numbers) > _MOST_SETS:
            raise UsageError(f"{len(numbers):,} sets were asked about; {_MOST_SETS:,} may be")
        if numbers.max() >= len(names):
            raise UsageError(f"attribute number {numbers.max()} is not among {len(names)} names")
        lines = ([names[i] for i in line if i >= 0] for line in numbers.tolist())
        sets = [self._checked(line, restrictions) for line in lines]
        if max(map(self.domain.cells, sets)) > _MOST_CELLS:
            raise UsageError(f"a table to be scored has more than {_MOST_CELLS:,} cells")
        ensure_tables_fit(self.domain, sets, kept=False)
        return sets

    def _checked(self, names: Sequence[str], restrictions: Restrictions) -> Attributes:
        """The names of a table, all known, of different attributes, and within what was agreed."""
        self.domain.shape(names)
        bases = dict.fromkeys(self.domain.base(name) for name in names)
        if len(bases) < len(names):
            raise UsageError(f"table {' × '.join(names)} holds an attribute twice")
        if restrictions and not restrictions.may_be_family(tuple(bases)):
            raise UsageError(
                f"table {' × '.join(names)} cannot be a family under the restrictions that this "
                "run "
                "agreed on; ask within them, or propose another"
            )
        return tuple(names)

    def _score(self, name: str) -> Score:
        """One object for each score, so that a Curator knows tables that it has looked at."""
        if name not in self._scores:
            self._scores[name] = score_for(self.unit, self.rows or 0, self.domain, name=name)
        return self._scores[name]


def _check_reply_fits(domain: Domain, sets: Sequence[Attributes]) -> None:
    """Refuse tables that do not fit into one reply, or into memory."""
    cells = sum(domain.cells(names) for names in sets)
    if cells > _MOST_CELLS:
        raise UsageError(f"the tables have {cells:,} cells; {_MOST_CELLS:,} fit into a reply")
    ensure_tables_fit(domain, sets)


def largest_penalty(score: Score) -> float:
    """The most that may be taken off a score.

    The grid of scores allows for rounding errors below half a step. Beyond a penalty of 2³⁰
    sensitivities, which are 2⁴⁶ steps, an untrusted analyst could make doubles err by more.
    """
    return 2.0**30 * float(score.sensitivity)


def share_of(question: PaidRequest) -> Fraction:
    """The part of the run's budget that a question may cost."""
    share = Fraction(1) if isinstance(question, Fit) else Fraction(question.share)
    if not 0 < share <= 1:
        raise UsageError(f"share {share} is not a part of a budget; it lies above 0 and up to 1")
    return share


def _measured(
    curator: Curator, *, asked: MeasureTables, sets: Sequence[Attributes]
) -> tuple[Tables, tuple[Array, ...]]:
    budget = curator.budget * Fraction(asked.share)
    noisy = curator.measure(sets, budget, weights=asked.weights)
    counts = [np.asarray(table.counts) for table in noisy]
    return Tables(), tuple(np.maximum(c, 0) if asked.clip else c for c in counts)


def _summed(
    curator: Curator, *, share: Fraction, question: SumQuestion
) -> tuple[Sums, tuple[Array, ...]]:
    mechanism = question.mechanism(curator.budget * share)
    found = curator.release(mechanism, question.answer, name=question.name)
    return Sums(), (np.asarray(found, np.int64),)


def _measured_in_groups(
    curator: Curator, *, asked: MeasureGroups, grouping: Grouping, sets: Sequence[Attributes]
) -> tuple[Tables, tuple[Array, ...]]:
    budget = curator.budget * Fraction(asked.share)
    noisy = curator.in_groups(grouping).measure(sets, budget, weights=asked.weights)
    return Tables(), tuple(np.asarray(table.counts) for table in noisy)


def _voted(
    curator: Curator,
    *,
    share: Fraction,
    score: Score,
    sets: Sequence[Attributes],
    penalty: Array,
    by: SelectionRule,
) -> tuple[Chosen, tuple[Array, ...]]:
    index = curator.select(
        range(len(sets)),
        score,
        curator.budget * share,
        of=lambda i: sets[i],
        penalty=lambda i: float(penalty[i]),
        by=by,
    )
    return Chosen(index=index), ()


def _rated(
    curator: Curator, *, share: Fraction, score: Score, sets: Sequence[Attributes]
) -> tuple[Rated, tuple[Array, ...]]:
    scores, _ = curator.score(sets, score, curator.budget * share)
    return Rated(), (scores,)


class _Local(NetworkSynthesizer):
    """The method that a holder learns its own model by; its unit is the holder's."""

    method: ClassVar[str] = "federated model"
    default_structure = "greedy"
    _unit: Unit

    @property
    def unit(self) -> Unit:
        """Return the unit that the holder promises to protect."""
        return self._unit


def _local(schema: Schema, unit: Unit, asked: Fit, restrictions: Restrictions) -> _Local:
    """The method asked for, all of its parameters checked."""
    method = _Local(
        schema,
        epsilon=Budget.unlimited(),
        neighbours=unit.neighbours,
        structure=asked.structure,
        degree=asked.degree,
        score=asked.score,
        theta=asked.theta,
        restrictions=restrictions,
    )
    method._unit = unit
    method.check()
    names = sum(len(Domain.of(schema).levels(name)) for name in schema.learned)
    most = affordable_degree(names, most=16)
    searched = asked.plain or asked.structure == "greedy"
    if searched and (asked.degree or 0) > most:
        raise UsageError(f"degree {asked.degree} is too much to search; {most} is the most here")
    return method


def _fit(learn: Callable[[Curator], Learned], curator: Curator) -> tuple[Fitted, tuple[Array, ...]]:
    learned = learn(curator)
    conditionals = learned.distribution.require_network().conditionals
    families = tuple(c.family.axes for c in conditionals)
    within = [c.within for c in conditionals if c.within is not None]
    chances = [c.probabilities for c in conditionals]
    return Fitted(families=families, rows=learned.rows), (*chances, *within)


def fitted_conditionals(
    fitted: Fitted, arrays: tuple[Array, ...], domain: Domain
) -> tuple[Conditional, ...]:
    """Return the conditionals of a holder's model; UsageError where they are not conditionals."""
    families = [Family.over(axes, domain) for axes in fitted.families if axes]
    coarsened = [family.axes[-1] != family.child for family in families]
    if len(arrays) != len(families) + sum(coarsened):
        raise UsageError("the model does not have a table for every family")
    shares = iter(arrays[len(families) :])
    return tuple(
        Conditional(family, table.astype(np.float64), next(shares) if coarse else None)
        for family, table, coarse in zip(families, arrays, coarsened, strict=False)
    )
