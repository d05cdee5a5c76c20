"""A holder: private rows behind a handler that takes one message and gives one.

A question is answered in a fixed order: it is checked, charged to the ledger, drawn, stored on the
disk, sent. The same question asked again gets the stored answer. A holder that dies between the
charge and the store has spent and has nothing to show: asked again, it pays again.
"""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from understudy.errors import (
    UsageError,
)
from understudy.facts.domain import Attributes
from understudy.facts.schema import Schema
from understudy.facts.unit import Unit
from understudy.federated.holder.answering import PaidRequest, RequestReader, share_of
from understudy.federated.holder.consent import Consent
from understudy.federated.holder.paying import Agreement, RunGrants, limit_spending
from understudy.federated.holder.refusals import Refusal, refused
from understudy.federated.holder.store import (
    Answers,
    FolderStore,
    MemoryStore,
    Store,
    digest,
)
from understudy.federated.messages import (
    NOBODY,
    Accepted,
    Close,
    Closed,
    Fit,
    MeasureGroups,
    MeasureSums,
    MeasureTables,
    Message,
    Propose,
    Rate,
    Vote,
)
from understudy.federated.sums import SumProtocol
from understudy.federated.terms import ProtocolName, Terms
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.spending.accounts import Account
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.scratch import ScratchLedger
from understudy.rows.counting import CountSource, Score

_LOG = logging.getLogger(__name__)
# Runs whose terms are held in memory.
_MOST_RUNS = 64


class Holder:
    """Answers an analyst's questions about rows that stay where they are.

    Args:
        source: the rows behind an engine.
        schema: the declared values of each column.
        unit: whom the promise protects; a run that promises otherwise is refused.
        ledger: where spending is kept; None for simulations alone.
        dataset: the name the ledger knows the rows by.
        limit: the most that may ever be spent on them; a stricter one in the ledger stays.
        policy: agrees to the terms of a run, or refuses.
        store: the folder of answers already given; None for simulations alone.
        name: what the analyst calls this holder.
        person_id: the column that names persons, where they are the unit.
        instruments: other noise, or a tape, for tests and audits.
        sums: what is summed over records that are not rows, such as images.

    Privacy: whatever leaves was charged to the ledger first, by the rules of the Curator. The
    analyst needs to be trusted with nothing.
    """

    def __init__(
        self,
        source: CountSource,
        schema: Schema,
        unit: Unit,
        *,
        ledger: Ledger | None,
        dataset: str,
        limit: Budget | None,
        policy: Consent,
        store: Path | None,
        name: str,
        person_id: str | None = None,
        instruments: Instruments | None = None,
        sums: SumProtocol | None = None,
    ) -> None:
        self._whom = Adjacency.of(unit, person_id)
        self.name, self.dataset, self.schema, self.unit = name, dataset, schema, unit
        self._source, self._policy = source, policy
        self._instruments = instruments or Instruments()
        _check(source, schema, unit=unit, ledger=ledger, instruments=self._instruments)
        self._ledger = ledger or ScratchLedger()
        if limit is not None:
            limit_spending(self._ledger, dataset, limit, self._whom)
        self._answers = self._held(MemoryStore() if store is None else FolderStore(store))
        self._grants = RunGrants(
            self._ledger,
            dataset,
            self._whom,
            schema=schema.fingerprint,
            store=self._answers.store.identity,
        )
        self._desk = RequestReader(schema, source.domain, unit, rows=self._public_rows(), sums=sums)
        self._memory: dict[Score, dict[Attributes, float]] = {}
        self._runs: dict[str, Agreement] = {}
        self._busy = threading.Lock()

    @property
    def account(self) -> Account:
        """Return the ledger's view of these rows: their limit, and every run with its cost."""
        return self._grants.account

    @property
    def remembered_runs(self) -> int:
        """Return how many runs it has in memory; more are read again from its store."""
        return len(self._runs)

    @property
    def remembered_scores(self) -> int:
        """Return how many exact scores it has in memory; only their number is public."""
        return sum(map(len, self._memory.values()))

    def handle(self, request: bytes) -> bytes:
        """One message in, one out; whatever comes in, this does not raise."""
        with self._busy:
            run, question = NOBODY, NOBODY
            try:
                message = Message.decoded(request)
                run, question = message.run, message.request
                return self._reply(message, request)
            except Exception as error:
                body = refused(error)
                _LOG.warning("%s: refused (%s): %s", self.name, body.because, body.reason)
                return Message(run, question, body).encoded()

    def settle(self, run: str) -> Closed:
        """Close a run that its analyst left open: what it did not spend is free again.

        Nothing more of it will be answered. Pure budgets come to what was charged, others to the
        whole once anything was.
        """
        with self._busy:
            return self._closed(run)

    def close(self) -> None:
        """Let another process be this holder."""
        self._ledger.let_go(self._answers.store.identity)
        self._answers.store.close()

    def __repr__(self) -> str:
        return f"Holder({self.name!r}; {self.unit.label}, {self.unit.neighbours}; rows private)"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _reply(self, message: Message, request: bytes) -> bytes:
        known = self._answers.find(message.run, message.request)
        if known is not None:
            if known[0] != digest(request):
                raise Refusal("replay", "this question was asked before with other content")
            return known[1]
        reply = self._answered(message, request)
        encoded = reply.encoded()
        self._answers.keep(message.run, message.request, request, encoded)
        return encoded

    def _answered(self, message: Message, request: bytes) -> Message:
        match message.body:
            case Propose():
                body = self._agree(message.run, message.body.terms, request)
                return Message(message.run, message.request, body)
            case Close():
                closed = self._closed(message.run)
                return Message(message.run, message.request, closed)
            case MeasureTables() | MeasureGroups() | MeasureSums() | Vote() | Rate() | Fit():
                return self._answer(self._run(message.run), message, message.body)
            case body:
                raise Refusal("request", f"a message of kind {body.kind!r} asks a holder nothing")

    # --- consent ------------------------------------------------------------------------------

    def _agree(self, run: str, terms: Terms, request: bytes) -> Accepted:
        """Set the whole of what a run may cost aside, if it is agreed to."""
        if self._answers.proposal(run) not in (None, request):
            raise Refusal("replay", "a run of this name began on other terms")
        self._check_terms(terms)
        identity = self._grants.identity(request)
        if not self._grants.is_open(identity):
            refusal = self._policy.refusal(terms)
            if refusal is not None:
                raise Refusal("consent", refusal)
            self._grants.open(identity, terms.budget, run, terms)
        self._answers.keep_proposal(run, request)
        return Accepted(rows=self._desk.rows)

    def _check_terms(self, terms: Terms) -> None:
        asked, own = terms.schema_asked.fingerprint, self.schema.fingerprint
        if asked != own:
            raise Refusal(
                "terms", f"the schema {asked} is not that of this holder, {own}; agree on one"
            )
        own_images = None if self._desk.sums is None else self._desk.sums.facts
        if terms.images != own_images or (terms.protocol is ProtocolName.MOMENTS) is not bool(
            own_images
        ):
            raise Refusal(
                "terms",
                "the run and this holder do not have the same images, or only one of them has "
                "images; agree on the protocol moments and on all sizes, or on a table",
            )
        if terms.unit != self.unit:
            raise Refusal(
                "terms",
                f"the run promises for a {terms.unit.label} under {terms.unit.neighbours}, this "
                f"holder for a {self.unit.label} under {self.unit.neighbours}; agree on one",
            )
        if terms.budget.amount == 0:
            raise Refusal("terms", "a run at epsilon = 0 can ask nothing; ask for more")
        if terms.restrictions:
            self._check_restrictions(terms)

    def _check_restrictions(self, terms: Terms) -> None:
        """Refuse restrictions that contradict each other, as no network could keep to them."""
        try:
            terms.restrictions.check(
                self._desk.domain, degree=None, constraints=self.schema.constraints
            )
        except UsageError as error:
            raise Refusal("terms", f"the run's restrictions cannot be kept: {error}") from None

    def _run(self, name: str) -> Agreement:
        if name not in self._runs:
            found = self._found(name)
            if len(self._runs) >= _MOST_RUNS:
                # The store has them all.
                self._runs.clear()
            self._runs[name] = found
        return self._runs[name]

    def _found(self, name: str) -> Agreement:
        """A run as it was agreed to, perhaps by an earlier process."""
        request = self._answers.proposal(name)
        if request is None:
            raise Refusal("terms", "no run of this name was agreed to; propose it first")
        proposal = Message.decoded(request).body
        assert isinstance(proposal, Propose)
        self._check_terms(proposal.terms)
        return Agreement(name, proposal.terms, self._grants.identity(request))

    # --- answers ------------------------------------------------------------------------------

    def _answer(self, run: Agreement, message: Message, question: PaidRequest) -> Message:
        """Check, pay, look, draw; the caller stores and sends."""
        share, answer = share_of(question), self._desk.prepare(message, run.terms.restrictions)
        grant = self._grants.for_question(run, share, message.request)
        body, arrays = answer(self._curator(grant))
        reply = Message(message.run, message.request, body, arrays)
        self._grants.finish(run, grant)
        return reply

    def _closed(self, run: str) -> Closed:
        return self._grants.close(self._run(run), private=self._instruments.noise.private)

    def _curator(self, grant: Grant) -> Curator:
        return Curator(self._source, self.unit, grant, self._instruments, _memory=self._memory)

    # --- beginnings ---------------------------------------------------------------------------

    def _held(self, store: Store) -> Answers:
        """The answers given, which no process with a copy of them can use at the same time.

        Two would read the same grant before either writes its charge, and overdraw it together.
        """
        try:
            self._ledger.hold(store.identity, what="store of answers")
        except BaseException:
            store.close()
            raise
        return Answers(store)

    def _public_rows(self) -> int | None:
        nothing = Grant(Budget.pure(0))
        return Curator(self._source, self.unit, nothing, self._instruments).public_rows


def _check(
    source: CountSource,
    schema: Schema,
    *,
    unit: Unit,
    ledger: Ledger | None,
    instruments: Instruments,
) -> None:
    schema.check_reviewed()
    if source.rows_per_person != unit.rows_per_person:
        raise UsageError(
            f"the promise is for a {unit.label}, and the rows were not opened so; "
            "give the same persons to both, as Access(persons=...)"
        )
    if ledger is not None and not instruments.noise.private:
        raise UsageError(
            "this holder answers with seeded or no noise, so its answers must not be recorded in a "
            "ledger; remove the ledger argument"
        )
