"""Rows that fit conditions: which way they are drawn, and how probable the conditions were.

- exactly: the network is conditioned first, and every row drawn from it fits;
- by rejection: rows are drawn until enough fit, which keeps constraints and needs no large tables;
- by weighting: rows are drawn towards the conditions and resampled by weight; approximate.

A model of released rows has no others: those that fit are kept. A bin that conditions cut is drawn
as often as the part that fits, and its values are drawn inside that part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from understudy.constraints.completion import are_satisfiable
from understudy.constraints.constraint import Constraint
from understudy.constraints.masks import set_of
from understudy.errors import CapacityError, UsageError
from understudy.infer import Evidence
from understudy.infer.question import Conditions, read_conditions
from understudy.model import Model
from understudy.sample.rejection import Rejection
from understudy.sample.ways import Exact, Filter, Sampler, Sieve, Way, Weighting
from understudy.sample.weighting import Proposal
from understudy.sample.without_replacement import deal_codes


class How(StrEnum):
    """The ways to draw rows that fit conditions."""

    EXACT = "exact"
    REJECTION = "rejection"
    WEIGHTING = "weighting"
    FILTER = "filter"


_DRAWN = (How.EXACT, How.REJECTION, How.WEIGHTING)


@dataclass(frozen=True, eq=False)
class Given:
    """A model under conditions, ready to be sampled.

    Attributes:
        model: whose rows are drawn.
        conditions: what they fit.
        how: which way they are drawn.
        way: what draws them.
        known: the exact probability of the conditions, where it could be computed.
        remark: why rows are not drawn exactly, where that was left open.
    """

    model: Model
    conditions: Conditions
    how: How
    way: Way
    known: float | None = None
    remark: str = ""

    @property
    def chance(self) -> float | None:
        """The probability of the conditions: exact, or what the rows drawn so far say of it."""
        return self.way.chance if self.known is None else self.known

    @property
    def worth(self) -> float | None:
        """How many independent rows the weighted draws so far are worth; None of other ways."""
        return self.way.effective if isinstance(self.way, Weighting) else None

    def wanted(self, rows: int | None, generator: np.random.Generator) -> int:
        """How many rows to make: those asked for, else the model's, else all that there are."""
        if isinstance(self.way, Filter):
            return self.way.find(rows, generator)
        return self.model.rows if rows is None else rows


def given(
    model: Model, where: str, *, how: How | str | None = None, sampler: Sampler = deal_codes
) -> Given:
    """A model under conditions such as: age >= 30, sex = Female.

    Args:
        model: what to sample from.
        where: what rows must fit, conditions with commas or "and" between them.
        how: "exact", "rejection" or "weighting"; exact where the network allows it, unless given.
        sampler: how the conditioned network is drawn from, where rows are drawn exactly.

    Raises:
        UsageError: for conditions that cannot be read, contradict each other, or have no chance.
        CapacityError: for a network that is too dense, where the exact way is asked for.
    """
    conditions = read_conditions(where, model.schema.columns)
    _ensure_allowed(model, conditions.evidence)
    if model.records is not None:
        return _filtered(model, conditions, how)
    if model.generator is not None:
        return _sieved(model, conditions, how)
    if how is None:
        return _chosen(model, conditions, sampler)
    return _drawn(model, conditions, _how(how), sampler)


def _ensure_allowed(model: Model, evidence: Evidence) -> None:
    """Refuse conditions that no row can fit without breaking a constraint of the schema."""
    constraints = model.schema.constraints
    unfit = [
        Constraint("", "", {name: fits.size}, {name: set_of(fits == 0)}, None)
        for name, fits in evidence.items()
    ]
    if constraints and not are_satisfiable([*constraints, *unfit]):
        raise UsageError(
            "the schema's constraints leave no row that fits the conditions; loosen one of them"
        )


def _filtered(model: Model, conditions: Conditions, how: How | str | None) -> Given:
    if how not in (None, How.FILTER):
        raise UsageError(
            f"how is {how!r}; a model by {model.statement.method} holds released rows, and those "
            "that fit are kept: leave it out"
        )
    way = Filter(model.records or {}, conditions.evidence)
    return Given(model, conditions, How.FILTER, way)


def _sieved(model: Model, conditions: Conditions, how: How | str | None) -> Given:
    if how not in (None, How.REJECTION):
        raise UsageError(
            f"how is {str(how)!r}; a model by {model.statement.method} is a generator, whose rows "
            "are made until enough of them fit: leave it out"
        )
    return Given(model, conditions, How.REJECTION, Sieve(model, conditions.evidence))


def _how(how: How | str) -> How:
    if how not in _DRAWN:
        raise UsageError(f"how is {str(how)!r}; use {', '.join(_DRAWN)}, or leave it out")
    return How(how)


def _chosen(model: Model, conditions: Conditions, sampler: Sampler) -> Given:
    """Exactly where that can be done, else by rejection."""
    remark = "constraints shape the rows"
    if not model.schema.constraints:
        try:
            return _drawn(model, conditions, How.EXACT, sampler)
        except CapacityError:
            remark = "the network is too dense to be conditioned"
    return replace(_drawn(model, conditions, How.REJECTION, sampler), remark=remark)


def _drawn(model: Model, conditions: Conditions, how: How, sampler: Sampler) -> Given:
    evidence = conditions.evidence
    if how is How.EXACT:
        exact = Exact.of(model, evidence, sampler)
        return Given(model, conditions, how, exact, exact.chance)
    proposal = Proposal.towards(model, evidence)
    way = Rejection(proposal) if how is How.REJECTION else Weighting(proposal)
    return Given(model, conditions, how, way, _chance_of(model, evidence))


def _chance_of(model: Model, evidence: Evidence) -> float | None:
    """The exact probability of the evidence where there is one; none at all is refused here."""
    if model.schema.constraints:
        return None
    try:
        return model.posterior((), evidence)[1]
    except CapacityError:
        return None
