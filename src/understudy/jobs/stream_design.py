"""The terms of a new stream, from what was written on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli import stream_options
from understudy.cli.groups import Group
from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.stream import Design
    from understudy.stream.universe import Universe


@dataclass(frozen=True)
class Terms(Group):
    """What was asked for; all of it counts for a new state."""

    epsilon: stream_options.Epsilon = None
    universe: stream_options.UniverseSize = None
    first: Annotated[int, typer.Option("--first", help="The first user's number.")] = 0
    keys: stream_options.KeyFile = None
    hash_space: Annotated[
        int | None,
        typer.Option("--hash-space", help="So many places for users that nobody can list."),
    ] = None
    vertices: Annotated[
        int | None,
        typer.Option(
            "--vertices", help="Of a graph: users are edges, lines are pairs of vertices."
        ),
    ] = None
    estimator: stream_options.EstimatorName = "bernoulli"
    levels: stream_options.Levels = 2
    sample: stream_options.Sample = None
    answers: stream_options.Answers = 1
    shards: Annotated[
        int, typer.Option("--shards", help="How many states share users, each at its part of ε.")
    ] = 1
    like: Annotated[
        Path | None, typer.Option("--like", help="A state whose sample a new one is to share.")
    ] = None

    def design(self) -> Design:
        """The terms of a new state."""
        from understudy.stream import Design

        if self.epsilon is None:
            raise UsageError("epsilon has no default; say it, for example --epsilon 0.25")
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
        from understudy.stream import Edges, Hashed, Keys, Range
        from understudy.stream.reading import key_lines
        from understudy.stream.universe import new_key

        ways = (self.universe, self.keys, self.hash_space, self.vertices)
        if sum(way is not None for way in ways) != 1:
            raise UsageError(
                "say who could come by, in one way: --universe, --keys, --hash-space or --vertices"
            )
        key = self._shared_key() if self.like else new_key()
        if self.universe is not None:
            return Range(self.universe, self.first, key=key)
        if self.keys is not None:
            return Keys(key_lines(self.keys), key)
        if self.hash_space is not None:
            return Hashed(self.hash_space, key)
        return Edges(self.vertices or 0, key=key)

    def _shared_key(self) -> str:
        from understudy.stream.header import key_of

        assert self.like is not None
        return key_of(self.like)
