"""Which tables a network needs, how they are measured, and its conditionals from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from understudy.facts.axes import Axes
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.methods.estimation.allocation import least_error_weights
from understudy.methods.estimation.learned import Learned
from understudy.models.bayes_net import BayesNet
from understudy.models.estimation.conditionals import conditionals
from understudy.models.estimation.consistency import best_total
from understudy.models.network import Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.noisy_marginal import NoisyMarginal


def measure_tables(
    curator: Curator,
    tables: Sequence[Attributes],
    budget: Budget,
    *,
    counting: Callable[[Attributes], float] = lambda _: 1.0,
) -> list[NoisyMarginal]:
    """Noisy tables, the budget shared so that their summed expected error is least.

    Args:
        curator: whom to ask.
        tables: the attributes of each.
        budget: for all of them.
        counting: how much the error of a table counts in the sum; it must be public.
    """
    if not tables:
        return []
    cells = [counting(table) * curator.domain.cells(table) for table in tables]
    return curator.measure(tables, budget, weights=least_error_weights(cells, budget.measure))


def measure_one_way(curator: Curator, budget: Budget) -> list[NoisyMarginal]:
    """Noisy tables of every attribute on its own."""
    return measure_tables(curator, one_way_tables(curator.domain), budget)


def measure_families(curator: Curator, network: Network, budget: Budget) -> list[NoisyMarginal]:
    """Noisy tables of a network's families, and of every attribute on its own once more.

    Where no family is worth its noise, one-way tables get the whole of what is left.
    """
    domain = curator.domain
    tables = [*family_tables(network, domain), *one_way_tables(domain)]
    return measure_tables(curator, tables, budget)


def estimated(
    curator: Curator,
    network: Network,
    marginals: Sequence[NoisyMarginal],
    schema: Schema,
    *,
    rows: int | None = None,
) -> Learned:
    """A network's conditionals from released tables, and how many rows to make.

    Args:
        curator: knows the domain, and the number of rows where it is public.
        network: the structure.
        marginals: what was released.
        schema: has the constraints.
        rows: how many rows to make; as many as there are, as far as is known, unless given.

    Privacy: post-processing of what was released.
    """
    public = curator.public_rows
    total = best_total(marginals) if public is None else float(public)
    learned = conditionals(
        network, marginals, total=total, domain=curator.domain, constraints=schema.constraints
    )
    made = max(round(total), 0) if rows is None else rows
    return Learned(BayesNet(curator.domain, learned), made, tuple(marginals))


def family_tables(network: Network, domain: Domain) -> list[Attributes]:
    """The tables a network needs: families with parents that no other family contains."""
    families = [family.axes for family in network if family.parents]
    return [
        table
        for place, table in enumerate(families)
        if not any(
            _covers(other, table, domain, earlier=i < place)
            for i, other in enumerate(families)
            if i != place
        )
    ]


def _covers(other: Attributes, table: Attributes, domain: Domain, *, earlier: bool) -> bool:
    """Whether another table makes one needless; of two over the same attributes the first stays."""
    return Axes(other).holds(table, domain) and (earlier or set(table) != set(other))


def one_way_tables(domain: Domain) -> list[Attributes]:
    """Every attribute on its own."""
    return [(attribute,) for attribute in domain]


def range_tables(domain: Domain, schema: Schema) -> list[Attributes]:
    """Every attribute on its own, and large ordered ones in groups of neighbouring codes too.

    The noise of a range of codes adds up over its cells. Most of a long range are whole groups,
    which are fewer. Groups cost little: they are small tables.
    """
    ordered = {*schema.ordered}
    copies = [(name,) for name, level in domain.coarser.items() if level.of in ordered]
    return [*one_way_tables(domain), *copies]
