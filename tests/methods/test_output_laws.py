"""Numbers of laws: a fit that comes out otherwise needs a new number, or a reason why not.

For every method a seeded fit to the same rows is on record with the number of its law. A change
that makes it come out otherwise fails here. Where the distribution has changed, raise the `law` of
the method and write the record again with `python tests/methods/test_output_laws.py`; where only
the order of draws has, write it again and leave the number.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from understudy.facts.schema import Schema
from understudy.methods.registry import method
from understudy.testing import seeded
from understudy_studies.laws import PROTOCOLS, law_of

RECORD = Path(__file__).with_name("laws.json")
# Methods that fit in a moment, without packages that train networks.
FITTED: dict[str, dict[str, Any]] = {
    "random": {},
    "independent": {},
    "histogram": {"rows": 200},
    "privbayes": {},
    "nist": {"delta": "1e-6"},
    "adaptive": {"delta": "1e-6"},
}
SCHEMA = Schema.parse(
    {
        "columns": {
            "a": {"kind": "integer", "min": 0, "max": 3},
            "b": {"kind": "boolean"},
            "c": {"kind": "integer", "min": 0, "max": 2},
        }
    }
)


def _rows() -> dict[str, list[Any]]:
    generator = np.random.default_rng(3)
    a = generator.integers(0, 4, 2_000)
    b = (a > 1) ^ (generator.random(2_000) < 0.1)
    c = np.minimum(a, 2)
    return {"a": a.tolist(), "b": b.tolist(), "c": c.tolist()}


def _fitted(name: str) -> dict[str, Any]:
    """The charges of a seeded fit, and rows that its model makes."""
    fit = seeded(method(name)(SCHEMA, epsilon=2, **FITTED[name]), 11).fit(_rows(), ledger=None)
    rows = fit.model_.sample(min(fit.model_.rows, 2_000), seed=5)
    columns = {n: np.asarray(rows[n], float) for n in SCHEMA.columns}
    return {
        "law": law_of(name),
        "charges": [charge.question for charge in fit.model_.statement.charges],
        "means": {n: round(float(values.mean()), 6) for n, values in columns.items()},
        "products": round(float((columns["a"] * columns["b"]).mean()), 6),
    }


@pytest.mark.parametrize("name", FITTED)
def test_a_fit_is_that_of_its_law(name: str) -> None:
    """The number, the questions and the rows are those on record."""
    expected, found = json.loads(RECORD.read_text(encoding="utf-8"))[name], _fitted(name)
    assert (expected["law"], expected["charges"]) == (found["law"], found["charges"])
    assert expected["means"] == pytest.approx(found["means"], abs=0.002)
    assert expected["products"] == pytest.approx(found["products"], abs=0.002)


def test_every_law_has_a_number() -> None:
    """Methods begin at 1, and protocols have theirs."""
    assert all(law_of(name) >= 1 for name in (*FITTED, *PROTOCOLS))
    assert {"federated votes as printed", "federated model as printed"} <= set(PROTOCOLS)


if __name__ == "__main__":
    text = json.dumps({name: _fitted(name) for name in FITTED}, indent=1)
    RECORD.write_text(text + "\n", encoding="utf-8")
