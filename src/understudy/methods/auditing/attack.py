"""One run, and what an attacker makes of it: the likelihood ratio of everything released.

The attacker knows both tables and the program. All answers of a run are replayed on either table:
what would have been asked there, and what the exact answers would have been. For every answer the
mechanism's own law then says how likely its release was on each table. A run that one of the tables
could not have led to at all, in its questions or in what is made of the answers, is a certain sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from understudy.errors import UnderstudyError
from understudy.methods import Synthesizer
from understudy.methods.auditing.noise import QUESTIONS, Draws, draws_of
from understudy.methods.auditing.tables import Pair
from understudy.models.model import Model
from understudy.models.tables import table_members
from understudy.privacy.accounting.events import Charge
from understudy.privacy.mechanisms.additive import (
    DiscreteGaussian,
    DiscreteLaplace,
    ExactAnswer,
    FineGaussian,
)
from understudy.privacy.mechanisms.histogram import SmoothedHistogram
from understudy.privacy.mechanisms.mechanism import Mechanism
from understudy.privacy.mechanisms.sampled import LineGaussian, SampledGaussian
from understudy.privacy.mechanisms.selection import Exponential, PermuteAndFlip
from understudy.rows.counting import CountSource

E = TypeVar("E")
R = TypeVar("R")


class Strayed(UnderstudyError):
    """A replayed run asked for something else than the run it replays."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One question of a run and what was released: the attacker's to see.

    The tables are made up, so the exact answer and the noise on it are at hand as well.
    """

    charge: Charge
    mechanism: Mechanism[Any, Any]
    released: Any
    exact: Any = None
    draws: Draws | None = None


class _Open:
    """A tape that lets rows be read at any time: what that leads to is the audit's business."""

    def looking(self) -> AbstractContextManager[None]:
        """Nothing to guard."""
        return nullcontext()


@dataclass
class Transcript(_Open):
    """A tape that draws answers and keeps them."""

    answers: list[Observation] = field(default_factory=list)

    def answer(
        self, charge: Charge, mechanism: Mechanism[E, R], exact: E, draw: Callable[[], R]
    ) -> R:
        """A fresh draw, kept."""
        released = draw()
        noted = len(self.answers) < QUESTIONS
        draws = draws_of(mechanism, exact, released) if noted else None
        kept = exact.copy() if isinstance(exact, np.ndarray) else None
        self.answers.append(
            Observation(
                charge=charge,
                mechanism=mechanism,
                released=deepcopy(released),
                exact=kept,
                draws=draws,
            )
        )
        return released


@dataclass
class Replayed(_Open):
    """A tape that gives a transcript's releases again and weighs them by this table's answers."""

    transcript: Sequence[Observation]
    likelihoods: list[float] = field(default_factory=list)

    def answer(
        self, charge: Charge, mechanism: Mechanism[E, R], exact: E, draw: Callable[[], R]
    ) -> R:
        """The release of the transcript, when this is the question that it answers."""
        del draw
        place = len(self.likelihoods)
        if place == len(self.transcript) or self.transcript[place].charge != charge:
            raise Strayed(f"something else was asked: {charge.question}")
        released: R = self.transcript[place].released
        self.likelihoods.append(log_likelihood(mechanism, exact, released))
        return released


@dataclass(frozen=True)
class Trial:
    """One fit: every release, and the model made of them."""

    answers: Sequence[Observation]
    model: Model


def run_on(synthesizer: Synthesizer, table: CountSource) -> Trial:
    """Fit on a table with real noise, and keep all that leaves."""
    transcript = Transcript()
    model = synthesizer.with_tape(transcript).fit(table, ledger=None).model_
    return Trial(transcript.answers, model)


def evidence(synthesizer: Synthesizer, run: Trial, pair: Pair) -> float:
    """How much likelier a run is with the person present than absent, as a logarithm.

    The attacker sees the run and knows the program and both tables, not which of them it was.
    """
    present, absent = (_likelihood(synthesizer, run, t) for t in (pair.present, pair.absent))
    # Neither table led to it again: something else than rows and noise decided it.
    return 0.0 if present == absent else present - absent


def _likelihood(synthesizer: Synthesizer, run: Trial, table: CountSource) -> float:
    """The log-likelihood of a run on a table; minus infinity where it could not be."""
    tape = Replayed(run.answers)
    try:
        again = synthesizer.with_tape(tape).fit(table, ledger=None).model_
    except Strayed:
        return -math.inf
    finished = len(tape.likelihoods) == len(run.answers)
    return sum(tape.likelihoods) if finished and same_model(run.model, again) else -math.inf


def log_likelihood(mechanism: Mechanism[Any, Any], exact: Any, released: Any) -> float:
    """How likely a release is, by the mechanism's law, up to what does not depend on the answer.

    A mechanism without a closed form here gives the attacker nothing.
    """
    match mechanism:
        case DiscreteLaplace() | DiscreteGaussian() | FineGaussian() if (
            released.shape != exact.shape
        ):
            return -math.inf
        case DiscreteLaplace():
            return -float(np.abs(released - exact).sum()) / float(mechanism.scale)
        case DiscreteGaussian() | FineGaussian():
            squares = ((released - exact).astype(float) ** 2).sum()
            return -float(squares) / (2 * float(mechanism.sigma_squared))
        case PermuteAndFlip() | Exponential():
            chances = mechanism.probabilities(exact)
            return _log(float(chances[int(released)])) if released < exact.size else -math.inf
        case SmoothedHistogram():
            return sum(_log(float(chance)) for chance in mechanism.chances(exact, released))
        case SampledGaussian():
            # As if the batch were its mean: the exact law where all rows are taken, and else
            # a call like any other.
            mean = exact.total(np.arange(exact.rows)) * float(mechanism.rate) * mechanism.finer
            squares = ((released - mean) ** 2).sum()
            return -float(squares) / (2 * float(mechanism.sigma_squared))
        case LineGaussian() if released.shape == exact.shape:
            squares = ((released - exact * mechanism.finer).astype(float) ** 2).sum()
            return -float(squares) / (2 * float(mechanism.sigma_squared))
        case ExactAnswer():
            return 0.0 if np.array_equal(exact, released) else -math.inf
        case _:
            return 0.0


def _log(chance: float) -> float:
    return math.log(chance) if chance > 0 else -math.inf


def same_model(first: Model, second: Model) -> bool:
    """Whether all that leaves is the same to the last bit."""
    if first.rows != second.rows or first.statement != second.statement:
        return False
    members = [model.distribution.members() for model in (first, second)]
    tables = [table_members(model.tables) for model in (first, second)]
    return members[0] == members[1] and tables[0] == tables[1]
