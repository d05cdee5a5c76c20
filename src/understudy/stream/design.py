"""The design of a stream, fixed before the first event: its universe, its entries and its cost.

`epsilon` is spent once on the state of each epoch, and once more on all declared answers together.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from understudy.errors import CapacityError, UsageError
from understudy.privacy.accounting.costs import pure_epsilon
from understudy.privacy.accounting.events import ApproximateEvent, Charge
from understudy.privacy.budget import Amount, exact
from understudy.stream.entries import bytes_for
from understudy.stream.response import Response, response_of
from understudy.stream.sizing import Sizing, default_sample
from understudy.stream.universe import Edges, Range, Sketch, Universe
from understudy.system.machine import whole_memory

_MOST_ANSWERS = 10**6


@dataclass(frozen=True, kw_only=True)
class Design:
    """The terms of an estimator.

    Attributes:
        universe: everybody who could be seen.
        epsilon: of the state, and of all answers together.
        answers: how many answers are declared.
        estimator: the name of the response.
        levels: of an entry, for the quantised estimator.
        sample: how many users have an entry.
        shards: how many states share the ε of a user who may be in all of them.
    """

    universe: Universe
    epsilon: Fraction
    answers: int
    estimator: str
    levels: int
    sample: int
    shards: int = 1

    @classmethod
    def of(
        cls,
        universe: Universe | int,
        *,
        epsilon: Amount,
        answers: int = 1,
        estimator: str = "bernoulli",
        levels: int = 2,
        sample: int | None = None,
        shards: int = 1,
    ) -> Design:
        """Terms from what people write; without a sample size, the default one.

        Example:
            >>> Design.of(100_000, epsilon=0.25).sample
            100000
        """
        if isinstance(universe, int):
            universe = Range(universe)
        if isinstance(universe, Sketch) and shards > 1:
            raise UsageError("a sketch has no shards; start them on a hash space instead")
        amount = exact(epsilon, what="epsilon")
        for what, number, most in (("answers", answers, _MOST_ANSWERS), ("shards", shards, 64)):
            if not 1 <= number <= most:
                raise UsageError(f"{what} is {number}; declare from 1 to {most:,}")
        sizing = Sizing(response_of(estimator, amount / shards, levels), amount / answers)
        chosen = _sample(universe, sample, sizing)
        _check_fits(chosen, sizing)
        universe = _ordered(universe, sampled=chosen < universe.size)
        return cls(
            universe=universe,
            epsilon=amount,
            answers=answers,
            estimator=estimator,
            levels=levels,
            sample=chosen,
            shards=shards,
        )

    @cached_property
    def response(self) -> Response:
        """Return the kind of entry that each user has."""
        return response_of(self.estimator, self.state_epsilon, self.levels)

    @cached_property
    def sizing(self) -> Sizing:
        """Return the accuracy of one answer."""
        return Sizing(self.response, self.epsilon / self.answers)

    @property
    def state_epsilon(self) -> Fraction:
        """Return the cost of one epoch's state, seen once at any time."""
        return self.epsilon / self.shards

    def answer_charge(self, number: int) -> Charge:
        """Return the entry for one answer."""
        return Charge(f"density, answer {number} of {self.answers}", self.sizing.noise.event)

    def epoch_charge(self, number: int) -> Charge:
        """The entry for the state of one epoch."""
        event = ApproximateEvent(f"pan-private state, {self.response.name}", self.state_epsilon)
        return Charge(f"state of epoch {number}", event)

    @property
    def answer_epsilon(self) -> Fraction:
        """Return the cost of one answer."""
        return pure_epsilon(self.sizing.noise.event) or Fraction(0)

    def total_epsilon(self, epochs: int = 1) -> Fraction:
        """Return the ε of the states of all epochs and of every declared answer together."""
        return self.state_epsilon * epochs + self.epsilon


def _sample(universe: Universe, asked: int | None, sizing: Sizing) -> int:
    if universe.collides:
        if asked not in (None, universe.size):
            raise UsageError(
                "a hash space or a sketch is kept whole; make it smaller instead of a sample"
            )
        return universe.size
    sample = default_sample(sizing, universe.size) if asked is None else asked
    if not 1 <= sample <= universe.size:
        raise UsageError(
            f"a sample of {sample} users of {universe.size}; give a number from 1 to all of them"
        )
    return sample


def _check_fits(sample: int, sizing: Sizing) -> None:
    """Refuse noise that cannot be drawn and a state that memory cannot hold, before either is."""
    assert sizing.noise.scale > 0
    needed = bytes_for(sample, sizing.response)
    if needed > whole_memory():
        raise CapacityError(
            f"a state of {sample:,} entries takes {needed / 2**30:,.0f} GiB, more than there is "
            "here; give a smaller sample or hash space"
        )


def _ordered(universe: Universe, *, sampled: bool) -> Universe:
    """The universe in random order where users are sampled."""
    match universe:
        case Range(size, first, _, key):
            return Range(size, first, sampled, key)
        case Edges(vertices, _, key):
            return Edges(vertices, sampled, key)
        case _:
            return universe
