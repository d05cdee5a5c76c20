"""How a job reads private rows: from which place, in which encoding, with how much memory."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from understudy.facts.codec.persons import Persons
    from understudy.rows.sources import Access


@dataclass(frozen=True)
class PersonRequest(JobRequest):
    """Who has several rows, and how many of them are kept.

    Attributes:
        person_id: the column that identifies persons.
        rows_per_person: how many rows of each person are kept.
    """

    person_id: str | None = None
    rows_per_person: int | None = None

    @property
    def persons(self) -> Persons | None:
        """The persons that the promise protects; None where each row is somebody else's."""
        from understudy.facts.codec.persons import Persons

        return Persons.given(self.person_id, self.rows_per_person)


@dataclass(frozen=True)
class ReadingRequest(JobRequest):
    """How private rows are read.

    Attributes:
        ignore_extra: skip columns that the schema does not declare.
        encoding: the encoding of CSV text.
        memory: the most memory to take, as text such as 2GB.
        table: the table of a database.
    """

    ignore_extra: bool = False
    encoding: str = "utf-8"
    memory: str | None = None
    table: str | None = None

    @property
    def access(self) -> Access:
        """Check and return how rows are to be opened."""
        from understudy.rows.sources import Access

        most = None if self.memory is None else bytes_of(self.memory)
        return Access(
            ignore_extra=self.ignore_extra, encoding=self.encoding, memory=most, table=self.table
        )


@dataclass(frozen=True)
class ClusterReadingRequest(ReadingRequest):
    """How private rows are read, where a Dask cluster may count them.

    Attributes:
        cluster: the address of the cluster's scheduler, or local.
        cluster_timeout: for how many seconds the cluster may be unreachable.
    """

    cluster: str | None = None
    cluster_timeout: float = 60

    @property
    def access(self) -> Access:
        """Check and return how rows are to be opened."""
        return replace(super().access, cluster=self.cluster, cluster_timeout=self.cluster_timeout)


def bytes_of(text: str) -> int:
    """Read a number of bytes such as 2GB, 500 MB or 1.5 GiB.

    Example:
        >>> bytes_of("2GB")
        2000000000
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text.strip().lower())
    if found is None or float(found[1]) == 0:
        raise UsageError(f"memory is {text!r}; write a size such as 2GB or 500MB")
    number, power = float(found[1]), " kmgt".index(found[2] or " ")
    return int(number * (1024 if found[3] else 1000) ** power)
