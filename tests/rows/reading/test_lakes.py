"""Rows of object stores and lakes are counted as those of files are."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as datasets
import pyarrow.fs
import pyarrow.parquet as pq
import pytest

from support.commands import SCHEMA as PEOPLE
from support.counted import ROWS, SCHEMA, check_equal
from support.documents import server_command
from support.promised import need
from support.servers import object_store
from understudy.cli.main import run
from understudy.errors import DataError, UnderstudyError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.methods import Independent
from understudy.privacy.spending.ledger import Ledger
from understudy.rows import sources
from understudy.rows.counting import reading_of
from understudy.rows.engines.chunked import ChunkedSource
from understudy.rows.reading import lakes
from understudy.rows.reading.lake_stores import LakeStore
from understudy.rows.reading.lakes import (
    filesystem_of,
    is_lake,
    lake_name,
    open_lake,
    shown_address,
)
from understudy.rows.sources import Access, dataset_name, open_keyed, open_source

DELTA = "Delta: all answers are from one version of the table"
REGIONS = ["North", "S/E=x", None, "North"]
HIVE = Schema.parse(
    {
        "columns": {
            "region": {"kind": "categorical", "values": ["North", "S/E=x"]},
            "year": {"kind": "integer", "min": 2000, "max": 2030},
            "age": {"kind": "integer", "min": 0, "max": 99},
        }
    }
)
TABLE = pa.table({"region": REGIONS, "year": [2020, 2021, 2021, 2020], "age": [1, 2, 3, 4]})


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """A store on this machine, and credentials that it takes."""
    before = dict(os.environ)
    os.environ |= {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "s3cr3t"}
    with object_store() as options:
        yield options
    os.environ.clear()
    os.environ |= before


def _write(options: str, name: str, rows: pa.Table) -> str:
    address = f"s3://lake/{name}?{options}"
    system, path = pyarrow.fs.FileSystem.from_uri(address)
    pq.write_table(rows, path, filesystem=system)
    return address


@pytest.mark.slow
def test_a_store_is_counted_as_memory_is(store: str) -> None:
    """One object, and a folder of several."""
    with open_source(_write(store, "one.parquet", ROWS), SCHEMA) as source:
        check_equal(source, SCHEMA, ROWS)
    for part in range(3):
        _write(store, f"folder/part-{part}.parquet", ROWS.slice(part * 2, 2 if part < 2 else None))
    with open_source(f"s3://lake/folder?{store}", SCHEMA) as source:
        check_equal(source, SCHEMA, ROWS)


@pytest.mark.slow
def test_a_store_larger_than_memory_is_read_in_blocks(store: str) -> None:
    """And refused if its objects are replaced in between."""
    many = pa.concat_tables([ROWS] * 500)
    address = _write(store, "many.parquet", many)
    with open_source(address, SCHEMA, Access(memory=40_000)) as source:
        assert isinstance(source, ChunkedSource)
        check_equal(source, SCHEMA, many)
    lake = open_lake(address)
    _write(store, "many.parquet", ROWS.slice(0, 1))
    with pytest.raises(DataError, match="changed while they were read"):
        next(lake.blocks(Codec(SCHEMA)))


@pytest.mark.slow
def test_a_command_takes_an_address(store: str, tmp_path: Path) -> None:
    """The ledger knows the rows by the object's name, and nothing shows the options."""
    people = pa.table({"name": ["Ann", "Bob"] * 50, "age": [7] * 100})
    address, schema = _write(store, "people.parquet", people), tmp_path / "people.toml"
    schema.write_text(PEOPLE)
    ledger, output = tmp_path / "ledger.jsonl", tmp_path / "out.csv"
    wanted = ["-s", str(schema), "-e", "1", "-o", str(output), "--ledger", str(ledger)]
    assert 0 == run(["synth", address, *wanted])
    assert ["people"] == [*Ledger(ledger).accounts()]
    assert "endpoint_override" not in ledger.read_text()
    assert "endpoint_override" not in Path(f"{output}.privacy.json").read_text()


@pytest.mark.slow
def test_a_store_that_refuses_is_said_without_secrets(store: str) -> None:
    """An object that is not there, and one that is not Parquet."""
    for name in ("nope.parquet", "nope"):
        address = f"s3://key:s3cr3t@lake/{name}?{store}"
        with pytest.raises(DataError, match=r"s3://lake/nope.*: (cannot|holds)") as refused:
            open_lake(address)
        assert "s3cr3t" not in str(refused.value)


@pytest.mark.slow
def test_folders_of_a_store_say_values(store: str) -> None:
    """As those on a disk do, in memory and in blocks."""
    for year in (2020, 2021):
        part = TABLE.filter(pc.equal(TABLE["year"], year)).drop_columns(["year"])
        _write(store, f"visits/year={year}/part-0.parquet", part)
    for memory in (None, 9):
        with open_source(f"s3://lake/visits?{store}", HIVE, Access(memory=memory)) as source:
            check_equal(source, HIVE, TABLE)


class _Forbidding(BaseHTTPRequestHandler):
    """A store that answers everybody as S3 does a stranger."""

    def do_GET(self) -> None:
        body = b"<Error><Code>AccessDenied</Code><Message>s3cr3t of Ann</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 (http.server calls it by this name)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.slow
def test_a_store_that_forbids_is_refused_before_anything_is_spent(
    store: str, tmp_path: Path
) -> None:
    """403 for an object and for a folder, in our words; the ledger stays empty."""
    del store
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Forbidding) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        options = f"endpoint_override=127.0.0.1:{server.server_port}&scheme=http&region=us-east-1"
        for name in ("people.parquet", "folder"):
            with pytest.raises(DataError, match="check the address, the credentials") as refused:
                Independent(SCHEMA, epsilon=1).fit(f"s3://lake/{name}?{options}", ledger=ledger)
            assert "s3cr3t" not in str(refused.value)
        server.shutdown()
    assert {} == ledger.accounts()


# --- folders that say values --------------------------------------------------------------------


@pytest.fixture
def hive(tmp_path: Path) -> Path:
    """A folder of folders, as Spark and Hive write them."""
    layout = datasets.partitioning(
        pa.schema([("region", pa.string()), ("year", pa.int64())]), flavor="hive"
    )
    datasets.write_dataset(TABLE, tmp_path / "visits", format="parquet", partitioning=layout)
    (tmp_path / "visits" / "_SUCCESS").touch()
    return tmp_path / "visits"


def test_folders_that_say_values_are_one_table(hive: Path) -> None:
    """Also where a value has a slash, or is missing."""
    assert is_lake(hive)
    with open_source(hive, HIVE) as source:
        check_equal(source, HIVE, TABLE)
    with open_source(str(hive), HIVE, Access(memory=9)) as source:
        assert isinstance(source, ChunkedSource)
        check_equal(source, HIVE, TABLE)
    assert "visits" == dataset_name(hive)


def test_a_skeleton_of_such_folders(hive: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Columns of files and of folders, without a value."""
    assert 0 == run(["schema", "init", str(hive)])
    shown = capfd.readouterr().out
    assert "[columns.region]" in shown
    assert "[columns.age]" in shown
    assert "North" not in shown


def test_strange_files_among_folders_are_refused(hive: Path) -> None:
    """Their rows would be missing without a word."""
    (hive / "region=North" / "note.txt").write_text("x")
    with pytest.raises(DataError, match=r"'note.txt' is not a \.parquet file"):
        open_lake(hive)
    (hive / "region=North" / "note.txt").unlink()
    pq.write_table(pa.table({"age": [1]}), hive / "above.parquet")
    with pytest.raises(DataError, match=r"is not in folders that say"):
        open_lake(hive)
    (hive / "above.parquet").unlink()
    pq.write_table(pa.table({"age": ["x"]}), hive / "region=North" / "year=2020" / "z.parquet")
    with pytest.raises(DataError, match="'age' is string here and another type"):
        open_lake(hive)


def test_a_missing_column_is_refused_before_rows_are_read(hive: Path) -> None:
    """By its name; nothing is spent."""
    with pytest.raises(UnderstudyError, match="column"), open_source(hive, SCHEMA):
        pass


# --- lakes --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_delta_table_is_read_at_one_version(tmp_path: Path) -> None:
    """Rows that are appended after it was opened are not seen."""
    need("deltalake")
    import deltalake

    place = tmp_path / "visits"
    deltalake.write_deltalake(str(place), TABLE, partition_by=["year"])
    address = f"delta://{place}"
    with open_source(address, HIVE, Access(memory=9)) as source:
        deltalake.write_deltalake(str(place), TABLE, mode="append")
        check_equal(source, HIVE, TABLE)
        assert DELTA == reading_of(source)
    with open_source(address, HIVE) as source:
        check_equal(source, HIVE, pa.concat_tables([TABLE, TABLE]))
        assert DELTA == reading_of(source)
    assert "visits" == dataset_name(address)


@pytest.mark.slow
def test_a_statement_does_not_say_which_version_it_was(tmp_path: Path) -> None:
    """Where each row is a write of its own, the version is the number of rows."""
    need("deltalake")
    import deltalake

    statements = []
    for name, writes in (("few", 2), ("many", 5)):
        for _ in range(writes):
            deltalake.write_deltalake(str(tmp_path / name), TABLE.slice(0, 1), mode="append")
        made = Independent(HIVE, epsilon=1).fit(f"delta://{tmp_path / name}", ledger=None)
        statements.append(made.model_.statement.document())
    assert [DELTA, DELTA] == [statement["reading"] for statement in statements]


@pytest.mark.slow
def test_texts_are_of_the_version_that_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table is opened once, however often its rows are read."""
    need("deltalake")
    import deltalake

    place, opened = tmp_path / "visits", []
    deltalake.write_deltalake(str(place), TABLE)

    def opening(data: str) -> lakes.LakeTable:
        opened.append(open_lake(data))
        deltalake.write_deltalake(str(place), TABLE, mode="append")
        return opened[-1]

    monkeypatch.setattr(sources, "open_lake", opening)
    with open_keyed(f"delta://{place}", HIVE, ["region"]) as keyed:
        counts = keyed.keys("region").counts
    assert 1 == len(opened)
    assert {"North": 2, "S/E=x": 1} == dict(counts)


@pytest.mark.slow
def test_an_iceberg_table_is_read_at_one_version(tmp_path: Path) -> None:
    """The version of the metadata file that was named."""
    need("pyiceberg")
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("lake", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("clinic")
    table: Any = catalog.create_table("clinic.visits", TABLE.schema)
    table.append(TABLE)
    address = f"iceberg://{table.metadata_location.removeprefix('file://')}"
    table.append(TABLE)
    for memory in (None, 9):
        with open_source(address, HIVE, Access(memory=memory)) as source:
            check_equal(source, HIVE, TABLE)
            assert DELTA.replace("Delta", "Iceberg") == reading_of(source)
    assert "visits" == dataset_name(address)
    with pytest.raises(UsageError, match="newest metadata file"):
        open_lake(f"iceberg://{tmp_path}")


def _delta(folder: str, options: str = "") -> str:
    """Write a Delta table into a folder of a store; its address there, without options."""
    import deltalake

    settings = LakeStore.of(f"s3://lake?{options}", shown="").delta_options
    settings |= {"AWS_S3_ALLOW_UNSAFE_RENAME": "true"}
    deltalake.write_deltalake(f"{folder}/patients", TABLE, storage_options=settings)
    return f"delta+{folder}/patients"


def _iceberg(folder: str, options: str = "") -> str:
    """Write an Iceberg table into a folder of a store; its address there, without options."""
    from pyiceberg.catalog.memory import InMemoryCatalog

    settings = LakeStore.of(f"s3://lake?{options}", shown="").iceberg_options
    catalog = InMemoryCatalog("lake", warehouse=folder, **settings)
    catalog.create_namespace("clinic")
    table: Any = catalog.create_table("clinic.patients", TABLE.schema)
    table.append(TABLE)
    return f"iceberg+{table.metadata_location}"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "write"), [("Delta", _delta), ("Iceberg", _iceberg)])
def test_a_table_of_a_lake_in_a_store_is_counted(
    kind: str,
    write: Callable[[str, str], str],
    store: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With the server in the address, or in the environment; nothing else is said of it."""
    need("deltalake")
    need("pyiceberg")
    address = write(f"s3://lake/{kind}", store)
    for memory in (None, 9):
        with open_source(f"{address}?{store}", HIVE, Access(memory=memory)) as source:
            check_equal(source, HIVE, TABLE)
            assert f"{kind}: all answers are from one version of the table" == reading_of(source)
    endpoint = LakeStore.of(f"s3://lake?{store}", shown="").endpoint
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    with open_source(address, HIVE) as source:
        check_equal(source, HIVE, TABLE)
    assert [] == caplog.messages


@pytest.mark.slow
def test_a_table_that_is_not_in_the_store_is_refused(store: str) -> None:
    """In our words."""
    need("deltalake")
    need("pyiceberg")
    for address in ("delta+s3://lake/none", "iceberg+s3://lake/none/v1.metadata.json"):
        with pytest.raises(DataError, match=r"lake/none.*: cannot be read"):
            open_lake(f"{address}?{store}")


@pytest.mark.slow
@pytest.mark.parametrize("start", ["s3://", "delta://", "delta+s3://", "iceberg://"])
def test_the_guide_has_the_command(
    start: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`understudy synth s3://…` as the page shows it, and its like; paid for as the patients."""
    need("deltalake")
    need("pyiceberg")
    write: dict[str, Callable[[], str]] = {
        "s3://": lambda: _write(store, "guide/patients.parquet", TABLE),
        "delta://": lambda: _delta(f"file://{tmp_path}").replace("delta+file:", "delta:"),
        "delta+s3://": lambda: f"{_delta('s3://lake/guide', store)}?{store}",
        "iceberg://": lambda: _iceberg(f"file://{tmp_path}").replace("iceberg+file:", "iceberg:"),
    }
    address = write[start]()
    assert address.startswith(start)
    monkeypatch.chdir(tmp_path)
    assert 0 == run(_guided(start, address, tmp_path))
    assert ["patients"] == list(Ledger(tmp_path / "ledger").accounts())


def _guided(start: str, address: str, folder: Path) -> list[str]:
    """The guide's command for an address, beside a schema and a ledger of this folder."""
    (folder / "patients.json").write_text(json.dumps(HIVE.document()))
    command = server_command(start, address)
    return [*(each.replace(".toml", ".json") for each in command), "--ledger", "ledger"]


# --- addresses ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("s3://bucket/a/patients.parquet?region=x", "patients.parquet"),
        ("abfs://box@account/patients/", "patients"),
        ("gs://bucket", "bucket"),
        ("iceberg+s3://b/patients/metadata/1.metadata.json", "patients"),
    ],
)
def test_the_ledger_knows_a_name(address: str, name: str) -> None:
    """The last part of the path, whatever the options are."""
    assert is_lake(address)
    assert name == lake_name(address)


def test_an_address_is_shown_without_secrets() -> None:
    """Neither user nor options."""
    assert "s3://bucket/x" == shown_address("s3://key:secret@bucket/x?session_token=y#z")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["gs", "abfs"])
def test_other_stores_are_reached_by_fsspec(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where Arrow was built without them, by the guide's command.

    A store in memory takes their place here.
    """
    fsspec = need("fsspec")
    from fsspec.implementations.memory import MemoryFileSystem

    class Other(MemoryFileSystem):  # type: ignore[misc]
        protocol = scheme

    def refuses(uri: str) -> Any:
        raise pa.ArrowNotImplementedError("built without it")

    fsspec.register_implementation(scheme, Other, clobber=True)
    monkeypatch.setattr(lakes, "_arrows_own", refuses)
    system, path = filesystem_of(f"{scheme}://box/patients/rows.parquet")
    with system.open_output_stream(path) as file:
        pq.write_table(TABLE, file)
    with open_source(f"{scheme}://box/patients", HIVE) as source:
        check_equal(source, HIVE, TABLE)
    monkeypatch.chdir(tmp_path)
    assert 0 == run(_guided(f"{scheme}://", f"{scheme}://box/patients", tmp_path))
    assert ["patients"] == list(Ledger(tmp_path / "ledger").accounts())


def test_a_fit_is_paid_for_as_any_other(hive: Path) -> None:
    """The statement names the method, and the ledger the folder."""
    statement = Independent(HIVE, epsilon=1).fit(hive, ledger=None).model_.statement
    assert 1 == statement.bound.epsilon
    assert "Parquet: files are listed once, and a run that finds others there fails" == (
        statement.reading
    )


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("s3://AKIA:topsecret@bucket", "s3://bucket"),
        ("s3://AKIA:top/secret@bucket/rows", "s3://bucket/rows"),
        ("s3://AKIA:top#secret@bucket/rows", "s3://bucket/rows"),
        ("s3://bucket/rows?key=topsecret", "s3://bucket/rows"),
        ("hdfs://host:9000/a@b/rows", "hdfs://host:9000/a@b/rows"),
    ],
)
def test_keys_of_a_store_are_never_shown(address: str, shown: str) -> None:
    """Neither where the address is, nor in the name by which a ledger knows the rows."""
    assert shown == shown_address(address)
    assert "secret" not in lake_name(address)
