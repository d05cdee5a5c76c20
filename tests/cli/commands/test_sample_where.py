"""`understudy sample --where`: rows that fit and how they were found, or a refusal and no file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from support.constraints import STATEMENT
from understudy.cli.main import run
from understudy.facts.schema import Schema
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.inference import elimination
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import rejection

COLUMNS: dict[str, Any] = {
    "age": {"kind": "integer", "min": 0, "max": 99, "bins": 4},
    "sex": {"kind": "categorical", "values": ["Male", "Female"]},
}


def _model(constraints: tuple[str, ...] = ()) -> Model:
    schema = Schema.parse({"columns": COLUMNS, "constraints": list(constraints)})
    age = Conditional(Family("age"), np.array([0.4, 0.3, 0.2, 0.1]))
    sex = np.array([[0.2, 0.8], [0.5, 0.5], [1.0, 0.0], [0.3, 0.7]])
    law = BayesNet.of(schema, (age, Conditional(Family("sex", ("age",)), sex)))
    return Model(schema, law, 50, STATEMENT)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A model on disk."""
    _model().save(tmp_path / "m.zip")
    return tmp_path / "m.zip"


@pytest.mark.parametrize("how", ["exact", "rejection", "weighting"])
def test_rows_fit_and_the_way_is_told(
    saved: Path, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows to the output, the way and the probability to --json."""
    output = saved.with_name("out.csv")
    where = "sex=Female, age>=30"
    options = ["--where", where, "--how", how, "--rows", "200", "--seed", "1"]
    assert 0 == run(["sample", str(saved), *options, "-o", str(output), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert (where, how, True, 200) == tuple(
        document[key] for key in ("where", "how", "evidence_exact", "rows")
    )
    # Four fifths of the second bin fit, and 0.3 · 0.5 · 0.8 + 0.1 · 0.7 is 0.19.
    assert pytest.approx(0.19) == document["evidence_probability"]
    assert (how == "weighting") == ("effective_draws" in document)
    rows = pc.read_csv(output).to_pylist()
    assert {"Female"} == {row["sex"] for row in rows}
    assert min(row["age"] for row in rows) >= 30
    before = output.read_bytes()
    assert 0 == run(["sample", str(saved), *options, "-o", str(output), "--force"])
    assert before == output.read_bytes()


def test_people_are_told(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The way and the probability, on stderr; rows as many as the model makes."""
    output = saved.with_name("out.parquet")
    assert 0 == run(["sample", str(saved), "--where", "age < 10", "-o", str(output)])
    told = capsys.readouterr()
    assert "" == told.out
    assert "50 rows" in told.err
    assert "drawn exactly; a row fits with probability 0.16" in told.err
    assert 50 == pq.read_table(output).num_rows


def test_other_ways_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Constraints and dense networks are drawn from by rejection, with the reason."""
    _model(("if age < 25 then sex = Male",)).save(tmp_path / "ruled.zip")
    _model().save(tmp_path / "m.zip")
    output, other = str(tmp_path / "out.csv"), str(tmp_path / "other.csv")
    assert 0 == run(["sample", str(tmp_path / "ruled.zip"), "--where", "sex=Male", "-o", output])
    told = capsys.readouterr().err
    assert "by rejection, because constraints shape the rows; a row fits with probability" in told
    monkeypatch.setattr(elimination, "available_bytes", lambda: 10)
    assert 0 == run(["sample", str(tmp_path / "m.zip"), "--where", "sex=Male", "-o", other])
    assert "by rejection, because the network is too dense" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--where", "age >= 30 sex = Male"], "at character 11"),
        (["--where", "height > 3"], "'height' is not a column"),
        (["--where", "sex = Other"], "has no value 'Other'"),
        (["--where", "age<30, age>40"], "no value fits all that is said"),
        (["--where", "sex = Female, age >= 50, age < 75"], "probability 0"),
        (["--where", "sex = Male", "--how", "magic"], "use exact, rejection, weighting"),
        (["--how", "exact"], "give conditions by --where"),
    ],
)
def test_bad_conditions_write_nothing(
    saved: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, a sentence, and no file."""
    assert 2 == run(["sample", str(saved), *options, "-o", str(saved.with_name("out.csv"))])
    told = capsys.readouterr()
    assert words in told.err
    assert ("", ["m.zip"]) == (told.out, [path.name for path in saved.parent.iterdir()])


def test_rows_that_cannot_be_found_write_nothing(
    saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too few within the bound, or a table that would not fit."""
    output = str(saved.with_name("out.csv"))
    monkeypatch.setattr(rejection, "_LEAST_DRAWS", 100)
    monkeypatch.setattr(rejection, "_DRAWS_PER_ROW", 0)
    tail = ["--where", "sex = Female, age >= 75", "--rows", "9000", "-o", output]
    assert 2 == run(["sample", str(saved), *tail, "--how", "rejection"])
    assert "rows are missing after" in capsys.readouterr().err
    monkeypatch.setattr(elimination, "available_bytes", lambda: 10)
    assert 2 == run(["sample", str(saved), *tail, "--how", "exact"])
    assert "draw by rejection or weighting instead" in capsys.readouterr().err
    assert ["m.zip"] == [path.name for path in saved.parent.iterdir()]


def test_a_damaged_model_is_refused_as_ever(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 4."""
    saved.write_bytes(saved.read_bytes()[:100])
    tail = ["--where", "sex = Male", "-o", str(saved.with_name("out.csv"))]
    assert 4 == run(["sample", str(saved), *tail])
    assert "not a complete model" in capsys.readouterr().err
