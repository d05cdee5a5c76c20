"""Distributed parameter learning: the network is known, holders hand in its tables.

Source: TUC-1 Algorithm 3.4, TUC-2 Algorithm 8. It is also how a vote ends. The counts of the union
are the sums of the holders' noisy counts; conditionals are computed from those.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from understudy.facts.unit import Neighbours
from understudy.federated.analyst.asking import Sizes, summed, tables
from understudy.federated.analyst.conversation import Conversation
from understudy.methods.estimation.learned import Learned
from understudy.methods.estimation.parameters import family_tables, one_way_tables
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.estimation.conditionals import agreeing, conditionals_of
from understudy.models.estimation.consistency import Estimate, best_total
from understudy.models.network import Family, Network
from understudy.privacy.noisy_marginal import NoisyMarginal

Held = dict[str, list[NoisyMarginal]]


def learn_parameters(
    conversation: Conversation, network: Network, sizes: Sizes, share: Fraction, *, before: Held
) -> Learned:
    """Conditionals of a network from tables of all holders.

    Args:
        conversation: with the holders.
        network: the structure.
        sizes: the rows of each holder.
        share: the part of the budget that the tables get.
        before: one-way tables that were asked for earlier, by holder.
    """
    form, domain = conversation.plan.form, conversation.plan.domain
    if form.full_budget:
        asked = [*family_tables(network, domain), *one_way_tables(domain)]
    else:
        asked = [family.axes for family in network]
    found = tables(conversation, asked, share, sizes=sizes, equally=not form.full_budget)
    # Only holders that answered to the end are in the sums, with all of their tables.
    held = [[*before.get(name, []), *found[name]] for name in found]
    return from_sums(conversation, network, summed(held), sizes)


def from_sums(
    conversation: Conversation, network: Network, marginals: Sequence[NoisyMarginal], sizes: Sizes
) -> Learned:
    """Conditionals from the tables of the union."""
    rows = max(round(total_rows(conversation, marginals, sizes)), 0)
    if conversation.plan.form.consistent:
        estimates = agreed(conversation, marginals, sizes)
        found = conditionals_of(network, estimates, conversation.plan.domain)
    else:
        found = tuple(_normalised(family, marginals) for family in network)
    return Learned(BayesNet(conversation.plan.domain, found), rows, tuple(marginals))


def agreed(
    conversation: Conversation, marginals: Sequence[NoisyMarginal], sizes: Sizes
) -> list[Estimate]:
    """The tables of the union, made to agree."""
    plan, total = conversation.plan, total_rows(conversation, marginals, sizes)
    return agreeing(marginals, total, plan.domain, plan.schema.constraints)


def total_rows(
    conversation: Conversation, marginals: Sequence[NoisyMarginal], sizes: Sizes
) -> float:
    """The number of rows of the union: public, or the best that the tables say."""
    if conversation.plan.neighbours is Neighbours.REPLACE:
        return float(sum(sizes.rows[name] for name in conversation.holders))
    return best_total(marginals)


def _normalised(family: Family, marginals: Sequence[NoisyMarginal]) -> Conditional:
    """As in the theses: negative counts set to zero, every line divided by its sum."""
    table = min(
        (m for m in marginals if set(family.axes) <= set(m.attributes)),
        key=lambda m: m.counts.size,
    )
    return Conditional.from_weights(
        family, np.maximum(table.project(family.axes).counts, 0).astype(float)
    )
