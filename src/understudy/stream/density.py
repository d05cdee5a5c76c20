"""The estimator: how many different users were seen, from a state that says little about any one.

Privacy: for any one user and all of their events (user-level, added or removed), the state of an
epoch seen once at any time costs ε, and each answer its share of another ε. Together they cost the
sum. Proof: docs/proofs/pan_private.md.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from understudy.errors import DataError, UnderstudyError, UsageError
from understudy.privacy.budget import Amount, Budget
from understudy.privacy.noise.system import Noise, SystemNoise
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.record import DEFAULT, LedgerChoice
from understudy.privacy.statements.scope import SEIZED
from understudy.stream.account import StreamAccount
from understudy.stream.design import Design
from understudy.stream.sketch import released_users
from understudy.stream.state import FileState, State, check_answers_left, state_bytes
from understudy.stream.texts import Texts
from understudy.stream.union import Union, released_union
from understudy.stream.universe import Ids, Sketch, Universe, ids_of
from understudy.system.amounts import at_most
from understudy.system.arrays import Bytes

UNIT = "user, all events"
NEIGHBOURS = "add-remove"


class StreamEstimator(Protocol):
    """The protocol of every estimator over a stream of events."""

    def update(self, ids: Any) -> None:
        """Count users that were seen."""

    def delete(self, ids: Any) -> None:
        """Take in users that went away."""

    def answer(self) -> DistinctCount:
        """Return a noisy count; every answer is paid for."""

    @property
    def state(self) -> Bytes:
        """Return the state as an intruder would see it."""


@dataclass(frozen=True)
class DistinctCount:
    """A released estimate; unbiased, so that it may fall outside what is possible.

    Attributes:
        density: the part of the universe that was seen; of the places, in a hash space.
        distinct: how many different users were seen.
        standard_error: of the density.
        distinct_error: of the number.
        m: how many users have an entry.
        epsilon_state: what the state of one epoch costs.
        epsilon_answer: what this answer cost.
        epsilon_total: what states and all declared answers cost together.
        epochs: of which this is the last.
        number: of the answer.
        left: how many more answers there are.
        method: the name of the estimator.
    """

    density: float
    distinct: float
    standard_error: float
    distinct_error: float
    m: int
    epsilon_state: Fraction
    epsilon_answer: Fraction
    epsilon_total: Fraction
    epochs: int
    number: int
    left: int
    method: str

    def document(self) -> dict[str, Any]:
        """Return the answer for JSON."""
        amounts = {
            name: getattr(self, name)
            for name in ("epsilon_state", "epsilon_answer", "epsilon_total")
        }
        return {
            "density": self.density,
            "distinct": self.distinct,
            "standard_error": self.standard_error,
            "distinct_error": self.distinct_error,
            "m": self.m,
            **{name: at_most(amount) for name, amount in amounts.items()},
            **{f"{name}_exact": str(amount) for name, amount in amounts.items()},
            "unit": UNIT,
            "neighbours": NEIGHBOURS,
            "trust": SEIZED,
            "epochs": self.epochs,
            "answer": self.number,
            "answers_left": self.left,
            "estimator": self.method,
        }


class DensityEstimator:
    """Estimates how many different users were seen, with a state that an intruder may see.

    Privacy: the grant is charged for the state before its first bit is drawn and for every answer
    before its noise is. Answers must be asked for at times that do not depend on events, as by a
    clock: "after every thousand events" would reveal how many events there were.

    Example:
        >>> visits = DensityEstimator(1000, epsilon=0.5, ledger=None)
        >>> visits.update([3, 1, 4, 1, 5])
        >>> visits.answer().m
        1000
    """

    def __init__(
        self,
        universe: Universe | int,
        *,
        epsilon: Amount,
        answers: int = 1,
        intrusions: int = 0,
        estimator: str = "bernoulli",
        levels: int = 2,
        sample: int | None = None,
        shards: int = 1,
        outside: str = "drop",
        path: str | os.PathLike[str] | None = None,
        ledger: LedgerChoice = DEFAULT,
        dataset: str | None = None,
        grant: Grant | None = None,
        noise: Noise | None = None,
    ) -> None:
        """Declare everything; the state is drawn at once.

        Args:
            universe: everybody who could be seen, or how many, numbered from 0.
            epsilon: of the state, and of all answers together.
            answers: how many there may be.
            intrusions: how many may be announced, each for another ε; a grant may allow more.
            estimator: bernoulli, dwork, quantised, laplace or gaussian.
            levels: of an entry, for quantised.
            sample: how many users get an entry; all up to 10⁸, else enough for α = β = 0.05.
            shards: how many states share the users, each at its part of ε; `merged` answers then.
            outside: whether ids of nobody in the universe are passed over ("drop") or refused.
            path: of a file that is the state; memory unless given.
            ledger: where the spending is kept: the user's own ledger unless given. None keeps no
                record. `close` ends the run's entry; one that is never closed counts whole.
            dataset: the name the ledger knows the stream by; the state file's unless given.
            grant: what it is paid from instead, as a ledger gives it.
            noise: where the noise of answers comes from.
        """
        design = Design.of(
            universe,
            epsilon=epsilon,
            answers=answers,
            estimator=estimator,
            levels=levels,
            sample=sample,
            shards=shards,
        )
        _is_strict(outside)
        cost = Budget.pure(design.total_epsilon(1 + intrusions))
        paid = StreamAccount.of(
            grant,
            cost=cost,
            about=about(design),
            ledger=ledger,
            dataset=dataset or _name(path),
            noise=noise,
        )
        try:
            paid.grant.charge([design.epoch_charge(1)])
            state = State.start(design) if path is None else FileState.create(path, design)
        except UnderstudyError:
            paid.close()
            raise
        self._set_up(state, paid, noise, outside)

    @classmethod
    def resume(
        cls,
        path: str | os.PathLike[str],
        *,
        names: Texts | None = None,
        outside: str = "drop",
        ledger: LedgerChoice = DEFAULT,
        dataset: str | None = None,
        grant: Grant | None = None,
        noise: Noise | None = None,
    ) -> Self:
        """Resume a state that a file holds; what was paid before is not paid again."""
        state = FileState.open(path, names)
        design = state.design
        left = Budget.pure(design.answer_epsilon * (design.answers - state.given))
        try:
            paid = StreamAccount.of(
                grant,
                cost=left,
                about=about(design),
                ledger=ledger,
                dataset=dataset or _name(path),
                noise=noise,
            )
        except UnderstudyError:
            state.close()
            raise
        return cls._over(state, paid, noise, outside)

    @classmethod
    def over(
        cls, state: State, grant: Grant, *, noise: Noise | None = None, outside: str = "drop"
    ) -> Self:
        """The estimator over a state that was paid for."""
        return cls._over(state, StreamAccount(grant), noise, outside)

    @classmethod
    def _over(cls, state: State, paid: StreamAccount, noise: Noise | None, outside: str) -> Self:
        estimator = cls.__new__(cls)
        estimator._set_up(state, paid, noise, outside)
        return estimator

    def _set_up(self, state: State, paid: StreamAccount, noise: Noise | None, outside: str) -> None:
        self._state, self._paid, self._noise = state, paid, noise or SystemNoise()
        self._grant = paid.grant
        self._strict = _is_strict(outside)

    @property
    def design(self) -> Design:
        """Return the terms."""
        return self._state.design

    @property
    def state(self) -> Bytes:
        """Return the state as an intruder would see it."""
        return state_bytes(self._state)

    @property
    def epochs(self) -> int:
        """How many epochs there have been, this one included."""
        return len(self._state.epochs)

    @property
    def answers_left(self) -> int:
        """How many declared answers have not been given."""
        return self.design.answers - self._state.given

    def update(self, ids: Any) -> None:
        """Count users that were seen: an iterator, a numpy or an Arrow array, or texts."""
        self._state.live.redraw(self._places(ids_of(ids)))

    def delete(self, ids: Any) -> None:
        """Take in users that went away; one who was never seen is as absent as before."""
        going = ids_of(ids)
        self.apply(going, np.ones(len(going), np.uint8))

    def apply(self, ids: Any, deletions: Bytes) -> None:
        """Take in both kinds in order: 1 where a user goes away, 0 where one is seen."""
        if self.design.universe.collides and deletions.any():
            raise UsageError(
                "users of a hash space cannot go away, since another may share their place; "
                "give the universe as a size or a file of keys"
            )
        self._state.live.redraw(self._places(ids_of(ids)), deletions)

    def announce_intrusion(self) -> None:
        """The state was seen: keep it as public, and continue with a fresh one, for another ε."""
        if isinstance(self.design.universe, Sketch):
            raise UsageError(
                "a sketch has one epoch; announce intrusions with a hash space instead"
            )
        if self.design.response.levels > 2:
            raise UsageError(
                "epochs are put together only for entries of two levels; "
                "choose the estimator bernoulli, dwork or quantised"
            )
        self._grant.charge([self.design.epoch_charge(self.epochs + 1)])
        self._state.begin_epoch()

    def answer(self) -> DistinctCount:
        """The density, paid for and with noise."""
        self._pay()
        if isinstance(self.design.universe, Sketch):
            return counted(self._state, released_users(self._state, self._noise))
        return worded(self._state, released_union(self._state, self._noise))

    def _pay(self) -> None:
        if self.design.shards > 1:
            raise UsageError("a shard of several has no answer of its own; merge all of them")
        check_answers_left(self._state)
        self._grant.charge([self.design.answer_charge(self._state.given + 1)])
        self._state.count_answer()

    def close(self) -> None:
        """End; a state in a file stays there."""
        self._state.close()
        self._paid.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def _places(self, ids: Ids) -> Any:
        places = self.design.universe.places(ids)
        if self._strict and ((places < 0) | (places >= self.design.universe.size)).any():
            raise DataError(
                f"an id is nobody's in a universe of {self.design.universe.size:,}; "
                "correct the stream, or have such ids dropped; none of this batch was taken in"
            )
        return places


def about(design: Design) -> dict[str, str]:
    """Return the facts about a stream for its grant's entry in the ledger."""
    return {"method": f"stream density, {design.response.name}"}


def _name(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else Path(path).stem


def _is_strict(outside: str) -> bool:
    if outside not in ("drop", "refuse"):
        raise UsageError(f"outside is {outside!r}; say drop or refuse")
    return outside == "refuse"


def worded(state: State, union: Union) -> DistinctCount:
    """A released estimate as an answer, with what it cost."""
    design, size = state.design, state.design.universe.size
    users = (union.density * size, union.standard_error * size)
    if design.universe.collides:
        users = union.users_behind(size)
    return counted(state, (union, *users))


def counted(state: State, found: tuple[Union, float, float]) -> DistinctCount:
    """An answer: a density, the number of users behind it, and the error of that number."""
    (union, users, users_error), design = found, state.design
    return DistinctCount(
        density=union.density,
        distinct=users,
        standard_error=union.standard_error,
        distinct_error=users_error,
        m=design.sample,
        epsilon_state=design.state_epsilon,
        epsilon_answer=design.answer_epsilon,
        epsilon_total=design.total_epsilon(len(state.epochs)),
        epochs=len(state.epochs),
        number=state.given,
        left=design.answers - state.given,
        method=design.estimator,
    )
