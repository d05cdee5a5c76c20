"""A model: all that was learned, all of it released. It may leave.

On disk it is a zip archive, or a folder, of JSON and Arrow: `manifest.json` (format, version and a
checksum for every other member), `schema.json`, `network.json`, `statement.json`,
`conditionals.arrow` and, where rows themselves were released, `records.arrow`. Nothing in it is
executable.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.conditional import Conditional
from understudy.constraints import Completions
from understudy.domain import Domain
from understudy.errors import ModelError, OutputError, SchemaError, UsageError
from understudy.files import atomic, check_writable, writing
from understudy.network import Family, Network
from understudy.privacy.statement import Statement
from understudy.schema import Schema
from understudy.table import Codes, code_type

FORMAT = "understudy-model"
VERSION = 1
MEMBERS = ("schema.json", "network.json", "statement.json", "conditionals.arrow")
RECORDS = "records.arrow"
_NAMES = {*MEMBERS, RECORDS, "manifest.json"}
_LARGEST_MEMBER = 2**32
# What parsers raise when they are fed something else than they expect.
_MISFITS = (
    *(ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError),
    *(UsageError, pa.ArrowException),
)
_BAD_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(LookupError, RuntimeError, ValueError),
)


Records = dict[str, Codes]


@dataclass(frozen=True, eq=False)
class Model:
    """A schema, a network with its conditionals, a number of rows, and what is promised.

    `rows` is how many rows to make unless told otherwise: public, declared, or paid for. A model
    without a network holds `records` instead: rows that were released one by one, as codes. It
    makes these rows and no others.
    """

    schema: Schema
    conditionals: tuple[Conditional, ...]
    rows: int
    statement: Statement
    records: Records | None = None

    def __post_init__(self) -> None:
        if self.rows < 0:
            raise UsageError(f"rows is {self.rows}; a model makes none or more")
        if self.records is not None:
            self._check_records(self.records)
            return
        if set(self.network.order) != set(self.domain):
            raise UsageError("the network's attributes are not those of the schema")
        for conditional in self.conditionals:
            if conditional.probabilities.shape != self.domain.shape(conditional.family.attributes):
                raise UsageError(f"conditional of {conditional.family.child!r}: sizes do not match")

    def _check_records(self, records: Records) -> None:
        if self.conditionals:
            raise UsageError("a model has conditionals or records; give one of them")
        fits = list(records) == list(self.domain) and all(
            codes.shape == (self.rows,) and (codes < self.domain[attribute]).all()
            for attribute, codes in records.items()
        )
        if not fits:
            raise UsageError("the records are not rows of the schema")

    @cached_property
    def domain(self) -> Domain:
        """The attributes of the schema."""
        return Domain.of(self.schema)

    @cached_property
    def network(self) -> Network:
        """The structure the conditionals follow."""
        return Network(tuple(conditional.family for conditional in self.conditionals))

    @cached_property
    def completions(self) -> Completions:
        """What the schema's constraints allow."""
        return Completions(self.schema.constraints)

    def require_network(self) -> None:
        """Refuse what needs probabilities where there are none but the rows themselves."""
        if self.records is not None:
            raise UsageError(
                f"a model by {self.statement.method} holds released rows and no probabilities; "
                "use its rows, or a method that learns conditionals"
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a zip archive, or to a folder when the name has no suffix."""
        members = self._members()
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "rows": self.rows,
            "members": {name: _digest(data) for name, data in members.items()},
        }
        members["manifest.json"] = _json(manifest)
        (_write_zip if Path(path).suffix else _write_folder)(Path(path), members)

    def _members(self) -> dict[str, bytes]:
        families = [[c.family.child, list(c.family.parents)] for c in self.conditionals]
        members = {
            "schema.json": self.schema.to_json().encode(),
            "network.json": _json({"families": families}),
            "statement.json": _json(self.statement.document()),
            "conditionals.arrow": _tables_to_arrow(self.conditionals),
        }
        return members if self.records is None else members | {RECORDS: _to_arrow(self.records)}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model; one that is damaged or too new is refused with a clear sentence."""
        path = Path(path)
        members = _read_members(path)
        try:
            return cls._assembled(members)
        except _MISFITS as error:
            detail = error.problems[0] if isinstance(error, SchemaError) else "its parts do not fit"
            raise ModelError(f"{path}: the model is damaged: {detail}; fit it again") from None

    @classmethod
    def _assembled(cls, members: Mapping[str, bytes]) -> Model:
        schema = Schema.parse(json.loads(members["schema.json"]))
        families = json.loads(members["network.json"])["families"]
        tables = _tables_from_arrow(members["conditionals.arrow"])
        conditionals = tuple(
            Conditional(Family(child, tuple(parents)), tables[child]) for child, parents in families
        )
        statement = Statement.parse(json.loads(members["statement.json"]))
        rows = int(json.loads(members["manifest.json"])["rows"])
        records = _from_arrow(members[RECORDS], Domain.of(schema)) if RECORDS in members else None
        return cls(schema, conditionals, rows, statement, records)


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _tables_to_arrow(conditionals: tuple[Conditional, ...]) -> bytes:
    table = pa.table(
        {
            "attribute": [c.family.child for c in conditionals],
            "shape": pa.array([c.probabilities.shape for c in conditionals], pa.list_(pa.int64())),
            "probabilities": pa.array(
                [c.probabilities.ravel() for c in conditionals], pa.large_list(pa.float64())
            ),
        }
    )
    return _to_arrow(table)


def _to_arrow(columns: pa.Table | Records) -> bytes:
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _from_arrow(data: bytes, domain: Domain) -> Records:
    table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    return {
        attribute: table[attribute].to_numpy().astype(code_type(domain[attribute]), casting="safe")
        for attribute in domain
    }


def _tables_from_arrow(data: bytes) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    return {
        row["attribute"]: np.array(row["probabilities"], np.float64).reshape(row["shape"])
        for row in table.to_pylist()
    }


def _write_zip(path: Path, members: Mapping[str, bytes]) -> None:
    with atomic(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def _write_folder(path: Path, members: Mapping[str, bytes]) -> None:
    check_place(path)
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
    if path.suffix or not os.path.exists(path):
        check_writable(path)
    elif not path.is_dir() or {p.name for p in path.iterdir()} - _NAMES:
        # A folder is written whole, so one that holds anything else would lose it.
        raise OutputError(f"{path}: is there already and is no model; name a new folder")


def _read_members(path: Path) -> dict[str, bytes]:
    try:
        manifest = _manifest(path, _read_member(path, "manifest.json"))
        held = [*MEMBERS, *({RECORDS} & set(manifest["members"]))]
        members = {name: _read_member(path, name) for name in held}
    except OSError as error:
        reason = error.strerror or "it is damaged"
        raise ModelError(f"{path}: the model cannot be read: {reason}; check the path") from None
    except _BAD_ARCHIVE:
        raise ModelError(f"{path}: is no whole model; it is damaged or something else") from None
    for name, data in members.items():
        if manifest["members"].get(name) != _digest(data):
            raise ModelError(f"{path}: {name} was changed or damaged; fit the model again")
    return {**members, "manifest.json": _json(manifest)}


def _read_member(path: Path, name: str) -> bytes:
    if path.is_dir():
        return (path / name).read_bytes()
    with zipfile.ZipFile(path) as archive:
        if archive.getinfo(name).file_size > _LARGEST_MEMBER:
            raise ValueError(name)
        return archive.read(name)


def _manifest(path: Path, data: bytes) -> dict[str, Any]:
    manifest = json.loads(data)
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
    return manifest
