"""Rows for evaluation: codes and numbers side by side, a seeded choice of many, clear refusals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from support.sheets import coded, drawn, listed, sheet
from understudy.errors import DataError, UsageError
from understudy.evaluation import sheets
from understudy.evaluation.sheets import load
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.rows.table import Table

SCHEMA = Schema.parse(
    {
        "columns": {
            "age": {"kind": "integer", "min": 0, "max": 99, "bins": 10, "missing": ["?"]},
            "weight": {"kind": "float", "min": 0.0, "max": 100.0, "bins": 4, "outside": 60.0},
            "sex": {"kind": "categorical", "values": ["f", "m"]},
            "name": {"kind": "id"},
        }
    }
)
ROWS: dict[str, list[Any]] = {
    "age": ["31", "?", "200", "7", "x"],
    "weight": [12.5, 99.0, 10.0, 1000.0, 50.0],
    "sex": ["f", "m", "f", "m", "f"],
}


def test_codes_and_numbers_stand_side_by_side() -> None:
    """Numbers are kept or clipped, missing is NaN, strays are the middle of where they went."""
    found = load(ROWS, SCHEMA, side="real", seed=0)
    assert [3, 10, 9, 0] == found.table.codes["age"].tolist()
    age = found.numbers["age"].tolist()
    assert [31.0, 99.0, 7.0] == [age[0], *age[2:]]
    assert math.isnan(age[1])
    assert [12.5, 99.0, 10.0, 62.5] == found.numbers["weight"].tolist()
    assert (5, 4, 4, False) == (found.read, found.fitting, found.rows, found.is_sampled)


def test_codes_are_those_of_the_codec() -> None:
    """The same rows stay, with the same codes."""
    rows = pa.table(ROWS)
    assert Table.of(Codec(SCHEMA).encode(rows)) == load(rows, SCHEMA, side="real", seed=0).table


def test_tables_of_codes_have_the_middles_of_bins() -> None:
    """Ages 0 to 9 are at 4.5, weights up to 25 at 12.5, and missing is NaN."""
    table = coded(SCHEMA, {"age": [0, 10], "weight": [0, 3], "sex": [0, 1]})
    found = sheet(SCHEMA, table)
    assert 4.5 == found.numbers["age"][0]
    assert math.isnan(found.numbers["age"][1])
    assert [12.5, 87.5] == found.numbers["weight"].tolist()


def test_files_are_read_in_blocks(tmp_path: Path) -> None:
    """A file of several blocks gives the rows of the frame, a header alone none."""
    schema = listed(a=4, b=3)
    table = drawn(schema, 400_000, 1)
    rows = pa.table({name: codes.astype(str) for name, codes in table.codes.items()})
    path, bare = tmp_path / "many.csv", tmp_path / "bare.csv"
    pyarrow.csv.write_csv(rows, path)
    bare.write_text("a,b\n")
    assert table == load(path, schema, side="real", seed=0).table
    assert 0 == load(bare, schema, side="real", seed=0).rows


def test_many_rows_are_chosen_by_a_seed() -> None:
    """As many as asked for, in order, the same for the same seed and side, each row as likely."""
    schema = Schema.parse({"columns": {"n": {"kind": "integer", "min": 0, "max": 4_999}}})
    rows = {"n": list(range(5_000))}
    chosen = [load(rows, schema, side="real", seed=s, most=500).numbers["n"] for s in (1, 1, 2)]
    assert 500 == len(set(chosen[0].tolist()))
    assert sorted(chosen[0]) == chosen[0].tolist() == chosen[1].tolist() != chosen[2].tolist()
    assert 2_500 == pytest.approx(chosen[0].mean(), abs=6 * 1_443 / math.sqrt(500))
    other = load(rows, schema, side="synthetic", seed=1, most=500).numbers["n"]
    assert chosen[0].tolist() != other.tolist()
    found = load(rows, schema, side="real", seed=1, most=500)
    assert (5_000, 5_000, True) == (found.read, found.fitting, found.is_sampled)


def test_blocks_do_not_change_whose_chance_is_whose(tmp_path: Path) -> None:
    """Rows of early and late blocks are chosen alike, though few are held at a time."""
    schema = Schema.parse(
        {"columns": {n: {"kind": "integer", "min": 0, "max": 999_999} for n in ("n", "wide")}}
    )
    path = tmp_path / "many.csv"
    numbers = np.arange(1_000_000)
    pyarrow.csv.write_csv(pa.table({"n": numbers, "wide": numbers}), path)
    found = load(path, schema, side="real", seed=1, most=2_000).numbers["n"]
    assert 2_000 == found.size
    assert 500_000 == pytest.approx(found.mean(), abs=6 * 288_675 / math.sqrt(2_000))


def test_codes_are_chosen_by_a_seed_too() -> None:
    """A seed chooses rows of a table of codes, the same ones for each column."""
    schema = listed(a=200, b=200)
    rows = list(range(200))
    table = coded(schema, {"a": rows, "b": rows})
    found = load(table, schema, side="real", seed=1, most=50)
    assert (50, 200) == (found.rows, found.fitting)
    assert found.table.codes["a"].tolist() == found.table.codes["b"].tolist()


def test_data_frames_are_encoded_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks give the rows of one."""
    whole = load(ROWS, SCHEMA, side="real", seed=0)
    monkeypatch.setattr(sheets, "_BLOCK", 2)
    parts = load(ROWS, SCHEMA, side="real", seed=0)
    assert whole.table == parts.table
    assert whole.numbers["weight"].tolist() == parts.numbers["weight"].tolist()
    assert (whole.read, whole.fitting) == (parts.read, parts.fitting)


def test_absent_columns_are_named_with_their_side() -> None:
    """Which of the two tables lacks what."""
    with pytest.raises(DataError, match=r"the synthetic data cannot be compared: .*'sex'"):
        load({"age": [1], "weight": [1.0]}, SCHEMA, side="synthetic", seed=0)


def test_other_kinds_are_named_with_their_side() -> None:
    """A column of another type is refused by its name, without a cell."""
    rows = {**ROWS, "weight": [b"secret"] * 5}
    with pytest.raises(DataError, match=r"the held-out data .*'weight'") as raised:
        load(rows, SCHEMA, side="held-out", seed=0)
    assert "secret" not in str(raised.value)


def test_columns_without_a_declaration_are_passed_over() -> None:
    """They are reported, not compared."""
    found = load({**ROWS, "more": [1] * 5}, SCHEMA, side="real", seed=0)
    assert ("more",) == found.extra


def test_what_is_no_table_is_refused() -> None:
    """Usage errors for things without rows, data errors for codes of another schema."""
    with pytest.raises(UsageError, match="the real data is not a table"):
        load(3, SCHEMA, side="real", seed=0)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="other attributes"):
        load(drawn(listed(a=2), 3, 0), SCHEMA, side="real", seed=0)
