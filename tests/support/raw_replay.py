"""Replay from raw rows: whatever reads, encodes, counts and learns runs afresh on both sides.

A job is recorded on one table of a pair and replayed on the other. The releases are frozen, and all
that leaves must be the same: the result, what it was charged for, and any refusal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, cast

from support.federated import Recording, holder_of
from support.raw_neighbours import RawPair, persons_of
from support.replay import leaving
from support.ways_in import WAYS, Way
from understudy.errors import DataError, UnderstudyError
from understudy.evaluation.released.summary import Summarizer
from understudy.facts.domain import Attributes
from understudy.facts.schema import Schema
from understudy.facts.unit import Unit
from understudy.federated import Collaboration, LocalChannel, learn_together
from understudy.federated.messages import Closed, Message
from understudy.methods import Synthesizer
from understudy.methods.discover import Discovery, KindDiscovery
from understudy.methods.structure.scores import score_for
from understudy.privacy.accounting.events import Charge
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.preflight import Preflight
from understudy.privacy.replay import LeakFound, Recorder, Replay
from understudy.privacy.spending.grant import Grant
from understudy.rows.counting import CountSource, KeySource
from understudy.rows.sources import Access, open_keyed, open_source
from understudy.system.frames import Rows as Data

Tape = Recorder | Replay


@dataclass(frozen=True)
class Left:
    """What left a job, and what the job says it was charged for."""

    what: object
    charges: Sequence[Charge] = ()


class Job(Protocol):
    """Something that reads private rows, pays, and lets something leave."""

    @property
    def unit(self) -> Unit:
        """Whom it protects."""

    def run(self, data: Data, access: Access, tape: Tape) -> Left:
        """All of it, from data that nobody has read yet."""


@dataclass(frozen=True)
class Fit:
    """A fit, its source opened as the command line does.

    Attributes:
        synthesizer: the method.
        preflight: the question that is asked before all others, if any.
    """

    synthesizer: Synthesizer
    preflight: Preflight | None = None

    @property
    def unit(self) -> Unit:
        """The synthesizer's."""
        return self.synthesizer.unit

    def run(self, data: Data, access: Access, tape: Tape) -> Left:
        """The model and its statement."""
        taped = self.synthesizer.with_instruments(Instruments(tape=tape))
        access = replace(access, persons=taped.persons)
        with open_source(data, taped.schema, access) as source:
            try:
                fitted = taped.fit(tape.guard(source), ledger=None, preflight=self.preflight)
            except DataError as refusal:
                return _refused(refusal, tape)
        model = fitted.model_
        return Left((leaving(model), fitted.fitting_), model.statement.charges)


def _refused(refusal: DataError, tape: Tape) -> Left:
    """A refusal after a preflight, which was paid for; its sentence leaves."""
    paid = tape.exchanges if isinstance(tape, Recorder) else ()
    return Left(str(refusal), [exchange.charge for exchange in paid])


@dataclass(frozen=True)
class Ask:
    """A few questions asked of a Curator: tables, their scores, and a choice among them.

    Attributes:
        schema: of the rows.
        protects: whom.
        sets: the attributes of each table; those of two or more are scored, too.
        score: the name of the score, that of the relation unless given.
        verbs: what is asked.
    """

    schema: Schema
    protects: Unit
    sets: Sequence[Attributes]
    score: str | None = None
    verbs: Sequence[str] = ("measure", "score", "select")

    @property
    def unit(self) -> Unit:
        """Whom it protects."""
        return self.protects

    def run(self, data: Data, access: Access, tape: Tape) -> Left:
        """What was released."""
        access = replace(access, persons=persons_of(self.unit))
        grant = Grant(Budget.approximate(1, "1e-6"))
        with open_source(data, self.schema, access) as source:
            curator = Curator(tape.guard(source), self.unit, grant, Instruments(tape=tape))
            answers = [self._answer(verb, curator) for verb in self.verbs]
        return Left(answers, grant.charges)

    def _answer(self, verb: str, curator: Curator) -> object:
        share = curator.budget * Fraction(1, len(self.verbs))
        if verb == "measure":
            return [table.counts.tolist() for table in curator.measure(self.sets, share)]
        rows, several = curator.public_rows or 0, [s for s in self.sets if len(s) > 1]
        score = score_for(self.unit, rows, curator.domain, name=self.score)
        if verb == "score":
            return curator.score(several, score, share)[0].tolist()
        return curator.select(several, score, share, of=tuple)


@dataclass(frozen=True)
class Inference:
    """`schema infer`."""

    discovery: Discovery

    @property
    def unit(self) -> Unit:
        """The discovery's."""
        return self.discovery.unit

    def run(self, data: Data, access: Access, tape: Tape) -> Left:
        """The schema, text by text, and its statement."""
        access = replace(access, persons=persons_of(self.unit))

        @contextmanager
        def opening(schema: Schema, columns: Sequence[str]) -> Iterator[KeySource]:
            with open_keyed(data, schema, columns, access) as source:
                yield cast("KeySource", tape.guard(source))

        taped = replace(self.discovery, instruments=Instruments(tape=tape))
        found = taped.run(opening, dataset="table", ledger=None)
        # Equal numbers of two types are two schemas: 1 and 1.0 are not spelled alike.
        return Left((repr(found.schema.document()), found), found.statement.charges)


@dataclass(frozen=True)
class Kinds:
    """`schema init --epsilon`: the kinds of columns, missing cells and labels."""

    discovery: KindDiscovery

    @property
    def unit(self) -> Unit:
        """The discovery's."""
        return self.discovery.unit

    def run(self, data: Data, access: Access, tape: Tape) -> Left:
        """The skeleton, text by text, and its statement."""
        access = replace(access, persons=persons_of(self.unit))

        @contextmanager
        def opening(schema: Schema, columns: Sequence[str]) -> Iterator[KeySource]:
            with open_keyed(data, schema, columns, access) as source:
                yield cast("KeySource", tape.guard(source))

        taped = replace(self.discovery, instruments=Instruments(tape=tape))
        found = taped.run(opening, dataset="table", ledger=None)
        return Left((found.draft.to_toml(), found), found.statement.charges)


@dataclass(frozen=True)
class Released:
    """`evaluate --release-epsilon`: distances between private rows and public ones."""

    summarizer: Summarizer
    synthetic: CountSource

    @property
    def unit(self) -> Unit:
        """The summarizer's."""
        return self.summarizer.unit

    def run(self, data: Data, access: Access, tape: Tape) -> Left:
        """The summary."""
        taped = replace(self.summarizer, instruments=Instruments(tape=tape))
        access = replace(access, persons=persons_of(self.unit), ignore_extra=True)
        with open_source(data, taped.schema, access) as source:
            summary = taped.run(tape.guard(source), self.synthetic, ledger=None)
        return Left(summary, summary.statement.charges)


@dataclass
class Held:
    """One of three holders; while it is recorded an analyst asks, and then asks the same again."""

    plan: Collaboration
    others: Mapping[str, CountSource]
    _requests: list[bytes] = field(default_factory=list)

    @property
    def unit(self) -> Unit:
        """The plan's."""
        return self.plan.unit

    def run(self, data: Data, access: Access, tape: Tape) -> Left:
        """Every byte that leaves the holder."""
        access = replace(access, persons=persons_of(self.unit))
        with open_source(data, self.plan.schema, access) as source:
            holder = holder_of(
                tape.guard(source),
                schema=self.plan.schema,
                unit=self.unit,
                instruments=Instruments(tape=tape),
            )
            if isinstance(tape, Replay):
                return Left([holder.handle(request) for request in self._requests])
            others = {
                name: holder_of(rows, schema=self.plan.schema, unit=self.unit, name=name)
                for name, rows in self.others.items()
            }
            channel = Recording(LocalChannel({"north": holder, **others}))
            learn_together(channel, self.plan)
        self._requests = [request for request, _ in channel.exchanges["north"]]
        replies = [reply for _, reply in channel.exchanges["north"]]
        return Left(replies, _charged(replies[-1]))


def _charged(last: bytes) -> list[Charge]:
    """What the holder's closing says it was charged for."""
    closed = Message.decoded(last).body
    assert isinstance(closed, Closed)
    return [Charge.parse(dict(charge)) for charge in closed.charges]


def leaks(
    job: Job, pairs: Iterable[RawPair], folder: Path, way: Way = WAYS["csv"]
) -> dict[str, str]:
    """What separates the tables of each pair, by the pair's name; nothing, if all is well."""
    found: dict[str, str] = {}
    recorded: dict[Any, tuple[Recorder, object]] = {}
    for pair in pairs:
        try:
            if pair.rows not in recorded:
                recorded = {pair.rows: _recorded(job, way.put(pair.rows, folder), way.access)}
            tape, left = recorded[pair.rows]
            _replayed(job, way.put(pair.neighbour, folder), way.access, tape, left)
        except LeakFound as leak:
            found[pair.name] = str(leak)
    return found


def _recorded(job: Job, data: Data, access: Access) -> tuple[Recorder, object]:
    tape = Recorder()
    left = _left(job, data, access, tape)
    tape.check_paid(left.charges)
    return tape, left.what


def _replayed(job: Job, data: Data, access: Access, tape: Recorder, left: object) -> None:
    again = Replay(tape.exchanges)
    if _left(job, data, access, again).what != left:
        raise LeakFound("something else leaves although every answer was the same")
    again.check_finished()


def _left(job: Job, data: Data, access: Access, tape: Tape) -> Left:
    """What leaves; a refusal is something that leaves too, before anything was paid."""
    try:
        return job.run(data, access, tape)
    except LeakFound:
        raise
    except UnderstudyError as error:
        return Left((type(error).__name__, str(error)))


__all__ = ["Ask", "Fit", "Held", "Inference", "Job", "Kinds", "Left", "Released", "leaks"]
