"""The readers under test: valid files to damage, and the way from a file to what it means."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import signal
import struct
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from fuzz.mutation import MOST_BYTES, mutated, mutated_document
from support import foreign

if TYPE_CHECKING:
    from understudy.facts.domain import Domain
    from understudy.models.model import Model
    from understudy.models.weighted.raking import Aim
    from understudy.privacy.noisy_marginal import NoisyMarginal

Files = Mapping[str, bytes]

COLUMNS: dict[str, Any] = {
    "no": {"kind": "id", "prefix": "P"},
    "sex": {"kind": "categorical", "values": ["f", "m", 3], "missing": ["?"], "outside": "f"},
    "alive": {"kind": "boolean", "missing": []},
    "age": {"kind": "integer", "edges": [0, 18, 65], "max": 120, "missing": [-1]},
    "pay": {"kind": "float", "min": 0.0, "max": 1e6, "bins": 5, "outside": "drop"},
    "born": {"kind": "date", "min": "1900-01-01", "max": "2030-12-31"},
    "seen": {"kind": "datetime", "min": "2020-01-01T00:00:00", "max": "2020-12-31T23:59:59"},
}
SCHEMA: dict[str, Any] = {"name": "people", "columns": COLUMNS}
# Every key that says how values are written.
FORMS: dict[str, Any] = {
    "columns": {
        "key": {"kind": "text", "pattern": "[A-Z]{2}(-[0-9]{1,4})?", "same_as": "paid"},
        "mail": {"kind": "text", "drop": True},
        "paid": {"kind": "boolean", "labels": ["ja", "nein"], "missing": [], "missing_as": "model"},
        "price": {
            "kind": "float",
            "min": -10.0,
            "max": 10.0,
            "decimals": 2,
            "unit": "# €",
            "decimal": ",",
            "thousands": ".",
            "accounting": True,
            "dtype": "string",
        },
        "share": {"kind": "float", "min": 0.0, "max": 1.0, "step": 0.25, "percent": True},
        "code": {"kind": "integer", "min": 0, "max": 99, "digits": 5, "step": 5, "dtype": "int8"},
        "day": {"kind": "date", "min": "2020-01-01", "max": "2024-12-31", "format": "%d.%m.%Y"},
        "seen": {
            "kind": "datetime",
            "min": "2020-01-01T00:00:00",
            "max": "2024-12-31T00:00:00",
            "zone": "Europe/Berlin",
            "step": 60,
            "format": "%Y-%m-%d %H:%M %z",
            "dtype": "datetime64[us]",
        },
    }
}
UNREVIEWED: dict[str, Any] = {
    "name": "people",
    "columns": {**COLUMNS, "alive": {"kind": "boolean", "missing": [], "unreviewed": True}},
}

CSV = (
    "no,sex,alive,age,pay,born,seen\n"
    "1,f,true,41,12.5,1980-02-03,2020-05-06T07:08:09\n"
    '2,"m",no,7,,1990-12-31,2020-05-06 07:08:09+02:00\n'
    "3,?,,-1,1e5,1900-01-01,2020-01-01\n"
)


@dataclass(frozen=True)
class Reader:
    """One reader: files made by damaging valid ones, and what reads them.

    Attributes:
        make: damaged files by name, from a seeded generator.
        name: the file or folder that is read.
        read: reads it; raises nothing but our errors.
    """

    make: Callable[[Random], Files]
    name: str
    read: Callable[[Path], object]


def _json(document: object) -> bytes:
    # Not every text has an encoding, and such a text is a test too.
    text = json.dumps(document, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")[:MOST_BYTES]


def _either(name: str, samples: Sequence[bytes], texts: Sequence[str], draw: Random) -> Files:
    """Damage to bytes, or to the document that they are."""
    if not texts or draw.random() < 0.5:
        return {name: mutated(draw.choice(samples), samples, draw)}
    return {name: _json(mutated_document(draw.choice(texts), draw))}


def _of_json(name: str, documents: Sequence[object], read: Callable[[Path], object]) -> Reader:
    texts = [json.dumps(document) for document in documents]
    samples = [text.encode() for text in texts]
    return Reader(partial(_either, name, samples, texts), name, read)


def schema_json() -> Reader:
    """Schemas in JSON."""
    return _of_json("s.json", [UNREVIEWED, SCHEMA, FORMS], _read_schema)


def schema_toml() -> Reader:
    """Schemas in TOML."""
    from understudy.facts.schema import Schema

    sample = Schema.parse(UNREVIEWED)._to_toml().encode()
    text = json.dumps(UNREVIEWED)

    def make(draw: Random) -> Files:
        if draw.random() < 0.5:
            return {"s.toml": mutated(sample, [sample], draw)}
        return {"s.toml": _as_toml(mutated_document(text, draw)) or sample[: draw.randrange(900)]}

    return Reader(make, "s.toml", _read_schema)


def _as_toml(document: object) -> bytes | None:
    import tomli_w

    try:
        return tomli_w.dumps(document).encode("utf-8", "surrogatepass")  # type: ignore[arg-type]
    except (TypeError, AttributeError, RecursionError, ValueError):
        return None


def _read_schema(path: Path) -> None:
    """As `schema check` and `confirm` do: read, sizes, fingerprint, and written again."""
    from understudy.facts.documents import read_document
    from understudy.facts.formats import marked, without_marks
    from understudy.facts.schema import Schema

    schema = Schema.load(path)
    _ = schema.attributes, schema.fingerprint, schema.unreviewed
    _decode_a_row(schema)
    found = marked(read_document(path))
    if found:
        without_marks(path, [*found])
    if path.suffix == ".json":
        Schema.parse(json.loads(schema.to_json()))
    else:
        schema._to_toml().encode()


def _decode_a_row(schema: Any) -> None:
    """Make a row, as `sample` would; texts of generators are left out, which need no schema."""
    import numpy as np

    from understudy.facts.codec import Codec
    from understudy.facts.codes import code_type

    if any(getattr(column, "generator", None) for column in schema.columns.values()):
        return
    codes = {name: np.zeros(1, code_type(size)) for name, size in schema.attributes.items()}
    codec = Codec(schema)
    codec.spell(codec.decode(codes, generator=np.random.default_rng(0)))


def sdv() -> Reader:
    """Metadata of the Synthetic Data Vault, of all versions."""
    documents = [foreign.SDV_FIELDS, foreign.SDV_SINGLE, foreign.SDV_TABLES]
    return _of_json("metadata.json", documents, _read_draft)


def csvw() -> Reader:
    """CSVW metadata."""
    return _of_json("metadata.json", [foreign.CSVW, foreign.CSVW_GROUP], _read_draft)


def domain() -> Reader:
    """Domain files."""
    return _of_json("domain.json", [foreign.DOMAIN], _read_draft)


def frictionless() -> Reader:
    """Frictionless Table Schemas, and packages of them."""
    package = {"resources": [{"name": "guests", "schema": foreign.FRICTIONLESS}, {"name": "b"}]}
    return _of_json("schema.json", [foreign.FRICTIONLESS, package], _read_draft)


def redcap() -> Reader:
    """REDCap dictionaries."""
    samples = [foreign.REDCAP.encode()]
    return Reader(partial(_either, "dictionary.csv", samples, []), "dictionary.csv", _read_draft)


def ddi() -> Reader:
    """DDI codebooks."""
    samples = [foreign.DDI.encode()]
    return Reader(partial(_either, "codebook.xml", samples, []), "codebook.xml", _read_draft)


def _read_draft(path: Path) -> None:
    """As `schema import` does; whatever it writes is TOML and JSON."""
    import tomllib

    from understudy.errors import UsageError
    from understudy.facts.formats import read_draft

    try:
        draft = read_draft(path)
    except UsageError:
        draft = read_draft(path, table="guests")
    tomllib.loads(draft.to_toml().encode().decode())
    json.loads(draft.to_json().encode())


def structure() -> Reader:
    """Networks that someone wrote down."""
    from understudy.methods.structure.given import read_network

    documents = [{"income": ["age", "sex"], "age": []}, {"a": ["b"], "b": ["c"], "c": []}]
    return _of_json("network.json", documents, read_network)


def structure_bif() -> Reader:
    """Networks as BIF: ours, and another tool's."""
    from understudy.methods.structure.given import read_network

    samples = [
        b"network understudy {\n}\nvariable a {\n  type discrete [ 2 ] { x, y };\n"
        b'  property original = "a b" ;\n}\nvariable b {\n  type discrete [ 1 ] { x };\n}\n'
        b"probability ( a | b ) {\n  (x) 0.5, 0.5;\n}\nprobability ( b ) {\n  table 1.0;\n}\n",
        b'// one\nnetwork "n" { }\nvariable "a" { type discrete[2] { "x" "y" }; }\n'
        b"/* two */ probability(a) { default 0.5, 0.5; }\n",
    ]
    return Reader(partial(_either, "network.bif", samples, []), "network.bif", read_network)


def structure_csv() -> Reader:
    """Networks as matrices of predictors."""
    from understudy.methods.structure.given import read_network

    samples = [b'"","a","b"\n"a",0,0\n"b",1,0\n', b"x,a,b,c\r\na,0,1,1\r\nb,0,0,0\r\nc,0,1,0\r\n"]
    return Reader(partial(_either, "network.csv", samples, []), "network.csv", read_network)


def workload() -> Reader:
    """Workloads in JSON."""
    from understudy.facts.workload import Workload

    sets = [["age", "income"], {"columns": ["sex"], "weight": 2.5}]
    return _of_json("workload.json", [sets, {"sets": sets}], Workload.load)


def csv() -> Reader:
    """Rows as CSV, whole and in blocks."""
    samples = [CSV.encode(), CSV.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + CSV.encode()]
    return Reader(partial(_either, "people.csv", samples, []), "people.csv", _read_rows)


def parquet() -> Reader:
    """Rows as Parquet, of several codings and compressions."""
    samples = _parquet_samples()
    return Reader(partial(_either, "people.parquet", samples, []), "people.parquet", _read_rows)


def csv_zip() -> Reader:
    """Rows as CSV in a zip archive, damaged as it is and in its directory."""
    whole = _zipped({"people.csv": CSV.encode()})

    def make(draw: Random) -> Files:
        if draw.random() < 0.5:
            return {"people.csv.zip": _misstated(whole, draw)}
        return {"people.csv.zip": mutated(whole, [whole], draw)}

    return Reader(make, "people.csv.zip", _read_rows)


def csv_gz() -> Reader:
    """Rows as compressed CSV."""
    samples = [gzip.compress(CSV.encode(), mtime=0), gzip.compress(b"", mtime=0)]
    return Reader(partial(_either, "people.csv.gz", samples, []), "people.csv.gz", _read_rows)


def csv_zst() -> Reader:
    """Compressed text in the format of Zstandard; its samples are bytes of compressed streams."""
    samples = [_zstandard(CSV.encode()), _zstandard(b"")]
    return Reader(partial(_either, "people.csv.zst", samples, []), "people.csv.zst", _read_rows)


def _zstandard(data: bytes) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


def jsonl() -> Reader:
    """Rows as JSON objects on lines."""
    import pyarrow.csv as pc

    rows = pc.read_csv(io.BytesIO(CSV.encode())).to_pylist()
    lines = [json.dumps(row, default=str) for row in rows]
    samples = ["".join(f"{line}\n" for line in lines).encode(), *(x.encode() for x in lines)]
    return Reader(partial(_either, "people.jsonl", samples, lines), "people.jsonl", _read_rows)


def feather() -> Reader:
    """Rows as Arrow files, plain and compressed, with dictionaries and without."""
    import pyarrow.csv as pc

    typed = pc.read_csv(io.BytesIO(CSV.encode()))
    listed = typed.set_column(1, "sex", typed["sex"].dictionary_encode())
    samples = [_arrow(t, c) for t in (typed, listed) for c in (None, "lz4", "zstd")]
    name = "people.feather"
    return Reader(partial(_either, name, samples, []), name, _read_rows)


def sqlite() -> Reader:
    """Rows as a table of SQLite."""
    import sqlite3

    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA page_size = 512")
    lines = [line.split(",") for line in CSV.splitlines()]
    connection.execute(f"CREATE TABLE people ({', '.join(lines[0])})")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?)", lines[1:])
    connection.commit()
    samples = [connection.serialize()]
    return Reader(partial(_either, "people.db", samples, []), "people.db", _read_rows)


def excel() -> Reader:
    """Rows as a workbook, damaged as it is, and in one member with right checksums."""
    import openpyxl

    book = openpyxl.Workbook()
    for line in CSV.splitlines():
        book.active.append(line.split(","))
    sink = io.BytesIO()
    book.save(sink)
    with zipfile.ZipFile(sink) as archive:
        # A workbook bears the present time, and a damaged one is to be made again.
        moment, fixed = rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z", b"2026-01-01T00:00:00Z"
        members = {n: re.sub(moment, fixed, archive.read(n)) for n in archive.namelist()}
    whole = _zipped(members)

    def make(draw: Random) -> Files:
        if draw.random() < 0.3:
            return {"people.xlsx": _misstated(whole, draw)}
        if draw.random() < 0.3:
            return {"people.xlsx": mutated(whole, [whole], draw)}
        name = draw.choice([*members])
        damaged = mutated(members[name], [*members.values()], draw)
        return {"people.xlsx": _zipped({**members, name: damaged})}

    return Reader(make, "people.xlsx", _read_rows)


def statistics(suffix: str) -> Reader:
    """Rows as a file of SPSS or Stata."""
    from tempfile import TemporaryDirectory

    import polars
    import pyreadstat

    write = pyreadstat.write_sav if suffix == "sav" else pyreadstat.write_dta
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"people.{suffix}"
        write(polars.read_csv(io.BytesIO(CSV.encode())), str(path))
        samples = [undated(path.read_bytes())]
    name = f"people.{suffix}"
    return Reader(partial(_either, name, samples, []), name, _read_rows)


def undated(content: bytes) -> bytes:
    """A file of SPSS without the moment of its making; a damaged one is to be made again."""
    moment = rb"[0-9]{2} [A-Z][a-z]{2} [0-9]{2}[0-9]{2}:[0-9]{2}:[0-9]{2}"
    return re.sub(moment, b"01 Jan 2600:00:00", content, count=1)


def sas() -> Reader:
    """Rows as a file of SAS."""
    import polars

    from support.sas import write_sas

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.sas7bdat"
        write_sas(polars.read_csv(io.BytesIO(CSV.encode())).to_dict(as_series=False), path)
        samples = [path.read_bytes()]
    return Reader(partial(_either, path.name, samples, []), path.name, _read_rows)


def _parquet_samples() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    texts = pc.ConvertOptions(column_types={n: pa.string() for n in CSV.split("\n")[0].split(",")})
    typed = pc.read_csv(io.BytesIO(CSV.encode()))
    plain = pc.read_csv(io.BytesIO(CSV.encode()), convert_options=texts)
    options: list[dict[str, Any]] = [
        {"compression": "none"},
        {"compression": "none", "use_dictionary": False},
        {"compression": "snappy"},
        {"compression": "zstd"},
        {"compression": "none", "use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"},
    ]
    samples = []
    for table, keywords in ((plain, o) for o in options):
        sink = io.BytesIO()
        pq.write_table(table, sink, **keywords)
        samples.append(sink.getvalue())
    sink = io.BytesIO()
    pq.write_table(typed, sink, compression="none")
    return [*samples, sink.getvalue()]


@cache
def _schema() -> Any:
    from understudy.facts.schema import Schema

    return Schema.parse(SCHEMA)


def _read_rows(path: Path) -> None:
    """As `synth` does before it spends: every cell is read and encoded."""
    from understudy.rows.sources import Access, open_source

    # Every eighth file goes in blocks, as a larger one would.
    in_blocks = path.stat().st_size % 8 == 0
    table = "people" if path.suffix == ".db" else None
    access = Access(ignore_extra=True, memory=1 << 20 if in_blocks else 1 << 30, table=table)
    with open_source(path, _schema(), access):
        pass


def model() -> Reader:
    """Models as zip archives: damaged as they are, and in one member with right checksums."""
    members = _model_members()
    whole = _zipped(members)

    def make(draw: Random) -> Files:
        choice = draw.random()
        if choice < 0.3:
            return {"m.zip": mutated(whole, [whole], draw)}
        if choice < 0.5:
            return {"m.zip": _misstated(_zipped(_signed(_lying(members, draw))), draw)}
        return {"m.zip": _zipped(_damaged(members, draw))}

    return Reader(make, "m.zip", _read_model)


def _lying(members: Mapping[str, bytes], draw: Random) -> dict[str, bytes]:
    """Members of a model that say other sizes than they have, each well formed in itself."""
    name = "conditionals.arrow"
    choice = draw.random()
    if choice < 0.2:
        return {**members, name: draw.choice(_compressed_zeros())}
    if choice < 0.6:
        return {**members, name: _reshaped(members[name], draw)}
    name = draw.choice((name, "tables.arrow"))
    data = bytearray(members[name])
    # Lengths and offsets of Arrow are numbers of eight bytes at even places.
    for _ in range(draw.choice((1, 1, 2, 4))):
        place = 8 * draw.randrange(len(data) // 8)
        size = draw.choice((0, 1, -1, len(data), 2**20, 2**31, 2**40, 2**62, draw.randrange(4096)))
        data[place : place + 8] = struct.pack("<q", size)
    return {**members, name: bytes(data)}


@cache
def _compressed_zeros() -> list[bytes]:
    """Conditionals of few bytes that say to unpack to eight gibibytes."""
    import pyarrow as pa

    count = 4096
    table = pa.table(
        {
            "attribute": ["sex"],
            "shape": pa.array([[count]], pa.list_(pa.int64())),
            "probabilities": pa.array([[0.0] * count], pa.large_list(pa.float64())),
        }
    )
    # Before each compressed buffer stands the size that it unpacks to.
    said, lie = struct.pack("<q", 8 * count), struct.pack("<q", 2**33)
    return [_arrow(table, codec).replace(said, lie) for codec in ("zstd", "lz4")]


def _reshaped(data: bytes, draw: Random) -> bytes:
    """Conditionals with other shapes, types, batches or compression, and the numbers they had."""
    import pyarrow as pa

    table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    choice = draw.randrange(5)
    if choice == 0:
        sizes = (0, 1, 2, 2**20, 2**40)
        shapes = [[draw.choice(sizes)] * draw.choice((1, 2, 300)) for _ in range(len(table))]
        table = table.set_column(1, "shape", pa.array(shapes, pa.list_(pa.int64())))
    elif choice == 1:
        place = draw.randrange(table.num_columns)
        kind = draw.choice((pa.null(), pa.bool_(), pa.string_view()))
        table = table.set_column(place, table.column_names[place], pa.nulls(len(table), kind))
    elif choice == 2:
        table = table.set_column(0, "attribute", table["attribute"].dictionary_encode())
    elif choice == 3:
        table = pa.concat_tables([table] * draw.choice((2, 50)))
    return _arrow(table, draw.choice((None, None, "zstd", "lz4")), draw.choice((None, 1)))


def _arrow(table: Any, codec: str | None, rows: int | None = None) -> bytes:
    import pyarrow as pa

    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return sink.getvalue()


def _misstated(archive: bytes, draw: Random) -> bytes:
    """An archive, sometimes with another size in one entry of its directory."""
    if draw.random() < 0.5:
        return archive
    data = bytearray(archive)
    places = [at for at in range(len(data) - 46) if data[at : at + 4] == b"PK\x01\x02"]
    # Packed and unpacked sizes of an entry.
    at = draw.choice(places) + draw.choice((20, 24))
    data[at : at + 4] = struct.pack("<I", draw.choice((0, 1, 99, 2**20, 2**31, 2**32 - 1)))
    return bytes(data)


def model_folder() -> Reader:
    """Models as folders, of an earlier format, a member damaged or gone."""
    members = _model_members(version=2)

    def make(draw: Random) -> Files:
        damaged = dict(_damaged(members, draw))
        if draw.random() < 0.1:
            del damaged[draw.choice([*damaged])]
        return {f"m/{name}": data for name, data in damaged.items()}

    return Reader(make, "m", _read_model)


def _read_model(path: Path) -> None:
    """As `inspect` and `sample` do."""
    from understudy.jobs.inspection import ModelInspection
    from understudy.models.model import Model
    from understudy.models.sampling import sample_rows
    from understudy.models.strengths import strengths_of

    loaded = Model.load(path)
    ModelInspection(loaded, strengths_of(loaded)).document()
    sample_rows(loaded, 3, seed=1)


def _model_members(version: int = 3) -> dict[str, bytes]:
    """A model of the present format, which keeps its tables, or of an earlier one."""
    from understudy.methods import Random as Uniform

    rows: dict[str, list[Any]] = {name: [] for name in _schema().learned}
    model = Uniform(_schema(), epsilon=1, rows=5).fit(rows, ledger=None).model_
    named = {"kind": model.distribution.kind} if version > 2 else {}
    manifest = {"format": "understudy-model", "version": version, "rows": 5, **named}
    kept = _with_tables(model) if version > 2 else model
    return {**kept.members(), "manifest.json": _json(manifest)}


def log_linear() -> Reader:
    """Log-linear models as zip archives, a member damaged, with right checksums."""
    from understudy.methods import Random as Uniform
    from understudy.models.log_linear import LogLinear

    rows: dict[str, list[Any]] = {name: [] for name in _schema().learned}
    model = Uniform(_schema(), epsilon=1, rows=5).fit(rows, ledger=None).model_
    law = LogLinear(model.distribution.require_network(), _aims(model.domain), 5.0)
    manifest = {"format": "understudy-model", "version": 3, "rows": 5, "kind": law.kind}
    whole = replace(model, distribution=law)
    members = {**whole.members(), "manifest.json": _json(manifest)}

    def make(draw: Random) -> Files:
        return {"m.zip": _zipped(_damaged(members, draw))}

    return Reader(make, "m.zip", _read_model)


def _aims(domain: Domain) -> tuple[Aim, ...]:
    """A table of every attribute, and one of a pair."""
    import numpy as np

    from understudy.models.weighted.raking import Aim

    sets = [*((name,) for name in domain), domain.attributes[:2]]
    return tuple(Aim.of(names, np.ones(domain.shape(names)), 2.0, spread=1.0) for names in sets)


def _with_tables(model: Model) -> Model:
    """The model with some tables, which its statement says were released."""
    from fractions import Fraction

    from understudy.privacy.accounting.events import Charge, GaussianEvent
    from understudy.privacy.mechanisms.released import table_question

    tables, event = _tables(model.domain), GaussianEvent(Fraction(2), Fraction(1))
    charges = tuple(Charge(table_question(table.attributes), event) for table in tables)
    return replace(model, tables=tables, statement=replace(model.statement, charges=charges))


def _tables(domain: Domain) -> tuple[NoisyMarginal, ...]:
    """The number of rows, and a table of every attribute."""
    import numpy as np

    from understudy.privacy.noisy_marginal import NoisyMarginal

    sets: list[tuple[str, ...]] = [(), *((name,) for name in domain)]
    shapes = [(names, domain.shape(names)) for names in sets]
    return tuple(NoisyMarginal(names, np.ones(shape, np.int64), 2.0) for names, shape in shapes)


def _damaged(members: Mapping[str, bytes], draw: Random) -> dict[str, bytes]:
    name = draw.choice([*members])
    data = members[name]
    if name.endswith(".json") and draw.random() < 0.6:
        damaged = _json(mutated_document(data.decode(), draw))
    else:
        damaged = mutated(data, [*members.values()], draw)
    return _signed({**members, name: damaged})


def _signed(members: dict[str, bytes]) -> dict[str, bytes]:
    """The members with a manifest that holds their checksums, if it still is one."""
    try:
        manifest = json.loads(members["manifest.json"])
        sums = {n: hashlib.sha256(d).hexdigest() for n, d in members.items()}
        return {**members, "manifest.json": _json({"members": sums, **manifest})}
    except (ValueError, TypeError, RecursionError):
        return members


def _zipped(members: Mapping[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            # Without a date of its own a member bears the present one.
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return sink.getvalue()


def refits(kind: str) -> Reader:
    """Refitted models as a cache keeps them: damaged as they are, or with other numbers."""
    model = _fitted(kind)
    whole = _kept_bytes(model)

    def make(draw: Random) -> Files:
        damaged = mutated(whole, [whole], draw) if draw.random() < 0.5 else _renumbered(whole, draw)
        return {"m.refits": damaged}

    return Reader(make, "m.refits", partial(_read_refits, model))


def _fitted(kind: str) -> Model:
    """A small model of a few columns that keeps its tables."""
    from understudy.facts.schema import Schema
    from understudy.methods.registry import method
    from understudy.testing import seeded

    columns = {name: {"kind": "boolean"} for name in ("a", "b")}
    schema, rows = Schema.parse({"columns": columns}), [True, False, True] * 20
    found = seeded(method(kind)(schema, epsilon=1, delta=1e-6), 1)
    fitted: Model = found.fit({"a": rows, "b": rows}, ledger=None).model_
    return fitted


def _kept_bytes(model: Model) -> bytes:
    """The bytes of a small file that a cache could have written for a model."""
    import numpy as np

    from understudy.jobs.refit_cache import write_refits
    from understudy.models.bayes_net import BayesNet
    from understudy.models.intervals.refits import REFITS, NetworkRefits, PoolRefits, Refits

    law, code = model.distribution, np.array([0, 1, 1], np.uint8)
    weights = np.full((REFITS, 3), 1 / 3, np.float32)
    found: Refits = PoolRefits(model.domain, {"a": code, "b": code}, weights)
    if isinstance(law, BayesNet):
        found = NetworkRefits.of(law, [law] * REFITS)
    with tempfile.TemporaryDirectory() as folder:
        write_refits(Path(folder) / "m.refits", model, found)
        return (Path(folder) / "m.refits").read_bytes()


def _renumbered(data: bytes, draw: Random) -> bytes:
    """The same file with another name, shape or numbers in one of its arrays."""
    import pyarrow as pa

    table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    lines, at = table.to_pylist(), draw.randrange(len(table))
    line = lines[at]
    match draw.randrange(4):
        case 0:
            line["name"] = draw.choice(["", "weights", "codes of a", "chances of b", "0" * 64])
        case 1:
            line["shape"] = [draw.choice((0, 1, 2, -1, 200, 2**40)) for _ in range(3)]
        case 2:
            odd = (float("nan"), float("inf"), -1.0, 0.0, 3e38)
            line["numbers"] = [draw.choice(odd)] * len(line["numbers"])
        case _:
            del lines[at]
    return _arrow(pa.Table.from_pylist(lines, table.schema), draw.choice((None, "zstd")))


def _read_refits(model: Model, path: Path) -> None:
    """As `query` does: read, and ask."""
    from understudy.jobs.refit_cache import read_refits

    read_refits(path, model).posteriors(("a",), {})


def ledger() -> Reader:
    """Ledgers: damaged as they are, and in one entry with right checksums."""
    lines = _ledger_lines()
    whole = _signed_lines([json.loads(line) for line in lines])

    def make(draw: Random) -> Files:
        if draw.random() < 0.3:
            return {"ledger.jsonl": mutated(whole, [whole], draw)}
        return {"ledger.jsonl": _signed_lines(_one_changed(lines, draw))}

    return Reader(make, "ledger.jsonl", _read_ledger)


def _ledger_lines() -> list[str]:
    from fractions import Fraction
    from tempfile import TemporaryDirectory

    from understudy.methods import Independent
    from understudy.privacy.spending.ledger import Ledger

    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        book = Ledger(path)
        book.limit("people", epsilon=Fraction(3), delta=Fraction(1, 10**6))
        rows: dict[str, list[Any]] = {name: [] for name in _schema().learned}
        Independent(_schema(), epsilon=1).fit(rows, ledger=book, dataset="people")
        book.limit("others", epsilon=Fraction(1, 3))
        _resume_once(book)
        return _timeless(path.read_text().splitlines())


def _resume_once(book: Any) -> None:
    """A long run that was killed after a step, and gone on with."""
    from fractions import Fraction

    from understudy.privacy.accounting.events import Charge, LaplaceEvent
    from understudy.privacy.budget import Budget
    from understudy.privacy.spending.list_pricing import QuestionsThenList
    from understudy.privacy.spending.steps import Told

    budget = Budget.approximate(1, "1e-6")
    with book.grant("images", budget, pricing=QuestionsThenList()) as grant:
        grant.commit([Charge("step", LaplaceEvent(Fraction(10), Fraction(1)))] * 9)
        book.tell(grant, 3, "1" * 64)
    told = Told(grant.identity, 3, "1" * 64)
    with book.grant("images", budget, pricing=QuestionsThenList(), resume=told) as grant:
        book.tell(grant, 5, "2" * 64)


def _timeless(lines: Sequence[str]) -> list[str]:
    """Entries without what differs from run to run."""
    names: dict[str, str] = {}
    found = []
    for line in lines:
        entry = json.loads(line) | {"time": "2026-01-01T00:00:00+00:00", "check": ""}
        if "grant" in entry:
            entry["grant"] = names.setdefault(entry["grant"], f"g{len(names)}")
        entry |= {name: "a" * 32 for name in ("holder", "secret") if entry.get(name)}
        found.append(json.dumps(entry))
    return found


def _one_changed(lines: Sequence[str], draw: Random) -> list[Any]:
    """The entries, one of them damaged."""
    place = draw.randrange(len(lines))
    return [
        mutated_document(line, draw) if number == place else json.loads(line)
        for number, line in enumerate(lines)
    ]


def _signed_lines(entries: Sequence[Any]) -> bytes:
    """The entries as lines, each with the checksum that belongs to it."""
    from understudy.privacy.spending.stores.chain import checksum

    text, check = "", ""
    for entry in entries:
        if isinstance(entry, dict):
            entry.pop("check", None)
            check = checksum(check, entry)
            entry["check"] = check
        text += json.dumps(entry) + "\n"
    return text.encode()


def _read_ledger(path: Path) -> None:
    """As `ledger show` does; and nothing but a missing line break may be added by reading."""
    from understudy.jobs.accounts import account_document
    from understudy.privacy.spending.ledger import Ledger

    before = path.read_bytes()
    try:
        for account in Ledger(path).accounts().values():
            json.dumps(account_document(account))
            str(account.spent), str(account.remaining)
    finally:
        if path.read_bytes() not in (before, before + b"\n"):
            raise AssertionError("reading changed the ledger")


def sqlite_ledger() -> Reader:
    """Ledgers in SQLite: damaged as they are, and in one entry with right checksums."""
    lines = _ledger_lines()
    whole = _sqlite_ledger([json.loads(line) for line in lines])

    def make(draw: Random) -> Files:
        if draw.random() < 0.5:
            return {"ledger.sqlite": mutated(whole, [whole], draw)}
        return {"ledger.sqlite": _sqlite_ledger(_one_changed(lines, draw))}

    return Reader(make, "ledger.sqlite", _read_sqlite_ledger)


def _sqlite_ledger(entries: Sequence[Any]) -> bytes:
    """The entries as the rows of an SQLite file, each with the checksum that belongs to it."""
    import sqlite3

    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA page_size = 512")
    connection.execute(
        "CREATE TABLE understudy_ledger "
        '(number INTEGER PRIMARY KEY, body TEXT NOT NULL, "check" TEXT NOT NULL)'
    )
    for number, line in enumerate(_signed_lines(entries).decode().splitlines(), 1):
        entry = json.loads(line)
        check = str(entry.pop("check", "")) if isinstance(entry, dict) else ""
        row = [number, json.dumps(entry, sort_keys=True).replace("\\ud", "\\ue"), check]
        connection.execute("INSERT INTO understudy_ledger VALUES (?, ?, ?)", row)
    connection.commit()
    return connection.serialize()


def _read_sqlite_ledger(path: Path) -> None:
    """As `ledger show` and `doctor` do."""
    from understudy.jobs.accounts import account_document
    from understudy.privacy.spending.ledger import Ledger

    for account in Ledger(f"sqlite:///{path.absolute()}").accounts().values():
        json.dumps(account_document(account))
        str(account.spent), str(account.remaining)


def folders() -> Reader:
    """Parquet in folders that say values: a file damaged or gone, or a folder of another name."""
    import pyarrow.csv as pc

    rows = pc.read_csv(io.BytesIO(CSV.encode()))
    kept = {f"alive={word}/{word}.parquet": _parquet_bytes(rows) for word in ("true", "no")}
    kept = {name: _parquet_bytes(rows.drop_columns("alive")) for name in kept}

    def make(draw: Random) -> Files:
        files = dict(kept)
        name = draw.choice([*files])
        data = files.pop(name)
        if draw.random() < 0.7:
            files[name] = mutated(data, [*kept.values()], draw)
        elif draw.random() < 0.7:
            strange = mutated(name.encode(), [b"alive=", b"=", b"a=b/c=d/"], draw)
            files[_as_path(strange)] = data
        return {f"lake/{each}": held for each, held in files.items()}

    return Reader(make, "lake", _read_folder)


def _as_path(name: bytes) -> str:
    """A path inside of a folder that a system can make, whatever the bytes are."""
    text = name.decode(errors="replace").replace("\0", "_").replace("\n", "_")
    parts = [part[:60] for part in text.split("/") if part not in ("", ".", "..")]
    return "/".join(["alive=x", *parts[-2:]]) if parts else "alive=x/x.parquet"


def _parquet_bytes(rows: Any) -> bytes:
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(rows, sink)
    return sink.getvalue()


def _read_folder(path: Path) -> None:
    """As `synth` does before it spends: every cell is read and encoded."""
    from understudy.rows.sources import Access, open_source

    with open_source(path, _schema(), Access(ignore_extra=True, memory=1 << 30)):
        pass


def delta() -> Reader:
    """Delta tables: their log damaged as text and as a document, or a file of rows damaged."""
    members = _delta_members()
    logs = [name for name in members if name.endswith(".json")]

    def make(draw: Random) -> Files:
        files = dict(members)
        name = draw.choice([*logs, *logs, *files])
        if name in logs and draw.random() < 0.6:
            files[name] = _log_changed(files[name], draw)
        else:
            files[name] = mutated(files[name], [*members.values()], draw)
        return {f"lake/{each}": held for each, held in files.items()}

    return Reader(make, "lake", _read_delta)


def _delta_members() -> Files:
    """The files of a small Delta table, without what differs from run to run."""
    import pyarrow.csv as pc

    rows = _parquet_bytes(pc.read_csv(io.BytesIO(CSV.encode())))
    kinds = {"no": "long", "age": "long", "pay": "double", "born": "date", "seen": "timestamp"}
    fields = [
        {"name": name, "type": kinds.get(name, "string"), "nullable": True, "metadata": {}}
        for name in CSV.splitlines()[0].split(",")
    ]
    schema = json.dumps({"type": "struct", "fields": fields})
    about = {"id": "0" * 8, "format": {"provider": "parquet", "options": {}}}
    about |= {"schemaString": schema, "partitionColumns": [], "configuration": {}}
    file = {"path": "a.parquet", "partitionValues": {}, "size": len(rows), "dataChange": True}
    log = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": about | {"createdTime": 0}},
        {"add": file | {"modificationTime": 0}},
    ]
    lines = "".join(f"{json.dumps(line)}\n" for line in log)
    return {"a.parquet": rows, f"_delta_log/{0:020}.json": lines.encode()}


def _log_changed(log: bytes, draw: Random) -> bytes:
    """The lines of a log, one of them another document."""
    return b"\n".join(_json(line) for line in _one_changed(log.decode().splitlines(), draw))


def _read_delta(path: Path) -> None:
    from understudy.rows.sources import Access, open_source

    with open_source(f"delta://{path.absolute()}", _schema(), Access(ignore_extra=True)):
        pass


def stream_state() -> Reader:
    """States of streams: damaged as they are, and in the header with a right check."""
    from understudy.stream import Design, Hashed, Range, Sketch
    from understudy.stream.header import document_of

    key = 64 * "0"
    designs = [
        Design.of(Range(500, 1, key=key), epsilon="0.25", answers=3, sample=100),
        Design.of(Hashed(700, key), epsilon=1, estimator="quantised", levels=5),
        Design.of(Sketch(3, key), epsilon=1),
    ]
    texts = [json.dumps(document_of(design) | {"given": 1, "epochs": 1}) for design in designs]
    wholes = [_with_header(json.loads(text)) for text in texts]

    def make(draw: Random) -> Files:
        if draw.random() < 0.3:
            return {"stream.state": mutated(draw.choice(wholes), wholes, draw)}
        return {"stream.state": _with_header(mutated_document(draw.choice(texts), draw))}

    return Reader(make, "stream.state", _read_state)


def _with_header(document: Any) -> bytes:
    """A state of empty entries behind a header, signed if it still is one."""
    from understudy.stream.header import check_of

    if isinstance(document, dict):
        document = document | {"check": check_of(document)}
    return _json(document)[:512].ljust(512) + bytes(512 + 4096)


def _read_state(path: Path) -> None:
    """As `stream density` does: resumed, a user taken in, answered and left."""
    from understudy.stream import DensityEstimator

    with DensityEstimator.resume(path, ledger=None) as visits:
        visits.update([1])
        visits.answer().document()


def statement() -> Reader:
    """Statements beside synthetic rows, as `verify` and `evaluate` read them."""
    from understudy.methods import Independent
    from understudy.privacy.statements.binding import FILE, bound, digest

    rows: dict[str, list[Any]] = {name: [] for name in _schema().learned}
    methods = [Independent(_schema(), epsilon=1, delta=delta) for delta in (0, "1e-6")]
    stated = [method.fit(rows, ledger=None).model_.statement for method in methods]
    found = digest(CSV.encode())
    texts = [
        json.dumps({"rows": 3, "statement": bound(s.document(), kind=FILE, found=found)})
        for s in stated
    ]
    name = "o.csv.privacy.json"

    def make(draw: Random) -> Files:
        return {"o.csv": CSV.encode(), **_either(name, [t.encode() for t in texts], texts, draw)}

    return Reader(make, name, _read_statement)


def _read_statement(path: Path) -> None:
    from understudy.evaluation.report.subject import Subject
    from understudy.jobs.verification import claim_of
    from understudy.privacy.statements.verification import verified

    verified(claim_of(path))
    Subject.of(path, path.with_name("o.csv"))


READERS: dict[str, Callable[[], Reader]] = {
    "schema-toml": schema_toml,
    "schema-json": schema_json,
    "sdv": sdv,
    "csvw": csvw,
    "domain": domain,
    "frictionless": frictionless,
    "redcap": redcap,
    "ddi": ddi,
    "structure": structure,
    "structure-bif": structure_bif,
    "structure-csv": structure_csv,
    "workload": workload,
    "csv": csv,
    "parquet": parquet,
    "csv-gz": csv_gz,
    "csv-zst": csv_zst,
    "csv-zip": csv_zip,
    "jsonl": jsonl,
    "feather": feather,
    "sqlite": sqlite,
    "xlsx": excel,
    "sav": partial(statistics, "sav"),
    "dta": partial(statistics, "dta"),
    "sas": sas,
    "model": model,
    "model-folder": model_folder,
    "model-log-linear": log_linear,
    "refits-network": partial(refits, "nist"),
    "refits-log-linear": partial(refits, "adaptive"),
    "folders": folders,
    "delta": delta,
    "ledger": ledger,
    "ledger-sqlite": sqlite_ledger,
    "statement": statement,
    "stream-state": stream_state,
}


def _endless(path: Path) -> None:
    while path.exists():
        pass


def _greedy(path: Path) -> None:
    _ = [path.read_bytes() * 10_000_000 for _ in range(1000)]


def _dying(path: Path) -> None:
    os.kill(os.getpid(), signal.SIGSEGV if path.read_bytes() == b"5" else 0)


class _Grumbler:
    def __del__(self) -> None:
        raise OSError


def _grumbling(path: Path) -> None:
    _Grumbler()


def _failing(path: Path) -> None:
    raise KeyError(path)


def _planted(read: Callable[[Path], object]) -> Reader:
    """A reader that fails at input 5, to see that failures are found."""

    def at_five(path: Path) -> None:
        if path.read_bytes() == b"5":
            read(path)

    counter = iter(range(1 << 30))
    return Reader(lambda draw: {"x": str(next(counter) % 7).encode()}, "x", at_five)


PLANTED: dict[str, Callable[[], Reader]] = {
    "planted-hang": lambda: _planted(_endless),
    "planted-memory": lambda: _planted(_greedy),
    "planted-death": lambda: _planted(_dying),
    "planted-traceback": lambda: _planted(_grumbling),
    "planted-error": lambda: _planted(_failing),
}


def sample_number(reader: Reader, name: str, seed: int, number: int) -> Files:
    """The files of one input: always the same for the same numbers."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return reader.make(Random(f"{name}:{seed}:{number}"))
    finally:
        sys.set_int_max_str_digits(limit)
