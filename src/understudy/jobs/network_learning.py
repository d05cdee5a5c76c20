"""How a network is to be learned: score, bound on tables, shares of the budget, genetic search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from understudy.methods.structure.genetic import GeneticSearch

GENETIC = ("population", "selected", "mutation", "generations")
"""The settings that only the genetic search has: P, S, r and e of its paper."""


@dataclass(frozen=True)
class NetworkLearningRequest(JobRequest):
    """Settings that the papers have for learning a network; None leaves the method's own.

    Attributes:
        score: MI, F, R or TVD, by which families are chosen.
        theta: θ, how many times its noise an average cell must hold.
        structure_share: β, the part of the budget that the network may cost.
        one_way_share: the part of tables of single columns, before the network is learned.
        size_share: the part that counts the rows, where their number is private.
        population: P, the individuals of a generation of the genetic search.
        selected: S, how many of them live on.
        mutation: r, the chance of each mutation.
        generations: e, how many there are at the most.
    """

    score: str | None = None
    theta: float | None = None
    structure_share: str | None = None
    one_way_share: str | None = None
    size_share: str | None = None
    population: int | None = None
    selected: int | None = None
    mutation: float | None = None
    generations: int | None = None

    def search(self, structure: str | None) -> GeneticSearch | None:
        """The genetic search with the settings given; None where none of them is.

        Args:
            structure: how the network is learned; settings of a search that is not made are
                refused.
        """
        from understudy.methods.structure.genetic import GeneticSearch

        given = {name: getattr(self, name) for name in GENETIC}
        given = {name: value for name, value in given.items() if value is not None}
        if not given:
            return None
        if structure != "genetic":
            raise UsageError(
                f"--{next(iter(given))} is for the genetic search; add --structure genetic, or "
                "leave it out"
            )
        return GeneticSearch(**given)
