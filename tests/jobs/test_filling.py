"""`sample --fill` fills the gaps of a public file and says that it is not protected."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from understudy import PrivBayes
from understudy.errors import DataError, OutputError, UsageError
from understudy.facts.schema import Schema
from understudy.jobs.filling import fill_file
from understudy.jobs.sampling import SampleRequest, sample
from understudy.jobs.signing import Sealing
from understudy.rows.reading.whole import read_whole

SCHEMA = Schema.parse(
    {
        "columns": {
            "sex": {"kind": "categorical", "values": ["f", "m"]},
            "weight": {"kind": "float", "min": 0.0, "max": 100.0, "unit": "kg", "decimals": 1},
        }
    }
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of few rows."""
    rows = {"sex": ["f", "m"] * 50, "weight": [60.0, 80.0] * 50}
    path = tmp_path / "model.zip"
    PrivBayes(SCHEMA, epsilon=10).fit(rows, ledger=None).model_.save(path)
    return path


def test_gaps_are_filled_and_cells_stay(model: Path, tmp_path: Path) -> None:
    """The file keeps its columns, its order and its texts; only gaps are written."""
    gaps, output = tmp_path / "gaps.csv", tmp_path / "filled.csv"
    gaps.write_text('no,sex,weight\n007,f,\n008,,80.50 kg\n009,"m",NA\n')
    result = sample(SampleRequest(model=model, output=output, fill=gaps, seed=1))
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert ["007", "008", "009"] == [row["no"] for row in rows]
    assert "80.50 kg" == rows[1]["weight"]
    assert all(row["weight"].endswith(" kg") and row["sex"] in ("f", "m") for row in rows)
    assert 3 == result.document["filled_cells"]
    beside = json.loads(Path(f"{output}.privacy.json").read_text())
    assert "must be public or synthetic" in beside["filled_file"]
    assert "must be public or synthetic" in result.sentences[0]


def test_parquet_keeps_its_types(model: Path, tmp_path: Path) -> None:
    """Numbers stay numbers, in the type that the file has."""
    gaps, output = tmp_path / "gaps.parquet", tmp_path / "filled.parquet"
    pq.write_table(
        pa.table({"sex": ["f", None], "weight": pa.array([None, 7.5], pa.float32())}), gaps
    )
    sample(SampleRequest(model=model, output=output, fill=gaps))
    filled = pq.read_table(output)
    assert pa.float32() == filled.schema.field("weight").type
    assert 0 == sum(column.null_count for column in filled.columns)


def test_new_rows_and_filled_ones_are_not_asked_for_together(model: Path, tmp_path: Path) -> None:
    """A number of rows contradicts a file to fill."""
    request = SampleRequest(
        model=model, output=tmp_path / "o.csv", fill=tmp_path / "gaps.csv", rows=3
    )
    with pytest.raises(UsageError, match="leave them out"):
        sample(request)


def test_the_output_is_not_the_file_itself(model: Path, tmp_path: Path) -> None:
    """A file is not filled in its place, and nothing of it is lost."""
    gaps = tmp_path / "gaps.csv"
    gaps.write_text("sex,weight\nf,\n")
    with pytest.raises(OutputError):
        fill_file(model, gaps, gaps, sealing=Sealing(None, None), seed=1)
    assert "sex,weight\nf,\n" == gaps.read_text()


def test_undeclared_values_are_refused(model: Path, tmp_path: Path) -> None:
    """A row that the schema does not know cannot be conditioned on."""
    gaps = tmp_path / "gaps.csv"
    gaps.write_text("sex,weight\nx,\n")
    with pytest.raises(DataError, match="1 of the rows to fill"):
        sample(SampleRequest(model=model, output=tmp_path / "o.csv", fill=gaps))


def test_ragged_public_files_are_refused(tmp_path: Path) -> None:
    """A line with too many fields ends the reading with a sentence."""
    gaps = tmp_path / "gaps.csv"
    gaps.write_text("sex,weight\nf,1,2\n")
    with pytest.raises(DataError, match="another number of fields"):
        read_whole(gaps)


def test_the_statements_file_names_how_missing_cells_were_treated(tmp_path: Path) -> None:
    """A mean that fills gaps, and dropped rows, are listed; a level of its own is not."""
    weight = {"kind": "float", "min": 0.0, "max": 9.0, "missing": [], "missing_as": "mean"}
    sex = {"kind": "boolean", "missing": [], "missing_as": "drop"}
    plain = {"kind": "boolean", "missing": []}
    schema = Schema.parse({"columns": {"weight": weight, "sex": sex, "plain": plain}})
    rows = {"weight": [1.0, None] * 9, "sex": ["yes", None, "no"] * 6, "plain": ["yes"] * 18}
    model, output = tmp_path / "model.zip", tmp_path / "rows.csv"
    PrivBayes(schema, epsilon=1).fit(rows, ledger=None).model_.save(model)
    result = sample(SampleRequest(model=model, output=output, rows=20))
    expected = {"weight": "mean", "sex": "drop"}
    assert expected == result.document["missing"]
    assert expected == json.loads(Path(f"{output}.privacy.json").read_text())["missing"]
    with output.open(newline="") as file:
        assert all(row["weight"] and row["sex"] for row in csv.DictReader(file))
