"""Images among holders: sums that `gan` knows how to bound, asked for by `federated`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from understudy.facts.unit import Neighbours
from understudy.federated.terms import ImageFacts
from understudy.gan.image_size import ImageSize
from understudy.gan.moment_asking import received, sent
from understudy.gan.moment_release import ImageSum
from understudy.gan.moments import QUESTIONS, MomentMethod
from understudy.methods.estimation.learned import Learned
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.additive import Additive
from understudy.system.arrays import Array, Floats, Integers

if TYPE_CHECKING:
    from understudy.federated.protocols.summing import HolderSums
    from understudy.rows.counting import CountSource


@dataclass(frozen=True)
class ImageSums:
    """The sums over images of all holders, and how the moments of classes are learned from them.

    Attributes:
        size: the public sizes of all images.
        neighbours: the relation of the promise.
    """

    size: ImageSize
    neighbours: Neighbours

    @property
    def facts(self) -> ImageFacts:
        """Return the public facts that all sides must agree on."""
        size = self.size
        return ImageFacts(
            height=size.height, width=size.width, classes=size.classes, channels=size.channels
        )

    @property
    def questions(self) -> int:
        """Return how many sums a run asks for, at most."""
        return QUESTIONS

    def read(self, step: str, arrays: tuple[Array, ...]) -> HeldSum:
        """Return the question that arrived, checked against the sizes."""
        return HeldSum(step, received(step, arrays, self.size), self.neighbours)

    def learn(self, sums: HolderSums) -> Learned:
        """Learn the moments of classes from the sums of all holders."""
        method = MomentMethod(
            size=self.size, epsilon=sums.conversation.plan.budget, neighbours=self.neighbours
        )
        law, rows = method.learn(_OfHolders(sums))
        return Learned(law, rows)


@dataclass(frozen=True, eq=False)
class HeldSum:
    """A sum over images as a holder answers it.

    Attributes:
        step: of the method.
        exact: what every image adds.
        neighbours: the relation of the promise.
    """

    step: str
    exact: ImageSum
    neighbours: Neighbours

    @property
    def name(self) -> str:
        """Return what the statement calls it."""
        return f"{self.step} of images"

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the sum."""
        return self.exact.shape

    @property
    def most(self) -> int:
        """Return the norm of all that one image adds, and so the most of one cell."""
        return math.isqrt(self.exact.sensitivity(Neighbours.ADD_REMOVE).squared) + 1

    def mechanism(self, budget: Budget) -> Additive:
        """Return the noise that costs a budget."""
        return self.exact.sensitivity(self.neighbours).mechanism(budget)

    def answer(self, source: CountSource) -> Integers:
        """The exact sum. Private: called only while the Curator looks."""
        return self.exact.answer(source)


@dataclass(frozen=True)
class _OfHolders:
    """Sums over the images of all holders, as the method asks for them."""

    sums: HolderSums

    @property
    def budget(self) -> Budget:
        """Return the budget at each holder."""
        return self.sums.budget

    @property
    def parts(self) -> int:
        """Return how many holders add their noise."""
        return self.sums.parts

    @property
    def public_rows(self) -> int | None:
        """Return how many images there are, where that is public."""
        return self.sums.public_rows

    def ask(self, question: ImageSum, budget: Budget, *, name: str) -> tuple[Floats, float]:
        """Ask all holders for a share of what each of them may spend."""
        del name  # holders name it themselves
        step, arrays = sent(question)
        return self.sums.ask(step, arrays, Fraction(budget.amount) / self.sums.budget.amount)
