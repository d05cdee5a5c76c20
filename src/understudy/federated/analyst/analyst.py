"""The analyst: drives a protocol over a channel, sees replies alone, and is trusted with nothing.

A run is a proposal that every holder agrees to, the questions of its protocol, and a closing in
which every holder says what the run cost its rows. The model carries the promise for the
union: a row is held by one holder, so whatever is learned costs it what that holder's answers cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from understudy.errors import MessageError
from understudy.facts.unit import Neighbours
from understudy.federated.analyst.advice import statistics_remark
from understudy.federated.analyst.asking import propose, sizes
from understudy.federated.analyst.conversation import Conversation, Report
from understudy.federated.analyst.plan import Collaboration
from understudy.federated.channel import Channel
from understudy.federated.messages import Close, Closed, Message
from understudy.federated.protocols.adaptive import learn_adaptive
from understudy.federated.protocols.modelling import learn_models
from understudy.federated.protocols.parameters import learn_parameters
from understudy.federated.protocols.statistics import learn_statistics
from understudy.federated.protocols.summing import HolderSums
from understudy.federated.protocols.voting import learn_votes
from understudy.federated.terms import ProtocolName
from understudy.methods.estimation.learned import Learned
from understudy.models.model import Model
from understudy.privacy.accounting.composition import Bound
from understudy.privacy.accounting.costs import zcdp_rho
from understudy.privacy.accounting.events import Charge
from understudy.privacy.spending.record import Kept, Record
from understudy.privacy.statements.statement import Statement, inherited

_SIZE_SHARE = Fraction(1, 100)


@dataclass(frozen=True)
class Promise:
    """The privacy cost of a run for the rows of one holder.

    Attributes:
        bound: proved by the holder's own books, or the whole of what was agreed.
        charges: every answer that it gave.
        private: whether nobody could predict its noise.
        confirmed: whether the holder itself said so at the end.
    """

    bound: Bound
    charges: tuple[Charge, ...]
    private: bool
    confirmed: bool


class Analyst:
    """One run with the holders of a channel.

    Args:
        channel: reaches the holders.
        plan: what to learn, and how.
        journal: a file that keeps questions and replies, from which a run that was cut off is
            taken up again; None keeps nothing.
        run: the run's name, for studies; a random one unless given. What the analyst draws itself
            follows from it, and no noise does.
        say: called with advice once numbers of rows are known, before tables are asked for.

    Privacy: holders charge themselves. A run taken up from its journal asks only what was not
    answered, under the same names, so that no holder pays twice for one answer.
    """

    def __init__(
        self,
        channel: Channel,
        plan: Collaboration,
        journal: Path | None = None,
        *,
        run: str | None = None,
        say: Callable[[str], None] = lambda advice: None,
    ) -> None:
        if plan.schema.inference is not None:
            # Refused here, before holders pay, where the two promises do not add up.
            inherited(plan.schema.inference, plan.unit, None)
        self.plan = plan
        self._say = say
        self._conversation = Conversation(channel, plan, journal, run)
        self.promises: dict[str, Promise] = {}

    @property
    def report(self) -> Report:
        """Return the report: problems, and holders that were left out."""
        return self._conversation.report

    def learn(self) -> Model:
        """Learn together with all holders; HolderError where too few of them answer."""
        conversation = self._conversation
        public = propose(conversation)
        learned = self._learned(public)
        self.promises = self._closed()
        statement = for_the_union(self.plan, self.promises)
        schema = self.plan.schema
        return Model(
            schema=schema,
            distribution=learned.distribution,
            rows=learned.rows,
            statement=statement.resting_on(schema.inference),
            tables=learned.tables,
        )

    def _learned(self, public: Mapping[str, int | None]) -> Learned:
        conversation, plan = self._conversation, self.plan
        if plan.protocol is ProtocolName.MODEL:
            return learn_models(conversation, public)
        if plan.sums is not None:
            return plan.sums.learn(HolderSums(conversation, public))
        size = _SIZE_SHARE if plan.neighbours is Neighbours.ADD_REMOVE else Fraction(0)
        rows, rest = sizes(conversation, public, size), 1 - size
        self._advise(rows.total(conversation.holders))
        match plan.protocol:
            case ProtocolName.STATISTICS:
                return learn_statistics(conversation, rows, rest)
            case ProtocolName.VOTES:
                return learn_votes(conversation, rows, rest)
            case ProtocolName.ADAPTIVE:
                return learn_adaptive(conversation, rows, rest)
            case _:
                assert plan.network is not None
                return learn_parameters(conversation, plan.network, rows, rest, before={})

    def _advise(self, rows: int) -> None:
        """Say where another protocol may do better; under replaced rows nothing is spent yet."""
        said = statistics_remark(self.plan, rows=rows, holders=len(self._conversation.holders))
        if said is not None:
            self._say(said)

    def _closed(self) -> dict[str, Promise]:
        """Ask every holder for the run's cost; the result does not need the answer."""
        asked = list(self._conversation.holders)
        replies = self._conversation.ask(
            dict.fromkeys(asked, (Close(), ())), _check_closed, least=0
        )
        said = {name: reply.body for name, reply in replies.items()}
        return {name: _promise(said.get(name), self.plan) for name in asked}


def learn_together(channel: Channel, plan: Collaboration, journal: Path | None = None) -> Model:
    """A model of the rows of all holders, none of which leaves its holder."""
    return Analyst(channel, plan, journal).learn()


def for_the_union(plan: Collaboration, promises: Mapping[str, Promise]) -> Statement:
    """The promise for the rows of all holders together.

    A row has one holder, and neighbouring unions differ at one holder alone: the largest of all
    holders' bounds holds for every row. Someone with rows at several holders is protected by the
    sum of their budgets.
    """
    epsilons = [promise.bound.epsilon or Fraction(0) for promise in promises.values()]
    deltas = [promise.bound.delta for promise in promises.values()]
    ways = " and ".join(dict.fromkeys(p.bound.accounting for p in promises.values()))
    bound = Bound(
        f"{ways} at each of {len(promises)} holders, of which the largest; "
        "who is held by several pays the sum",
        max(epsilons),
        max(deltas),
    )
    charges = tuple(
        replace(charge, question=f"{name}: {charge.question}")
        for name, promise in promises.items()
        for charge in promise.charges
    )
    private = all(promise.private for promise in promises.values())
    held = plan.restrictions.protection
    return Statement(
        f"federated {plan.protocol}",
        bound,
        plan.unit,
        charges,
        private=private,
        protection=held.settled if held else None,
        record=Record(Kept.HOLDERS),
    )


def _check_closed(name: str, message: Message) -> None:
    if not isinstance(message.body, Closed):
        raise MessageError(f"the end of the run was asked for, and {message.body.kind!r} came")
    for charge in message.body.charges:
        # What has no price could be neither shown nor written.
        zcdp_rho(Charge.parse(dict(charge)).event)


def _promise(body: object, plan: Collaboration) -> Promise:
    if not isinstance(body, Closed):
        whole = Bound("the whole of what was agreed", plan.budget.amount, plan.budget.delta)
        return Promise(whole, (), private=True, confirmed=False)
    charges = tuple(Charge.parse(dict(charge)) for charge in body.charges)
    bound = Bound(body.accounting, Fraction(body.epsilon), Fraction(body.delta))
    return Promise(bound, charges, private=body.private, confirmed=True)
