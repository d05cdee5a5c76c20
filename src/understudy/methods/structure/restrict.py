"""Restrictions on a network, whoever learns it: edges, order, and protected attributes.

Every learner asks the same two questions: which attributes may come next, and which of those that
are there may be their parents. As every attribute comes after all its required parents and all
earlier tiers, a network that is grown so is never stuck.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from understudy.errors import UsageError
from understudy.facts.constraints import Constraint
from understudy.facts.domain import Attributes, Domain
from understudy.facts.protection import Protection
from understudy.models.network import Network

Edge = tuple[str, str]


@dataclass(frozen=True)
class Restrictions:
    """Which edges a network must have, may have, and must not have. All of it is public.

    Attributes:
        required: edges, each a parent and a child, that every network has.
        forbidden: edges that none has.
        tiers: attributes in the order in which they are to come; no parent comes from a later tier
            than its child. Attributes that no tier names come last.
        predictors: for each attribute, the only parents it may have; None allows all.
        protection: the target, which comes first, and attributes that are kept apart.

    Example:
        >>> later = Restrictions(tiers=(("age", "sex"), ("income",)))
        >>> later.allows("age", "income"), later.allows("income", "age")
        (True, False)
    """

    required: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()
    tiers: tuple[Attributes, ...] = ()
    predictors: Mapping[str, Attributes] | None = None
    protection: Protection = field(default_factory=Protection)

    def __repr__(self) -> str:
        counts = {
            "required": self.required,
            "forbidden": self.forbidden,
            "tiers": self.tiers,
            "predictors": self.predictors,
            "protected": self.protection.protected,
        }
        said = [f"{len(held):,} {name}" for name, held in counts.items() if held]
        target = self.protection.target
        return f"Restrictions({', '.join([*said, *(['a target'] if target else [])])})"

    def __bool__(self) -> bool:
        return self != Restrictions()

    def allows(self, parent: str, child: str) -> bool:
        """Whether a network may have an edge."""
        return (
            parent != child
            and self.tier(parent) <= self.tier(child)
            and (parent, child) not in self._forbidden
            and (self.predictors is None or parent in self.predictors.get(child, ()))
            and self.protection.allows(parent, child)
        )

    def parents(self, child: str) -> Attributes:
        """The parents that an attribute must have."""
        return self._parents.get(child, ())

    def tier(self, attribute: str) -> int:
        """The place of an attribute's tier; the target has one of its own before all others."""
        if attribute == self.protection.target:
            return -1
        return self._tier_of.get(attribute, len(self.tiers))

    def next_among(self, left: Sequence[str]) -> list[str]:
        """List the attributes, of those not yet in the network, that may enter it next."""
        first = min(map(self.tier, left), default=0)
        waiting = set(left)
        return [a for a in left if self.tier(a) == first and waiting.isdisjoint(self.parents(a))]

    def permits(self, first: str, second: str) -> bool:
        """Whether two attributes may be child and parent, whichever is which."""
        return self.allows(first, second) or self.allows(second, first)

    def may_be_family(self, names: Sequence[str]) -> bool:
        """Whether one of some attributes may have all the others as parents; a single one may."""
        return len(names) < 2 or any(
            all(self.allows(parent, child) for parent in names if parent != child)
            for child in names
        )

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """All required edges, those that protection asks for among them, each once."""
        return tuple(dict.fromkeys([*self.required, *self.protection.required]))

    @cached_property
    def _forbidden(self) -> frozenset[Edge]:
        return frozenset(self.forbidden)

    @cached_property
    def _parents(self) -> Mapping[str, Attributes]:
        found: dict[str, Attributes] = {}
        for parent, child in self.edges:
            found[child] = (*found.get(child, ()), parent)
        return found

    @cached_property
    def _tier_of(self) -> Mapping[str, int]:
        return {name: place for place, tier in enumerate(self.tiers) for name in tier}

    @property
    def most_required(self) -> int:
        """The most parents that any attribute must have."""
        return max(map(len, self._parents.values()), default=0)

    def check(
        self, domain: Domain, *, degree: int | None, constraints: Sequence[Constraint] = ()
    ) -> None:
        """Refuse restrictions that contradict each other or the schema, all findings at once.

        Args:
            domain: the attributes there are.
            degree: the most parents that an attribute may have, where that is bounded.
            constraints: rules of the schema, which must not tie protected attributes to others.
        """
        findings = [
            *self._unknown(domain),
            *self._about_tiers(),
            *self._about_protection(),
            *self._impossible(),
            *self._about_cycles(),
            *self._about_degree(degree),
            *self._about_constraints(constraints),
        ]
        if findings:
            raise UsageError("\n".join(dict.fromkeys(findings)))

    def check_obeyed(self, network: Network) -> Network:
        """The network, when it keeps to the restrictions."""
        edges = [(parent, family.child) for family in network for parent in family.parents]
        for parent, child in edges:
            if not self.allows(parent, child):
                raise UsageError(
                    f"the given network has the edge {_edge(parent, child)}: "
                    f"{self._against(parent, child)}; take it out, or allow it"
                )
        for parent, child in self.edges:
            if (parent, child) not in edges:
                raise UsageError(
                    f"the given network lacks the required edge {_edge(parent, child)}; "
                    "add it, or do not require it"
                )
        return network

    def _named(self) -> Iterator[tuple[str, str]]:
        """Every attribute that is named, with where it is."""
        for kind, edges in (("required", self.required), ("forbidden", self.forbidden)):
            yield from ((f"{kind} edge {_edge(*edge)}", name) for edge in edges for name in edge)
        yield from (("the tiers", name) for tier in self.tiers for name in tier)
        for child, parents in (self.predictors or {}).items():
            yield from (("the predictors", name) for name in (child, *parents))
        held = self.protection
        yield from (("the target", name) for name in [held.target] if name is not None)
        for protected, kept in held.kept.items():
            yield from ((f"protected {protected!r}", name) for name in (protected, *kept))
        yield from (("the quasi-identifiers", name) for name in held.quasi_identifiers)

    def _unknown(self, domain: Domain) -> Iterator[str]:
        known = ", ".join(domain)
        for where, name in self._named():
            if name not in domain.sizes:
                yield f"{where}: attribute {name!r} is unknown; known are {known}"
        if self.predictors is not None:
            for name in (name for name in domain if name not in self.predictors):
                yield f"the predictors: {name!r} has no line; give every attribute one"

    def _about_tiers(self) -> Iterator[str]:
        names = [name for tier in self.tiers for name in tier]
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            yield f"the tiers: {name!r} is named twice; name it once"
        target = self.protection.target
        if target is not None and self._tier_of.get(target, 0) > 0:
            yield f"the tiers: target {target!r} comes first; name it in the first tier or in none"

    def _about_protection(self) -> Iterator[str]:
        held = self.protection
        for name, of in held.protected.items():
            if name == held.target:
                yield f"target {name!r} is protected; protect another attribute"
            elif of is None and held.target is None:
                yield (
                    f"protected {name!r}: nothing says what it may depend on; "
                    "name a target, or what it may depend on"
                )
        for name, of in held.kept.items():
            for other in (
                other for other in of if other in held.protected and other != held.target
            ):
                yield (
                    f"protected {name!r} may depend on {other!r}, which is protected itself; "
                    "nothing depends on protected attributes, so name others"
                )
        for name in (name for name in held.quasi_identifiers if name in held.protected):
            yield f"quasi-identifier {name!r} is protected; it is what an attacker is after"

    def _impossible(self) -> Iterator[str]:
        for parent, child in self.edges:
            if not self.allows(parent, child):
                reason = self._against(parent, child)
                yield f"required edge {_edge(parent, child)}: {reason}; drop one of them"

    def _against(self, parent: str, child: str) -> str:
        """Why an edge cannot be."""
        held = self.protection
        if parent == child:
            return "no attribute is its own parent"
        if child == held.target:
            return f"target {child!r} comes first and has no parents"
        if parent in held.protected:
            return f"{parent!r} is protected and cannot be a parent"
        if child in held.protected and parent not in held.kept[child]:
            return (
                f"protected {child!r} depends on {', '.join(held.kept[child]) or 'nothing'} alone"
            )
        if self.tier(parent) > self.tier(child):
            return f"{parent!r} is in a later tier than {child!r}"
        if (parent, child) in self._forbidden:
            return "it is forbidden"
        return "the predictors do not allow it"

    def _about_cycles(self) -> Iterator[str]:
        names = dict.fromkeys(name for edge in self.edges for name in edge)
        try:
            Network.from_parents({name: self.parents(name) for name in names})
        except UsageError as error:
            yield f"the required edges have a cycle: {error}"

    def _about_degree(self, degree: int | None) -> Iterator[str]:
        for child, parents in self._parents.items():
            if degree is not None and len(parents) > degree:
                yield (
                    f"attribute {child!r}: {', '.join(parents)} are required as parents and the "
                    f"degree is {degree}; raise it, or require fewer"
                )

    def _about_constraints(self, constraints: Sequence[Constraint]) -> Iterator[str]:
        """Rows have the dependence that constraints say, whatever was learned.

        One with the target alone is harmless: the target is drawn first, so that all else is drawn
        as if there were no protected attribute.
        """
        for constraint in constraints:
            for name, of in self.protection.kept.items():
                harmless = {name, *({self.protection.target} & {*of})}
                others = [a for a in constraint.sizes if a not in harmless]
                if name in constraint.sizes and others:
                    yield (
                        f"constraint {constraint.text!r} ties protected {name!r} to "
                        f"{', '.join(others)}; drop the constraint, or do not protect {name!r}"
                    )


# Every edge may be, none must.
NONE = Restrictions()


def _edge(parent: str, child: str) -> str:
    return f"{parent}:{child}"
