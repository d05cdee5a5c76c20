"""Files from elsewhere make no memory that their sizes do not announce; each is refused by name."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.hostile import (
    ALLOWED,
    MODELS,
    arrow,
    compressed,
    plain_members,
    read_apart,
    signed,
    understated,
    zipped,
)
from support.networks import records_of
from understudy.errors import ModelError, SchemaError
from understudy.facts.schema import Schema
from understudy.models.model import Model
from understudy.models.sampling import sample_rows
from understudy.rows.engines.chunked import ChunkedSource
from understudy.rows.sources import Access, open_source

UNDERSTATED = ("manifest.json", "conditionals.arrow")
OLD = Path(__file__).parent / "data" / "model-0.1.0.zip"


@pytest.fixture(scope="module")
def read_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process said of all hostile models, one after the other, after a sound one."""
    folder = tmp_path_factory.mktemp("models")
    sound = signed(plain_members())
    files = {"sound": zipped(sound)} | {name: zipped(make()) for name, (make, _) in MODELS.items()}
    files |= {f"understated {name}": understated(sound, name, 99) for name in UNDERSTATED}
    for name, data in files.items():
        (folder / f"{name}.zip").write_bytes(data)
    return read_apart("model", [folder / f"{name}.zip" for name in files])


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_model_makes_no_memory_that_is_not_announced(
    read_models: dict[str, Any], name: str
) -> None:
    """Its checksums are right, it is refused by name, and the refusal takes little memory."""
    said, taken = read_models[f"{name}.zip"]
    assert MODELS[name][1] in said
    assert f"{name}.zip" in said
    assert taken < ALLOWED


@pytest.mark.slow
@pytest.mark.parametrize("name", UNDERSTATED)
def test_a_member_is_unpacked_to_its_announced_size(read_models: dict[str, Any], name: str) -> None:
    """An entry that says 99 bytes and unpacks to 96 MiB is refused, and never unpacked."""
    said, taken = read_models[f"understated {name}.zip"]
    assert "is not a complete model" in said
    assert taken < ALLOWED


@pytest.fixture(scope="module")
def verified_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `verify` said of hostile models, in a process of its own, after a sound one."""
    folder, sound = tmp_path_factory.mktemp("verified"), signed(plain_members())
    hollow = b"[" + b",".join([b"{}"] * 2_500_000) + b"]"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in sound.items():
            of_tables = name == "conditionals.arrow"
            packing = zipfile.ZIP_LZMA if of_tables else zipfile.ZIP_STORED
            archive.writestr(name, data, packing)
    files = {
        "sound": zipped(sound),
        "objects": zipped(sound | {"statement.json": b'{"events": ' + hollow + b"}"}),
        "long": zipped(sound | {"network.json": bytes(2**26 + 1)}),
        "lzma": packed.getvalue(),
    }
    for name, data in files.items():
        (folder / f"{name}.zip").write_bytes(data)
    return read_apart("verify", [folder / f"{name}.zip" for name in files])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["objects", "long", "lzma"])
def test_a_verifier_makes_no_memory_that_is_not_announced(
    verified_models: dict[str, Any], name: str
) -> None:
    """It reads what `load` would, by the same rules, and refuses by name."""
    said, taken = verified_models[f"{name}.zip"]
    assert "is not a complete model" in said
    assert taken < ALLOWED
    assert "" == verified_models["sound.zip"][0]


@pytest.mark.slow
def test_a_sound_model_is_read_beside_them(read_models: dict[str, Any]) -> None:
    """The same process, under the same limit, reads what is sound."""
    assert "" == read_models["sound.zip"][0]


def test_the_known_bomb_is_small(tmp_path: Path) -> None:
    """Two kilobytes once took gigabytes: they are refused, and nothing is left beside them."""
    path = tmp_path / "m.zip"
    path.write_bytes(zipped(compressed("zstd")))
    assert path.stat().st_size < 5_000
    with pytest.raises(ModelError, match=r"conditionals\.arrow is compressed, and nothing announ"):
        Model.load(path)
    assert [path] == [*tmp_path.iterdir()]


def test_a_member_that_has_no_end_is_not_read(tmp_path: Path) -> None:
    """A folder may hold a link to a device; its size says nothing."""
    members = signed(plain_members())
    for name, data in members.items():
        (tmp_path / name).write_bytes(data)
    Model.load(tmp_path)
    (tmp_path / "schema.json").unlink()
    (tmp_path / "schema.json").symlink_to("/dev/zero")
    with pytest.raises(ModelError, match="is not a complete model"):
        Model.load(tmp_path)


def test_models_of_the_first_version_are_read() -> None:
    """A file that 0.1.0 wrote, with coarsened attributes, still gives rows."""
    model = Model.load(OLD)
    assert "nist" == model.statement.method
    assert any(family.copies for family in model.network)
    assert 7 == sample_rows(model, 7, seed=1).num_rows


def test_models_without_a_network_are_read(tmp_path: Path) -> None:
    """The first version wrote an empty table of another type beside rows that it released."""
    codes = pa.array([0, 1, 1, 0, 1], pa.uint8())
    empty = pa.table({"attribute": [], "shape": pa.array([], pa.list_(pa.int64()))})
    parts = {"conditionals.arrow": arrow(empty), "network.json": b'{"families": []}'}
    parts |= {"records.arrow": arrow(pa.table({"a": codes, "b": codes}))}
    (tmp_path / "m.zip").write_bytes(zipped(signed(plain_members() | parts)))
    records = records_of(Model.load(tmp_path / "m.zip"))
    assert [0, 1, 1, 0, 1] == records.codes["a"].tolist()


def test_what_a_parquet_file_unpacks_to_is_counted(tmp_path: Path) -> None:
    """Twenty megabytes in some kilobytes are read in blocks where memory holds fewer."""
    path = tmp_path / "rows.parquet"
    rows = pa.table({"a": ["x" * 1000] * 20_000})
    pq.write_table(rows, path, compression="zstd", use_dictionary=False)
    assert path.stat().st_size < 100_000
    schema = Schema.parse({"columns": {"a": {"kind": "categorical", "values": ["x" * 1000]}}})
    with open_source(path, schema, Access(memory=16 << 20)) as source:
        assert isinstance(source, ChunkedSource)
        assert [20_000] == source.count([("a",)])[0].counts.tolist()


def test_codes_of_all_columns_are_bounded() -> None:
    """A line of text asks for as many numbers as a column may have; many lines for too many."""
    columns = {f"c{i}": {"kind": "float", "min": 0, "max": 1, "bins": 60_000} for i in range(70)}
    with pytest.raises(SchemaError, match="declares 4,200,000 codes in all, more than 4,194,304"):
        Schema.parse({"columns": columns})
