"""Which tables may be asked about, and how much each counts: by a target, a workload, restrictions.

All of it is public. A weight multiplies a noisy error after its noise, which is free. Inside a
private choice it multiplies the exact error, and the largest weight multiplies the sensitivity.
Proof: docs/proofs/workload_weights.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from understudy.errors import UsageError
from understudy.facts.domain import Attributes, Domain
from understudy.facts.unit import Unit
from understudy.facts.workload import Workload
from understudy.methods.structure.restrict import Restrictions
from understudy.methods.structure.rounds import ModelErrors
from understudy.rows.counting import Marginal, Score
from understudy.system.arrays import Floats


@dataclass(frozen=True)
class TableRules:
    """The tables that a method may ask about, and how much each of them counts.

    Attributes:
        domain: the attributes.
        workload: what counts more than the rest.
        restrictions: pairs of attributes that no table may hold.
    """

    domain: Domain
    workload: Workload
    restrictions: Restrictions

    def among(self, tables: Iterable[Attributes]) -> list[Attributes]:
        """The tables that may be asked about; those that count most come first."""
        return sorted(filter(self.allows, tables), key=lambda table: -self.weight(table))

    def allows(self, table: Attributes) -> bool:
        """Whether no restriction keeps two attributes of a table apart."""
        if not self._forbids:
            return True
        pairs = itertools.combinations(map(self.domain.base, table), 2)
        return all(self._together(*pair) for pair in pairs)

    @cached_property
    def _forbids(self) -> bool:
        """Whether any pair is kept apart: every candidate of a wide table is asked about."""
        return bool(self.restrictions.forbidden or self.restrictions.protection.kept)

    def _together(self, one: str, other: str) -> bool:
        """Whether two attributes may be in one table: a protected one with what it depends on."""
        rules = self.restrictions
        return (
            {(one, other), (other, one)}.isdisjoint(rules.forbidden)
            and _may_depend(one, other, rules.protection.kept)
            and _may_depend(other, one, rules.protection.kept)
        )

    def weight(self, table: Attributes) -> float:
        """How much a table counts."""
        return self.workload.weight([self.domain.base(name) for name in table])

    def weights(self, tables: Sequence[Attributes]) -> Floats:
        """How much each of some tables counts."""
        return np.array([self.weight(table) for table in tables])

    def preferred(self, tables: Sequence[Attributes]) -> list[Attributes]:
        """The tables that count more than others do."""
        return [table for table in tables if self.weight(table) > 1]


def _may_depend(protected: str, other: str, kept: Mapping[str, Attributes]) -> bool:
    return protected not in kept or other in kept[protected]


@dataclass(frozen=True, eq=False)
class WeightedErrors:
    """Errors of tables times their weights, for a private choice among them.

    Privacy: one row more or less moves an error by at most one, and the product by at most the
    table's weight. The score is calibrated to the largest weight of all tables.

    Attributes:
        errors: of the model.
        weights: of every table that is asked about.
    """

    errors: ModelErrors
    weights: Mapping[Attributes, float]

    def __call__(self, marginal: Marginal) -> float:
        """The exact error of one table, times its weight."""
        return self.weights[marginal.attributes] * self.errors(marginal)

    def score(self, unit: Unit) -> Score:
        """The score, with a sensitivity that holds for every table."""
        plain = self.errors.score(unit)
        largest = Fraction(max(self.weights.values()))
        return Score(
            "the model's weighted L1 error", self, plain.sensitivity * largest, plain.neighbours
        )


def check_table_rules(restrictions: Restrictions, method: str) -> None:
    """Refuse rules about directions, which only a network has."""
    asked = {
        "required edges": restrictions.required,
        "tiers": restrictions.tiers,
        "predictors": restrictions.predictors is not None,
    }
    for name in (name for name, given in asked.items() if given):
        raise UsageError(
            f"{method} has no edges, and {name} order them; leave them out, or use nist"
        )
