"""Noisy majority voting: holders vote on one family after the other, by their own rows.

Source: TUC-1 Algorithm 3.6, TUC-2 Algorithm 5. A vote is a private choice; the analyst sees for
whom each holder voted and nothing else. With Gaussian noise it is better to ask once for noisy
scores of all pairs and to add them up: every holder then votes for every pair, as much as it can.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from understudy.facts.unit import Neighbours
from understudy.federated.analyst.asking import Sizes, ratings, tables, votes
from understudy.federated.analyst.conversation import Conversation
from understudy.federated.holder.answering import largest_penalty
from understudy.federated.protocols.parameters import Held, learn_parameters
from understudy.federated.protocols.structure import table_cost_of_sums
from understudy.methods.budget_plan import divide
from understudy.methods.estimation.learned import Learned
from understudy.methods.estimation.parameters import one_way_tables
from understudy.methods.structure.candidates import Candidates, grow
from understudy.methods.structure.greedy import affordable_degree
from understudy.methods.structure.pairwise import PairScores, priced_network
from understudy.methods.structure.scores import score_for
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Family, Network
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.mechanisms.selection import choice
from understudy.rows.counting import Score
from understudy.system.arrays import Array

_STRUCTURE, _STRUCTURE_BY_SCORES, _STRUCTURE_PLAIN = (
    Fraction(1, 5),
    Fraction(1, 10),
    Fraction(1, 2),
)
# How much of a vote's support for another family is left where it is another child's.
_OTHER_CHILD = 0.25
# In scales of one choice's noise, less for many voters: parents must be worth so much.
_DISCOUNT = 3.0


def learn_votes(conversation: Conversation, sizes: Sizes, share: Fraction) -> Learned:
    """A network that holders vote for, then its parameters from their tables."""
    one_way, structure, rest = _shares(conversation, sizes, share)
    before: Held = {}
    if one_way:
        before = tables(
            conversation, one_way_tables(conversation.plan.domain), one_way, sizes=sizes
        )
    network = _structure(conversation, sizes, structure, rest)
    return learn_parameters(conversation, network, sizes, rest, before=before)


def _shares(
    conversation: Conversation, sizes: Sizes, share: Fraction
) -> tuple[Fraction, Fraction, Fraction]:
    """The parts of one-way tables, votes and tables; from public numbers alone.

    One-way tables get more where the sum of all noise would leave them poor, as in central fits.
    """
    plan, holders = conversation.plan, len(conversation.holders)
    automatic = _STRUCTURE_BY_SCORES if plan.by_scores else _STRUCTURE
    usual = automatic if plan.form.full_budget else _STRUCTURE_PLAIN
    structure = usual if plan.structure_share is None else plan.structure_share
    if len(plan.domain) < 2 or plan.degree == 0:
        structure = Fraction(0)
    if not plan.form.full_budget:
        return Fraction(0), share * structure, share * (1 - structure)
    seen = sizes.total(conversation.holders) / math.sqrt(holders)
    parts = divide(
        plan.domain,
        plan.spendable * share,
        plan.unit,
        size=seen,
        structure=structure,
        most=(1 - structure) / 2,
        one_way=plan.one_way_share,
    )
    return share * parts.one_way, share * parts.structure, share * parts.tables


def _structure(
    conversation: Conversation, sizes: Sizes, share: Fraction, rest: Fraction
) -> Network:
    plan = conversation.plan
    if not share:
        return Network.without_edges(plan.domain.attributes)
    rows, holders = sizes.total(conversation.holders), len(conversation.holders)
    table_cost = table_cost_of_sums(plan, plan.spendable * rest, rows=rows, holders=holders)
    if plan.by_scores:
        return _by_scores(conversation, sizes, share, table_cost)
    return _by_choices(conversation, sizes, share, table_cost)


# --- votes by choices -------------------------------------------------------------------------


def _by_choices(
    conversation: Conversation, sizes: Sizes, share: Fraction, table_cost: TableCost
) -> Network:
    """One round for each attribute but the first, which is the root."""
    domain, rules = conversation.plan.searched, conversation.plan.restrictions
    candidates = Candidates(
        domain, degree=_degree(conversation), table_cost=table_cost, restrictions=rules
    )
    each = share / (len(domain) - 1)

    def elect(families: list[Family]) -> Family:
        return families[
            _majority(conversation, families, sizes=sizes, share=each, table_cost=table_cost)
        ]

    return grow(candidates, elect)


def _degree(conversation: Conversation) -> int:
    plan = conversation.plan
    names = sum(len(plan.searched.levels(name)) for name in plan.searched)
    return plan.degree_or(affordable_degree(names, most=2))


def _majority(
    conversation: Conversation,
    families: Sequence[Family],
    *,
    sizes: Sizes,
    share: Fraction,
    table_cost: TableCost,
) -> int:
    """The number of the family that is elected."""
    plan = conversation.plan
    penalties = {
        name: _penalties(
            conversation,
            families,
            sizes=sizes,
            holder=name,
            budget=plan.spendable * share,
            table_cost=table_cost,
        )
        for name in conversation.holders
    }
    score = _score_name(conversation)
    found = votes(
        conversation,
        [family.axes for family in families],
        penalties=penalties,
        share=share,
        score=score,
    )
    if not plan.form.weighted:
        return elected(families, [(index, 1) for index in found.values()], kindred=False)
    cast = [(index, max(sizes.rows[name], 1)) for name, index in found.items()]
    return elected(families, cast, kindred=True)


def elected(families: Sequence[Family], cast: Sequence[tuple[int, int]], *, kindred: bool) -> int:
    """The number of the family with the most support among those voted for; of equals the first.

    Few holders among many candidates hardly ever agree to the letter. A vote therefore supports
    kindred families too, in proportion to the attributes that they share.

    Args:
        families: the candidates.
        cast: of each vote the number of its family, and its weight.
        kindred: whether a vote supports any other family than its own.
    """

    def support(index: int) -> float:
        return sum(
            weight * (_kinship(families[index], families[vote]) if kindred else index == vote)
            for vote, weight in cast
        )

    return max(sorted({index for index, _ in cast}), key=support)


def _kinship(one: Family, other: Family) -> float:
    """The part of two families' attributes that both have; much less where children differ."""
    first, second = set(one.attributes), set(other.attributes)
    shared = len(first & second) / len(first | second)
    return shared if one.child == other.child else shared * _OTHER_CHILD


def _penalties(
    conversation: Conversation,
    families: Sequence[Family],
    *,
    sizes: Sizes,
    holder: str,
    budget: Budget,
    table_cost: TableCost,
) -> Array:
    """Return the penalty of each family's score at one holder, in the unit of its score.

    A price in rows of the union is one in shares of it where scores are shares, and where they
    are in rows, the holder's part of it.
    """
    if not table_cost.price:
        return np.zeros(len(families))
    plan, rows = conversation.plan, sizes.total(conversation.holders)
    shares = plan.neighbours is Neighbours.REPLACE
    unit = 1 / rows if shares else sizes.rows[holder] / rows
    score = _score(conversation, sizes.rows[holder])
    scale = float(choice(budget, sensitivity=score.sensitivity * plan.unit.rows).scale)  # type: ignore[union-attr]
    bias = _DISCOUNT * scale / len(conversation.holders)
    found = [
        table_cost.cost(plan.domain, family) * unit + (bias if family.parents else 0.0)
        for family in families
    ]
    return np.minimum(found, largest_penalty(score))


def _score_name(conversation: Conversation) -> str:
    plan = conversation.plan
    if plan.score is not None:
        return plan.score
    if plan.neighbours is Neighbours.ADD_REMOVE:
        return "TVD"
    return "R" if plan.form.sized else "MI"


def _score(conversation: Conversation, rows: int) -> Score:
    return score_for(
        conversation.plan.unit, rows, conversation.plan.domain, name=_score_name(conversation)
    )


# --- votes by scores --------------------------------------------------------------------------


def _by_scores(
    conversation: Conversation, sizes: Sizes, share: Fraction, table_cost: TableCost
) -> Network:
    """Families grown from the summed scores of pairs, as in central fits."""
    plan, domain, rules = (
        conversation.plan,
        conversation.plan.searched,
        conversation.plan.restrictions,
    )
    pairs = [
        pair
        for first, second in itertools.combinations(domain, 2)
        if rules.permits(first, second)
        for pair in itertools.product(domain.levels(first), domain.levels(second))
        if domain.cells(pair) <= table_cost.most_cells
    ]
    values, noise = np.empty(0), 0.0
    if pairs:
        found = ratings(conversation, pairs, share, _score_name(conversation))
        values, noise = _total(
            conversation, found, sizes=sizes, budget=plan.spendable * share, count=len(pairs)
        )
    named = {frozenset(pair): float(value) for pair, value in zip(pairs, values, strict=True)}
    scores, degree = PairScores(domain, named, noise), plan.degree_or(len(domain))
    return priced_network(scores, table_cost, degree=degree, restrictions=rules)


def _total(
    conversation: Conversation,
    found: Mapping[str, Array],
    *,
    sizes: Sizes,
    budget: Budget,
    count: int,
) -> tuple[Array, float]:
    """Summed scores, in rows of the union, and the standard deviation of their noise."""
    total, variance = np.zeros(count), 0.0
    for name, scores in found.items():
        rows = max(sizes.rows[name], 0)
        unit = rows if conversation.plan.neighbours is Neighbours.REPLACE else 1
        spread = unit * _noise(
            budget, float(_score(conversation, rows).sensitivity), conversation, count
        )
        within = np.clip(scores * unit, -60 * spread, rows + 60 * (spread + sizes.noise))
        if not np.array_equal(within, scores * unit):
            conversation.report.note(
                f"holder {name!r}: scores beyond what its rows allow; they were cut"
            )
        total += within
        variance += spread**2
    return total, math.sqrt(variance)


def _noise(budget: Budget, sensitivity: float, conversation: Conversation, count: int) -> float:
    """The standard deviation of one score's noise when `count` are asked for together."""
    moved = sensitivity * conversation.plan.unit.rows
    amount = float(budget.amount)
    if budget.measure is Measure.PURE:
        return math.sqrt(2) * moved * count / amount
    return moved * math.sqrt(count / (2 * amount))
