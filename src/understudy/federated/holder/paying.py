"""A holder's side of its ledger: what each run may spend, and what it has spent in the end."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from understudy.errors import BudgetExceeded, UsageError
from understudy.federated.holder.refusals import Refusal
from understudy.federated.messages import NOBODY, Closed
from understudy.federated.terms import Terms
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.accounting.conversions import zcdp_epsilon
from understudy.privacy.accounting.events import Charge
from understudy.privacy.budget import Budget
from understudy.privacy.budget import Measure as BudgetMeasure
from understudy.privacy.spending.accounts import Account
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.limits import Limit, Spent
from understudy.privacy.spending.pricing import SecondPayment
from understudy.system.amounts import at_least_text, at_most_text


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


@dataclass(frozen=True)
class RunGrants:
    """The grants of all runs of a holder.

    Attributes:
        ledger: where they are kept.
        dataset: the name the ledger knows the rows by.
        whom: whom the promise protects.
        schema: the fingerprint of the schema.
        store: the identity of the store of answers; grants of another store are others.
    """

    ledger: Ledger
    dataset: str
    whom: Adjacency
    schema: str
    store: str

    @property
    def account(self) -> Account:
        """The ledger's view of the rows: their limit, and every run with its cost."""
        return self.ledger.account(self.dataset)

    def identity(self, *parts: str | bytes) -> str:
        """A grant's identity: the same for the same proposal, and for this store alone."""
        text = hashlib.sha256(self.store.encode())
        for part in parts:
            text.update(part if isinstance(part, bytes) else part.encode())
        return text.hexdigest()[:32]

    def is_open(self, identity: str) -> bool:
        """Whether the ledger has heard of a grant."""
        return bool(self.ledger.entries(identity))

    def open(self, identity: str, budget: Budget, run: str, terms: Terms) -> None:
        """Set a budget aside."""
        about = {"method": f"federated {terms.protocol}", "schema": self.schema, "run": run}
        grant = Grant(budget, identity=identity)
        self.ledger.open(self.dataset, grant, adjacency=self.whom, about=about)

    def for_question(self, run: Agreement, share: Fraction, request: str) -> Grant:
        """The grant that pays for a question, with room for the whole of it."""
        entries = self.ledger.entries(run.grant)
        if any(entry["entry"] == "close" for entry in entries):
            raise Refusal("terms", "this run is closed; propose another")
        asked = {entry["request"] for entry in entries if entry["entry"] == "charge"}
        if request in asked:
            grant = self._again(run, share, request)
        elif len(asked) >= run.terms.questions:
            raise Refusal("terms", f"all {run.terms.questions} questions of this run were asked")
        else:
            grant = self._resumed(run, request, entries)
        _check_room(grant, share)
        return grant

    def finish(self, run: Agreement, grant: Grant) -> None:
        """Close a grant beside the run's own, which stays open for the next question."""
        if grant.identity != run.grant:
            self.ledger.close(grant)

    def close(self, run: Agreement, *, private: bool) -> Closed:
        """Close the run's grant, and return the cost of all of its grants."""
        entries = self.ledger.entries(run.grant)
        if not any(entry["entry"] == "close" for entry in entries):
            self.ledger.close(self._resumed(run, NOBODY, entries))
        grants = [entry for entry in self.account.runs if entry.get("run") == run.name]
        lines = [line for grant in grants for line in self.ledger.entries(grant["grant"])]
        return _closed(lines, [grant["cost"].spent for grant in grants], private=private)

    def _resumed(self, run: Agreement, request: str, entries: Sequence[Mapping[str, Any]]) -> Grant:
        """A run's grant as the ledger has it; new charges will name the question they pay for."""
        log = _Tagged(self.ledger, request)
        charges = [Charge.parse(dict(e)) for e in entries if e["entry"] == "charge"]
        return Grant(run.terms.budget, log=log, identity=run.grant).resumed(charges)

    def _again(self, run: Agreement, share: Fraction, request: str) -> Grant:
        """A grant beside the run's, for a question that was charged and whose answer was lost."""
        times = 0
        while self.is_open(identity := self.identity(run.grant, request, str(times))):
            times += 1
        whole = Grant(run.terms.budget)
        budget = _budget_for(whole.spendable * share, run.terms.budget.delta)
        self.open(identity, budget, run.name, run.terms)
        log, pricing = _Tagged(self.ledger, request), SecondPayment(whole.spendable)
        return Grant(budget, log=log, identity=identity, pricing=pricing)


def limit_spending(ledger: Ledger, dataset: str, limit: Budget, whom: Adjacency) -> None:
    """Set the most that may ever be spent on rows; a stricter limit in the ledger stays."""
    asked, known = Spent(limit.amount, limit.delta), ledger.account(dataset).limit
    if known is not None and known.adjacency not in (None, whom):
        raise UsageError(
            f"dataset {dataset!r}: the ledger's limit is for {known.adjacency}, and this "
            f"holder protects {whom}; set one for those with `ledger limit`"
        )
    strict = asked if known is None else _stricter(asked, known.total)
    if known is None or strict != known.total:
        ledger.set_limit(dataset, _stricter_limit(known, strict, whom))


@dataclass(frozen=True)
class _Tagged:
    """A log whose charges name the question that they pay for."""

    ledger: Ledger
    request: str

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        self.ledger.append([{**entry, "request": self.request} for entry in entries])

    def reserve(self, grant: Grant) -> None:
        self.ledger.reserve(grant)


def _check_room(grant: Grant, share: Fraction) -> None:
    """Refuse a question as a whole, before the first of its answers is charged."""
    asked, left = grant.spendable.amount * share, grant.remaining.amount
    if asked > left:
        raise BudgetExceeded(
            f"asked for {at_most_text(asked)}, but {at_least_text(left)} of {grant.spendable} is "
            "left of what this run agreed on; propose another",
            requested=asked,
            remaining=left,
        )


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
