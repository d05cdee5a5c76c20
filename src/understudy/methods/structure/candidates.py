"""Families that may enter a network next, kept so that nothing is looked at twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from understudy.facts.domain import Attributes, Domain
from understudy.methods.structure.required import required_family
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Family, Network


class Candidates:
    """All families of unplaced children with placed parents, within a degree and a table size.

    Children and parents may be coarsened; an attribute is in a family once. When an attribute
    enters the network, only families with it among the parents are new. Restrictions say which
    children may come next, and which parents they may and must have.
    """

    def __init__(
        self,
        domain: Domain,
        *,
        degree: int,
        table_cost: TableCost,
        restrictions: Restrictions = NONE,
    ) -> None:
        self._domain = domain
        self._degree = degree
        self._table_cost = table_cost
        self._restrictions = restrictions
        # For every child, by the name it would be measured under, the names of its parents.
        self._parents: dict[str, dict[str, list[Attributes]]] = {
            child: {name: [()] for name in domain.levels(child)} for child in domain
        }

    def __bool__(self) -> bool:
        return bool(self._parents)

    def __iter__(self) -> Iterator[Family]:
        for child in self._restrictions.next_among(list(self._parents)):
            yield from self._families(child)

    def _families(self, child: str) -> list[Family]:
        must = set(self._restrictions.parents(child))
        found = [
            family
            for name, sets in self._parents[child].items()
            # Without parents there is nothing to be gained by coarsening.
            for parents in (sets if name == child else sets[1:])
            if must <= set((family := Family.over((*parents, name), self._domain)).parents)
        ]
        # What is required is measured even where it is too large.
        most = self._table_cost.most_cells
        required = required_family(child, self._restrictions, self._domain, most_cells=most)
        return found or [required]

    @property
    def root(self) -> str:
        """The first attribute that may come first."""
        return self._restrictions.next_among(list(self._parents))[0]

    def place(self, attribute: str) -> None:
        """Let an attribute enter the network: a child no more, a possible parent from now on."""
        del self._parents[attribute]
        levels = self._domain.levels(attribute)
        for child, names in self._parents.items():
            if not self._restrictions.allows(attribute, child):
                continue
            for name, sets in names.items():
                fewer = [parents for parents in sets if len(parents) < self._degree]
                wider = [(*parents, level) for parents in fewer for level in levels]
                sets += [parents for parents in wider if self._allows((*parents, name))]

    def _allows(self, axes: Attributes) -> bool:
        return self._table_cost.allows(self._domain.cells(axes))


def grow(candidates: Candidates, choose: Callable[[list[Family]], Family]) -> Network:
    """A network grown from the first attribute that may be first, one family at a time.

    Args:
        candidates: the families that may come next, all attributes still to be placed.
        choose: takes the best of some families: by a private choice, by votes, or by scores.
    """
    families = [Family(candidates.root)]
    candidates.place(candidates.root)
    while candidates:
        family = choose(list(candidates))
        families.append(family)
        candidates.place(family.child)
    return Network(tuple(families))
