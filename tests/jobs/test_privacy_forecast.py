"""The privacy light is known before anything is spent, by the verdict's own rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from understudy.evaluation.verdict.light import Colour
from understudy.evaluation.verdict.privacy import privacy_light
from understudy.facts.schema import Schema
from understudy.jobs.learning import LearningRequest, fit
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.method import FitRequest, build
from understudy.jobs.privacy_forecast import PrivacyForecast, forecast_privacy
from understudy.jobs.progress import SilentProgress
from understudy.models.model import Model
from understudy.privacy.preflight import Preflight

COLUMNS = {
    "sex": {"kind": "categorical", "values": ["f", "m"]},
    "ward": {"kind": "categorical", "values": ["A", "B", "C"]},
}


class Listening(SilentProgress):
    """Progress that keeps its warnings."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def warning(self, text: str) -> None:
        """Keep a warning."""
        self.said.append(text)


@pytest.fixture
def asked(tmp_path: Path) -> LearningRequest:
    """A request about 600 rows, under a schema that people wrote."""
    rows = "".join(f"{'fm'[n % 2]},{'ABC'[n % 3]}\n" for n in range(600))
    (tmp_path / "t.csv").write_text(f"sex,ward\n{rows}")
    (tmp_path / "s.json").write_text(json.dumps({"columns": COLUMNS}))
    payer = LedgerRequest(ledger=tmp_path / "l.jsonl")
    return LearningRequest(data=str(tmp_path / "t.csv"), schema=tmp_path / "s.json", payer=payer)


def _fitted(asked: LearningRequest, *, schema: bool = True, **how: Any) -> tuple[list[str], Model]:
    """The warnings of a fit, and its model."""
    from dataclasses import replace

    place, progress = Path(asked.data).parent / "m.zip", Listening()
    request = replace(asked, fit=FitRequest(**how), force=True)
    fit(request if schema else replace(request, schema=None), place, progress=progress)
    return progress.said, Model.load(place)


@pytest.mark.parametrize(
    ("method", "epsilon", "delta"),
    [
        ("independent", "1", "0"),
        ("independent", "2.19", "0"),
        ("independent", "2.3", "0"),
        ("independent", "2.3", "1e-6"),
        ("independent", "30", "1e-6"),
        ("privbayes", "2.2", "0"),
        ("nist", "9", "1e-6"),
    ],
)
def test_the_forecast_is_the_verdict(
    asked: LearningRequest, method: str, epsilon: str, delta: str
) -> None:
    """A fit's own statement gives the number that was foretold, and a warning where it is red."""
    how: dict[str, Any] = {"method": method, "epsilon": epsilon, "delta": delta}
    said, model = _fitted(asked, **how)
    assert asked.schema is not None
    synthesizer = build(FitRequest(**how), Schema.load(asked.schema))
    forecast = forecast_privacy(synthesizer, preflight=Preflight())
    light = privacy_light(model.statement, rows=600)
    assert (f"{forecast.right_guesses} in 100", forecast.colour) == (light.number, light.colour)
    assert [forecast.warning] * (light.colour is Colour.RED) == said


@pytest.mark.parametrize(("epsilon", "warns"), [("4", False), ("100", True)])
def test_a_schema_that_is_learned_first_counts(
    asked: LearningRequest, epsilon: str, warns: bool
) -> None:
    """Without a schema the warning is about the whole, and comes before its first part is spent."""
    how = {"method": "independent", "epsilon": epsilon, "delta": "1e-6"}
    said, model = _fitted(asked, schema=False, **how)
    light = privacy_light(model.statement, rows=600)
    assert warns == (light.colour is Colour.RED) == bool(said)
    assert not warns or f"right {light.number.split()[0]} times in 100" in said[0]


def test_the_limit_is_that_of_the_verdict() -> None:
    """90 times in 100 is limited and said in words; 91 is refused a release."""
    assert ("limited", "") == (PrivacyForecast(90).colour.words, PrivacyForecast(90).warning)
    assert "do not release" in PrivacyForecast(91).warning
    assert PrivacyForecast(91).warning.endswith("where the method takes one")
    assert PrivacyForecast(91, has_delta=True).warning.endswith("Give less epsilon")
    assert "call this limited" in PrivacyForecast(90).sentence
