"""`understudy stream density`: events in, answers out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.amounts import at_most_text
from understudy.cli import options, stream_options
from understudy.cli.console import messages
from understudy.cli.groups import grouped
from understudy.cli.stream_source import Source
from understudy.cli.stream_terms import Terms
from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.privacy.grant import Grant
    from understudy.privacy.ledger import Ledger
    from understudy.stream import Answer, DensityEstimator, Design
    from understudy.stream.state import State
    from understudy.stream.texts import Texts
    from understudy.stream.universe import Ids


@grouped
def density(
    *,
    source: Source,
    terms: Terms,
    every: Annotated[
        float | None,
        typer.Option("--every", min=0.01, help="Seconds between answers, besides that at the end."),
    ] = None,
    state: stream_options.StateFile = None,
    no_answer: Annotated[
        bool, typer.Option("--no-answer", help="Take events in and keep the answers for later.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="End where an id is nobody's, instead of dropping it.")
    ] = False,
    purse: options.Purse,
    as_json: options.AsJson = False,
) -> None:
    """Take a stream of ids in, and tell how many different users it had."""
    if no_answer and state is None:
        raise UsageError("without an answer and without --state nothing would be left")
    job = _Job(terms, state, 0 if no_answer else _most_answers(terms, every), strict)
    _forbid_core_dumps()
    with (
        source.opened() as batches,
        job.opened(purse.book, purse.dataset or _name(state, source)) as visits,
    ):
        _say_terms(visits.design, as_json=as_json)
        schedule = _Schedule(every, min(job.answers, visits.answers_left))
        for answer in _answers(visits, batches(schedule.wait), source, schedule):
            stream_options.tell(answer, as_json=as_json)


def _name(state: Path | None, source: Source) -> str:
    """The data's name in the ledger: a state outlives the files that are read into it."""
    return source.name if state is None else state.stem


@dataclass
class _Schedule:
    """Answers by the clock, which no event moves, and a last one for the end."""

    every: float | None
    answers: int

    def __post_init__(self) -> None:
        self._started, self._given = time.monotonic(), 0

    def wait(self) -> float | None:
        """Seconds until the next answer by the clock; None where there is none to come."""
        if self.every is None or self._given >= self.answers - 1:
            return None
        return max(self._started + self.every * (self._given + 1) - time.monotonic(), 0.0)

    def is_due(self) -> bool:
        """Whether an answer is due; it counts as given then."""
        due = self.wait() == 0
        self._given += due
        return due


def _most_answers(terms: Terms, every: float | None) -> int:
    return terms.answers if every is not None else 1


@dataclass(frozen=True)
class _Job:
    """A state to begin or to go on with, and how many answers this run may give."""

    terms: Terms
    state: Path | None
    answers: int
    strict: bool

    @contextmanager
    def opened(self, ledger: Ledger, dataset: str) -> Iterator[DensityEstimator]:
        """The estimator, paid from a grant of all that this run may cost."""
        from understudy.privacy.budget import Budget
        from understudy.stream.density import WHOM, about

        state = self._resumed()
        design, given = (state.design, state.given) if state else (self.terms.design(), 0)
        self._check_answers(design, given)
        cost = min(self.answers, design.answers - given) * design.answer_epsilon
        cost += Fraction(0) if state else design.state_epsilon
        with (
            ledger.grant(dataset, Budget.pure(cost), adjacency=WHOM, about=about(design)) as grant,
            self._over(state or self._begun(design, grant), grant) as visits,
        ):
            yield visits

    def _resumed(self) -> State | None:
        """The state that is there; None, with a place to write to, where there is none."""
        from understudy.files import check_writable
        from understudy.stream.state import FileState

        if self.state is None:
            return None
        if not self.state.exists():
            check_writable(self.state)
            return None
        state = FileState.open(self.state, self._names())
        self._check_same(state.design)
        return state

    def _check_answers(self, design: Design, given: int) -> None:
        """Refuse, before anything is read, an answer that could not be given."""
        from understudy.errors import BudgetExceeded

        if self.answers and design.shards > 1:
            raise UsageError("a shard of several has no answer of its own; say --no-answer, merge")
        if self.answers and given >= design.answers:
            raise BudgetExceeded(
                f"state {self.state}: all {design.answers} declared answers have been given; "
                "say --no-answer, or start a new state with more",
                requested=design.answer_epsilon,
                remaining=Fraction(0),
            )

    def _begun(self, design: Design, grant: Grant) -> State:
        from understudy.stream.state import FileState, State

        grant.charge([design.epoch_charge(1)])
        return State.start(design) if self.state is None else FileState.create(self.state, design)

    def _over(self, state: State, grant: Grant) -> DensityEstimator:
        from understudy.stream import DensityEstimator

        outside = "refuse" if self.strict else "drop"
        return DensityEstimator.over(state, grant, outside=outside)

    def _names(self) -> Texts | None:
        from understudy.stream.reading import key_lines

        return None if self.terms.keys is None else key_lines(self.terms.keys)

    def _check_same(self, design: Design) -> None:
        """What is said again about a state that is there must be what it was started with."""
        from understudy.privacy.budget import exact

        said = self.terms
        same = (
            said.epsilon is None or exact(said.epsilon, what="epsilon") == design.epsilon,
            said.universe in (None, design.universe.size),
            said.hash_space in (None, design.universe.size),
            said.sample in (None, design.sample),
        )
        if not all(same):
            raise UsageError(
                f"state {self.state}: was started on other terms; leave them away, or start anew"
            )


def _answers(
    visits: DensityEstimator, batches: Iterator[Ids], source: Source, schedule: _Schedule
) -> Iterator[Answer]:
    """Answers while events come in, and one at the end; never more than declared."""
    for batch in batches:
        _take_in(visits, batch, deletions=source.deletions)
        while schedule.is_due():
            yield visits.answer()
    if schedule.answers:
        yield visits.answer()


def _take_in(visits: DensityEstimator, batch: Ids, *, deletions: bool) -> None:
    from understudy.stream.texts import Texts

    if not deletions:
        visits.update(batch)
        return
    if not isinstance(batch, Texts):
        raise UsageError("deletions are lines or texts that begin with -; these ids are numbers")
    visits.apply(*batch.signed())


def _forbid_core_dumps() -> None:
    """A dump of this process would hold the current batch."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _say_terms(design: Design, *, as_json: bool) -> None:
    if as_json:
        return
    messages().print(
        f"{design.response.name} over {design.sample:,} of {design.universe.size:,} users: the "
        f"state costs epsilon = {at_most_text(design.state_epsilon)}, with all {design.answers} "
        f"answers {at_most_text(design.total_epsilon())}. Ids of nobody in the universe are passed "
        "over unless --strict."
    )
