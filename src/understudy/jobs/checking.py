"""Job of `check`: how private rows fit a schema, for the owner's eyes alone.

Privacy: what this job returns is exact and unpaid. It goes to the owner's terminal, or into JSON
that says itself that it is private, and changes nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from understudy.errors import DataError
from understudy.jobs.progress import SILENT, ReadingProgress
from understudy.jobs.reading import PersonRequest, ReadingRequest
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from understudy.jobs.progress import JobProgress
    from understudy.rows.checking import DataCheck

ROWS_LOST = DataError.exit_code
"""The exit code of a check that found rows which do not fit."""


@dataclass(frozen=True, kw_only=True)
class CheckRequest(JobRequest):
    """Private data, the schema it should fit, and how rows are read.

    Attributes:
        data: a table: a file, a folder or the address of a database.
        schema: what each column may contain.
        people: who has several rows.
        reading: how rows are read.
    """

    data: str
    schema: Path
    people: PersonRequest = field(default_factory=PersonRequest)
    reading: ReadingRequest = field(default_factory=ReadingRequest)


class Owner(Protocol):
    """The owner of the rows, who looks on and may see what is private."""

    def agrees(self, found: DataCheck) -> bool:
        """Show the owner what would be lost, and return whether the run may begin."""

    def told(self, text: str) -> None:
        """Show the owner a sentence about the rows as they are."""


def check_data(request: CheckRequest, *, progress: JobProgress = SILENT) -> DataCheck:
    """Check private rows against a schema, cell by cell; nothing is spent.

    Privacy: exact, and for the owner's eyes alone.
    """
    from understudy.facts.schema import Schema
    from understudy.rows.checking import check

    schema = Schema.load(request.schema)
    access = replace(request.reading.access, persons=request.people.persons)
    with progress.spinner("reading") as show:
        return check(request.data, schema, access=replace(access, watch=ReadingProgress(show)))
