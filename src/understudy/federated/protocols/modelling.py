"""Noisy models: each holder learns its own rows, the analyst learns from all that they made.

Source: TUC-1 Algorithm 3.7, where a global network is learned from the union of rows drawn from
the holders' models, and TUC-2 Algorithm 6, where that union itself is the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from understudy.errors import MessageError, UsageError
from understudy.facts.codes import Codes
from understudy.facts.domain import Attributes
from understudy.facts.unit import Neighbours
from understudy.federated.analyst.conversation import Conversation
from understudy.federated.analyst.plan import Collaboration
from understudy.federated.holder.answering import fitted_conditionals
from understudy.federated.messages import Fit, Fitted, Message
from understudy.federated.protocols.structure import greedy
from understudy.methods.estimation.learned import Learned
from understudy.methods.structure.scores import mutual_information, total_variation
from understudy.methods.structure.table_cost import TableCost
from understudy.models.bayes_net import BayesNet
from understudy.models.estimation.conditionals import conditionals
from understudy.models.model import Model
from understudy.models.network import Network
from understudy.models.records import ReleasedRecords
from understudy.models.sampling import deal_codes, sample_codes
from understudy.privacy.accounting.composition import NONE, Bound
from understudy.privacy.budget import Measure
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.privacy.statements.statement import Statement
from understudy.rows.counting import Scores
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

# An average cell of a family's table should hold so many rows.
_ROWS_PER_CELL = 4
_SEED = 7


def learn_models(conversation: Conversation, public: Mapping[str, int | None]) -> Learned:
    """One network from the models of all holders, or the union of their rows."""
    models = _models(conversation, public)
    union = _union(conversation, models)
    if conversation.plan.gathering == "union":
        records = ReleasedRecords(conversation.plan.domain, union)
        return Learned(records, len(records))
    table = Table(conversation.plan.domain, union, len(next(iter(union.values()))))
    network = _network(conversation.plan, table)
    tables = MemorySource(table).count([family.axes for family in network])
    exact = [NoisyMarginal(marginal.attributes, marginal.counts, 0.0) for marginal in tables]
    constraints = conversation.plan.schema.constraints
    learned = conditionals(
        network,
        exact,
        total=float(table.rows),
        domain=conversation.plan.domain,
        constraints=constraints,
    )
    return Learned(BayesNet(conversation.plan.domain, learned), table.rows)


def _models(conversation: Conversation, public: Mapping[str, int | None]) -> dict[str, Model]:
    def check(name: str, message: Message) -> None:
        _model(conversation.plan, message)

    replies = conversation.ask(
        {name: (_question(conversation.plan), ()) for name in conversation.holders}, check
    )
    models = {}
    for name, message in replies.items():
        model, rows = _model(conversation.plan, message), public[name]
        models[name] = _with_rows(conversation, name, model, model.rows if rows is None else rows)
    return models


def _question(plan: Collaboration) -> Fit:
    gaussian = plan.spendable.measure is Measure.ZCDP
    if plan.form.sized:
        structure = "pairwise" if gaussian and plan.score in (None, "R", "TVD") else "greedy"
        return Fit(structure=structure, degree=plan.degree, score=plan.score)  # type: ignore[arg-type]  # pydantic checks it
    bits = "MI" if plan.neighbours is Neighbours.REPLACE else None
    return Fit(
        structure="greedy",
        degree=plan.subset_degree,
        score=plan.score or bits,  # type: ignore[arg-type]  # pydantic checks it
        plain=not plan.form.full_budget,
    )


def _model(plan: Collaboration, message: Message) -> Model:
    """A holder's model; whatever is wrong with it is found here."""
    if not isinstance(message.body, Fitted):
        raise MessageError(f"a model was asked for, and {message.body.kind!r} came")
    tables = fitted_conditionals(message.body, message.arrays, plan.domain)
    _check_obeyed(plan, Network(tuple(table.family for table in tables)))
    nothing = Statement("federated model", Bound(NONE, None, plan.budget.delta), plan.unit, ())
    return Model(plan.schema, BayesNet(plan.domain, tables), message.body.rows, nothing)


def _check_obeyed(plan: Collaboration, network: Network) -> None:
    """Refuse a holder's model that goes beyond what was agreed."""
    if not plan.restrictions:
        return
    try:
        plan.restrictions.check_obeyed(network)
    except UsageError:
        raise MessageError("its network breaks the restrictions that were agreed") from None


def _with_rows(conversation: Conversation, name: str, model: Model, rows: int) -> Model:
    most = conversation.plan.most_rows
    if rows > most:
        conversation.report.note(f"holder {name!r} claims {rows:,} rows; {most:,} is taken")
    return replace(model, rows=min(rows, most))


def _union(conversation: Conversation, models: Mapping[str, Model]) -> dict[str, Codes]:
    """Rows of every model, as many as its holder has.

    The theses draw them independently; dealt without replacement they stray less from the model.
    """
    sampler = deal_codes if conversation.plan.form.full_budget else sample_codes
    generator = np.random.default_rng([_SEED, int(conversation.run[:8], 16)])
    drawn = [sampler(model, model.rows, generator) for model in models.values()]
    return {
        attribute: np.concatenate([codes[attribute] for codes in drawn])
        for attribute in conversation.plan.domain
    }


def _network(plan: Collaboration, table: Table) -> Network:
    """The greedy network of rows that cost nothing to look at."""
    source = MemorySource(table)
    cells = table.rows // _ROWS_PER_CELL if plan.form.sized else 2**22
    plain = plan.score == "MI" or not plan.form.sized
    score = mutual_information(table.rows, binary=False) if plain else total_variation()

    def rate(sets: Sequence[Attributes]) -> Scores:
        return source.score(sets, score.kernel)

    degree = plan.degree_or(2 if plan.form.sized else 1)
    table_cost = TableCost(0.0, max(cells, 1))
    return greedy(plan.domain, rate, table_cost, degree=degree, restrictions=plan.restrictions)
