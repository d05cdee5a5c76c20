"""The model file: whole, versioned, checked, and nothing in it is executable."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.asking import ask
from support.distributions import model_with
from support.tables import schemas
from support.tiers import examples, slow_but
from understudy.errors import CapacityError, ModelError, OutputError, UsageError
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import Independent, Random
from understudy.models.archive import VERSION
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import sample_rows

MEMBERS = (
    *("schema.json", "statement.json", "network.json", "conditionals.arrow"),
    *("tables.json", "tables.arrow"),
)
SCHEMA = Schema.parse(
    {
        "name": "small",
        "columns": {
            "no": {"kind": "id"},
            "a": {"kind": "boolean"},
            "b": {"kind": "categorical", "values": ["x", "y", "日本"], "missing": ["?"]},
            "c": {
                "kind": "date",
                "min": "2020-01-01",
                "max": "2020-12-31",
                "outside": "2020-06-01",
            },
        },
    }
)
ROWS = {"a": [True, False] * 20, "b": ["x", "y"] * 20, "c": ["2020-02-03"] * 40}


@pytest.fixture(scope="module")
def model() -> Model:
    """A model with an edge and a statement of several events."""
    fitted = Independent(SCHEMA, epsilon="0.7", delta="1e-6").fit(ROWS, ledger=None).model_
    first, second, third = fitted.conditionals
    both = np.stack([second.probabilities, second.probabilities[::-1]])
    edge = Conditional(Family("b", ("a",)), both)
    return replace(fitted, distribution=BayesNet(fitted.domain, (first, edge, third)))


def same(first: Model, second: Model) -> bool:
    """Whether two models are equal in everything."""
    return (
        (first.schema, first.rows, first.statement, first.network)
        == (second.schema, second.rows, second.statement, second.network)
        and len(first.conditionals) == len(second.conditionals)
        and all(
            np.array_equal(a.probabilities, b.probabilities)
            for a, b in zip(first.conditionals, second.conditionals, strict=True)
        )
    )


@pytest.mark.parametrize("name", ["model.zip", "model"])
def test_a_model_survives_being_written(tmp_path: Path, model: Model, name: str) -> None:
    """Zip or folder, written twice: what is read equals what was written, bit by bit."""
    model.save(tmp_path / name)
    model.save(tmp_path / name)
    assert same(model, Model.load(tmp_path / name))
    assert [tmp_path / name] == list(tmp_path.iterdir())


@settings(max_examples=examples(30))
@given(schemas)
def test_every_schema_survives_in_a_model(schema: Schema) -> None:
    """Names, values and bounds of every sort are kept."""
    from tempfile import TemporaryDirectory

    model = (
        Random(schema, epsilon=1, rows=5)
        .fit({name: [] for name in schema.learned}, ledger=None)
        .model_
    )
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "m.zip")
        assert same(model, Model.load(Path(folder) / "m.zip"))


def test_members_are_json_and_arrow(tmp_path: Path, model: Model) -> None:
    """The archive holds four documents of JSON and one Arrow file, and no pickle."""
    model.save(tmp_path / "m.zip")
    with zipfile.ZipFile(tmp_path / "m.zip") as archive:
        assert {*MEMBERS, "manifest.json"} == set(archive.namelist())
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith(".json"):
                assert isinstance(json.loads(data), dict)
            else:
                assert data.startswith(b"ARROW1")


def test_no_room_of_the_package_imports_pickle() -> None:
    """Reading a model cannot run code from it."""
    import understudy

    sources = Path(understudy.__file__).parent.rglob("*.py")
    words = ("import pickle", "from pickle", "import marshal", "allow_pickle", "eval(", "exec(")
    found = [path.name for path in sources for word in words if word in path.read_text()]
    assert [] == found


def rewritten(model: Model, path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """A model file with changed members, whose checksums are right again."""
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    if members["manifest.json"].startswith(b"{"):
        others = {name: data for name, data in members.items() if name != "manifest.json"}
        sums = {name: hashlib.sha256(data).hexdigest() for name, data in others.items()}
        edited("manifest.json", members=sums)(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def edited(name: str, **keys: Any) -> Callable[[dict[str, bytes]], None]:
    """A change of some keys of a JSON member."""

    def change(members: dict[str, bytes]) -> None:
        members[name] = json.dumps(json.loads(members[name]) | keys).encode()

    return change


def with_column(name: str) -> Callable[[dict[str, bytes]], None]:
    """A change that adds an id to the schema."""

    def change(members: dict[str, bytes]) -> None:
        document = json.loads(members["schema.json"])
        document["columns"][name] = {"kind": "id"}
        members["schema.json"] = json.dumps(document).encode()

    return change


def replaced(name: str, data: bytes) -> Callable[[dict[str, bytes]], None]:
    """A change of a whole member."""

    def change(members: dict[str, bytes]) -> None:
        members[name] = data

    return change


def test_a_newer_version_is_refused_in_a_clear_sentence(tmp_path: Path, model: Model) -> None:
    """The sentence names both versions and says to upgrade."""
    change = edited("manifest.json", version=VERSION + 1)
    path = rewritten(model, tmp_path / "m.zip", change)
    words = f"has format {VERSION + 1}, this understudy reads up to {VERSION}; upgrade understudy"
    with pytest.raises(ModelError, match=words):
        Model.load(path)


@pytest.mark.parametrize(
    "change",
    [
        edited("manifest.json", format="something else"),
        edited("manifest.json", version="1"),
        edited("manifest.json", version=None),
        edited("manifest.json", rows="many"),
        edited("manifest.json", rows=-1),
        edited("manifest.json", rows=None),
        replaced("manifest.json", b"[]"),
        replaced("manifest.json", b"\xff"),
        replaced("manifest.json", b"[" * 100_000),
        replaced("schema.json", b"{}"),
        replaced("schema.json", b"[" * 100_000),
        replaced("network.json", b"[]"),
        replaced("network.json", b'{"families": 5}'),
        replaced("network.json", b'{"families": [["a"]]}'),
        replaced("network.json", b'{"families": [["a", []], ["a", []]]}'),
        replaced("network.json", b'{"families": [["a", ["b"]], ["b", []], ["c", []]]}'),
        replaced("network.json", b'{"families": [["zzz", []]]}'),
        replaced("statement.json", b"{}"),
        edited("statement.json", epsilon_exact="1/0"),
        edited("statement.json", epsilon_exact=[]),
        edited("statement.json", epsilon_exact="1e999999999"),
        edited("statement.json", epsilon_exact="-1"),
        with_column("\ud800"),
        edited("network.json", note=[*range(100_000)], families=[["a", []]]),
        edited("statement.json", neighbours="far"),
        edited("statement.json", events=[5]),
        edited("statement.json", events={"a": 1}),
        edited("statement.json", rows_per_person=0),
        replaced("conditionals.arrow", b""),
        replaced("conditionals.arrow", b"ARROW1"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    tmp_path: Path, model: Model, change: Callable[[dict[str, bytes]], None]
) -> None:
    """Even with right checksums, what is not a model gives one of our sentences."""
    path = rewritten(model, tmp_path / "m.zip", change)
    with pytest.raises(ModelError, match=r"m\.zip"):
        Model.load(path)


@pytest.mark.parametrize("name", [*MEMBERS, "manifest.json"])
def test_a_member_that_is_gone_or_changed_is_refused(
    tmp_path: Path, model: Model, name: str
) -> None:
    """A folder with a part missing, or not as the manifest says, is not a whole model."""
    model.save(tmp_path / "m")
    kept = (tmp_path / "m" / name).read_bytes()
    (tmp_path / "m" / name).unlink()
    with pytest.raises(ModelError):
        Model.load(tmp_path / "m")
    (tmp_path / "m" / name).write_bytes(kept[:-1])
    with pytest.raises(ModelError):
        Model.load(tmp_path / "m")


def test_other_packings_are_refused(tmp_path: Path, model: Model) -> None:
    """Some ask for gigabytes before they give a byte; models are stored or deflated."""
    model.save(tmp_path / "m.zip")
    with (
        zipfile.ZipFile(tmp_path / "m.zip") as good,
        zipfile.ZipFile(tmp_path / "odd.zip", "w", zipfile.ZIP_LZMA) as odd,
    ):
        for name in good.namelist():
            odd.writestr(name, good.read(name))
    with pytest.raises(ModelError, match="is not a complete model"):
        Model.load(tmp_path / "odd.zip")


@pytest.mark.parametrize("data", [b"", b"PK\x05\x06", b"hello", b"PK\x03\x04" + b"\0" * 99])
def test_another_file_is_no_model(tmp_path: Path, data: bytes) -> None:
    """Bytes that are something else give a clear sentence."""
    (tmp_path / "m.zip").write_bytes(data)
    with pytest.raises(ModelError, match=r"m\.zip: is not a complete model"):
        Model.load(tmp_path / "m.zip")


def test_no_file_is_no_model(tmp_path: Path) -> None:
    """A path that leads nowhere, and an empty folder."""
    (tmp_path / "empty").mkdir()
    for name in ("none.zip", "none", "empty"):
        with pytest.raises(ModelError, match=f"{name}: .*cannot be read"):
            Model.load(tmp_path / name)


@settings(max_examples=examples(200), deadline=None)
@given(data=st.data())
def test_damage_anywhere_is_refused_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, model: Model, data: st.DataObject
) -> None:
    """A cut or a flipped byte gives ModelError, or the same model but for its public row count."""
    path = tmp_path_factory.mktemp("damage") / "m.zip"
    model.save(path)
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    flip = data.draw(st.integers(0, 255))
    damaged = whole[:place] + (bytes([whole[place] ^ flip]) + whole[place + 1 :] if flip else b"")
    path.write_bytes(damaged)
    try:
        loaded = Model.load(path)
    except ModelError:
        return
    finally:
        shutil.rmtree(path.parent)
    assert same(model, replace(loaded, rows=model.rows))


def test_a_folder_of_other_things_is_never_replaced(tmp_path: Path, model: Model) -> None:
    """Saving into someone's folder would delete it, so it is refused; nothing is left beside."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letters.txt").write_text("dear")
    (tmp_path / "file").write_text("dear")
    for name in ("home", "file"):
        with pytest.raises(
            OutputError, match="exists already and is not a model; name a new folder"
        ):
            model.save(tmp_path / name)
    assert "dear" == (tmp_path / "home" / "letters.txt").read_text()
    assert {"home", "file"} == {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("name", ["patients.csv", "notes.txt", "model.v1", "m.ZIP"])
def test_a_name_with_another_suffix_is_refused(tmp_path: Path, model: Model, name: str) -> None:
    """Only .zip names an archive; a file of that name is left alone, and none is made."""
    with pytest.raises(OutputError, match=r"end it in \.zip, or leave out the suffix"):
        model.save(tmp_path / name)
    assert [] == list(tmp_path.iterdir())
    (tmp_path / name).write_text("dear")
    with pytest.raises(OutputError, match=r"end it in \.zip"):
        model.save(tmp_path / name)
    assert "dear" == (tmp_path / name).read_text()


def test_a_file_that_is_not_a_model_is_never_replaced(tmp_path: Path, model: Model) -> None:
    """Neither text nor an archive of other things is lost to a model of the same name."""
    text, letters = tmp_path / "text.zip", tmp_path / "letters.zip"
    text.write_text("dear")
    with zipfile.ZipFile(letters, "w") as archive:
        archive.writestr("manifest.json", "{}")
    for path in (text, letters):
        before = path.read_bytes()
        with pytest.raises(OutputError, match="exists already and is not a model; name a new file"):
            model.save(path)
        assert before == path.read_bytes()


def test_an_empty_file_may_become_a_model(tmp_path: Path, model: Model) -> None:
    """Nothing is lost by it, as where a temporary file was made first."""
    (tmp_path / "m.zip").touch()
    model.save(tmp_path / "m.zip")
    assert same(model, Model.load(tmp_path / "m.zip"))


def test_an_empty_folder_may_become_a_model(tmp_path: Path, model: Model) -> None:
    """Nothing is lost by it."""
    (tmp_path / "m").mkdir()
    model.save(tmp_path / "m")
    assert same(model, Model.load(tmp_path / "m"))


def test_conditionals_must_match_the_schema(model: Model) -> None:
    """A model of other attributes or sizes cannot be built."""
    with pytest.raises(UsageError, match="attributes are not those of the schema"):
        BayesNet(model.domain, model.conditionals[:1])
    wrong = Conditional(Family("a"), np.full(5, 0.2))
    with pytest.raises(UsageError, match="conditional of 'a': sizes do not match"):
        BayesNet(model.domain, (wrong, *model.conditionals[1:]))
    assert Domain.of(SCHEMA) == model.domain


def test_lists_that_end_beyond_the_file_are_refused(tmp_path: Path, model: Model) -> None:
    """Arrow trusts offsets, and following them would end the process."""
    ends = np.cumsum([0, *(c.probabilities.size for c in model.conditionals)])
    offsets, data = struct.pack("<4q", *ends), model.members()["conditionals.arrow"]
    assert 1 == data.count(offsets)
    lying = data.replace(offsets, struct.pack("<4q", *ends[:3], 1 << 40))
    path = rewritten(model, tmp_path / "m.zip", replaced("conditionals.arrow", lying))
    with pytest.raises(ModelError, match="its parts do not fit"):
        Model.load(path)


@pytest.mark.parametrize("every", slow_but({50}, [5, 50]))
def test_damage_to_tables_is_refused_or_read(tmp_path: Path, model: Model, every: int) -> None:
    """Behind right checksums, a flipped byte gives a model or one of our errors."""
    whole = model.members()["conditionals.arrow"]
    refused = 0
    for place in range(0, len(whole), every):
        data = whole[:place] + bytes([whole[place] ^ 0xA5]) + whole[place + 1 :]
        path = rewritten(model, tmp_path / "m.zip", replaced("conditionals.arrow", data))
        try:
            Model.load(path)
        except ModelError:
            refused += 1
    assert refused > 0


@pytest.mark.parametrize("name", [*MEMBERS, "manifest.json"])
def test_a_bomb_is_not_unpacked(tmp_path: Path, model: Model, name: str) -> None:
    """A member far larger than it can be is refused by its declared size."""
    path = tmp_path / "m.zip"
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {n: archive.read(n) for n in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for member, data in members.items():
            archive.writestr(member, bytes(2**26 + 1) if member == name else data)
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match="is not a complete model"):
            Model.load(path)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_a_model_for_a_larger_machine_is_refused(
    tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its tables are read, and in other words than a damaged one."""
    model.save(tmp_path / "m.zip")
    monkeypatch.setattr("understudy.models.archive.available_bytes", lambda: 2**20)
    with pytest.raises(CapacityError, match="use a larger machine"):
        Model.load(tmp_path / "m.zip")


def test_a_model_is_sampled_and_asked_by_itself() -> None:
    """`sample` and `ask` give what their modules' functions give."""
    known = model_with("network")
    assert sample_rows(known, 7, seed=1).equals(known.sample(7, seed=1))
    where = known.sample(7, where="sex = male", how="rejection", seed=1)
    assert {"male"} == set(where["sex"].to_pylist())
    assert repr(ask(known, "P(age)")) == repr(known.ask("P(age)"))
    assert ask(known, "P(age)", samples=100, seed=2).errors.max() > 0


def test_a_model_describes_itself_in_one_line(model: Model) -> None:
    """The method, what it spent, and its size; nothing of the tables."""
    spent = model.statement.amounts
    assert f"Model(independent: {spent}, {model.rows:,} rows of 3 attributes)" == repr(model)


def test_a_model_shows_its_network_and_its_promise(model: Model) -> None:
    """In a notebook: a drawing, the sentence, and how many tables are kept."""
    shown = model._repr_html_()
    assert ("<svg" in shown, model.statement.sentence in shown) == (True, True)
    assert "tables kept" in shown
    assert "<svg" not in model_with("records")._repr_html_()
