"""Rows that fit conditions: which way they are drawn, and how probable the conditions were.

- exactly: the network is conditioned first, and every row drawn from it fits;
- by rejection: rows are drawn until enough fit, which keeps constraints and needs no large tables;
- by weighting: rows are drawn towards the conditions and resampled by weight; approximate.

A model of released rows has no others: those that fit are kept. A bin that conditions cut is drawn
as often as the part that fits, and its values are drawn inside that part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.facts.constraints.completion import are_satisfiable
from understudy.facts.constraints.constraint import Constraint
from understudy.facts.constraints.masks import set_of
from understudy.models.inference import Evidence
from understudy.models.inference.question import Conditions, read_conditions
from understudy.models.sampling.ways import How, Sampler, Way
from understudy.models.sampling.without_replacement import deal_codes

if TYPE_CHECKING:
    from understudy.models.model import Model


@dataclass(frozen=True, eq=False)
class ConditionedModel:
    """A model under conditions, ready to be sampled.

    Attributes:
        model: whose rows are drawn.
        conditions: what they fit.
        way: what draws them.
    """

    model: Model
    conditions: Conditions
    way: Way

    @property
    def how(self) -> How:
        """Which way rows are drawn."""
        return self.way.how

    @property
    def known(self) -> float | None:
        """The exact probability of the conditions, where it could be computed."""
        return self.way.known

    @property
    def remark(self) -> str:
        """Why rows are not drawn exactly, where that was left open."""
        return self.way.remark

    @property
    def chance(self) -> float | None:
        """The probability of the conditions: exact, or what the rows drawn so far say of it."""
        return self.way.chance if self.known is None else self.known

    @property
    def worth(self) -> float | None:
        """How many independent rows the weighted draws so far are worth; None of other ways."""
        return self.way.worth


def given(
    model: Model, where: str, *, how: How | str | None = None, sampler: Sampler = deal_codes
) -> ConditionedModel:
    """Put a model under conditions such as: age >= 30, sex = Female.

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
    way = model.law.way(conditions.evidence, how, sampler=sampler)
    return ConditionedModel(model, conditions, way)


def _ensure_allowed(model: Model, evidence: Evidence) -> None:
    """Refuse conditions that no row can fit without breaking a constraint of the schema."""
    constraints = model.schema.constraints
    unfit = [
        Constraint(
            text="",
            words="",
            sizes={name: fits.size},
            premise={name: set_of(fits == 0)},
            conclusion=None,
        )
        for name, fits in evidence.items()
    ]
    if constraints and not are_satisfiable([*constraints, *unfit]):
        raise UsageError(
            "the schema's constraints leave no row that fits the conditions; loosen one of them"
        )
