"""The public space rows live in once encoded: attributes and their sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from understudy.errors import UsageError
from understudy.facts.hierarchy import Groups, Level, levels_of
from understudy.facts.schema import Schema

Attributes = tuple[str, ...]


@dataclass(frozen=True)
class Domain:
    """An ordered set of attributes, each with the number of codes it takes.

    Attributes with many codes have coarser copies, which appear in tables under separate names and
    are not attributes themselves.

    Example:
        >>> domain = Domain({"sex": 2, "age": 16})
        >>> domain.cells(("sex", "age"))
        32
    """

    sizes: Mapping[str, int]
    coarser: Mapping[str, Level] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, schema: Schema) -> Domain:
        """The domain a schema declares."""
        coarser: dict[str, Level] = {}
        for name, column in schema.learned.items():
            coarser |= {n: v for n, v in levels_of(name, column).items() if n not in schema.columns}
        return cls(schema.attributes, coarser)

    @property
    def attributes(self) -> Attributes:
        """Return the attributes in their declared order."""
        return tuple(self.sizes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, attribute: str) -> int:
        try:
            return self._every[attribute]
        except KeyError:
            known = ", ".join(self.sizes)
            raise UsageError(f"attribute {attribute!r} is unknown; known are {known}") from None

    @property
    def names(self) -> Attributes:
        """Return all names that a table may have: the attributes, then their coarser copies."""
        return tuple(self._every)

    @cached_property
    def _every(self) -> Mapping[str, int]:
        return {**self.sizes, **{name: level.size for name, level in self.coarser.items()}}

    @cached_property
    def _levels(self) -> Mapping[str, Attributes]:
        names: dict[str, list[str]] = {attribute: [attribute] for attribute in self.sizes}
        for name, level in self.coarser.items():
            names[level.of].append(name)
        return {attribute: tuple(held) for attribute, held in names.items()}

    def levels(self, attribute: str) -> Attributes:
        """The attribute and its coarser copies, finest first."""
        return self._levels.get(attribute, (attribute,))

    def base(self, name: str) -> str:
        """The attribute that a name in a table stands for, coarsened or not."""
        return self.coarser[name].of if name in self.coarser else name

    def refines(self, name: str, other: str) -> bool:
        """Whether one name stands for the other's attribute, as finely or more finely."""
        levels = self.levels(self.base(name))
        return other in levels[levels.index(name) :]

    def grouping(self, name: str, coarser: str) -> Groups:
        """For every code of a name, its group in a coarser copy of the same attribute."""
        groups = self.coarser[coarser].groups
        return groups[self.coarser[name].members[:, 0]] if name in self.coarser else groups

    def without_hierarchies(self) -> Domain:
        """The same attributes, without coarser copies."""
        return Domain(self.sizes)

    def shape(self, attributes: Sequence[str]) -> tuple[int, ...]:
        """The shape of a contingency table over these attributes."""
        try:
            # Asked for every family a search looks at, hence no call for each attribute.
            return tuple([self._every[attribute] for attribute in attributes])
        except KeyError:
            return tuple(self[attribute] for attribute in attributes)

    def cells(self, attributes: Sequence[str]) -> int:
        """How many cells a contingency table over these attributes has."""
        return math.prod(self.shape(attributes))
