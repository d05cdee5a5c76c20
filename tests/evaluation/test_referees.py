"""SDMetrics and Anonymeter take what we write, and agree where they measure the same thing.

Each lives in an environment of its own, made when it is first needed; where that cannot be done
the tests are skipped and say why.
"""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.environments import ANONYMETER, SDMETRICS, Peer, Unavailable, run_peer
from understudy.evaluation import Evaluation, evaluate
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.methods import Nist
from understudy.models.row_writing import write_rows
from understudy.rows.reading import read_rows
from understudy.rows.table import Table
from understudy.testing import seeded

pytestmark = pytest.mark.slow

NUMBERS = ("age", "visits")
SCHEMA = Schema.parse(
    {
        "columns": {
            "town": {"kind": "categorical", "values": ["u", "v", "w", "x"]},
            "sex": {"kind": "categorical", "values": ["f", "m"], "missing": ["?"]},
            "ill": {"kind": "categorical", "values": ["no", "yes"]},
            "age": {"kind": "integer", "min": 0, "max": 30},
            "visits": {"kind": "integer", "min": 0, "max": 9},
        }
    }
)


def _rows(count: int, seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    age = generator.integers(0, 31, count)
    ill = age + generator.integers(-10, 10, count) > 20
    return {
        "town": generator.choice(["u", "v", "w", "x"], count, p=[0.5, 0.3, 0.15, 0.05]).tolist(),
        "sex": generator.choice(["f", "m", "?"], count, p=[0.5, 0.45, 0.05]).tolist(),
        "ill": np.where(ill, "yes", "no").tolist(),
        "age": age.tolist(),
        "visits": np.minimum(generator.poisson(1 + 3 * ill), 9).tolist(),
    }


def _written(rows: Any, path: Path) -> Path:
    """Rows as this package writes them."""
    codec = Codec(SCHEMA)
    write_rows([read_rows(rows, codec)], path, codec)
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Real, synthetic and control rows as files."""
    folder = tmp_path_factory.mktemp("referees")
    real, control = _rows(1_000, 1), _rows(1_000, 2)
    made = seeded(Nist(SCHEMA, epsilon=1, delta="1e-6"), 1).fit(real, ledger=None)
    synthetic = made.sample(1_000, seed=1)
    tables = {"real": real, "synthetic": synthetic, "control": control}
    return {name: _written(rows, folder / f"{name}.csv") for name, rows in tables.items()}


def _judged(peer: Peer, job: str, *arguments: str) -> dict[str, Any]:
    try:
        spent = run_peer(peer, job, *arguments)
    except Unavailable as reason:
        pytest.skip(str(reason))
    found: dict[str, Any] = json.loads(spent.output.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def judged(files: dict[str, Path]) -> dict[str, Any]:
    """What SDMetrics says."""
    pair = (str(files["real"]), str(files["synthetic"]))
    return _judged(SDMETRICS, "run_sdmetrics.py", *pair, ",".join(NUMBERS))


@pytest.fixture(scope="module")
def evaluated(files: dict[str, Path]) -> Evaluation:
    """What we say."""
    return evaluate(files["real"], files["synthetic"], SCHEMA, classifiers="none")


def test_one_way_distances_are_those_of_sdmetrics(
    judged: dict[str, Any], evaluated: Evaluation
) -> None:
    """TVComplement is one less our distance, column by column."""
    ours = {found.column: 1 - found.distance for found in evaluated.distributions}
    assert judged["one"] == pytest.approx(ours)


def test_two_way_distances_are_those_of_sdmetrics(
    judged: dict[str, Any], files: dict[str, Path]
) -> None:
    """ContingencySimilarity is one less our distance, pair by pair."""
    codec = Codec(SCHEMA)
    real, synthetic = (
        Table.of(codec.encode(read_rows(files[n], codec))) for n in ("real", "synthetic")
    )
    pairs = list(combinations([name for name in SCHEMA.learned if name not in NUMBERS], 2))
    distances = total_variation(real, synthetic, pairs).tolist()
    ours = {",".join(pair): 1 - d for pair, d in zip(pairs, distances, strict=True)}
    assert {pair: judged["two"][pair] for pair in ours} == pytest.approx(ours)


@pytest.mark.parametrize("method", ["Pearson", "Spearman"])
def test_correlations_are_those_of_sdmetrics(
    judged: dict[str, Any], evaluated: Evaluation, method: str
) -> None:
    """CorrelationSimilarity is one less half the difference of our correlations."""
    found = evaluated.associations[method.lower()]
    real, synthetic = found.real[0][1], found.synthetic[0][1]
    assert NUMBERS == found.columns
    assert real is not None
    assert synthetic is not None
    assert judged["correlation"][method]["age,visits"] == pytest.approx(
        1 - abs(real - synthetic) / 2, abs=1e-6
    )


@pytest.mark.full
def test_anonymeter_takes_our_rows_and_knows_a_copy(files: dict[str, Path]) -> None:
    """Its attack runs on what we write, and gains more from real rows than from synthetic ones."""
    real, synthetic, control = (str(files[n]) for n in ("real", "synthetic", "control"))
    asked = (control, "visits", "300", "0")
    ours = _judged(ANONYMETER, "run_anonymeter.py", "inference", real, synthetic, *asked)
    copy = _judged(ANONYMETER, "run_anonymeter.py", "inference", real, real, *asked)
    assert 0 <= ours["risk"] <= 1
    assert ours["risk"] < 0.2 < copy["risk"]
