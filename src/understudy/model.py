"""A model: all that was learned, all of it released. It may leave.

On disk it is a zip archive, or a folder, of JSON and Arrow: `manifest.json` (format, version and a
checksum for every other member), `schema.json`, `network.json`, `statement.json`,
`conditionals.arrow` and, where rows themselves were released, `records.arrow`, or, where a
generator was trained, `generator.arrow`. Nothing in it is executable.
"""

from __future__ import annotations

import io
import itertools
import json
import lzma
import math
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.bif import bif_lines
from understudy.conditional import Conditional, Probabilities
from understudy.constraints import Completions
from understudy.domain import Attributes, Domain
from understudy.engines.capacity import available_bytes
from understudy.errors import CapacityError, ModelError, OutputError, SchemaError, UsageError
from understudy.files import atomic, check_writable, writing
from understudy.files.arrow import Types, UnsoundArrow, read_arrow
from understudy.files.members import (
    check_document,
    opened_member,
    parsed_document,
    read_member,
    stored_bytes,
)
from understudy.generator import RowGenerator
from understudy.infer import Evidence, allowed, most_probable, posterior
from understudy.infer.elimination import ImpossibleEvidence
from understudy.infer.evidence import Value
from understudy.infer.labels import labels_of
from understudy.network import Family, Network
from understudy.privacy.binding import (
    BINDING,
    MODEL,
    Signer,
    bound,
    canonical,
    digest,
    digest_of_stream,
    same,
)
from understudy.privacy.statement import Statement
from understudy.protection import Protection
from understudy.schema import Schema
from understudy.table import Codes, code_type

FORMAT = "understudy-model"
VERSION = 2
STATEMENT = "statement.json"
MEMBERS = ("schema.json", "network.json", STATEMENT, "conditionals.arrow")
RECORDS = "records.arrow"
GENERATOR = "generator.arrow"
_NAMES = {*MEMBERS, RECORDS, GENERATOR, "manifest.json"}
_LARGEST_DOCUMENT = 2**26
# Digests need no memory, but time; half a billion probabilities are more than any model has.
_LARGEST_MEMBER = 2**32
# Probabilities take eight bytes each; names, shapes and padding take the rest.
_BYTES_PER_CELL, _BYTES_BESIDE = 8, 2**20
# Nothing announces how many numbers a generator has. Trained ones hardly become smaller when they
# are packed, so that what is in the file bounds them: packed to less, they were not trained.
_LARGEST_GENERATOR, _PACKED_AT_MOST = 2**28, 16
_MOST_LAYERS = 2**10
_MOST_AXES = 2**8
# The bytes, and the arrays that are made of them, stand in memory together.
_COPIES = 3
_LISTED = pa.large_list(pa.float64())
_OF_CONDITIONALS: Types = {
    "attribute": (pa.string(),),
    "shape": (pa.list_(pa.int64()),),
    "probabilities": (_LISTED,),
    "within": (_LISTED,),
}
_OF_A_GENERATOR: Types = {
    "name": (pa.string(),),
    "shape": (pa.list_(pa.int64()),),
    "values": (_LISTED,),
}
_CODES = (pa.uint8(), pa.uint16())
# What parsers raise when they are fed something else than they expect.
_MISFITS = (
    *(ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError),
    *(OSError, UsageError, pa.ArrowException),
)
_BAD_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(LookupError, RuntimeError, ValueError),
)


Records = dict[str, Codes]


def _several(value: Value | Collection[Value]) -> Collection[Value]:
    """One value, or several, as several."""
    return [value] if isinstance(value, str) or not isinstance(value, Collection) else value


@dataclass(frozen=True, eq=False)
class Model:
    """A schema, a network with its conditionals, a number of rows, and what is promised.

    `rows` is how many rows to make unless told otherwise: public, declared, or paid for. A model
    without a network holds `records` instead: rows that were released one by one, as codes. It
    makes these rows and no others. Or it holds a `generator`, which makes any number of rows.
    """

    schema: Schema
    conditionals: tuple[Conditional, ...]
    rows: int
    statement: Statement
    records: Records | None = None
    generator: RowGenerator | None = None

    def __post_init__(self) -> None:
        if self.rows < 0:
            raise UsageError(f"rows is {self.rows}; a model makes none or more")
        if self.generator is not None:
            if self.conditionals or self.records is not None:
                raise UsageError("a model has conditionals, records or a generator; give one")
            self.generator.check(self.domain)
            return
        if self.records is not None:
            self._check_records(self.records)
            return
        if set(self.network.order) != set(self.domain):
            raise UsageError("the network's attributes are not those of the schema")
        for conditional in self.conditionals:
            conditional.check(self.domain)

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

    @property
    def protection(self) -> Protection | None:
        """The target and the attributes that were kept apart, for pictures and reports to mark."""
        return self.statement.protection

    def require_network(self) -> None:
        """Refuse what needs probabilities where there are none but rows, or a way to make them."""
        if self.generator is not None:
            raise UsageError(
                f"a model by {self.statement.method} is a generator and has no probabilities; "
                "use its rows, or a method that learns conditionals"
            )
        if self.records is not None:
            raise UsageError(
                f"a model by {self.statement.method} holds released rows and no probabilities; "
                "use its rows, or a method that learns conditionals"
            )

    def require_unconstrained(self, way_out: str) -> None:
        """Refuse what is exact only where the conditionals alone say how rows are drawn."""
        self.require_network()
        if self.schema.constraints:
            raise UsageError(
                "constraints change how rows are drawn, and exact answers would leave them out; "
                f"{way_out}"
            )

    def probability(
        self, *targets: str, given: Mapping[str, Value | Collection[Value]] | None = None
    ) -> dict[Any, float]:
        """The exact distribution of a column, or of several together, given values of others.

        Args:
            targets: what is asked about.
            given: for each column of which something is known, its value, or several it may have.

        Returns:
            The chance of every label; of several columns, of every tuple of labels.

        Privacy: post-processing of the model; costs nothing.
        """
        columns = self.schema.learned
        for name in (*targets, *(given or ())):
            if name not in columns:
                raise UsageError(f"{name!r} is no column; known are {', '.join(columns)}")
        evidence = {
            name: allowed(name, columns[name], [("in", _several(value))])
            for name, value in (given or {}).items()
        }
        chances, _ = self.posterior(targets, evidence)
        labels = itertools.product(*(labels_of(columns[name]) for name in targets))
        keys = labels if len(targets) > 1 else (label for (label,) in labels)
        return dict(zip(keys, chances.ravel().tolist(), strict=True))

    def posterior(self, targets: Attributes, evidence: Evidence) -> tuple[Probabilities, float]:
        """The joint distribution of some attributes given evidence, and its probability.

        Privacy: post-processing of the model; costs nothing.
        """
        self.require_unconstrained("ask by samples instead")
        return posterior(self.conditionals, targets, evidence, self.domain)

    def chance(self, evidence: Evidence) -> float:
        """The probability that a row fits the evidence; 0 where it cannot."""
        try:
            return self.posterior((), evidence)[1]
        except ImpossibleEvidence:
            return 0.0

    def most_probable(self, evidence: Evidence | None = None) -> tuple[dict[str, Any], float]:
        """The most probable row that fits the evidence, by its labels, and its probability."""
        self.require_network()
        codes, chance = most_probable(self.conditionals, evidence or {}, self.domain)
        columns = self.schema.learned
        return {a: labels_of(columns[a])[codes[a]] for a in self.domain}, chance

    def bif_lines(self) -> Iterator[str]:
        """The network and its probabilities in the Bayesian interchange format, for other tools.

        Constraints have no place in it, and neither has the statement. Coarsened attributes are
        written out code by code.
        """
        self.require_network()
        _room_for(sum(self.domain.cells(family.attributes) for family in self.network))
        labels = {name: labels_of(column) for name, column in self.schema.learned.items()}
        return bif_lines([c.uncoarsened(self.domain) for c in self.conditionals], labels)

    def save(self, path: str | os.PathLike[str], *, signer: Signer | None = None) -> None:
        """Write the model to a zip archive, or to a folder when the name has no suffix.

        Args:
            path: where it goes.
            signer: signs the statement in it, and by that the whole model.
        """
        members = self._members()
        manifest = {"format": FORMAT, "version": VERSION, "rows": self.rows}
        rest = {name: digest(data) for name, data in members.items() if name != STATEMENT}
        members[STATEMENT] = _json(self._bound(manifest, rest, signer))
        sums = rest | {STATEMENT: digest(members[STATEMENT])}
        members["manifest.json"] = _json({**manifest, "members": sums})
        (_write_zip if Path(path).suffix else _write_folder)(Path(path), members)

    def _bound(
        self, manifest: Mapping[str, Any], rest: Mapping[str, str], signer: Signer | None
    ) -> dict[str, Any]:
        """The statement with the digest of everything else in the model."""
        record = self.statement.record
        return bound(
            self.statement.document(),
            kind=MODEL,
            found=_content(manifest, rest),
            seal_key=None if record is None else record.seal_key,
            signer=signer,
        )

    def _members(self) -> dict[str, bytes]:
        families = [_family_document(c.family) for c in self.conditionals]
        members = {
            "schema.json": self.schema.to_json().encode(),
            "network.json": _json({"families": families}),
            STATEMENT: _json(self.statement.document()),
            "conditionals.arrow": _tables_to_arrow(self.conditionals),
        }
        if self.generator is not None:
            return members | {GENERATOR: _generator_to_arrow(self.generator)}
        return members if self.records is None else members | {RECORDS: _to_arrow(self.records)}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model; one that is damaged or too new is refused with a clear sentence."""
        path = Path(path)
        with _reading(path):
            parts = _Parts.read(path)
        try:
            return cls._assembled(parts, path)
        except (CapacityError, MemoryError):
            raise
        except _MISFITS as error:
            raise ModelError(f"{path}: the model is damaged: {_why(error)}; fit it again") from None

    @classmethod
    def _assembled(cls, parts: _Parts, path: Path) -> Model:
        schema = Schema.from_json(parts["schema.json"])
        domain, rows = Domain.of(schema), int(parts.manifest["rows"])
        named = json.loads(parts["network.json"])["families"]
        families = [Family(child, *map(tuple, names)) for child, *names in named]
        cells = sum(domain.cells(family.axes) + domain[family.child] for family in families)
        with _reading(path):
            data = parts.member("conditionals.arrow", _room_for(cells))
            held = _room_for(rows * len(domain)) if RECORDS in parts.manifest["members"] else 0
            records = parts.member(RECORDS, held) if held else None
            trained = GENERATOR in parts.manifest["members"]
            generator = parts.member(GENERATOR, parts.most_trained()) if trained else None
        with _within("conditionals.arrow"):
            conditionals = _conditionals_from_arrow(data, families, domain)
        written = parsed_document(parts[STATEMENT])
        statement = Statement.parse(written)
        with _within(RECORDS):
            released = None if records is None else _from_arrow(records, domain, rows)
        with _within(GENERATOR):
            maker = None if generator is None else _generator_from_arrow(generator)
        model = cls(schema, conditionals, rows, statement, released, maker)
        _check_bound(written, parts.manifest, path)
        return model


def _why(error: Exception) -> str:
    """What does not fit, where that is known."""
    if isinstance(error, SchemaError):
        return error.problems[0]
    return str(error) if isinstance(error, _Unsound) else "its parts do not fit"


class _Unsound(ValueError):
    """A member that is not what the others announce."""


@contextmanager
def _within(name: str) -> Iterator[None]:
    """Refusals of a member, which name it."""
    try:
        yield
    except UnsoundArrow as error:
        raise _Unsound(f"{name} {error}") from None


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


def _family_document(family: Family) -> list[Any]:
    """A child and its parents and, where some are coarsened, the names of the table's axes."""
    copies = [list(family.copies)] if family.copies else []
    return [family.child, list(family.parents), *copies]


def _content(manifest: Mapping[str, Any], rest: Mapping[str, str]) -> str:
    """The digest of all of a model but its statement, in whatever order or packing."""
    public = {name: manifest[name] for name in ("format", "version", "rows")}
    return digest(canonical({**public, "members": dict(rest)}))


def _check_bound(written: Mapping[str, Any], manifest: Mapping[str, Any], path: Path) -> None:
    """Refuse a statement that speaks of another model; version 0.1.0 did not say of which."""
    if BINDING not in written:
        return
    rest = {name: sum_ for name, sum_ in manifest["members"].items() if name != STATEMENT}
    binding = written[BINDING]
    if binding["of"] != MODEL or not same(binding["sha256"], _content(manifest, rest)):
        raise ModelError(
            f"{path}: the statement in it belongs to another model, or one of the two was altered; "
            "ask for the model as it was written"
        )


def bound_content(path: Path) -> tuple[dict[str, Any], str]:
    """The statement in a model on disk, and the digest of all else, both as they are found.

    Nothing is checked here, so that a verifier can say what does not belong together.
    """
    with _reading(path):
        manifest = _manifest(path, read_member(path, "manifest.json", _LARGEST_DOCUMENT))
        held = _names_in(path) & _NAMES
        rest = {
            name: _digest_of_member(path, name)
            for name in sorted(held - {STATEMENT, "manifest.json"})
        }
        written = parsed_document(read_member(path, STATEMENT, _LARGEST_DOCUMENT))
        if not isinstance(written, dict) or "rows" not in manifest:
            raise ValueError(STATEMENT)
        return written, _content(manifest, rest)


def is_model(path: Path) -> bool:
    """Whether a file or folder has the looks of a model of rows."""
    try:
        return "manifest.json" in _names_in(path)
    except (OSError, *_BAD_ARCHIVE):
        return False


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


def _tables_to_arrow(conditionals: tuple[Conditional, ...]) -> bytes:
    table = pa.table(
        {
            "attribute": pa.array([c.family.child for c in conditionals], pa.string()),
            "shape": pa.array([c.probabilities.shape for c in conditionals], pa.list_(pa.int64())),
            "probabilities": pa.array(
                [c.probabilities.ravel() for c in conditionals], pa.large_list(pa.float64())
            ),
            "within": pa.array([c.within for c in conditionals], pa.large_list(pa.float64())),
        }
    )
    return _to_arrow(table)


def _to_arrow(columns: pa.Table | Records) -> bytes:
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _from_arrow(data: bytes, domain: Domain, rows: int) -> Records:
    table = read_arrow(data, dict.fromkeys(domain, _CODES), rows=rows)
    return {
        attribute: table[attribute].to_numpy().astype(code_type(domain[attribute]), casting="safe")
        for attribute in domain
    }


def _generator_to_arrow(generator: RowGenerator) -> bytes:
    weights = generator.weights
    table = pa.table(
        {
            "name": [*weights, "chances"],
            "shape": pa.array(
                [array.shape for array in weights.values()] + [(len(generator.chances),)],
                pa.list_(pa.int64()),
            ),
            "values": pa.array(
                [array.ravel() for array in weights.values()] + [np.array(generator.chances)],
                pa.large_list(pa.float64()),
            ),
        }
    )
    target = {} if generator.target is None else {"target": generator.target}
    return _to_arrow(table.replace_schema_metadata(target))


def _generator_from_arrow(data: bytes) -> RowGenerator:
    table = read_arrow(data, _OF_A_GENERATOR, rows=2 * _MOST_LAYERS + 1)
    names, shapes = table["name"].to_pylist(), map(_shape, table["shape"])
    arrays = {
        name: np.array(row.values, np.float64).reshape(shape)
        for name, shape, row in zip(names, shapes, table["values"], strict=True)
    }
    chances = tuple(float(chance) for chance in arrays.pop("chances"))
    target = (table.schema.metadata or {}).get(b"target")
    weights = {name: array.astype(np.float32) for name, array in arrays.items()}
    return RowGenerator(weights, None if target is None else target.decode(), chances)


def _conditionals_from_arrow(
    data: bytes, families: Sequence[Family], domain: Domain
) -> tuple[Conditional, ...]:
    """The probabilities of every attribute and, where it is coarsened, shares within groups."""
    if not families:
        # Earlier versions wrote no rows in another type, and there is nothing to read.
        return ()
    table = read_arrow(data, _OF_CONDITIONALS, rows=len(families))
    names, shapes = table["attribute"].to_pylist(), map(_shape, table["shape"])
    held = table["within"] if "within" in table.column_names else [pa.scalar(None)] * len(names)
    lines = zip(shapes, table["probabilities"], held, strict=True)
    tables = dict(zip(names, lines, strict=True))
    return tuple(_conditional(family, domain, *tables[family.child]) for family in families)


def _conditional(
    family: Family, domain: Domain, shape: list[int], chances: Any, within: Any
) -> Conditional:
    """One conditional, whose numbers are counted before they are taken."""
    announced, found = domain.shape(family.axes), len(chances.values)
    if tuple(shape) != announced or found != math.prod(announced):
        raise UnsoundArrow(
            f"says that the table of {family.child!r} has shape {tuple(shape)} and holds {found:,} "
            f"numbers for it, where schema and network say {announced}"
        )
    shares = np.array(within.values, np.float64) if within.is_valid else None
    return Conditional(family, np.array(chances.values, np.float64).reshape(announced), shares)


def _shape(row: Any) -> list[int]:
    """The shape in a cell, if it can be one."""
    if len(row.values) > _MOST_AXES:
        raise UnsoundArrow(f"says that a table has {len(row.values):,} axes")
    return list(row.values.to_pylist())


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


@dataclass(frozen=True)
class _Parts:
    """The members of a model on disk, each checked against the manifest as it is read."""

    path: Path
    manifest: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> _Parts:
        """The parts of the model at a path, its manifest read."""
        data = read_member(path, "manifest.json", _LARGEST_DOCUMENT)
        return cls(path, _manifest(path, data))

    def __getitem__(self, name: str) -> bytes:
        with _reading(self.path):
            return check_document(self.member(name, _LARGEST_DOCUMENT))

    def member(self, name: str, most: int) -> bytes:
        """A member of at most so many bytes."""
        data = read_member(self.path, name, most)
        if self.manifest["members"].get(name) != digest(data):
            raise ModelError(f"{self.path}: {name} was changed or damaged; fit the model again")
        return data

    def most_trained(self) -> int:
        """The bytes that a generator may have: about as many as the file has."""
        stored = stored_bytes(self.path, GENERATOR)
        most = min(_LARGEST_GENERATOR, _PACKED_AT_MOST * stored + _BYTES_BESIDE)
        return min(most, _room_for(most // _BYTES_PER_CELL))


def _room_for(cells: int) -> int:
    """The bytes that tables of so many cells may take; more than is free is refused."""
    most = cells * _BYTES_PER_CELL + _BYTES_BESIDE
    free = available_bytes()
    if most * _COPIES > free:
        raise CapacityError(
            f"the model has {cells:,} numbers, and {free / 2**30:,.1f} GiB is free; "
            "use a larger machine"
        )
    return most


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Reading failures in our words."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or "it is damaged"
        raise ModelError(f"{path}: the model cannot be read: {reason}; check the path") from None
    except _BAD_ARCHIVE:
        raise ModelError(f"{path}: is no whole model; it is damaged or something else") from None


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
    return manifest
