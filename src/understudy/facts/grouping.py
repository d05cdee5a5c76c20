"""Groupings: copies of attributes in a few groups of codes, made for one question.

The groups come from public facts or from what was released, and travel with the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.errors import UsageError
from understudy.facts.domain import Attributes, Domain
from understudy.facts.hierarchy import Groups, Level


@dataclass(frozen=True, eq=False)
class Grouping:
    """Some attributes of a domain once more, their codes put together in groups.

    Attributes:
        domain: the attributes.
        groups: of every attribute that has such a copy, the group of each code of the coarsest
            copy that the domain has.

    Example:
        >>> groups = np.array([0, 0, 1], np.uint16)
        >>> Grouping(Domain({"age": 3, "sex": 2}), {"age": groups}).seen(("age", "sex"))
        ('age in 2 groups', 'sex')
    """

    domain: Domain
    groups: Mapping[str, Groups]

    def __post_init__(self) -> None:
        """Refuse groups that are not those of an attribute's codes."""
        for attribute, groups in self.groups.items():
            if attribute not in self.domain.sizes:
                raise UsageError(f"attribute {attribute!r} is unknown; group one that is known")
            codes = self.domain[self.coarsest(attribute)]
            if groups.shape != (codes,):
                raise UsageError(
                    f"attribute {attribute!r}: {groups.size} codes are in groups, and there are "
                    f"{codes}; give a group for each"
                )
            if not np.array_equal(np.unique(groups), np.arange(groups.max() + 1)):
                raise UsageError(
                    f"attribute {attribute!r}: a group is empty; number groups from 0 without gaps"
                )

    def coarsest(self, attribute: str) -> str:
        """The copy whose codes are put together: the coarsest that the domain has."""
        return self.domain.levels(attribute)[-1]

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The name that each copy has in tables; none is the name of anything else."""
        found: dict[str, str] = {}
        for attribute, groups in self.groups.items():
            name = f"{attribute} in {int(groups.max()) + 1} groups"
            while name in self.domain.names or name in found.values():
                name += "′"
            found[attribute] = name
        return found

    @cached_property
    def extended(self) -> Domain:
        """The domain with these copies beside its own."""
        copies = {self.names[a]: Level(a, self._of_codes(a)) for a in self.groups}
        return Domain(self.domain.sizes, {**self.domain.coarser, **copies})

    def _of_codes(self, attribute: str) -> Groups:
        groups, coarsest = self.groups[attribute], self.coarsest(attribute)
        if coarsest == attribute:
            return groups
        return np.asarray(groups[self.domain.coarser[coarsest].groups])

    def seen(self, attributes: Sequence[str]) -> Attributes:
        """The names of a table of these attributes, in groups as far as they have some."""
        return tuple(self.names.get(attribute, attribute) for attribute in attributes)

    def finer(self, names: Sequence[str]) -> Attributes:
        """The names in the domain itself from whose table one of these names is added up."""
        copies = {name: attribute for attribute, name in self.names.items()}
        return tuple(self.coarsest(copies[n]) if n in copies else n for n in names)
