"""What `sample` does, asked without a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import UsageError
from understudy.jobs.sampling import SampleRequest, sample


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
    with pytest.raises(UsageError, match="give some by --where"):
        sample(SampleRequest(model=model, output=folder / "out.csv", how="exact"))
