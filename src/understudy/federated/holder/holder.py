"""A holder: private rows behind a handler that takes one message and gives one.

A question is answered in a fixed order: it is checked, charged to the ledger, drawn, stored on the
disk, sent. The same question asked again gets the stored answer. A holder that dies between the
charge and the store has spent and has nothing to show: asked again, it pays again.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from understudy.errors import (
    BudgetExceeded,
    CapacityError,
    MessageError,
    UnderstudyError,
    UsageError,
)
from understudy.facts.domain import Attributes
from understudy.facts.schema import Schema
from understudy.facts.unit import Unit
from understudy.federated.holder.answering import PaidRequest, RequestReader, share_of
from understudy.federated.holder.consent import Consent
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
    MeasureTables,
    Message,
    Propose,
    Rate,
    Refused,
    Vote,
)
from understudy.federated.terms import Terms
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.accounting.conversions import zcdp_epsilon
from understudy.privacy.accounting.events import Charge
from understudy.privacy.budget import Budget
from understudy.privacy.budget import Measure as BudgetMeasure
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.spending.accounts import Account
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.limits import Limit, Spent
from understudy.privacy.spending.pricing import SecondPayment
from understudy.privacy.spending.scratch import ScratchLedger
from understudy.rows.counting import CountSource, Score
from understudy.system.amounts import at_least_text, at_most_text

_LOG = logging.getLogger(__name__)
_LONGEST_REASON = 2000
# Runs whose terms are held in memory.
_MOST_RUNS = 64


class Refusal(UnderstudyError):
    """A question that is not answered; says of which kind the reason is."""

    def __init__(self, because: str, reason: str) -> None:
        self.because = because
        super().__init__(reason)


@dataclass(frozen=True)
class Agreement:
    """A run that the holder agreed to.

    Attributes:
        name: chosen by the analyst.
        terms: what was agreed.
        grant: its grant's identity in the ledger, which nobody else can name.
    """

    name: str
    terms: Terms
    grant: str


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
    ) -> None:
        self._whom = Adjacency.of(unit, person_id)
        self.name, self.dataset, self.schema, self.unit = name, dataset, schema, unit
        self._source, self._policy = source, policy
        self._instruments = instruments or Instruments()
        _check(source, schema, unit=unit, ledger=ledger, instruments=self._instruments)
        self._ledger = ledger or ScratchLedger()
        self._set_limit(limit)
        self._answers = self._held(MemoryStore() if store is None else FolderStore(store))
        self._desk = RequestReader(schema, source.domain, unit, self._public_rows())
        self._memory: dict[Score, dict[Attributes, float]] = {}
        self._runs: dict[str, Agreement] = {}
        self._busy = threading.Lock()

    @property
    def account(self) -> Account:
        """Return the ledger's view of these rows: their limit, and every run with its cost."""
        return self._ledger.account(self.dataset)

    def handle(self, request: bytes) -> bytes:
        """One message in, one out; whatever comes in, this does not raise."""
        with self._busy:
            run, question = NOBODY, NOBODY
            try:
                message = Message.decoded(request)
                run, question = message.run, message.request
                return self._reply(message, request)
            except Exception as error:
                refused = _refused(error)
                _LOG.warning("%s: refused (%s): %s", self.name, refused.because, refused.reason)
                return Message(run, question, refused).encoded()

    def settle(self, run: str) -> Closed:
        """Close a run that its analyst left open: what it did not spend is free again.

        Nothing more of it will be answered. Pure budgets come to what was charged, others to the
        whole once anything was.
        """
        with self._busy:
            return self._closed(self._run(run))

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
                closed = self._closed(self._run(message.run))
                return Message(message.run, message.request, closed)
            case MeasureTables() | MeasureGroups() | Vote() | Rate() | Fit():
                return self._answer(self._run(message.run), message, message.body)
            case body:
                raise Refusal("request", f"a message of kind {body.kind!r} asks a holder nothing")

    # --- consent ------------------------------------------------------------------------------

    def _agree(self, run: str, terms: Terms, request: bytes) -> Accepted:
        """Set the whole of what a run may cost aside, if it is agreed to."""
        if self._answers.proposal(run) not in (None, request):
            raise Refusal("replay", "a run of this name began on other terms")
        self._check_terms(terms)
        identity = self._grant_of(request)
        if not self._ledger.entries(identity):
            refusal = self._policy.refusal(terms)
            if refusal is not None:
                raise Refusal("consent", refusal)
            self._open(identity, terms.budget, run, terms)
        self._answers.keep_proposal(run, request)
        return Accepted(rows=self._desk.rows)

    def _check_terms(self, terms: Terms) -> None:
        asked, own = terms.schema_asked.fingerprint, self.schema.fingerprint
        if asked != own:
            raise Refusal(
                "terms", f"the schema {asked} is not that of this holder, {own}; agree on one"
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

    def _grant_of(self, *parts: str | bytes) -> str:
        """A grant's identity: the same for the same proposal, and for this store alone."""
        text = hashlib.sha256(self._answers.store.identity.encode())
        for part in parts:
            text.update(part if isinstance(part, bytes) else part.encode())
        return text.hexdigest()[:32]

    def _open(self, identity: str, budget: Budget, run: str, terms: Terms) -> None:
        about = {
            "method": f"federated {terms.protocol}",
            "schema": self.schema.fingerprint,
            "run": run,
        }
        self._ledger.open(
            self.dataset, Grant(budget, identity=identity), adjacency=self._whom, about=about
        )

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
        return Agreement(name, proposal.terms, self._grant_of(request))

    # --- answers ------------------------------------------------------------------------------

    def _answer(self, run: Agreement, message: Message, question: PaidRequest) -> Message:
        """Check, pay, look, draw; the caller stores and sends."""
        share, answer = share_of(question), self._desk.prepare(message, run.terms.restrictions)
        entries = self._ledger.entries(run.grant)
        if any(entry["entry"] == "close" for entry in entries):
            raise Refusal("terms", "this run is closed; propose another")
        asked = {entry["request"] for entry in entries if entry["entry"] == "charge"}
        if message.request in asked:
            grant = self._paid_again(run, share, message.request)
        elif len(asked) >= run.terms.questions:
            raise Refusal("terms", f"all {run.terms.questions} questions of this run were asked")
        else:
            grant = self._granted(run.grant, run.terms.budget, message.request, entries)
        _check_room(grant, share)
        body, arrays = answer(self._curator(grant))
        reply = Message(message.run, message.request, body, arrays)
        if grant.identity != run.grant:
            self._ledger.close(grant)
        return reply

    def _curator(self, grant: Grant) -> Curator:
        return Curator(self._source, self.unit, grant, self._instruments, _memory=self._memory)

    def _granted(
        self, identity: str, budget: Budget, request: str, entries: Sequence[Mapping[str, Any]]
    ) -> Grant:
        """A run's grant as the ledger has it; new charges will name the question they pay for."""
        log = _Tagged(self._ledger, request)
        charges = [Charge.parse(dict(e)) for e in entries if e["entry"] == "charge"]
        return Grant(budget, log=log, identity=identity).resumed(charges)

    def _paid_again(self, run: Agreement, share: Fraction, request: str) -> Grant:
        """A grant beside the run's, for a question that was charged and whose answer was lost."""
        times = 0
        while self._ledger.entries(identity := self._grant_of(run.grant, request, str(times))):
            times += 1
        whole = Grant(run.terms.budget)
        budget = _budget_for(whole.spendable * share, run.terms.budget.delta)
        self._open(identity, budget, run.name, run.terms)
        log, pricing = _Tagged(self._ledger, request), SecondPayment(whole.spendable)
        return Grant(budget, log=log, identity=identity, pricing=pricing)

    # --- the end ------------------------------------------------------------------------------

    def _closed(self, run: Agreement) -> Closed:
        """Close the run's grant, and return the cost of all of its grants."""
        entries = self._ledger.entries(run.grant)
        if not any(entry["entry"] == "close" for entry in entries):
            self._ledger.close(self._granted(run.grant, run.terms.budget, NOBODY, entries))
        grants = [entry for entry in self.account.runs if entry.get("run") == run.name]
        return _closed(
            [line for grant in grants for line in self._ledger.entries(grant["grant"])],
            [grant["cost"].spent for grant in grants],
            private=self._instruments.noise.private,
        )

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

    def _set_limit(self, limit: Budget | None) -> None:
        if limit is None:
            return
        asked = Spent(limit.amount, limit.delta)
        known = self.account.limit
        if known is not None and known.adjacency not in (None, self._whom):
            raise UsageError(
                f"dataset {self.dataset!r}: the ledger's limit is for {known.adjacency}, and this "
                f"holder protects {self._whom}; set one for those with `ledger limit`"
            )
        strict = asked if known is None else _stricter(asked, known.total)
        if known is None or strict != known.total:
            self._ledger.set_limit(self.dataset, _stricter_limit(known, strict, self._whom))

    def _public_rows(self) -> int | None:
        nothing = Grant(Budget.pure(0))
        return Curator(self._source, self.unit, nothing, self._instruments).public_rows


@dataclass(frozen=True)
class _Tagged:
    """A log whose charges name the question that they pay for."""

    ledger: Ledger
    request: str

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        self.ledger.append([{**entry, "request": self.request} for entry in entries])

    def reserve(self, grant: Grant) -> None:
        self.ledger.reserve(grant)


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


def _check_room(grant: Grant, share: Fraction) -> None:
    """Refuse a question as a whole, before the first of its answers is charged."""
    asked, left = grant.spendable.amount * share, grant.remaining.amount
    if asked > left:
        raise BudgetExceeded(
            f"asked for {at_most_text(asked)}, but {at_least_text(left)} of {grant.spendable} is "
            "left of "
            "what this run agreed on; propose another",
            requested=asked,
            remaining=left,
        )


def _refused(error: Exception) -> Refused:
    """Why a question is not answered; nothing in it depends on rows."""
    match error:
        case Refusal():
            return Refused(because=error.because, reason=str(error)[:_LONGEST_REASON])  # type: ignore[arg-type]  # pydantic checks it
        case MessageError():
            return Refused(because="message", reason=str(error)[:_LONGEST_REASON])
        case BudgetExceeded():
            return Refused(because="budget", reason=str(error)[:_LONGEST_REASON])
        case CapacityError():
            # How much memory is free here is nobody's affair.
            return Refused(because="request", reason="the tables are too large for this holder")
        case UsageError():
            return Refused(because="request", reason=str(error)[:_LONGEST_REASON])
        case _:
            # What went wrong may have to do with rows, and is for the holder's own log alone.
            _LOG.error("a fault while answering", exc_info=error)
            return Refused(because="fault", reason="something failed here; ask the holder")


def _budget_for(share: Budget, delta: Fraction) -> Budget:
    """The budget of a grant that has room for a share of another: ε as it is, ρ as (ε, δ)."""
    if share.measure is BudgetMeasure.PURE:
        return share
    epsilon = Fraction(zcdp_epsilon(float(share.amount), float(delta))).limit_denominator(10**9)
    step = Fraction(1, 10**9)
    while (
        Grant(budget := Budget.approximate(epsilon + step, delta)).spendable.amount < share.amount
    ):
        step *= 2
    return budget


def _stricter_limit(known: Limit | None, total: Spent, whom: Adjacency) -> Limit:
    """A smaller limit by the rule of the one before, with the same parts set aside."""
    if known is None or known.concentrated is None:
        return Limit.basic(total, whom)
    return Limit.zcdp(total, whom, own_delta=known.concentrated.delta, basic_part=known.basic_part)


def _stricter(one: Spent, other: Spent) -> Spent:
    return Spent(min(one.epsilon, other.epsilon), min(one.delta, other.delta))


def _closed(lines: Sequence[Mapping[str, Any]], spent: Sequence[Spent], *, private: bool) -> Closed:
    """The end of a run, from what the ledger says of its grants."""
    whole = sum(spent, Spent())
    ways = dict.fromkeys(line["accounting"] for line in lines if line["entry"] == "close")
    charges = [Charge.parse(dict(line)) for line in lines if line["entry"] == "charge"]
    return Closed(
        epsilon=str(whole.epsilon),
        delta=str(whole.delta),
        accounting=" and ".join(ways),
        private=private,
        charges=tuple(charge.document() for charge in charges),
    )
