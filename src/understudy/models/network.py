"""A Bayesian network's structure: families in an order that puts parents before children."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from understudy.errors import UsageError
from understudy.facts.domain import Attributes, Domain


@dataclass(frozen=True)
class Family:
    """A child and its parents.

    Attributes:
        child: an attribute.
        parents: attributes it depends on.
        copies: the names of parents and child in the family's table, where one of them is a
            coarser copy; empty where all are as they are.
    """

    child: str
    parents: Attributes = ()
    copies: Attributes = ()

    @property
    def attributes(self) -> Attributes:
        """Return the parents, then the child."""
        return (*self.parents, self.child)

    @property
    def axes(self) -> Attributes:
        """The axes of the family's table: the attributes, some of them perhaps coarsened."""
        return self.copies or self.attributes

    @classmethod
    def over(cls, axes: Sequence[str], domain: Domain) -> Family:
        """The family whose table has these axes, the child's last."""
        *parents, child = map(domain.base, axes)
        coarse = any(name in domain.coarser for name in axes)
        return cls(child, tuple(parents), tuple(axes) if coarse else ())

    def end_label(self, attribute: str) -> str:
        """The name of an attribute at its end of an edge of this family: that of its copy, if any.

        Pictures, listings and their tips all ask here.
        """
        return self.axes[self.attributes.index(attribute)]


@dataclass(frozen=True)
class Network:
    """Families in topological order; a cycle, a repeat or an unknown parent cannot be built.

    Example:
        >>> Network.without_edges(["age", "sex"]).order
        ('age', 'sex')
    """

    families: tuple[Family, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for family in self.families:
            if family.child in seen:
                raise UsageError(f"attribute {family.child!r} has two families; keep one")
            if len(set(family.parents)) < len(family.parents):
                raise UsageError(f"attribute {family.child!r} names a parent twice; name it once")
            late = [parent for parent in family.parents if parent not in seen]
            if late:
                raise UsageError(
                    f"attribute {family.child!r} comes before its parent {late[0]!r}; "
                    "the network has a cycle, or the parent has no family"
                )
            seen.add(family.child)

    def __repr__(self) -> str:
        return f"Network({len(self.families):,} attributes, degree {self.degree})"

    @classmethod
    def without_edges(cls, attributes: Sequence[str]) -> Network:
        """Return the network without edges."""
        return cls(tuple(Family(attribute) for attribute in attributes))

    @classmethod
    def from_parents(cls, parents: Mapping[str, Sequence[str]]) -> Network:
        """A network from each attribute's parents, sorted here so that parents come first."""
        placed: dict[str, Family] = {}
        waiting = {child: tuple(above) for child, above in parents.items()}
        while waiting:
            ready = [c for c, above in waiting.items() if all(p in placed for p in above)]
            if not ready:
                names = ", ".join(sorted(waiting))
                raise UsageError(f"no order puts parents first for {names}; break the cycle")
            placed |= {child: Family(child, waiting.pop(child)) for child in ready}
        return cls(tuple(placed.values()))

    def __iter__(self) -> Iterator[Family]:
        return iter(self.families)

    @property
    def order(self) -> Attributes:
        """Return the attributes, parents before children."""
        return tuple(family.child for family in self.families)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Every parent with its child."""
        return tuple((parent, f.child) for f in self.families for parent in f.parents)

    @property
    def children(self) -> dict[str, list[str]]:
        """Every attribute's children."""
        found: dict[str, list[str]] = {attribute: [] for attribute in self.order}
        for parent, child in self.edges:
            found[parent].append(child)
        return found

    @property
    def degree(self) -> int:
        """Return the largest number of parents."""
        return max((len(family.parents) for family in self.families), default=0)
