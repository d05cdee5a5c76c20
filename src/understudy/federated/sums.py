"""Sums over records that are not rows of a table: what both sides of a run know about them.

Images are such records. Their own room says what is summed and how much one of them adds; this one
carries the questions, and whoever starts a holder or an analyst brings both together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from understudy.federated.terms import ImageFacts
from understudy.methods.estimation.learned import Learned
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.additive import Additive
from understudy.rows.counting import CountSource
from understudy.system.arrays import Array, Integers

if TYPE_CHECKING:
    from understudy.federated.protocols.summing import HolderSums


class SumQuestion(Protocol):
    """A sum of whole numbers to which one record adds no more than is declared."""

    @property
    def name(self) -> str:
        """The name that the statement gives it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the sum; public."""

    @property
    def most(self) -> int:
        """The most that one record adds to a cell."""

    def mechanism(self, budget: Budget) -> Additive:
        """Return the noise that costs a budget."""

    def answer(self, source: CountSource) -> Integers:
        """The exact sum. Private: called only while the Curator looks."""


class SumProtocol(Protocol):
    """The sums that are asked for, and the model that is learned from those of all holders."""

    @property
    def facts(self) -> ImageFacts:
        """Public facts that all sides must agree on."""

    @property
    def questions(self) -> int:
        """How many sums a run asks for, at most."""

    def read(self, step: str, arrays: tuple[Array, ...]) -> SumQuestion:
        """Return the question that arrived; UsageError where it is not valid."""

    def learn(self, sums: HolderSums) -> Learned:
        """Learn from the sums of all holders."""
