"""`schema infer` from the command line: what it writes, says and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import SECRET, Desk, Result
from understudy.facts.schema import Schema

SKELETON = """
[columns.name]
kind = "categorical"
values = []
missing = []

[columns.age]
kind = "integer"
missing = []
"""


@pytest.fixture
def skeleton(desk: Desk) -> Path:
    """A skeleton for the table of the working folder."""
    path = desk.folder / "skeleton.toml"
    path.write_text(SKELETON)
    return path


def _infer(desk: Desk, skeleton: Path, *more: object, output: str = "learned.toml") -> Result:
    where = ("--schema", skeleton, "-o", desk.folder / output)
    return desk.run("schema", "infer", desk.data, *where, *more)


ASKED = ("--epsilon", 20, "--delta", "1e-3")


@pytest.mark.parametrize("output", ["learned.toml", "learned.json"])
def test_a_skeleton_is_filled_in(desk: Desk, skeleton: Path, output: str) -> None:
    """Common values and a range; the secret of one row stays one; the ledger has the cost."""
    result = _infer(desk, skeleton, *ASKED, output=output)
    assert (0, "") == (result.code, result.out)
    assert "every fit under this schema adds this" in result.err
    learned = desk.folder / output
    assert SECRET not in result.err + learned.read_text()
    schema = Schema.load(learned)
    assert ["Ann", "Bob"] == schema.columns["name"].document()["values"][:2]
    assert (20.0, "people") == (
        schema.extras["inference"]["epsilon"],
        schema.extras["inference"]["dataset"],
    )
    assert {"people": 20.0} == desk.spent
    assert 0 == desk.run("schema", "check", learned).code


def test_json_and_the_fit_that_follows(desk: Desk, skeleton: Path) -> None:
    """The statement of the inference, then the sum of both with its part."""
    document = _infer(desk, skeleton, *ASKED, "--json").document
    assert {"columns", "fingerprint", "statement", "unseen", "seconds"} == set(document)
    statement = document["statement"]
    assert ("schema infer", 20.0, 1e-3) == tuple(
        statement[key] for key in ("method", "epsilon", "delta")
    )
    assert {"key release", "discrete laplace"} == {e["mechanism"] for e in statement["events"]}
    learned = desk.folder / "learned.toml"
    fit = ("fit", desk.data, "-s", learned, "-e", 1, "-o", desk.folder / "m.zip", "--json")
    fitted = desk.run(*fit, "--method", "independent").document["statement"]
    assert (21.0, 1e-3) == (fitted["epsilon"], fitted["delta"])
    assert (20.0, 1e-3) == (fitted["inference"]["epsilon"], fitted["inference"]["delta"])
    assert "went into learning the schema" in desk.run("inspect", desk.folder / "m.zip").out
    assert {"people": 21.0} == desk.spent


def test_relations_that_do_not_go_together_are_refused(desk: Desk, skeleton: Path) -> None:
    """Before rows are read, with the way out."""
    _infer(desk, skeleton, *ASKED, "--neighbours", "replace")
    where = ("-s", desk.folder / "learned.toml", "-e", 1, "-o", desk.output)
    result = desk.run("synth", desk.folder / "none.csv", *where, "--method", "independent")
    assert (2, True) == (result.code, "ask for neighbours replace" in result.err)


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        ((), 2, "epsilon is not given"),
        (("--epsilon", 1), 2, "column 'name': no values are listed, and delta is 0"),
        ((*ASKED, "--neighbours", "all"), 2, "use add-remove or replace"),
        ((*ASKED, "--memory", "much"), 2, "write a size"),
    ],
)
def test_requests_that_cannot_be_served(
    desk: Desk, skeleton: Path, more: tuple[object, ...], code: int, words: str
) -> None:
    """A sentence, an exit code, nothing spent, nothing written."""
    result = _infer(desk, skeleton, *more)
    assert (code, True) == (result.code, words in result.err)
    assert {} == desk.spent
    assert "learned.toml" not in desk.files


def test_places_that_cannot_be_written_are_refused_before_spending(
    desk: Desk, skeleton: Path
) -> None:
    """Another suffix, a folder that is not there, and whatever is there already."""
    for output, words in (
        ("learned.txt", "must end in .toml or .json"),
        ("no/learned.toml", "cannot be written"),
        ("skeleton.toml", "is there already"),
        ("people.csv", "must end in"),
    ):
        result = _infer(desk, skeleton, *ASKED, output=output)
        assert (2, True) == (result.code, words in result.err)
    assert SKELETON == skeleton.read_text()
    assert {} == desk.spent


def test_a_limit_is_kept_to(desk: Desk, skeleton: Path) -> None:
    """Exit code 3, before the data is even looked for."""
    desk.run("ledger", "limit", "people", "--epsilon", 1, "--delta", "1e-3")
    desk.data.unlink()
    result = _infer(desk, skeleton, *ASKED)
    assert (3, True) == (result.code, "asked for epsilon = 20" in result.err)


def test_columns_that_do_not_match_are_told(desk: Desk, skeleton: Path) -> None:
    """Exit code 4; the names are the header's and the skeleton's."""
    skeleton.write_text(SKELETON + '\n[columns.town]\nkind = "categorical"\n')
    result = _infer(desk, skeleton, *ASKED)
    assert (4, True) == (result.code, "the data has no column 'town'" in result.err)
    skeleton.write_text('[columns.name]\nkind = "categorical"\n')
    result = _infer(desk, skeleton, *ASKED)
    assert (4, True) == (result.code, "column 'age' is not in the schema" in result.err)
    assert 0 == _infer(desk, skeleton, *ASKED, "--ignore-extra").code


def test_a_json_skeleton_that_toml_cannot_write_is_refused_first(desk: Desk) -> None:
    """A free key of null, found before anything is spent."""
    path = desk.folder / "skeleton.json"
    columns = {"name": {"kind": "categorical"}, "age": {"kind": "integer"}}
    path.write_text(json.dumps({"note": None, "columns": columns}))
    result = _infer(desk, path, *ASKED)
    assert (2, True) == (result.code, "use JSON" in result.err)
    assert {} == desk.spent
    assert 0 == _infer(desk, path, *ASKED, output="learned.json").code


def test_a_schema_that_was_paid_for_is_kept(
    desk: Desk, skeleton: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When its place cannot be written in the end, the message says where it is."""
    from understudy.errors import DiskError

    def full(path: Path) -> object:
        raise DiskError(f"{path}: the disk took no more bytes; free some space")

    monkeypatch.setattr("understudy.system.files.writing.atomic", full)
    monkeypatch.setattr("tempfile.tempdir", str(desk.folder))
    result = _infer(desk, skeleton, *ASKED)
    assert 4 == result.code
    kept = result.err.split("the schema is kept: ")[1].strip()
    assert Schema.load(kept).inference is not None


def test_columns_of_which_nothing_stood_out_are_named(desk: Desk, skeleton: Path) -> None:
    """The owner is told that a range is merely the public one."""
    result = _infer(desk, skeleton, "--epsilon", "0.01", "--delta", "1e-6")
    assert "age: no value was above the noise, so its range is the public one" in result.err
