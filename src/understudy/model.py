"""A model: all that was learned, all of it released. It may leave.

On disk it is a zip archive, or a folder, of JSON and Arrow: `manifest.json` (format, version and a
checksum for every other member), `schema.json`, `network.json`, `statement.json` and
`conditionals.arrow`. Nothing in it is executable.
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

FORMAT = "understudy-model"
VERSION = 1
MEMBERS = ("schema.json", "network.json", "statement.json", "conditionals.arrow")
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


@dataclass(frozen=True, eq=False)
class Model:
    """A schema, a network with its conditionals, a number of rows, and what is promised.

    `rows` is how many rows to make unless told otherwise: public, declared, or paid for.
    """

    schema: Schema
    conditionals: tuple[Conditional, ...]
    rows: int
    statement: Statement

    def __post_init__(self) -> None:
        if self.rows < 0:
            raise UsageError(f"rows is {self.rows}; a model makes none or more")
        if set(self.network.order) != set(self.domain):
            raise UsageError("the network's attributes are not those of the schema")
        for conditional in self.conditionals:
            if conditional.probabilities.shape != self.domain.shape(conditional.family.attributes):
                raise UsageError(f"conditional of {conditional.family.child!r}: sizes do not match")

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
        return {
            "schema.json": self.schema.to_json().encode(),
            "network.json": _json({"families": families}),
            "statement.json": _json(self.statement.document()),
            "conditionals.arrow": _tables_to_arrow(self.conditionals),
        }

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
        return cls(
            schema, conditionals, int(json.loads(members["manifest.json"])["rows"]), statement
        )


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
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


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
    elif not path.is_dir() or {p.name for p in path.iterdir()} - {*MEMBERS, "manifest.json"}:
        # A folder is written whole, so one that holds anything else would lose it.
        raise OutputError(f"{path}: is there already and is no model; name a new folder")


def _read_members(path: Path) -> dict[str, bytes]:
    try:
        manifest = _manifest(path, _read_member(path, "manifest.json"))
        members = {name: _read_member(path, name) for name in MEMBERS}
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
