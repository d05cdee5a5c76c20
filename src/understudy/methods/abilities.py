"""The abilities of a method: what it can be asked for, and what kind of model it gives.

Commands, help texts, pages, plans, audits and exams read them here, and nobody lists methods again.
"""

from __future__ import annotations

from dataclasses import dataclass

from understudy.errors import UsageError
from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.budget import Budget, Measure

SHARES = ("size_share", "one_way_share", "structure_share")
"""The options that set which share of the budget a method with a network spends on a stage."""

NETWORK_OPTIONS = ("structure", "degree", "restrictions", "score", "theta", "search", *SHARES)
"""The parameters that a command line fills for methods that learn a Bayesian network."""

TABLE_OPTIONS = ("target", "workload", "restrictions")
"""The parameters that a command line fills for methods that choose tables, and have no network."""

TABLE_RULES = ("target", "protect", "quasi-identifiers", "ignore", "forbid")
"""The options of restrictions that have a meaning without the edges of a network."""

TRAINING_OPTIONS = ("target", "settings")
"""The parameters that a command line fills for methods that train a neural network."""


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """The requests that a method accepts, and the kind of its models.

    Attributes:
        other_neighbours: whether it also takes the relation that is not its default.
        persons: whether it can promise for whole persons with several rows.
        pure: whether it takes a budget of ε alone.
        approximate: whether it takes a budget of ε and δ.
        other_budget: the way out, for people who gave a budget of the other kind.
        constraints: whether no row that it makes violates a constraint of the schema.
        options: the parameters beside budget and unit that a command line may fill: "rows", where
            the method itself has to know how many are wanted, those of networks, of training.
        extra: the extra that brings the packages it needs, such as "gan".
        learns_network: whether its model is a Bayesian network.
        releases_rows: whether its model is rows that were drawn from private ones, one by one.
        is_trained: whether it trains a neural network, which takes long and cannot be forecast.
        lessons: whether its network is first taught by rows of another method.
        images: whether there is a method of the same name for images.
        in_rounds: whether what it asks depends on earlier answers, round after round; it stops
            early where there is little to learn.
    """

    other_neighbours: bool = True
    persons: bool = True
    pure: bool = True
    approximate: bool = True
    other_budget: str = "use another method"
    constraints: bool = True
    options: tuple[str, ...] = ()
    extra: str | None = None
    learns_network: bool = False
    releases_rows: bool = False
    is_trained: bool = False
    lessons: bool = False
    images: bool = False
    in_rounds: bool = False

    @property
    def has_probabilities(self) -> bool:
        """Whether a model can be asked how likely something is: rows and generators cannot."""
        return not (self.releases_rows or self.is_trained)

    def check_budget(self, method: str, budget: Budget) -> None:
        """Refuse a budget of a kind that the method has no proof for."""
        if budget.measure is Measure.PURE and not self.pure:
            raise UsageError(f"{method} needs a delta above 0, such as 1e-9; {self.other_budget}")
        if budget.measure is Measure.APPROXIMATE and not self.approximate:
            raise UsageError(
                f"{method} promises pure epsilon and takes no delta; {self.other_budget}"
            )

    def check_unit(self, method: str, unit: Unit, own: Neighbours) -> None:
        """Refuse whom the method has no bound for."""
        relation = unit.neighbours is own or self.other_neighbours
        if relation and (unit.rows_per_person is None or self.persons):
            return
        raise UsageError(
            f"{method} has no bound for a {unit.label} under {unit.neighbours}; "
            f"use single rows under {own}, or another method"
        )
