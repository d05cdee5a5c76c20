"""How a job reads private rows: from which place, in which encoding, with how much memory."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.request import JobRequest
from understudy.system.files.suffixes import LINES, TEXTS

if TYPE_CHECKING:
    from understudy.facts.codec.persons import Persons
    from understudy.facts.file_format import FileFormat
    from understudy.rows.sources import Access
    from understudy.system.files.piped import PipedFile

STANDARD_INPUT = "-"
# Text, and the cells that are made of it, are held at once.
_PIPED_PART = 4


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
        """The persons that the promise protects; None where each row is someone else's."""
        from understudy.facts.codec.persons import Persons

        return Persons.given(self.person_id, self.rows_per_person)


@dataclass(frozen=True)
class FormatRequest(JobRequest):
    """How a file is spelled, in place of what its suffix and the schema say.

    Attributes:
        separator: the character between the fields of a text file, or its name, such as tab.
        quote: the character around fields that hold the separator, or none.
        decimal: the decimal mark of numbers.
        thousands: the mark between groups of three digits.
        encoding: the encoding of text.
        header_line: the number of the line that names the columns.
        sheet: the sheet of a workbook.
    """

    separator: str | None = None
    quote: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    header_line: int | None = None
    sheet: str | None = None

    @property
    def file_format(self) -> FileFormat:
        """Check and return the format that these options declare."""
        from understudy.facts.file_format import FileFormat

        return FileFormat(
            separator=self.separator,
            quote=self.quote,
            decimal=self.decimal,
            thousands=self.thousands,
            encoding=self.encoding,
            header_line=self.header_line,
            sheet=self.sheet,
        )


@dataclass(frozen=True)
class ReadingRequest(JobRequest):
    """How private rows are read.

    Attributes:
        ignore_extra: skip columns that the schema does not declare.
        spelling: how the file is spelled.
        piped: the format of rows that come through standard input, such as csv.
        memory: the most memory to take, as text such as 2GB.
        table: the table of a database.
    """

    ignore_extra: bool = False
    spelling: FormatRequest = field(default_factory=FormatRequest)
    piped: str | None = None
    memory: str | None = None
    table: str | None = None

    @property
    def access(self) -> Access:
        """Check and return how rows are to be opened."""
        from understudy.rows.sources import Access

        most = None if self.memory is None else bytes_of(self.memory)
        return Access(
            ignore_extra=self.ignore_extra,
            format=self.spelling.file_format,
            memory=most,
            table=self.table,
        )

    def opened(self, data: str) -> str | PipedFile:
        """The data, or for - the file that comes through standard input, held in memory.

        Privacy: the bytes are as private as a file's; nothing of them is written to a disk.
        """
        if data != STANDARD_INPUT:
            return data
        from understudy.system.files.piped import read_piped

        suffix = piped_suffix(self.piped)
        return read_piped(sys.stdin.buffer, suffix, most=self.access.room // _PIPED_PART)


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


def piped_suffix(name: str | None) -> str:
    """The suffix of a format that rows may have in a pipe.

    Example:
        >>> piped_suffix("csv")
        '.csv'
    """
    known = (*TEXTS, *LINES)
    if name is None:
        raise UsageError(
            "standard input has no name that shows its format; give one, as --format csv"
        )
    suffix = f".{name.lower().lstrip('.')}"
    if suffix not in known:
        listed = ", ".join(each[1:] for each in known)
        raise UsageError(f"format {name!r} cannot be read from a pipe; use one of {listed}")
    return suffix


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
