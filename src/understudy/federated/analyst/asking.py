"""The questions themselves, from the analyst's side, and what of each answer is believed.

Counts are bounded by what a holder's rows and its noise allow: a cell beyond that is cut to the
bound and reported. Within the bounds a holder can say what it likes; nobody can see that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.errors import MessageError
from understudy.facts.domain import Attributes, Domain
from understudy.facts.grouping import Grouping
from understudy.facts.unit import Neighbours
from understudy.federated.analyst.conversation import Conversation
from understudy.federated.messages import (
    Accepted,
    Chosen,
    MeasureGroups,
    MeasureTables,
    Message,
    Propose,
    Rate,
    Rated,
    Tables,
    Vote,
)
from understudy.methods.estimation.allocation import least_error_weights
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.additive import additive
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.rows.counting import Counts
from understudy.system.arrays import Array

# In standard deviations. Laplace noise passes this with a chance of e^(−85), Gaussian never.
_FAR = 60.0


@dataclass(frozen=True)
class Sizes:
    """How many rows each holder has: public, or as it said at a cost."""

    rows: Mapping[str, int]
    noise: float = 0.0

    def total(self, holders: Sequence[str]) -> int:
        """The rows of some holders together, one at the least."""
        return max(sum(self.rows[name] for name in holders), 1)


def propose(conversation: Conversation) -> dict[str, int | None]:
    """Ask all holders to take part; the numbers of rows that are public."""
    public = conversation.plan.neighbours is Neighbours.REPLACE

    def check(name: str, message: Message) -> None:
        body = message.body
        if not isinstance(body, Accepted) or (body.rows is None) is public:
            raise MessageError("this is not an agreement, or not for the same neighbours")

    ask = {name: (Propose(terms=conversation.plan.terms()), ()) for name in conversation.holders}
    replies = conversation.ask(ask, check)
    return {
        name: _bounded_rows(conversation, name, m.body.rows)
        for name, m in replies.items()
        if isinstance(m.body, Accepted)
    }


def _bounded_rows(conversation: Conversation, name: str, rows: int | None) -> int | None:
    if rows is not None and rows > conversation.plan.most_rows:
        conversation.report.note(
            f"holder {name!r} claims {rows:,} rows; {conversation.plan.most_rows:,} is taken"
        )
        return conversation.plan.most_rows
    return rows


def sizes(conversation: Conversation, public: Mapping[str, int | None], share: Fraction) -> Sizes:
    """The number of rows at each holder; where it is private, from a question that is paid for."""
    known = {name: rows for name, rows in public.items() if rows is not None}
    if len(known) == len(public):
        return Sizes(known)
    most = Sizes(dict.fromkeys(conversation.holders, conversation.plan.most_rows))
    counted = tables(conversation, [()], share, sizes=most)
    found = {name: max(int(held[0].counts), 0) for name, held in counted.items()}
    return Sizes(found, math.sqrt(next(iter(counted.values()))[0].variance))


def tables(
    conversation: Conversation,
    sets: Sequence[Attributes],
    share: Fraction,
    *,
    sizes: Sizes,
    equally: bool = False,
) -> dict[str, list[NoisyMarginal]]:
    """Noisy tables of every holder, for a share of the budget.

    Args:
        conversation: with the holders.
        sets: the attributes of each table.
        share: of the run's budget.
        sizes: bounds what is believed.
        equally: shares the budget equally among tables, instead of by their sizes.
    """
    plan = conversation.plan
    weights = [1] * len(sets) if equally else _weights(conversation, sets, plan.domain)
    question = MeasureTables(
        share=str(share),
        tables=tuple(sets),
        weights=tuple(weights),
        clip=not plan.form.unclipped,
    )
    return _answered(conversation, (question, ()), sets, domain=plan.domain, sizes=sizes)


def grouped_tables(
    conversation: Conversation,
    sets: Sequence[Attributes],
    share: Fraction,
    *,
    grouping: Grouping,
    sizes: Sizes,
) -> dict[str, list[NoisyMarginal]]:
    """Noisy tables of every holder in groups of codes, for a share of the budget.

    Args:
        conversation: with the holders.
        sets: the attributes of each table.
        share: of the run's budget.
        grouping: the groups; all attributes of the tables have some.
        sizes: bounds what is believed.
    """
    seen = [grouping.seen(names) for names in sets]
    question = MeasureGroups(
        share=str(share),
        grouped=tuple(grouping.groups),
        tables=tuple(sets),
        weights=tuple(_weights(conversation, seen, grouping.extended)),
    )
    arrays = tuple(groups.astype(np.int16) for groups in grouping.groups.values())
    return _answered(conversation, (question, arrays), seen, domain=grouping.extended, sizes=sizes)


def _weights(conversation: Conversation, sets: Sequence[Attributes], domain: Domain) -> list[int]:
    """The shares of tables for which their error is least."""
    cells = [domain.cells(names) for names in sets]
    return least_error_weights(cells, conversation.plan.spendable.measure)


def _answered(
    conversation: Conversation,
    asked: tuple[MeasureTables | MeasureGroups, tuple[Array, ...]],
    sets: Sequence[Attributes],
    *,
    domain: Domain,
    sizes: Sizes,
) -> dict[str, list[NoisyMarginal]]:
    """The tables of every holder, cut to what its rows and its noise allow."""
    shapes, question = [domain.shape(names) for names in sets], asked[0]
    replies = conversation.ask(
        dict.fromkeys(conversation.holders, asked),
        lambda _, message: _check_tables(message, shapes),
    )
    variances = cell_variances(conversation, Fraction(question.share), question.weights)
    return {
        name: [
            NoisyMarginal(
                names,
                _bounded(
                    conversation,
                    name=name,
                    names=names,
                    counts=counts,
                    sizes=sizes,
                    variance=variance,
                ),
                variance,
            )
            for names, counts, variance in zip(sets, message.arrays, variances, strict=True)
        ]
        for name, message in replies.items()
    }


def cell_variances(
    conversation: Conversation, share: Fraction, weights: Sequence[int]
) -> list[float]:
    """The variance of one holder's noise on a cell of each table; public."""
    unit = conversation.plan.unit
    parts = (conversation.plan.spendable * share).split(weights)
    l1, l2_squared = unit.count_l1, unit.count_l2_squared
    return [additive(part, l1=l1, l2_squared=l2_squared).variance for part in parts]


def _check_tables(message: Message, shapes: Sequence[tuple[int, ...]]) -> None:
    if not isinstance(message.body, Tables):
        raise MessageError(f"tables were asked for, and {message.body.kind!r} came")
    found = [(array.shape, array.dtype.kind) for array in message.arrays]
    if found != [(shape, "i") for shape in shapes]:
        raise MessageError("the tables do not have the shapes that were asked for")


def _bounded(
    conversation: Conversation,
    *,
    name: str,
    names: Attributes,
    counts: Array,
    sizes: Sizes,
    variance: float,
) -> Counts:
    """Counts within what the holder's rows and its noise allow."""
    far = _FAR * math.sqrt(variance) + 1
    low, high = -math.ceil(far), math.ceil(sizes.rows[name] + _FAR * sizes.noise + far)
    outside = int(((counts < low) | (counts > high)).sum())
    if outside:
        what = " × ".join(names) or "rows"
        conversation.report.note(
            f"holder {name!r}: {outside} cells of its table of {what} lie beyond what its rows and "
            "its noise allow; they were cut to that"
        )
    return np.clip(counts, low, high).astype(np.int64)


def summed(held: Sequence[Sequence[NoisyMarginal]]) -> list[NoisyMarginal]:
    """The tables of the union: plain sums, with summed variances."""
    return [
        NoisyMarginal(
            parts[0].attributes,
            np.asarray(sum(part.counts for part in parts), np.int64),
            sum(part.variance for part in parts),
        )
        for parts in zip(*held, strict=True)
    ]


def as_numbers(sets: Sequence[Attributes], domain: Domain) -> Array:
    """Sets of names as lines of their numbers, filled up with −1 in front."""
    places = {name: place for place, name in enumerate(domain.names)}
    widest = max(len(names) for names in sets)
    lines = [[-1] * (widest - len(n)) + [places[name] for name in n] for n in sets]
    return np.array(lines, np.int16)


def votes(
    conversation: Conversation,
    sets: Sequence[Attributes],
    *,
    penalties: Mapping[str, Array],
    share: Fraction,
    score: str,
) -> dict[str, int]:
    """For which of the candidates each holder votes."""
    numbers = as_numbers(sets, conversation.plan.domain)
    plain = not conversation.plan.form.full_budget
    question = Vote(share=str(share), score=score, plain=plain)  # type: ignore[arg-type]  # pydantic checks it

    def check(name: str, message: Message) -> None:
        if not isinstance(message.body, Chosen) or message.body.index >= len(sets):
            raise MessageError("this is not a vote for one of the candidates")

    ask = {name: (question, (numbers, penalties[name])) for name in conversation.holders}
    replies = conversation.ask(ask, check)
    return {n: m.body.index for n, m in replies.items() if isinstance(m.body, Chosen)}


def ratings(
    conversation: Conversation, sets: Sequence[Attributes], share: Fraction, score: str
) -> dict[str, Array]:
    """The noisy scores of some sets at each holder."""
    numbers = as_numbers(sets, conversation.plan.domain)
    question = Rate(share=str(share), score=score)  # type: ignore[arg-type]  # pydantic checks it

    def check(name: str, message: Message) -> None:
        fits = [(a.shape, a.dtype.kind) for a in message.arrays] == [((len(sets),), "f")]
        if not isinstance(message.body, Rated) or not fits:
            raise MessageError("these are not scores of the sets that were asked about")

    replies = conversation.ask(dict.fromkeys(conversation.holders, (question, (numbers,))), check)
    return {name: message.arrays[0] for name, message in replies.items()}


def part_of(budget: Budget, whole: Budget) -> Fraction:
    """Which share of the whole a budget is."""
    return budget.amount / whole.amount
