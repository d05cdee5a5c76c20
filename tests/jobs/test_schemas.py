"""What `schema` does, asked without a terminal."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from understudy.errors import OutputError, UsageError
from understudy.facts.schema import Schema
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.schema_inference import InferenceRequest, infer
from understudy.jobs.schemas import confirm, draft_of, schema_document, with_types, write_draft

SKELETON = """
[columns.name]
kind = "categorical"
values = ["Ann", "Bob"]

[columns.age]
kind = "integer"
"""


def test_a_skeleton_has_the_columns_of_the_header(folder: Path) -> None:
    """It is written once, and never over another file."""
    draft = draft_of(folder / "people.csv")
    write_draft(draft, folder / "new.toml")
    assert ["name", "age"] == list(draft.columns)
    with pytest.raises(OutputError, match="is there already"):
        write_draft(draft, folder / "people.toml")


def test_a_schema_is_described(folder: Path) -> None:
    """Its attributes have their numbers of codes."""
    document = schema_document(Schema.load(folder / "people.toml"))
    assert {"name", "age"} == document["columns"].keys()
    assert [] == document["unreviewed"]


def test_only_unreviewed_columns_can_be_confirmed(folder: Path) -> None:
    """Those that are reviewed already are refused by name, and all of none is nothing."""
    assert {} == confirm(folder / "people.toml")
    with pytest.raises(UsageError, match="'age' is not unreviewed"):
        confirm(folder / "people.toml", ["age"])


def test_what_a_skeleton_lacks_is_learned(folder: Path) -> None:
    """The schema is written and can be loaded, and the ledger has paid."""
    (folder / "skeleton.toml").write_text(SKELETON)
    payer = LedgerRequest(ledger=folder / "ledger.jsonl")
    asked = InferenceRequest(
        data=str(folder / "people.csv"),
        schema=folder / "skeleton.toml",
        output=folder / "learned.toml",
        epsilon="1",
        payer=payer,
    )
    found = infer(asked)
    learned = Schema.load(folder / "learned.toml")
    assert found.document()["fingerprint"] == learned.fingerprint
    assert 1.0 == float(payer.opened().account("people").spent.epsilon)
    with pytest.raises(OutputError, match="is there already"):
        infer(asked)


def test_types_of_a_parquet_file_are_proposals(tmp_path: Path) -> None:
    """Widths, units, zones and categories are written as unreviewed; common types are not."""
    path = tmp_path / "rows.parquet"
    moments = pa.array([0], pa.timestamp("us", "Europe/Berlin"))
    whole = pa.array([1], pa.int8())
    words = pa.array(["a"]).dictionary_encode()
    pq.write_table(pa.table({"n": whole, "t": moments, "c": words, "i": [1], "s": ["x"]}), path)
    draft = with_types(draft_of(path), path)
    keys = {name: dict(column.keys) for name, column in draft.columns.items()}
    assert {"dtype": "int8", "unreviewed": True} == keys["n"]
    moment = {"dtype": "datetime64[us]", "zone": "Europe/Berlin", "unreviewed": True}
    assert moment == keys["t"]
    assert {"dtype": "category", "unreviewed": True} == keys["c"]
    assert {} == keys["i"] == keys["s"]


def test_types_of_a_text_file_are_refused(tmp_path: Path) -> None:
    """CSV declares no types."""
    path = tmp_path / "rows.csv"
    path.write_text("a\n1\n")
    with pytest.raises(UsageError, match="--types"):
        with_types(draft_of(path), path)
