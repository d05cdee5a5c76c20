"""Workbooks from elsewhere: what they unpack to is looked at before a library opens them.

A workbook is a zip archive of XML. Its members are read through once in blocks: they must be as
large as they announce, must not unpack to far more than tables do, and must not declare entities,
which would let a few bytes stand for gigabytes. What a sheet holds beside values is found on the
way.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import DataError
from understudy.rows.reading.packed import UNKNOWN_MEMBERS, UNSOUND, check_ratio
from understudy.system.files.refusals import reading

_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_BLOCK = 1 << 20
# Nothing that is looked for is longer, formulas apart, which a spreadsheet bounds by 8,192.
_OVERLAP = 1 << 14
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MOST_MEMBERS = 10_000
_DECLARATIONS = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_NOT_UTF8 = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")
_TAG = rb"(?:\w+:)?"
# A formula whose result is not stored; a stored empty text is a result.
_NO_RESULT = re.compile(
    rb"<%(t)sc\b([^<>]*)>\s*<%(t)sf\b(?:[^<>]*/>|[^<>]*>[^<]*</%(t)sf>)\s*"
    rb"(?:<%(t)sv\s*/>|<%(t)sv>\s*</%(t)sv>)?\s*</%(t)sc>" % {b"t": _TAG}
)
_MERGED = re.compile(
    rb"<%(t)smergeCell\b[^<>]*\bref=\"[A-Z]+[0-9]+:[A-Z]+([0-9]+)\"" % {b"t": _TAG}
)


@dataclass(frozen=True)
class _Block:
    """Some bytes of a member that were not seen before, and those with the end of the last ones."""

    fresh: bytes
    whole: bytes

    @property
    def is_unusual(self) -> bool:
        """Whether the bytes declare entities, or are not text in UTF-8."""
        declares = b"<!" in self.whole and _DECLARATIONS.search(self.whole)
        return bool(declares) or self.whole.startswith(_NOT_UTF8)

    @property
    def is_unstored(self) -> bool:
        """Whether a formula has no stored result."""
        if b"<f" not in self.whole and b":f" not in self.whole:
            return False
        return any(b't="str"' not in cell[1] for cell in _NO_RESULT.finditer(self.whole))

    @property
    def merged_until(self) -> int:
        """The last line that has merged cells; 0 where none has."""
        if b"mergeCell" not in self.whole:
            return 0
        return max((int(found[1]) for found in _MERGED.finditer(self.whole)), default=0)


@dataclass(frozen=True)
class SheetFacts:
    """The parts of a sheet that are not values.

    Attributes:
        unstored: whether a formula has no stored result.
        merged_until: the last line that has merged cells; 0 where none has.
    """

    unstored: bool
    merged_until: int

    def with_block(self, block: _Block) -> SheetFacts:
        """Add what a further block holds."""
        unstored = self.unstored or block.is_unstored
        return SheetFacts(unstored, max(self.merged_until, block.merged_until))


@dataclass(frozen=True)
class WorkbookFacts:
    """The parts of a workbook that one look through it found.

    Attributes:
        unpacked: how many bytes it unpacks to.
        members: for each of its members, what would be there if it were a sheet.
    """

    unpacked: int
    members: Mapping[str, SheetFacts]


def check_workbook(path: Path) -> WorkbookFacts:
    """Refuse a workbook that is not what it seems; return what was found on the way."""
    unpacked, found = 0, dict[str, SheetFacts]()
    with _archive(path) as archive:
        for member in _members(archive, path):
            facts = SheetFacts(unstored=False, merged_until=0)
            for block in _blocks(archive, member):
                unpacked += len(block.fresh)
                check_ratio(path, path.stat().st_size, unpacked)
                if block.is_unusual:
                    raise DataError(_unusual(path))
                facts = facts.with_block(block)
            found[member.filename] = facts
    return WorkbookFacts(unpacked, found)


def announced_bytes(path: Path) -> int:
    """How many bytes the members of a workbook say that they unpack to."""
    with _archive(path) as archive:
        return sum(member.file_size for member in archive.infolist())


def _blocks(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[_Block]:
    last = b""
    with archive.open(member) as stream:
        while fresh := stream.read(_BLOCK):
            yield _Block(fresh, last + fresh)
            last = (last + fresh)[-_OVERLAP:]


def _members(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    members = archive.infolist()
    odd = any(
        member.flag_bits & 0x1
        or member.compress_type not in _PACKINGS
        or ".." in member.filename.split("/")
        for member in members
    )
    if odd or len(members) > _MOST_MEMBERS:
        raise DataError(_unusual(path))
    return members


def _unusual(path: Path) -> str:
    return (
        f"{path}: is not a workbook as spreadsheet programs write it; open it in one, and save it "
        "again as .xlsx or .csv"
    )


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    with reading(path), path.open("rb") as file:
        if file.read(len(_OLD_OFFICE)) == _OLD_OFFICE:
            raise DataError(
                f"{path}: is protected by a password, or is an old .xls file; save it without a "
                "password as .xlsx"
            )
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (*UNSOUND, *UNKNOWN_MEMBERS, KeyError):
        raise DataError(
            f"{path}: is not a sound .xlsx file; save it again, or export the sheet to .csv"
        ) from None
