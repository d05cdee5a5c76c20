"""Numbers of laws: a fit that comes out otherwise needs a new number, or a reason why not.

For every method, for every protocol among holders and for methods of images a seeded fit to the
same rows is on record with the number of its law; networks are trained in a few steps. A change
that makes it come out otherwise fails here. Where the distribution has changed, raise the `law` of
the method, or its number in `understudy_studies/laws.py`, and write the record again with
`PYTHONPATH=src:tests python tests/methods/test_output_laws.py`; where only the order of draws has,
write it again and leave the number.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.halves import halves, small_method
from support.moment_images import moment_method, stripes
from support.tiers import slow_but
from support.torches import need_torch
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.federated import Collaboration, Form, seeded_analyst, split
from understudy.gan.images import labelled_images
from understudy.gan.tables import DPGAN, NoiseGAN
from understudy.gan.training import Hyperparameters
from understudy.methods.registry import BUILT_IN, method
from understudy.models.model import Model
from understudy.models.network import Family, Network
from understudy.privacy.curator import Instruments
from understudy.rows.table import Table
from understudy.testing import SeededNoise, seeded
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


# Protocols by their names in the list of laws.
FEDERATED = [name for name in PROTOCOLS if name.startswith("federated ")]
IMAGES = "moments of images"
WITHOUT_LESSONS = "dpgan without lessons"
# Methods that train networks, for which PyTorch must be there.
TRAINED = ("dpgan", WITHOUT_LESSONS, "noise-gan")
TRAINED_ON_IMAGES = ("dpgan of images", "noise-gan of images")
# Few steps at a high rate, so that each of them is seen in the rows.
_FEW: dict[str, Any] = {
    "epochs": 2,
    "batch": 1_000,
    "rounds": 2,
    "critic_rate": 0.05,
    "generator_rate": 0.05,
}


def _rows() -> dict[str, list[Any]]:
    generator = np.random.default_rng(3)
    a = generator.integers(0, 4, 2_000)
    b = (a > 1) ^ (generator.random(2_000) < 0.1)
    c = np.minimum(a, 2)
    return {"a": a.tolist(), "b": b.tolist(), "c": c.tolist()}


def _fitted(name: str) -> dict[str, Any]:
    """The charges of a seeded fit, and rows that its model makes."""
    fit = seeded(method(name)(SCHEMA, epsilon=2, **FITTED[name]), 11).fit(_rows(), ledger=None)
    return _described(name, fit.model_)


def _learned_together(name: str) -> dict[str, Any]:
    """The charges of a seeded run of a protocol among three holders, and rows of its model."""
    protocol, _, printed = name.removeprefix("federated ").partition(" ")
    network = Network((Family("a"), Family("b", ("a",)), Family("c", ("a",))))
    given: dict[str, Any] = {"network": network} if protocol == "parameters" else {}
    plan = Collaboration(SCHEMA, protocol, 20, form=Form.plain() if printed else Form(), **given)
    codes: dict[str, Codes] = {n: np.array(v, np.uint8) for n, v in _rows().items()}
    table = Table(Domain.of(SCHEMA), codes, 2_000)
    parts = split(table, "equal", holders=3, generator=np.random.default_rng(0))
    return _described(name, seeded_analyst(parts, plan, 11).learn())


def _described(name: str, model: Model) -> dict[str, Any]:
    rows = model.sample(min(model.rows, 2_000), seed=5)
    columns = {n: np.asarray(rows[n], float) for n in SCHEMA.columns}
    return {
        "law": law_of(name),
        "charges": _asked(model),
        "means": {n: round(float(values.mean()), 6) for n, values in columns.items()},
        "products": round(float((columns["a"] * columns["b"]).mean()), 6),
    }


def _trained(name: str) -> dict[str, Any]:
    """The charges of a few seeded steps on rows, and rows of the generator."""
    need_torch()
    settings = Hyperparameters(**_FEW, lessons=2 if name == "dpgan" else 0)
    made = NoiseGAN if name == "noise-gan" else DPGAN
    untrained = made(SCHEMA, epsilon=20, delta="1e-6", target="b", settings=settings)
    fit = seeded(untrained, 11).fit(_rows(), ledger=None)
    return _described(name, fit.model_)


def _of_images(name: str) -> dict[str, Any]:
    """The charges of a seeded fit to small images, and what the images that it makes have."""
    noise = Instruments(noise=SeededNoise(11))
    if name == IMAGES:
        model = moment_method(epsilon=20, instruments=noise).fit(stripes(600), ledger=None)
    else:
        settings = Hyperparameters(**_FEW, lessons=2)
        method = small_method(method=name.split()[0], epsilon=20, settings=settings)
        model = replace(method, instruments=noise).fit(halves(), ledger=None)
    made = labelled_images([model.sample(600, seed=5)])
    lines = made.pixels.mean(axis=(0, 2)) / 255
    return {
        "law": law_of(name),
        "charges": _asked(model),
        "means": {f"line {i}": round(float(line), 6) for i, line in enumerate(lines)},
        "products": round(float((made.pixels / 255.0).std()), 6),
    }


def _asked(model: Model) -> list[str]:
    """The questions in their order; one that follows itself is listed once, with its number."""
    alike = itertools.groupby(charge.question for charge in model.statement.charges)
    counted = [(question, len([*same])) for question, same in alike]
    return [question if n == 1 else f"{question}, {n} times" for question, n in counted]


def _pinned(name: str) -> dict[str, Any]:
    if name == IMAGES or name in TRAINED_ON_IMAGES:
        return _of_images(name)
    if name in TRAINED:
        return _trained(name)
    return _learned_together(name) if name in FEDERATED else _fitted(name)


PINNED = (*FITTED, *FEDERATED, IMAGES, *TRAINED, *TRAINED_ON_IMAGES)


@pytest.mark.parametrize("name", slow_but({*FITTED, *FEDERATED, IMAGES}, PINNED))
def test_a_fit_is_that_of_its_law(name: str) -> None:
    """The number, the questions and the rows are those on record."""
    expected, found = json.loads(RECORD.read_text(encoding="utf-8"))[name], _pinned(name)
    assert (expected["law"], expected["charges"]) == (found["law"], found["charges"])
    assert expected["means"] == pytest.approx(found["means"], abs=0.002)
    assert expected["products"] == pytest.approx(found["products"], abs=0.002)


def test_every_law_has_a_number() -> None:
    """Methods begin at 1, and protocols have theirs; all that fit in a moment are on record."""
    assert all(law_of(name) >= 1 for name in (*FITTED, *PROTOCOLS))
    assert set(PINNED) == set(json.loads(RECORD.read_text(encoding="utf-8")))
    assert set(PROTOCOLS) <= set(PINNED)
    assert {entry.name for entry in BUILT_IN} <= set(PINNED)


if __name__ == "__main__":
    text = json.dumps({name: _pinned(name) for name in PINNED}, indent=1)
    RECORD.write_text(text + "\n", encoding="utf-8")
