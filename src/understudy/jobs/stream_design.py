"""The terms of a new stream: who could appear in it, and what its state and answers cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from understudy.stream import Design
    from understudy.stream.texts import Texts
    from understudy.stream.universe import Universe


@dataclass(frozen=True)
class StreamRequest(JobRequest):
    """Terms of a new state, which are public.

    Attributes:
        epsilon: the privacy loss of the state; the answers cost as much again.
        universe: how many users there are.
        first: the number of the first user.
        users: a public file that names every user.
        hash_space: how many places there are for users that nobody can list.
        sketch: how many buckets there are for users of whom there may be any number.
        vertices: how many vertices a graph has; its edges are the users.
        estimator: how entries answer.
        levels: how many levels an entry has.
        sample: how many users have an entry.
        answers: how many answers share the second epsilon.
        shards: how many states share the users.
        like: a state whose sample the new one shares.
    """

    epsilon: str | None = None
    universe: int | None = None
    first: int = 0
    users: Path | None = None
    hash_space: int | None = None
    sketch: int | None = None
    vertices: int | None = None
    estimator: str = "bernoulli"
    levels: int = 2
    sample: int | None = None
    answers: int = 1
    shards: int = 1
    like: Path | None = None

    def design(self) -> Design:
        """The terms of a new state, checked."""
        from understudy.stream import Design

        if self.epsilon is None:
            raise UsageError("epsilon has no default; give it, for example --epsilon 0.25")
        return Design.of(
            self._universe(),
            epsilon=self.epsilon,
            answers=self.answers,
            estimator=self.estimator,
            levels=self.levels,
            sample=self.sample,
            shards=self.shards,
        )

    def _universe(self) -> Universe:
        from understudy.stream import Edges, Hashed, Keys, Range, Sketch
        from understudy.stream.reading import key_lines
        from understudy.stream.universe import new_key

        ways = (self.universe, self.users, self.hash_space, self.sketch, self.vertices)
        if sum(way is not None for way in ways) != 1:
            raise UsageError(
                "say in one way who could appear: --universe, --users, --hash-space, --sketch or "
                "--vertices"
            )
        key = self._shared_key() if self.like else new_key()
        if self.universe is not None:
            return Range(self.universe, self.first, key=key)
        if self.users is not None:
            return Keys(key_lines(self.users), key)
        if self.hash_space is not None:
            return Hashed(self.hash_space, key)
        if self.sketch is not None:
            return Sketch(self.sketch, key)
        return Edges(self.vertices or 0, key=key)

    def _shared_key(self) -> str:
        from understudy.stream.header import key_of

        assert self.like is not None
        return key_of(self.like)

    def check_same(self, design: Design, state: Path) -> None:
        """Refuse terms that differ from those with which a state was started."""
        from understudy.privacy.budget import exact
        from understudy.stream import Sketch

        universe = design.universe
        same = (
            self.epsilon is None or exact(self.epsilon, what="epsilon") == design.epsilon,
            self.universe in (None, design.universe.size),
            self.hash_space in (None, design.universe.size),
            self.sketch in (None, universe.buckets if isinstance(universe, Sketch) else 0),
            self.sample in (None, design.sample),
        )
        if not all(same):
            raise UsageError(
                f"state {state}: was started with other terms; leave them out, or start a new state"
            )


def user_names(users: Path | None) -> Texts | None:
    """The names of all users, read from a public file, where there is one."""
    from understudy.stream.reading import key_lines

    return None if users is None else key_lines(users)
