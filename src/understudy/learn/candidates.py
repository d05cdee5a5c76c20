"""Families that may enter a network next, kept so that nothing is looked at twice."""

from __future__ import annotations

from collections.abc import Iterator

from understudy.domain import Attributes, Domain
from understudy.learn.weighing import Weighing
from understudy.network import Family


class Candidates:
    """All families of unplaced children with placed parents, within a degree and a table size.

    When an attribute enters the network, only families with it among the parents are new.
    """

    def __init__(self, domain: Domain, *, degree: int, weighing: Weighing) -> None:
        self._domain = domain
        self._degree = degree
        self._weighing = weighing
        self._parents: dict[str, list[Attributes]] = {child: [()] for child in domain}

    def __bool__(self) -> bool:
        return bool(self._parents)

    def __iter__(self) -> Iterator[Family]:
        for child, sets in self._parents.items():
            yield from (Family(child, parents) for parents in sets)

    def place(self, attribute: str) -> None:
        """Let an attribute enter the network: a child no more, a possible parent from now on."""
        del self._parents[attribute]
        for child, sets in self._parents.items():
            wider = [(*parents, attribute) for parents in sets if len(parents) < self._degree]
            sets += [p for p in wider if self._weighing.allows(self._domain, Family(child, p))]
