"""Archives of models: members with checksums, read within the memory that they announce.

On disk a model is a zip archive, or a folder, of JSON and Arrow: `manifest.json` (format, version,
kind, and a checksum for every other member), `schema.json`, `statement.json`, the members of the
distribution, and the released tables it was made from (`tables.json`, `tables.arrow`). A network is
`network.json` and `conditionals.arrow`, and a log-linear model has `factors.json` and
`factors.arrow` beside them; released rows are `records.arrow`, a generator of rows is
`generator.arrow`, and one of images is `images.json` and `images.arrow`. Nothing in it is
executable.

Version 3 names the kind in the manifest and keeps the tables. Versions 1 and 2, which are read
still, show the kind by the members that are there. Models of images had archives of another form
before, which the module of that kind reads.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy.errors import CapacityError, ModelError, OutputError, SchemaError, UsageError
from understudy.facts.capacity import available_bytes
from understudy.models.kinds import EarlierArchive, earlier_named
from understudy.privacy.statements.binding import (
    BINDING,
    MODEL,
    Signer,
    bound,
    canonical,
    digest,
    digest_of_stream,
    same,
)
from understudy.privacy.statements.statement import Statement
from understudy.system.files.arrow import UnsoundArrow
from understudy.system.files.members import (
    check_document,
    opened_member,
    parsed_document,
    read_member,
    stored_bytes,
)
from understudy.system.files.writing import atomic, check_writable, writing

FORMAT = "understudy-model"
VERSION = 3
ARCHIVE_SUFFIX = ".zip"
# Models of images were written under the second name, and may be still.
_ARCHIVE_SUFFIXES = (ARCHIVE_SUFFIX, ".npz")
MANIFEST, SCHEMA, STATEMENT = "manifest.json", "schema.json", "statement.json"
NETWORK, CONDITIONALS = "network.json", "conditionals.arrow"
FACTORS, LOGARITHMS = "factors.json", "factors.arrow"
RECORDS, GENERATOR = "records.arrow", "generator.arrow"
IMAGES, IMAGE_WEIGHTS = "images.json", "images.arrow"
TABLES, COUNTS = "tables.json", "tables.arrow"
_NAMES = {
    *(MANIFEST, SCHEMA, STATEMENT, NETWORK, CONDITIONALS, FACTORS, LOGARITHMS),
    *(RECORDS, GENERATOR, IMAGES, IMAGE_WEIGHTS, TABLES, COUNTS),
}
# The members of each kind, beside schema, statement and tables.
_OF_KIND = {
    "network": (NETWORK, CONDITIONALS),
    "log-linear": (NETWORK, CONDITIONALS, FACTORS, LOGARITHMS),
    "records": (RECORDS,),
    "generator": (GENERATOR,),
    "images": (IMAGES, IMAGE_WEIGHTS),
    "image-moments": (IMAGES, IMAGE_WEIGHTS),
}
# What an archive of versions 1 and 2 may have.
_BEFORE_KINDS = (SCHEMA, STATEMENT, NETWORK, CONDITIONALS, RECORDS, GENERATOR)
# Of versions 1 and 2: the member that tells the kind; a network has neither.
_TELLING = {RECORDS: "records", GENERATOR: "generator"}
# What the manifest says beside checksums, and the binding covers; later versions also the kind.
_PUBLIC, _WITH_KIND = ("format", "version", "rows"), 3
_LARGEST_DOCUMENT = 2**26
# Digests need no memory, but time; half a billion probabilities are more than any model has.
_LARGEST_MEMBER = 2**32
# Probabilities take eight bytes each; names, shapes and padding take the rest.
_BYTES_PER_CELL, _BYTES_BESIDE = 8, 2**20
# Trained numbers hardly become smaller when they are packed, so that what is in the file bounds
# them: packed to less, they were not trained.
_LARGEST_TRAINED, _PACKED_AT_MOST = 2**28, 16
_MOST_AXES = 2**8
# The bytes, and the arrays that are made of them, stand in memory together.
_COPIES = 3
# What parsers raise when they are fed something else than they expect.
_MISFITS = (
    *(ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError),
    *(OSError, UsageError, pa.ArrowException),
)
_BAD_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(LookupError, RuntimeError, ValueError),
)


@dataclass(frozen=True)
class Parts:
    """The members of a model on disk, each checked against the manifest as it is read."""

    path: Path
    manifest: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> Parts:
        """Read the manifest of the model at a path."""
        with reading(path):
            return cls(path, _manifest(path, read_member(path, MANIFEST, _LARGEST_DOCUMENT)))

    def __contains__(self, name: str) -> bool:
        return name in self.manifest["members"]

    @property
    def rows(self) -> int:
        """Return how many rows the model makes by default."""
        return int(self.manifest["rows"])

    @property
    def kind(self) -> str:
        """The kind of the distribution; before version 3 the members show it."""
        if self.manifest["version"] >= _WITH_KIND:
            return str(self.manifest["kind"])
        told = [kind for name, kind in _TELLING.items() if name in self]
        if len(told) > 1:
            raise ValueError("kind")
        return told[0] if told else "network"

    def document(self, name: str) -> bytes:
        """The text of a member of JSON."""
        with reading(self.path):
            return check_document(self._checked(name, _LARGEST_DOCUMENT))

    def table(self, name: str, *, cells: int) -> bytes:
        """Return the bytes of a member of that many numbers; more than is free is refused."""
        most = room_for(cells)
        with reading(self.path):
            return self._checked(name, most)

    def trained(self, name: str, *, cells: int | None = None) -> bytes:
        """The bytes of a member of trained numbers, bounded by its size in the file.

        Args:
            name: the member.
            cells: how many numbers there are, where other members announce it.
        """
        largest = _LARGEST_TRAINED if cells is None else cells * _BYTES_PER_CELL + _BYTES_BESIDE
        with reading(self.path):
            stored = stored_bytes(self.path, name)
            most = min(largest, _PACKED_AT_MOST * stored + _BYTES_BESIDE)
            return self._checked(name, min(most, room_for(most // _BYTES_PER_CELL)))

    def _checked(self, name: str, most: int) -> bytes:
        """Return a member of at most this many bytes."""
        data = read_member(self.path, name, most)
        if self.manifest["members"].get(name) != digest(data):
            raise ModelError(f"{self.path}: {name} was changed or damaged; fit the model again")
        return data

    def check_bound(self, written: Mapping[str, Any]) -> None:
        """Refuse a statement that speaks of another model; version 0.1.0 did not say of which."""
        sums = self.manifest["members"]
        rest = {name: sum_ for name, sum_ in sums.items() if name != STATEMENT}
        check_bound(written, content(self.manifest, rest), self.path)


# --- reading --------------------------------------------------------------------------------------


def room_for(cells: int) -> int:
    """The bytes that tables of `cells` cells may take; more than is free is refused."""
    most = cells * _BYTES_PER_CELL + _BYTES_BESIDE
    free = available_bytes()
    if most * _COPIES > free:
        raise CapacityError(
            f"the model has {cells:,} numbers, and {free / 2**30:,.1f} GiB is free; "
            "use a larger machine"
        )
    return most


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say in our words why a model cannot be read."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or "it is damaged"
        raise ModelError(f"{path}: the model cannot be read: {reason}; check the path") from None
    except _BAD_ARCHIVE:
        raise ModelError(
            f"{path}: is not a complete model; it is damaged or something else"
        ) from None


@contextmanager
def assembling(path: Path) -> Iterator[None]:
    """Say in our words that the parts of a model do not fit together."""
    try:
        yield
    except (CapacityError, MemoryError):
        raise
    except _MISFITS as error:
        raise ModelError(f"{path}: the model is damaged: {_why(error)}; fit it again") from None


def _why(error: Exception) -> str:
    """Describe what does not fit, where that is known."""
    if isinstance(error, SchemaError):
        return error.problems[0]
    return str(error) if isinstance(error, _UnsoundMember) else "its parts do not fit"


class _UnsoundMember(ValueError):
    """A member that is not what the others announce."""


@contextmanager
def within(name: str) -> Iterator[None]:
    """Name the member in refusals of what is in it."""
    try:
        yield
    except UnsoundArrow as error:
        raise _UnsoundMember(f"{name} {error}") from None


def shape_of(row: Any) -> list[int]:
    """The shape in a cell of an Arrow table, if it can be one."""
    if len(row.values) > _MOST_AXES:
        raise UnsoundArrow(f"says that a table has {len(row.values):,} axes")
    return list(row.values.to_pylist())


def _manifest(path: Path, data: bytes) -> dict[str, Any]:
    manifest = parsed_document(data)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError("format")
    version = manifest.get("version")
    if not isinstance(version, int) or not isinstance(manifest.get("members"), dict):
        raise ValueError("version")
    if version > VERSION:
        raise ModelError(
            f"{path}: the model has format {version}, this understudy reads up to {VERSION}; "
            "upgrade understudy"
        )
    _check_members(path, manifest)
    return manifest


def _check_members(path: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse members that nothing reads: what they hold could leave unseen.

    Privacy: a statement is bound to every member, so each must be one that it speaks of.
    """
    members, kind = {*manifest["members"]} - {MANIFEST}, manifest.get("kind")
    if manifest["version"] < _WITH_KIND:
        known, tables = {*_BEFORE_KINDS}, set[str]()
    elif isinstance(kind, str) and kind in _OF_KIND:
        known, tables = {SCHEMA, STATEMENT, *_OF_KIND[kind]}, {TABLES, COUNTS}
    else:
        return
    if members - known - tables or len(members & tables) == 1:
        raise ModelError(
            f"{path}: the model is damaged: its parts do not fit: it has members that its kind "
            "does not have; fit it again"
        )


# --- what a statement is bound to -----------------------------------------------------------------


def content(manifest: Mapping[str, Any], rest: Mapping[str, str]) -> str:
    """The digest of all of a model but its statement, in whatever order or packing."""
    since = ("kind",) if manifest["version"] >= _WITH_KIND else ()
    public = {name: manifest[name] for name in (*_PUBLIC, *since)}
    return digest(canonical({**public, "members": dict(rest)}))


def bound_statement(statement: Statement, found: str, signer: Signer | None) -> dict[str, Any]:
    """The document of a statement with the digest of everything else in its model."""
    record = statement.record
    return bound(
        statement.document(),
        kind=MODEL,
        found=found,
        seal_key=None if record is None else record.seal_key,
        signer=signer,
    )


def check_bound(written: Mapping[str, Any], found: str, path: Path) -> None:
    """Refuse a statement of another model than the one of this digest; 0.1.0 bound it to none."""
    if BINDING not in written:
        return
    binding = written[BINDING]
    if binding["of"] != MODEL or not same(binding["sha256"], found):
        raise ModelError(
            f"{path}: the statement in it belongs to another model, or one of the two was altered; "
            "ask for the model as it was written"
        )


def bound_content(path: Path) -> tuple[dict[str, Any], str]:
    """The statement in a model on disk, and the digest of all else, both as they are found.

    Nothing is checked here, so that a verifier can say what does not belong together.
    """
    earlier = earlier_archive(path)
    if earlier is not None:
        return earlier.bound_content(path)
    with reading(path):
        manifest = _manifest(path, read_member(path, MANIFEST, _LARGEST_DOCUMENT))
        held = _names_in(path) & _NAMES
        rest = {
            name: _digest_of_member(path, name) for name in sorted(held - {STATEMENT, MANIFEST})
        }
        written = parsed_document(read_member(path, STATEMENT, _LARGEST_DOCUMENT))
        if not isinstance(written, dict) or "rows" not in manifest:
            raise ValueError(STATEMENT)
        return written, content(manifest, rest)


def is_model(path: Path) -> bool:
    """Whether a file or folder has the looks of a model."""
    return MANIFEST in _names_at(path) or earlier_archive(path) is not None


def earlier_archive(path: Path) -> type[EarlierArchive] | None:
    """The reader of an archive of another form that earlier versions wrote; None of all others."""
    return None if path.is_dir() else earlier_named(_names_at(path))


def _names_at(path: Path) -> set[str]:
    """The members of a model; none where there cannot be a model."""
    try:
        return _names_in(path)
    except (OSError, *_BAD_ARCHIVE):
        return set()


def _digest_of_member(path: Path, name: str) -> str:
    """The digest of a member, which is never held whole: nothing is known of its size yet."""
    most = _LARGEST_DOCUMENT if name.endswith(".json") else _LARGEST_MEMBER
    with opened_member(path, name, most) as member:
        return digest_of_stream(member)


def _names_in(path: Path) -> set[str]:
    if path.is_dir():
        return {held.name for held in path.iterdir()}
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


# --- writing --------------------------------------------------------------------------------------


def json_bytes(document: Mapping[str, Any]) -> bytes:
    """A document as the bytes of a member."""
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


def arrow_bytes(table: pa.Table) -> bytes:
    """A table as the bytes of a member, stored as it is."""
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def write_members(path: Path, members: Mapping[str, bytes]) -> None:
    """Write an archive, or a folder when the name has no suffix; whole or not at all."""
    check_place(path)
    (_write_zip if path.suffix else _write_folder)(path, members)


def _write_zip(path: Path, members: Mapping[str, bytes]) -> None:
    with atomic(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def _write_folder(path: Path, members: Mapping[str, bytes]) -> None:
    with writing(path):
        beside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
        try:
            for name, data in members.items():
                (beside / name).write_bytes(data)
            shutil.rmtree(path, ignore_errors=True)
            beside.replace(path)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def check_place(path: Path) -> None:
    """Make sure that a model can be written there; asked before spending."""
    if path.suffix not in ("", *_ARCHIVE_SUFFIXES):
        raise OutputError(
            f"{path}: a model cannot have a name in {path.suffix}; end it in {ARCHIVE_SUFFIX}, or "
            "leave out the suffix for a folder"
        )
    if path.suffix or not os.path.exists(path):
        check_writable(path)
    if os.path.exists(path) and not _replaceable(path):
        kind = "file" if path.suffix else "folder"
        raise OutputError(f"{path}: exists already and is not a model; name a new {kind}")


def _replaceable(path: Path) -> bool:
    """Whether nothing but a model would be lost: it is one, or it is empty."""
    if path.is_dir():
        # A folder is replaced as a whole, with everything in it.
        return not {held.name for held in path.iterdir()} - _NAMES
    return bool(path.suffix) and (path.stat().st_size == 0 or _holds_manifest(path))


def _holds_manifest(path: Path) -> bool:
    """Whether a file is an archive with the manifest of a model, of whatever version."""
    try:
        manifest = parsed_document(read_member(path, MANIFEST, _LARGEST_DOCUMENT))
    except (OSError, *_BAD_ARCHIVE):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT
