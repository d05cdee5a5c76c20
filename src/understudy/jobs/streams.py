"""Jobs of `stream`: count the distinct users of a stream with a state that stays private."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import UsageError
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.progress import SILENT
from understudy.jobs.request import JobRequest
from understudy.jobs.stream_design import StreamRequest, user_names
from understudy.jobs.stream_events import EventRequest
from understudy.system.amounts import at_most_text

if TYPE_CHECKING:
    from understudy.jobs.progress import JobProgress
    from understudy.privacy.spending.grant import Grant
    from understudy.privacy.spending.ledger import Ledger
    from understudy.stream import DensityEstimator, Design, DistinctCount
    from understudy.stream.state import State
    from understudy.stream.universe import Ids


@dataclass(frozen=True)
class DensityRequest(JobRequest):
    """Events to take in, the terms of the state, and when answers are given.

    Attributes:
        source: where events come from.
        terms: what a new state is to be.
        every: the seconds between answers, besides the one at the end.
        state: the file that holds the state.
        no_answer: take events in, and keep the answers for later.
        strict: refuse ids outside of the universe instead of dropping them.
        payer: the ledger and the name of the data in it.
    """

    source: EventRequest = field(default_factory=EventRequest)
    terms: StreamRequest = field(default_factory=StreamRequest)
    every: float | None = None
    state: Path | None = None
    no_answer: bool = False
    strict: bool = False
    payer: LedgerRequest = field(default_factory=LedgerRequest)

    @property
    def answers(self) -> int:
        """The most answers that this run may give."""
        if self.no_answer:
            return 0
        return 1 if self.every is None else self.terms.answers

    @property
    def dataset(self) -> str:
        """The name of the data in the ledger: a state outlives the files that are read into it."""
        return self.payer.dataset or (self.state.stem if self.state else self.source.name)

    @property
    def standing(self) -> tuple[str, ...]:
        """Say what is spent on the stream so far, and what is left."""
        return self.payer.standing(self.dataset)


@dataclass(frozen=True)
class StreamAnswer:
    """How many different users a stream had, with its error and its cost."""

    answer: DistinctCount

    @property
    def sentence(self) -> str:
        """Describe the answer for people."""
        found = self.answer
        return (
            f"density {found.density:.4g} ± {found.standard_error:.2g}, "
            f"distinct {found.distinct:,.0f} ± {found.distinct_error:,.0f} "
            f"(m = {found.m:,}; epsilon {at_most_text(found.epsilon_state)} for the state, "
            f"{at_most_text(found.epsilon_total)} in all, for any one user and all their events)"
        )

    def document(self) -> dict[str, Any]:
        """Describe the answer for machines."""
        return self.answer.document()


def density(request: DensityRequest, *, progress: JobProgress = SILENT) -> Iterator[StreamAnswer]:
    """Take a stream of ids in, and give answers: by the clock, and one at the end.

    Privacy: all that this run may cost is granted by the ledger before the first event is read.
    """
    if request.no_answer and request.state is None:
        raise UsageError("without an answer and without --state nothing would remain; give one")
    _forbid_core_dumps()
    with (
        request.source.opened() as batches,
        _opened(request, request.payer.opened()) as visits,
    ):
        progress.message(_terms_text(visits.design))
        schedule = AnswerSchedule(request.every, min(request.answers, visits.answers_left))
        deletions = request.source.deletions
        for batch in batches(schedule.wait):
            _take_in(visits, batch, deletions=deletions)
            while schedule.is_due():
                yield StreamAnswer(visits.answer())
        if schedule.answers:
            yield StreamAnswer(visits.answer())


@dataclass
class AnswerSchedule:
    """Times answers by the clock, which no event moves, and keeps one for the end."""

    every: float | None
    answers: int

    def __post_init__(self) -> None:
        self._started, self._given = time.monotonic(), 0

    def wait(self) -> float | None:
        """Seconds until the next answer by the clock; None where no more is to come."""
        if self.every is None or self._given >= self.answers - 1:
            return None
        return max(self._started + self.every * (self._given + 1) - time.monotonic(), 0.0)

    def is_due(self) -> bool:
        """Whether an answer is due; it then counts as given."""
        due = self.wait() == 0
        self._given += due
        return due


@contextmanager
def _opened(request: DensityRequest, ledger: Ledger) -> Iterator[DensityEstimator]:
    """The estimator, paid from a grant of all that this run may cost."""
    from understudy.privacy.budget import Budget
    from understudy.stream import DensityEstimator
    from understudy.stream.account import WHOM
    from understudy.stream.density import about

    state = _resumed(request)
    design, given = (state.design, state.given) if state else (request.terms.design(), 0)
    _check_answers(request, design, given)
    cost = min(request.answers, design.answers - given) * design.answer_epsilon
    cost += Fraction(0) if state else design.state_epsilon
    budget, outside = Budget.pure(cost), "refuse" if request.strict else "drop"
    with (
        ledger.grant(request.dataset, budget, adjacency=WHOM, about=about(design)) as grant,
        DensityEstimator.over(
            state or _begun(request.state, design, grant), grant, outside=outside
        ) as visits,
    ):
        yield visits


def _resumed(request: DensityRequest) -> State | None:
    """The state that exists; None, with a place to write to, where there is none."""
    from understudy.stream.state import FileState
    from understudy.system.files.writing import check_writable

    if request.state is None:
        return None
    if not request.state.exists():
        check_writable(request.state)
        return None
    state = FileState.open(request.state, user_names(request.terms.users))
    request.terms.check_same(state.design, request.state)
    return state


def _check_answers(request: DensityRequest, design: Design, given: int) -> None:
    """Refuse, before anything is read, an answer that could not be given."""
    from understudy.errors import BudgetExceeded

    if request.answers and design.shards > 1:
        raise UsageError(
            "one shard of several cannot answer by itself; give --no-answer here, and merge"
        )
    if request.answers and given >= design.answers:
        raise BudgetExceeded(
            f"state {request.state}: all {design.answers} declared answers have been given; "
            "give --no-answer, or start a new state with more",
            requested=design.answer_epsilon,
            remaining=Fraction(0),
        )


def _begun(place: Path | None, design: Design, grant: Grant) -> State:
    from understudy.stream.state import FileState, State

    grant.charge([design.epoch_charge(1)])
    return State.start(design) if place is None else FileState.create(place, design)


def _take_in(visits: DensityEstimator, batch: Ids, *, deletions: bool) -> None:
    from understudy.stream.texts import Texts

    if not deletions:
        visits.update(batch)
        return
    if not isinstance(batch, Texts):
        raise UsageError("deletions are lines or texts that begin with -; these ids are numbers")
    visits.apply(*batch.signed())


def _forbid_core_dumps() -> None:
    """Forbid dumps of this process, which would hold the current batch."""
    try:
        import resource
    except ImportError:
        # Windows keeps none unless it is told to.
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _terms_text(design: Design) -> str:
    return (
        f"{design.response.name} over {design.sample:,} of {design.universe.size:,} users: the "
        f"state costs epsilon = {at_most_text(design.state_epsilon)}, and with "
        f"{design.answers} answers {at_most_text(design.total_epsilon())}. Ids outside of the "
        "universe are dropped unless --strict is given."
    )


@dataclass(frozen=True)
class NewEpoch:
    """An epoch that began because a state was seen."""

    number: int
    total_epsilon: Fraction


def state_name(state: Path, payer: LedgerRequest) -> str:
    """The name of a state's stream in the ledger."""
    return payer.dataset or state.stem


def shards_name(payer: LedgerRequest) -> str:
    """The name in the ledger of a stream whose shards are merged."""
    return payer.dataset or "shards"


def announce_intrusion(state: Path, *, users: Path | None, payer: LedgerRequest) -> NewEpoch:
    """Declare that someone saw a state: it counts as public now, and a new epoch begins.

    Privacy: pays for a fresh state.
    """
    from understudy.privacy.budget import Budget
    from understudy.stream import DensityEstimator
    from understudy.stream.account import WHOM
    from understudy.stream.density import about
    from understudy.stream.state import FileState

    opened = FileState.open(state, user_names(users))
    design = opened.design
    cost, name = Budget.pure(design.state_epsilon), state_name(state, payer)
    with (
        payer.opened().grant(name, cost, adjacency=WHOM, about=about(design)) as grant,
        DensityEstimator.over(opened, grant) as visits,
    ):
        visits.announce_intrusion()
        return NewEpoch(visits.epochs, design.total_epsilon(visits.epochs))


def merge(
    states: Sequence[Path], *, disjoint: bool, users: Path | None, payer: LedgerRequest
) -> StreamAnswer:
    """Give one answer for all shards of a stream.

    Privacy: pays for the answer.
    """
    from understudy.privacy.budget import Budget
    from understudy.stream.account import WHOM
    from understudy.stream.density import about
    from understudy.stream.shards import merged
    from understudy.stream.state import FileState

    names = user_names(users)
    opened = [FileState.open(path, names) for path in states]
    design = opened[0].design
    cost, name = Budget.pure(design.answer_epsilon), shards_name(payer)
    try:
        with payer.opened().grant(name, cost, adjacency=WHOM, about=about(design)) as grant:
            return StreamAnswer(merged(opened, grant, disjoint=disjoint))
    finally:
        for state in opened:
            state.close()
