"""What `sample` does, asked without a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import OutputError, UsageError
from understudy.facts.schema import Schema
from understudy.jobs.sampling import SampleRequest, sample
from understudy.methods import Independent


def test_rows_are_drawn_from_a_model(folder: Path, model: Path) -> None:
    """As many as were asked for, with their statement beside them."""
    result = sample(SampleRequest(model=model, output=folder / "out.csv", rows=7, seed=1))
    assert 8 == len((folder / "out.csv").read_text().splitlines())
    assert ("7 rows", 7) == (result.headline, result.document["rows"])
    assert (folder / "out.csv.privacy.json").exists()


def test_conditions_hold_for_all_rows(folder: Path, network_model: Path) -> None:
    """Every row meets them, and a remark says how rows were drawn."""
    asked = SampleRequest(
        model=network_model, output=folder / "out.csv", rows=20, where="name = Ann"
    )
    result = sample(asked)
    names = {line.split(",")[0] for line in (folder / "out.csv").read_text().splitlines()[1:]}
    assert {"Ann"} == names
    assert "exact" == result.document["how"]
    assert result.remarks[0].startswith("drawn exactly; a row fits with probability")


def test_a_way_to_draw_needs_conditions(folder: Path, model: Path) -> None:
    """Without conditions there is nothing to draw in another way."""
    with pytest.raises(UsageError, match="give conditions by --where"):
        sample(SampleRequest(model=model, output=folder / "out.csv", how="exact"))


def test_runs_without_a_record_are_not_taken_for_one_another(folder: Path) -> None:
    """No ledger tells them apart, so that rows of either stay unless they are forced away."""
    schema, rows = Schema.load(folder / "people.toml"), folder / "rows.csv"
    for name in ("a.zip", "b.zip"):
        fitted = Independent(schema, epsilon=1).fit(str(folder / "people.csv"), ledger=None)
        fitted.model_.save(folder / name)
    sample(SampleRequest(model=folder / "a.zip", output=rows, rows=3))
    with pytest.raises(OutputError, match="give --force"):
        sample(SampleRequest(model=folder / "b.zip", output=rows, rows=3))
