"""The released tables in a model's archive: kept to the last bit, and read with suspicion."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from support.distributions import DOMAIN, model_with
from support.hostile import Members, arrow, signed, zipped
from understudy.errors import CapacityError, ModelError, UsageError
from understudy.facts.schema import Schema
from understudy.methods import Independent, Nist, PrivBayes
from understudy.models.model import Model
from understudy.privacy.mechanisms.released import table_question
from understudy.privacy.noisy_marginal import NoisyMarginal

COUNTS = pa.large_list(pa.int64())


def members() -> Members:
    """The members of a model that keeps three tables, its manifest without checksums."""
    manifest = {"format": "understudy-model", "version": 3, "kind": "network", "rows": 300}
    return {**model_with("network").members(), "manifest.json": json.dumps(manifest).encode()}


def read(path: Path, changed: Members) -> Model:
    """A model of changed members with right checksums."""
    path.write_bytes(zipped(signed({**members(), **changed})))
    return Model.load(path)


def listed(*entries: dict[str, Any]) -> Members:
    """Another list of tables."""
    return {"tables.json": json.dumps({"tables": entries}).encode()}


def counts(*rows: list[float | None] | None, kind: pa.DataType = COUNTS) -> Members:
    """Other counts."""
    return {"tables.arrow": arrow(pa.table({"counts": pa.array(rows, kind)}))}


def test_tables_are_kept_to_the_last_bit(tmp_path: Path) -> None:
    """Attributes in their order, counts, negative ones too, and variances."""
    model = model_with("network")
    model.save(tmp_path / "m.zip")
    again = Model.load(tmp_path / "m.zip").tables
    assert [t.attributes for t in model.tables] == [t.attributes for t in again]
    assert [t.variance for t in model.tables] == [t.variance for t in again]
    for ours, theirs in zip(model.tables, again, strict=True):
        assert np.array_equal(ours.counts, theirs.counts)
        assert DOMAIN.shape(ours.attributes) == theirs.counts.shape


def test_counts_in_steps_are_kept_to_the_last_bit(tmp_path: Path) -> None:
    """Noise on a fine grid makes multiples of 1/1024; they come back as they were."""
    from support.distributions import SCHEMA

    rows = {"age": [3, 17, 33] * 40, "sex": ["male", "female", "male"] * 40, "well": [True] * 120}
    model = Nist(SCHEMA, epsilon=1, delta=1e-6).fit(rows, ledger=None).model_
    model.save(tmp_path / "m.zip")
    again = Model.load(tmp_path / "m.zip").tables
    for ours, theirs in zip(model.tables, again, strict=True):
        assert np.array_equal(ours.counts, theirs.counts)
        assert np.array_equal(theirs.counts * 1024, np.rint(theirs.counts * 1024))
    assert any((table.counts % 1).any() for table in again)


@pytest.mark.parametrize("method", [Independent, PrivBayes, Nist])
def test_methods_keep_the_tables_they_released(method: type[Any]) -> None:
    """Every table of attributes that was paid for is in the model, and no others."""
    from support.distributions import SCHEMA

    rows = {"age": [3, 17, 33] * 40, "sex": ["male", "female", "male"] * 40, "well": [True] * 120}
    delta = {"delta": 1e-6} if method is Nist else {}
    model = method(SCHEMA, epsilon=1, **delta).fit(rows, ledger=None).model_
    asked = Counter(charge.question for charge in model.statement.charges)
    kept = Counter(table_question(table.attributes) for table in model.tables)
    assert {name: n for name, n in asked.items() if name.startswith("counts of")} == kept
    assert all(table.variance > 0 for table in model.tables)


def test_tables_must_be_over_the_schema() -> None:
    """A model with a table of other sizes, or of unknown attributes, is not built."""
    model = model_with("network")
    for names, size in [(("sex",), 3), (("height",), 2)]:
        table = NoisyMarginal(names, np.zeros(size, np.int64), 1.0)
        with pytest.raises(UsageError, match=r"sizes do not match|is unknown"):
            replace(model, tables=(table,))


SEX = {"attributes": ["sex"], "variance": 1.0}


@pytest.mark.parametrize(
    "changed",
    [
        listed({"attributes": ["height"], "variance": 1.0}) | counts([1, 2]),
        listed({"attributes": ["sex", "sex"], "variance": 1.0}) | counts([1, 2, 3, 4]),
        listed({"attributes": ["sex"], "variance": -1.0}) | counts([1, 2]),
        listed({"attributes": ["sex"], "variance": float("nan")}) | counts([1, 2]),
        listed({"attributes": ["sex"], "variance": "much"}) | counts([1, 2]),
        listed({"attributes": ["sex"]}) | counts([1, 2]),
        listed({"attributes": 5, "variance": 1.0}) | counts([1, 2]),
        listed(SEX),
        listed(SEX) | counts([1, 2], [3, 4]),
        listed(SEX) | counts(),
        listed(SEX) | counts([1, 2, 3]),
        listed(SEX) | counts([1, None]),
        listed(SEX) | counts(None),
        listed(SEX) | counts([1, 2], kind=pa.large_list(pa.float32())),
        listed(SEX) | counts([1, float("nan")], kind=pa.large_list(pa.float64())),
        listed(SEX) | counts([1, float("inf")], kind=pa.large_list(pa.float64())),
        {"tables.json": b"[]"},
        {"tables.json": b'{"tables": {}}'},
        {"tables.json": b'{"tables": [5]}'},
        {"tables.json": b"[" * 100_000},
        {"tables.arrow": b""},
        {"tables.arrow": b"ARROW1"},
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path: Path, changed: Members) -> None:
    """Even with right checksums, one of our sentences names the file."""
    with pytest.raises(ModelError, match=r"m\.zip"):
        read(tmp_path / "m.zip", changed)


def test_a_wrong_number_of_counts_is_named(tmp_path: Path) -> None:
    """The refusal names the member, what it holds and what was announced."""
    with pytest.raises(ModelError, match=r"tables\.arrow holds 3 numbers.*2 cells"):
        read(tmp_path / "m.zip", listed(SEX) | counts([1, 2, 3]))


def test_tables_beyond_memory_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the list announces is weighed first: of the counts not a byte is looked at."""
    monkeypatch.setattr("understudy.models.archive.available_bytes", lambda: 2**23)
    wide = {"attributes": ["age", "sex", "well"], "variance": 1.0}
    with pytest.raises(CapacityError, match=r"has 320,000 numbers.*use a larger machine"):
        read(tmp_path / "m.zip", listed(*[wide] * 20_000) | {"tables.arrow": b"nothing"})


def test_a_member_of_the_tables_that_is_gone_is_refused(tmp_path: Path) -> None:
    """A list without counts, or counts of another model, is not a whole model."""
    model_with("network").save(tmp_path / "m")
    kept = (tmp_path / "m" / "tables.arrow").read_bytes()
    (tmp_path / "m" / "tables.arrow").unlink()
    with pytest.raises(ModelError, match="cannot be read"):
        Model.load(tmp_path / "m")
    (tmp_path / "m" / "tables.arrow").write_bytes(kept[:-1])
    with pytest.raises(ModelError, match=r"tables\.arrow was changed or damaged"):
        Model.load(tmp_path / "m")


def test_damage_to_the_counts_is_refused_or_read(tmp_path: Path) -> None:
    """Behind right checksums, a flipped byte gives a model or one of our errors."""
    whole, refused = members()["tables.arrow"], 0
    for place in range(0, len(whole), 7):
        damaged = whole[:place] + bytes([whole[place] ^ 0xA5]) + whole[place + 1 :]
        try:
            read(tmp_path / "m.zip", {"tables.arrow": damaged})
        except ModelError:
            refused += 1
    assert refused > 0


@pytest.mark.parametrize(
    "changed",
    [
        {"records.arrow": b"rows of somebody"},
        {"generator.arrow": b"rows of somebody"},
        {"notes.json": b"{}"},
    ],
)
def test_members_that_nothing_reads_are_refused(tmp_path: Path, changed: Members) -> None:
    """A model cannot carry rows out beside the parts that its kind has."""
    with pytest.raises(ModelError, match="members that its kind does not have"):
        read(tmp_path / "m.zip", changed)


@pytest.mark.parametrize("gone", ["tables.json", "tables.arrow"])
def test_half_of_the_tables_is_refused(tmp_path: Path, gone: str) -> None:
    """The list and the counts of tables belong together."""
    kept = {name: data for name, data in members().items() if name != gone}
    (tmp_path / "m.zip").write_bytes(zipped(signed(kept)))
    with pytest.raises(ModelError, match="members that its kind does not have"):
        Model.load(tmp_path / "m.zip")


@pytest.mark.parametrize(
    "forged",
    [
        NoisyMarginal(("smoker", "town"), np.array([[1, 2], [3, 4]]), 8.0),
        NoisyMarginal(("smoker",), np.array([3, 4]), 0.0),
    ],
    ids=["never asked for", "without its noise"],
)
def test_a_table_that_was_not_paid_for_is_refused(forged: NoisyMarginal) -> None:
    """What a private model keeps is among the answers of its statement, noise and all."""
    columns = {"smoker": {"kind": "boolean"}, "town": {"kind": "categorical", "values": ["a", "b"]}}
    rows = {"smoker": ["yes", "no"] * 20, "town": ["a", "b"] * 20}
    schema = Schema.parse({"columns": columns})
    model = Independent(schema, epsilon=1).fit(rows, ledger=None).model_
    with pytest.raises(UsageError, match="not among the answers"):
        replace(model, tables=(*model.tables, forged))
