"""The public space rows live in once encoded: attributes and their sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from understudy.errors import UsageError
from understudy.schema import Schema

Attributes = tuple[str, ...]


@dataclass(frozen=True)
class Domain:
    """An ordered set of attributes, each with the number of codes it takes.

    Example:
        >>> domain = Domain({"sex": 2, "age": 16})
        >>> domain.cells(("sex", "age"))
        32
    """

    sizes: Mapping[str, int]

    @classmethod
    def of(cls, schema: Schema) -> Domain:
        """The domain a schema declares."""
        return cls(schema.attributes)

    @property
    def attributes(self) -> Attributes:
        """The attributes in their declared order."""
        return tuple(self.sizes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, attribute: str) -> int:
        try:
            return self.sizes[attribute]
        except KeyError:
            known = ", ".join(self.sizes)
            raise UsageError(f"attribute {attribute!r} is unknown; known are {known}") from None

    def shape(self, attributes: Sequence[str]) -> tuple[int, ...]:
        """The shape of a contingency table over these attributes."""
        try:
            # Asked for every family a search looks at, hence no call for each attribute.
            return tuple([self.sizes[attribute] for attribute in attributes])
        except KeyError:
            return tuple(self[attribute] for attribute in attributes)

    def cells(self, attributes: Sequence[str]) -> int:
        """How many cells a contingency table over these attributes has."""
        return math.prod(self.shape(attributes))
