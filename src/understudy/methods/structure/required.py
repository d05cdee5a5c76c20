"""The tables that required edges need, as fine as a bound on cells allows."""

from __future__ import annotations

from understudy.facts.domain import Attributes, Domain
from understudy.methods.structure.restrict import Restrictions
from understudy.models.network import Family


def required_axes(
    child: str, restrictions: Restrictions, domain: Domain, *, most_cells: int
) -> Attributes:
    """The parents that a child, by the name it is measured under, must have.

    Each is as fine as the bound on cells allows: while it is too large, the largest parent
    that can be is coarsened. What is required is kept even where the coarsest is too large.
    """
    axes = list(restrictions.parents(domain.base(child)))
    while domain.cells((*axes, child)) > most_cells:
        coarser = {name: _coarser(name, domain) for name in axes}
        able = [name for name in axes if coarser[name] is not None]
        if not able:
            break
        largest = max(able, key=lambda name: domain[name])
        axes[axes.index(largest)] = coarser[largest] or largest
    return tuple(axes)


def child_names(
    child: str, restrictions: Restrictions, domain: Domain, *, most_cells: int
) -> Attributes:
    """The names under which a child may be measured together with its required parents.

    Finest first; where no table fits, the coarsest alone.
    """
    names = domain.levels(child)
    if not restrictions.parents(child):
        return names
    fits = [n for n in names if domain.cells(_least(n, restrictions, domain)) <= most_cells]
    return tuple(fits) or names[-1:]


def _least(name: str, restrictions: Restrictions, domain: Domain) -> Attributes:
    return (*required_axes(name, restrictions, domain, most_cells=0), name)


def required_family(
    child: str, restrictions: Restrictions, domain: Domain, *, most_cells: int
) -> Family:
    """A child, as fine as it fits, with the parents it must have and no others."""
    name = child_names(child, restrictions, domain, most_cells=most_cells)[0]
    parents = required_axes(name, restrictions, domain, most_cells=most_cells)
    return Family.over((*parents, name), domain)


def _coarser(name: str, domain: Domain) -> str | None:
    levels = domain.levels(domain.base(name))
    place = levels.index(name) + 1
    return levels[place] if place < len(levels) else None


def least_tables(restrictions: Restrictions, domain: Domain) -> list[Attributes]:
    """The tables that the required edges need at the least, as coarse as they can be."""
    children = [child for child in domain if restrictions.parents(child)]
    return [required_family(c, restrictions, domain, most_cells=0).axes for c in children]
