"""The start of `dpgan` for tables: rows of the default method, and a generator taught by them.

A share of the budget pays for a model by `adaptive`. Its rows may be drawn without end, and the
generator is brought to their pairs of columns before the critic takes its first step. All of that
is post-processing. Proof: docs/proofs/dpgan.md.

Source: a generator fitted to noisy marginals is that of GEM (Liu, Vietri, Wu 2021); here they are
those of rows that were drawn from a released model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from understudy.facts.domain import Domain
from understudy.gan.backend import Parameters, Tensor, random_from, torch
from understudy.gan.optimiser import Adam
from understudy.gan.perceptrons import RowMaker
from understudy.gan.training import TrainingHook, TrainingState, gradient_of, left_the_numbers
from understudy.methods.adaptive import AdaptiveMarginals
from understudy.models.distribution import Distribution
from understudy.privacy.curator import Curator
from understudy.system.arrays import Integers
from understudy.system.notebooks import notebook_bar

# Drawn rows that a generator is compared with: as many as fit into this many cells.
_MOST_DRAWN, _DRAWN_CELLS = 50_000, 2**24
# The rate falls from here on.
_STEADY = 0.5


@dataclass(frozen=True, eq=False)
class RowStart:
    """The release of `adaptive` before the critic's first step.

    Attributes:
        law: the model of rows.
        rows: how many there are, declared or with noise.
        target: the attribute that the generator is given, if any.
    """

    law: Distribution
    rows: int
    target: str | None

    @classmethod
    def asked_of(cls, curator: Curator, method: AdaptiveMarginals) -> RowStart:
        """Let the method ask, within the Curator's budget.

        Privacy: each round is charged to the Curator's grant before it is drawn.
        """
        learned = method.learn(curator)
        return cls(learned.distribution, learned.rows, method.target)

    def drawn(self, domain: Domain, *, seed: int) -> Integers:
        """Rows of the model, a line each; free, however many."""
        width = sum(domain.sizes.values())
        count = max(min(_MOST_DRAWN, _DRAWN_CELLS // width), 1)
        codes = self.law.draw(count, np.random.default_rng(seed))
        return np.stack([codes[name].astype(np.int64) for name in domain], axis=1)

    def chances(self, domain: Domain, drawn: Integers) -> tuple[float, ...]:
        """How often each code of the target is drawn; one class without a target."""
        if self.target is None:
            return (1.0,)
        counts = np.bincount(drawn[:, [*domain].index(self.target)], minlength=domain[self.target])
        return tuple(float(share) for share in counts / counts.sum())


@dataclass(frozen=True, kw_only=True)
class RowTeaching:
    """How a generator of rows is taught; all of it public.

    Attributes:
        steps: how many.
        batch: rows in a step.
        rate: how fast the generator learns.
        averaging: how much of the generator's past its released average keeps in each step.
        seed: of public random numbers.
    """

    steps: int
    batch: int = 1024
    rate: float = 2e-3
    averaging: float = 0.98
    seed: int = 0


@dataclass(frozen=True)
class PairShares:
    """Which codes of two attributes meet, counted in rows or expected of a generator's chances.

    A table has a line and a column for every code of the attributes that are compared, and a last
    one that counts single codes. With a target every class has a table of its own, unless they
    would be too many.

    Attributes:
        sizes: how many codes every attribute has.
        target: the place of the attribute that names classes, if any.
        places: codes that are compared at once.
        cells: of all tables at once.
    """

    sizes: tuple[int, ...]
    target: int | None = None
    places: int = 512
    cells: int = 2**21

    def compared(self, random: Any) -> tuple[int, ...]:
        """All attributes, or as many by chance as there are places for.

        At least one, however many codes it has; it is then compared by itself.
        """
        if sum(self.sizes) <= self.places:
            return tuple(range(len(self.sizes)))
        chosen: list[int] = []
        for place in torch().randperm(len(self.sizes), generator=random).tolist():
            if not chosen or sum(self.sizes[each] for each in [*chosen, place]) <= self.places:
                chosen.append(place)
        return tuple(sorted(chosen))

    def counted(self, rows: Integers, chosen: tuple[int, ...]) -> Tensor:
        """The shares of rows that have both codes, for some attributes."""
        one_hot, codes = torch().nn.functional.one_hot, torch().from_numpy(rows)
        parts = [one_hot(codes[:, each], self.sizes[each]) for each in chosen]
        ones = torch().cat(parts, dim=1).to(torch().float32)
        labels = codes[:, 0] * 0 if self.target is None else codes[:, self.target]
        return self._met(ones, labels, self._groups(chosen))

    def expected(self, chances: Tensor, labels: Tensor, chosen: tuple[int, ...]) -> Tensor:
        """Count the pairs of made rows, differentiable by the chances of their codes.

        Codes of a made row are independent given its latent numbers, so that the product of two
        chances is the chance that both are drawn.
        """
        if len(chosen) < len(self.sizes):
            blocks = chances.split(self.sizes, dim=1)
            chances = torch().cat([blocks[each] for each in chosen], dim=1)
        return self._met(chances, labels, self._groups(chosen))

    def apart(self, chosen: tuple[int, ...]) -> Tensor:
        """One for cells of two attributes, and zero for those of an attribute with itself."""
        ends = np.cumsum([0, *(self.sizes[each] for each in chosen)])
        mask = torch().ones(int(ends[-1]) + 1, int(ends[-1]) + 1)
        for start, end in pairwise(ends.tolist()):
            mask[start:end, start:end] = 0
        return mask

    def _groups(self, chosen: tuple[int, ...]) -> int:
        """How many classes have tables of their own."""
        classes = 1 if self.target is None else self.sizes[self.target]
        cells = (sum(self.sizes[each] for each in chosen) + 1) ** 2
        return classes if classes * cells <= self.cells else 1

    @staticmethod
    def _met(rows: Tensor, labels: Tensor, groups: int) -> Tensor:
        rows = torch().cat([rows, torch().ones(len(rows), 1)], dim=1)
        if groups == 1:
            return (rows.T @ rows)[None] / len(rows)
        parts = [rows[labels == each] for each in range(groups)]
        return torch().stack([part.T @ part for part in parts]) / len(rows)


@dataclass(kw_only=True)
class RowLessons:
    """Brings a generator's tables of pairs to those of drawn rows; nothing private is near.

    Attributes:
        generator: the layers that are taught.
        rows: that were drawn from a released model, a line each.
        chances: of each class.
        teaching: steps, batch and rate.
        watches: called with the training state after every step.
    """

    generator: RowMaker
    rows: Integers
    chances: Sequence[float]
    teaching: RowTeaching
    watches: tuple[TrainingHook, ...] = ()
    _counted: dict[tuple[int, ...], Tensor] = field(default_factory=dict, init=False)

    @property
    def tables(self) -> PairShares:
        """The tables by which made and drawn rows are compared."""
        return PairShares(self.generator.sizes, self.generator.target)

    def play(self) -> TrainingState:
        """Teach from the first step to the last; the critic of the state has no numbers yet."""
        random, bar = random_from(self.teaching.seed), notebook_bar("Teaching")
        first = self.generator.initial(random)
        adam = Adam(self.teaching.rate, momentum=0.9, memory=0.999)
        state = TrainingState(
            critic={},
            generator=first,
            averaged=dict(first),
            critic_steps=Adam(0.0),
            generator_steps=adam,
            random=random,
        )
        while state.step < self.teaching.steps:
            self._step(state)
            state.step += 1
            if not state.finite:
                raise left_the_numbers(state.step, None)
            for watch in self.watches:
                watch(state)
            bar(state.step, self.teaching.steps)
        return state

    def _step(self, state: TrainingState) -> None:
        tables = self.tables
        chosen = tables.compared(state.random)
        right, mask = self._right(chosen), tables.apart(chosen)
        halves = [self._drawn(state) for _ in range(2)]

        def loss(parameters: Parameters) -> Tensor:
            # Two batches: the product of their errors has no part of either's own chance.
            first, second = (
                tables.expected(self.generator.chances(parameters, *half), half[1], chosen) - right
                for half in halves
            )
            return (first * second * mask).sum()

        done = state.step / self.teaching.steps
        pace = min((1 - done) / (1 - _STEADY), 1.0)
        state.move_generator(gradient_of(loss, state.generator), pace, self.teaching.averaging)

    def _right(self, chosen: tuple[int, ...]) -> Tensor:
        """The tables of drawn rows, counted once where they are those of every step."""
        if len(chosen) < len(self.generator.sizes):
            return self.tables.counted(self.rows, chosen)
        if chosen not in self._counted:
            self._counted[chosen] = self.tables.counted(self.rows, chosen)
        return self._counted[chosen]

    def _drawn(self, state: TrainingState) -> tuple[Tensor, Tensor]:
        """Latent numbers and labels of half a batch."""
        pytorch, count = torch(), self.teaching.batch // 2
        latents = pytorch.randn(count, self.generator.latent, generator=state.random)
        law = pytorch.tensor(list(self.chances), dtype=pytorch.float64)
        labels = pytorch.multinomial(law, count, replacement=True, generator=state.random)
        return latents, labels


__all__ = ["PairShares", "RowLessons", "RowStart", "RowTeaching"]
