"""Small files that ask for far more memory than they announce, and a child that reads them.

Every file has right checksums: whoever makes a model can make these too.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy.facts.schema import Schema
from understudy.methods import Random
from understudy.models.model import Model
from understudy.privacy.accounting.events import Charge, ExactEvent
from understudy.system.files.arrow import (
    _BATCH_BUFFERS,
    _FOOTER_BATCHES,
    _FOOTER_SCHEMA,
    _MESSAGE_HEADER,
    _SCHEMA_FIELDS,
    _BufferTable,
    _footer,
    _root,
)

# What a refusal may take: files, parsers and messages, but nothing that a lie asked for.
ALLOWED = 48 << 20
# What each of the files would take if it were believed, at the least.
WISHED = 96 << 20

_NUMBERS = WISHED // 8
_LISTED = pa.large_list(pa.float64())

Members = dict[str, bytes]


_SMALL = {"columns": {"a": {"kind": "boolean"}, "b": {"kind": "boolean"}}}


def plain_members(schema: Schema | None = None) -> Members:
    """The members of a small sound model, its manifest without checksums."""
    schema = schema or Schema.parse(_SMALL)
    rows: dict[str, list[Any]] = {name: [] for name in schema.learned}
    model = Random(schema, epsilon=1, rows=5).fit(rows, ledger=None).model_
    manifest = {"format": "understudy-model", "version": 2, "rows": 5}
    return {**model.members(), "manifest.json": json.dumps(manifest).encode()}


def signed(members: Members, **manifest: Any) -> Members:
    """The members with a manifest that holds their checksums."""
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    document = json.loads(members["manifest.json"]) | manifest | {"members": sums}
    return {**members, "manifest.json": json.dumps(document).encode()}


def zipped(members: Members) -> bytes:
    """An archive of these members, packed."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return sink.getvalue()


def arrow(table: pa.Table, compression: str | None = None, rows: int | None = None) -> bytes:
    """A table as an Arrow file."""
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return sink.getvalue()


def conditionals(probabilities: pa.Array, **columns: pa.Array) -> pa.Table:
    """A table of conditionals in which the first attribute has these probabilities."""
    return pa.table(
        {
            "attribute": ["a", "b"],
            "shape": pa.array([[len(probabilities)], [2]], pa.list_(pa.int64())),
            "probabilities": pa.LargeListArray.from_arrays(
                pa.array([0, len(probabilities), len(probabilities) + 2], pa.int64()),
                pa.concat_arrays([probabilities, pa.array([0.5, 0.5])]),
            ),
            "within": pa.array([None, None], _LISTED),
            **columns,
        }
    )


def _zeros(count: int) -> pa.Array:
    return pa.Array.from_buffers(pa.float64(), count, [None, pa.py_buffer(bytes(8 * count))])


def compressed(codec: str) -> Members:
    """Conditionals of very many zeros, compressed by Arrow: a member of some kilobytes."""
    data = arrow(conditionals(_zeros(_NUMBERS)), codec)
    return signed(plain_members() | {"conditionals.arrow": data})


def compressed_records() -> Members:
    """Released rows, compressed by Arrow."""
    rows = WISHED // 2
    codes = pa.Array.from_buffers(pa.uint8(), rows, [None, pa.py_buffer(bytes(rows))])
    members = plain_members() | {"records.arrow": arrow(pa.table({"a": codes, "b": codes}), "zstd")}
    network = {"network.json": b'{"families": []}'}
    empty = {"conditionals.arrow": arrow(conditionals(_zeros(0)).slice(0, 0))}
    return signed(members | network | empty, rows=5)


def _with_generator(data: bytes) -> Members:
    network = {"network.json": b'{"families": []}'}
    empty = {"conditionals.arrow": arrow(conditionals(_zeros(0)).slice(0, 0))}
    return signed(plain_members() | network | empty | {"generator.arrow": data})


def _generator(count: int) -> pa.Table:
    return pa.table(
        {
            "name": ["w0"],
            "shape": pa.array([[1, count]], pa.list_(pa.int64())),
            "values": pa.LargeListArray.from_arrays(
                pa.array([0, count], pa.int64()), _zeros(count)
            ),
        }
    )


def compressed_generator() -> Members:
    """Weights of a generator, compressed by Arrow."""
    return _with_generator(arrow(_generator(_NUMBERS), "lz4"))


def hollow_generator() -> Members:
    """Weights of zeros, which the zip archive packs to nearly nothing."""
    return _with_generator(arrow(_generator(_NUMBERS - 2**17)))


def _with_tables(counts: pa.Array, codec: str | None = None) -> Members:
    """A model that keeps one table, of these counts."""
    listed = {"tables": [{"attributes": ["a"], "variance": 1.0}]}
    rows = pa.LargeListArray.from_arrays(pa.array([0, len(counts)], pa.int64()), counts)
    tables = {
        "tables.json": json.dumps(listed).encode(),
        "tables.arrow": arrow(pa.table({"counts": rows}), codec),
    }
    return signed(plain_members() | tables, version=3, kind="network")


def compressed_tables() -> Members:
    """Counts of very many zeros, compressed by Arrow."""
    return _with_tables(_zeros(_NUMBERS).view(pa.int64()), "zstd")


def many_counts() -> Members:
    """More counts than the list of tables announces, in a member that is just small enough."""
    return _with_tables(_zeros(2**16).view(pa.int64()))


def many_tables() -> Members:
    """A list of tables that is nothing but empty lists."""
    members = _with_tables(_zeros(2).view(pa.int64()))
    hollow = b"[" + b",".join([b"[]"] * 2_500_000) + b"]"
    return signed(members | {"tables.json": b'{"tables": ' + hollow + b"}"})


def weightless_rows() -> Members:
    """Rows of a type that takes no bytes, however many there are."""
    sink = io.BytesIO()
    columns = {"attribute": pa.nulls(2**24), "shape": pa.nulls(2**24)}
    columns |= {"probabilities": pa.nulls(2**24), "within": pa.nulls(2**24)}
    with pa.ipc.new_file(sink, pa.table(columns).schema) as writer:
        writer.write_table(pa.table(columns))
    return signed(plain_members() | {"conditionals.arrow": sink.getvalue()})


def repeated_texts() -> Members:
    """A long text that a dictionary has once and every row refers to."""
    names = pa.DictionaryArray.from_arrays(pa.array([0] * 2**10, pa.int32()), ["x" * 2**19])
    rows = len(names)
    table = pa.table(
        {
            "attribute": names,
            "shape": pa.array([[2]] * rows, pa.list_(pa.int64())),
            "probabilities": pa.array([[0.5, 0.5]] * rows, _LISTED),
            "within": pa.array([None] * rows, _LISTED),
        }
    )
    return signed(plain_members() | {"conditionals.arrow": arrow(table)})


def repeated_block() -> Members:
    """A footer that names one block of rows again and again."""
    count, rows = 500, 2**20
    codes = pa.Array.from_buffers(pa.uint8(), rows, [None, pa.py_buffer(bytes(rows))])
    few = pa.table({"a": codes.slice(0, count), "b": codes.slice(0, count)})
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, few.schema) as writer:
        writer.write_table(pa.table({"a": codes, "b": codes}))
        writer.write_table(few, max_chunksize=1)
    data = sink.getvalue()
    footer = _footer(data)
    start, length = footer.extent(_FOOTER_BATCHES)
    at = len(data) - 10 - len(footer.data) + start
    blocks = data[at : at + 24] * length
    lying = data[:at] + blocks + data[at + len(blocks) :]
    network = {"network.json": b'{"families": []}'}
    empty = {"conditionals.arrow": arrow(conditionals(_zeros(0)).slice(0, 0))}
    return signed(plain_members() | network | empty | {"records.arrow": lying}, rows=2**21)


def repeated_name() -> Members:
    """A footer whose fields all have one long name, which is written once."""
    many = pa.table(
        {"x" * 2**18: pa.array([], pa.uint8())}
        | {f"c{i}": pa.array([], pa.uint8()) for i in range(2**10)}
    )
    data = arrow(many)
    footer = _footer(data)
    schema = footer.table(_FOOTER_SCHEMA)
    assert schema is not None
    start, length = schema.extent(_SCHEMA_FIELDS)
    target = max(schema.tables(_SCHEMA_FIELDS), key=_name_length).place
    before = len(data) - 10 - len(footer.data)
    offsets = struct.pack(f"<{length}I", *(target - (start + 4 * i) for i in range(length)))
    lying = data[: before + start] + offsets + data[before + start + 4 * length :]
    return signed(plain_members() | {"conditionals.arrow": lying})


def _name_length(field: _BufferTable) -> int:
    return field.extent(0)[1]


def shared_buffers() -> Members:
    """Columns whose buffers are all the same bytes."""
    data = arrow(conditionals(_zeros(2)))
    footer = _footer(data)
    [(offset, length, body)] = footer.structs(_FOOTER_BATCHES, struct.Struct("<qi4xq"))
    message = data[offset : offset + length]
    batch = _root(message[8:]).table(_MESSAGE_HEADER)
    assert batch is not None
    start, count = batch.extent(_BATCH_BUFFERS)
    buffers = struct.pack("<qq", 0, body) * count
    lying = message[: 8 + start] + buffers + message[8 + start + len(buffers) :]
    return signed(plain_members() | {"conditionals.arrow": data.replace(message, lying)})


def lying_shape() -> Members:
    """A table that says to be of another shape than schema and network announce."""
    shape = pa.array([[2**20, 2**20], [2]], pa.list_(pa.int64()))
    data = arrow(conditionals(pa.array([0.5, 0.5]), shape=shape))
    return signed(plain_members() | {"conditionals.arrow": data})


def many_numbers() -> Members:
    """More numbers than schema and network announce, in a member that is just small enough."""
    data = arrow(conditionals(_zeros(2**16)))
    return signed(plain_members() | {"conditionals.arrow": data})


def empty_lists() -> Members:
    """A document of nothing but empty lists: three bytes each, and far more in memory."""
    families = b"[" + b",".join([b"[]"] * 2_500_000) + b"]"
    return signed(plain_members() | {"network.json": b'{"families": ' + families + b"}"})


def many_answers() -> Members:
    """A statement of few lines that stand for very many answers each."""
    members = plain_members()
    statement = json.loads(members["statement.json"])
    event = Charge("x", ExactEvent()).document()
    statement["events"] = [event | {"times": 10**7}] * 3
    return signed(members | {"statement.json": json.dumps(statement).encode()})


def many_codes() -> Members:
    """A schema of many columns, each of as many bins as a column may have."""
    columns = {f"c{i}": {"kind": "float", "min": 0, "max": 1, "bins": 65_000} for i in range(200)}
    return signed(plain_members() | {"schema.json": json.dumps({"columns": columns}).encode()})


def understated(members: Members, name: str, size: int) -> bytes:
    """An archive one of whose members unpacks to far more than its entry says."""
    data = zipped(members | {name: bytes(WISHED)})
    lying = bytearray(data)
    # Of the local header the size stands 22 bytes after its mark, of the directory's 24.
    for mark, place, named in ((b"PK\x03\x04", 22, 30), (b"PK\x01\x02", 24, 46)):
        at = data.index(mark)
        while data[at + named : at + named + len(name)] != name.encode():
            at = data.index(mark, at + 1)
        lying[at + place : at + place + 4] = struct.pack("<I", size)
    return bytes(lying)


MODELS: dict[str, tuple[Callable[[], Members], str]] = {
    "zstd": (lambda: compressed("zstd"), "conditionals.arrow is compressed"),
    "lz4": (lambda: compressed("lz4"), "conditionals.arrow is compressed"),
    "records": (compressed_records, "records.arrow is compressed"),
    "generator": (compressed_generator, "generator.arrow is compressed"),
    "hollow": (hollow_generator, "is not a complete model"),
    "weightless": (weightless_rows, "conditionals.arrow has other columns"),
    "texts": (repeated_texts, "conditionals.arrow has dictionaries"),
    "block": (repeated_block, "records.arrow names some of its bytes more than once"),
    "name": (repeated_name, "conditionals.arrow names some of its bytes more than once"),
    "buffers": (shared_buffers, "conditionals.arrow names some of its bytes more than once"),
    "shape": (lying_shape, "the table of 'a' has shape (1048576, 1048576)"),
    "numbers": (many_numbers, "the table of 'a' has shape (65536,)"),
    "lists": (empty_lists, "is not a complete model"),
    "answers": (many_answers, "its parts do not fit"),
    "codes": (many_codes, "codes in all"),
    "tables": (compressed_tables, "tables.arrow is compressed"),
    "counts": (many_counts, "tables.arrow holds 65,536 numbers"),
    "listed": (many_tables, "is not a complete model"),
}


def read_apart(reader: str, paths: list[Path], limit: int = 8 * WISHED) -> dict[str, Any]:
    """What a child process says of each file, and how many bytes each took at the most."""
    tests = str(Path(__file__).parent.parent)
    found = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "support.hostile", reader, str(limit), *map(str, paths)]
    environment = os.environ | {"PYTHONPATH": found, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def _memory(mark: str) -> int:
    """A line of what the system says about the memory of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    [line] = [line for line in lines if line.startswith(f"{mark}:")]
    return int(line.split()[1]) * 1024


def _taken(read: Callable[[Path], object], path: Path) -> tuple[str, int]:
    """The refusal of a file, if any, and the bytes that this took at the most."""
    from understudy.errors import UnderstudyError

    # The peak begins anew from what is held now.
    Path("/proc/self/clear_refs").write_text("5")
    before = _memory("VmRSS")
    said = ""
    try:
        read(path)
    except UnderstudyError as error:
        said = str(error)
    except MemoryError:
        said = "memory ran out"
    return said, _memory("VmHWM") - before


def _read_model(path: Path) -> object:
    return Model.load(path)


def _verify_model(path: Path) -> object:
    from understudy.jobs.verification import claim_of
    from understudy.privacy.statements.verification import verified

    return verified(claim_of(path))


def _read_arrays(path: Path) -> object:
    """A file of images, or else a model of images."""
    from understudy.gan.convolutions import Shape
    from understudy.gan.images import read_images

    of_images = path.name.startswith("images")
    return read_images(path, Shape(28, 28, 10)) if of_images else Model.load(path)


def _main() -> None:
    from fuzz.running import limit_memory

    reader, limit, *paths = sys.argv[1:]
    read = {"model": _read_model, "verify": _verify_model, "arrays": _read_arrays}[reader]
    # The first one is sound: reading it imports and compiles.
    read(Path(paths[0]))
    limit_memory(int(limit))
    print(json.dumps({Path(path).name: _taken(read, Path(path)) for path in paths}))  # noqa: T201


if __name__ == "__main__":
    _main()
