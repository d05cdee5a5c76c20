"""Several stand-ins of one model: numbered files, each with a statement, for combining rules."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from support.distributions import SCHEMA
from understudy.cli.main import run
from understudy.jobs.replication import numbered, pairs_remark
from understudy.methods import Nist
from understudy.models.model import Model

ROWS = {"age": [3, 17, 33] * 40, "sex": ["male", "female", "male"] * 40, "well": [True] * 120}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that keeps its tables."""
    path = tmp_path_factory.mktemp("model") / "m.zip"
    Nist(SCHEMA, epsilon=1, delta=1e-6).fit(ROWS, ledger=None).model_.save(path)
    return path


def test_names_are_numbered_before_their_suffix() -> None:
    """Of two suffixes, before both."""
    assert Path("a/rows-12.csv.gz") == numbered(Path("a/rows.csv.gz"), 12)


def test_every_stand_in_has_a_statement(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files differ, are as long as asked for, and can be verified."""
    output = tmp_path / "rows.csv"
    asked = ["sample", str(model), "--replicates", "3", "--rows", "40", "--seed", "1"]
    assert 0 == run([*asked, "-o", str(output), "--json"])
    document = json.loads(capsys.readouterr().out)
    paths = [tmp_path / f"rows-{number}.csv" for number in (1, 2, 3)]
    assert [str(path) for path in paths] == document["replicates"]
    texts = {path.read_text() for path in paths}
    assert 3 == len(texts)
    assert {41} == {len(text.splitlines()) for text in texts}
    assert not output.exists()
    assert 0 == run(["verify", str(paths[1])])
    fewer = ["sample", str(model), "--replicates", "2", "--rows", "40", "--force"]
    assert 0 == run([*fewer, "-o", str(output)])
    assert "beside these, rows-3.csv are of an earlier run" in " ".join(
        capsys.readouterr().err.split()
    )
    assert [list(pair) for pair in Model.load(model).modelled_pairs] == document["modelled_pairs"]


def test_replicates_say_which_pairs_rest_on_the_model(model: Path) -> None:
    """Those that no released table holds; without tables, all of them."""
    found = Model.load(model)
    held = [{*table.attributes} for table in found.tables]
    pairs = [*itertools.combinations(found.domain, 2)]
    assert [p for p in pairs if not any({*p} <= each for each in held)] == found.modelled_pairs
    assert pairs == replace(found, tables=()).modelled_pairs
    assert "3 of 3 pairs" in pairs_remark(replace(found, tables=()))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--replicates", "3", "--where", "sex = male", "-o", "rows.csv"], "leave out --where"),
        (["--replicates", "2000", "-o", "rows.csv"], "use 2 to 1,000"),
        (["--replicates", "3", "-o", "-"], "writes several files"),
        (["--replicates", "3", "--head", "2"], "--replicates is for a file of rows"),
    ],
)
def test_what_cannot_be_replicated(
    model: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused with exit code 2 and the way out."""
    assert 2 == run(["sample", str(model), *options])
    assert words in " ".join(capsys.readouterr().err.split())
