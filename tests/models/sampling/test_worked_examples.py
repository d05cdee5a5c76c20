"""The examples that TUC-2 works by hand in section 3.5.4, 3.6 to 3.9."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from support.asking import ask
from support.constraints import STATEMENT
from support.joint import cells_of, joint_given
from support.statistics import NEVER, fit_of_choices
from understudy.facts.codec import Codec
from understudy.facts.codes import Codes
from understudy.facts.schema import Schema
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.inference.question import read_question
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.records import ReleasedRecords
from understudy.models.sampling import given, sample_codes, sample_rows, weighted_codes
from understudy.models.sampling.estimate import estimated_chance
from understudy.models.sampling.forward import Configurations, Sequential, drawn_in_order
from understudy.models.sampling.weighting import Proposal, WeightedRows, fit_of
from understudy.system.arrays import Probabilities

# The text puts 1 first in every table, so that it is code 0.
SCHEMA = Schema.parse(
    {"columns": {name: {"kind": "categorical", "values": [1, 0]} for name in "ABCD"}}
)
NETWORK = (
    Conditional(Family("A"), np.array([0.8, 0.2])),
    Conditional(Family("B", ("A",)), np.array([[0.8, 0.2], [0.5, 0.5]])),
    Conditional(Family("C", ("A",)), np.array([[0.7, 0.3], [0.1, 0.9]])),
    Conditional(
        Family("D", ("B", "C")), np.array([[[0.3, 0.7], [0.1, 0.9]], [[0.2, 0.8], [0.9, 0.1]]])
    ),
)
MODEL = Model(SCHEMA, BayesNet.of(SCHEMA, NETWORK), 10, STATEMENT)
GENERATED = ["1101", "1000", "1011", "1010", "0110", "0100", "0111", "0000", "1101", "0000"]
WEIGHTED = {
    "A": [1, 0, 0, 1, 0, 0, 0, 0, 1, 0],
    "B": [0, 0, 1, 0, 1, 1, 0, 0, 0, 0],
    "C": [0, 0, 0, 0, 1, 0, 0, 0, 0, 0],
    "D": [1, 0, 1, 0, 0, 1, 1, 0, 1, 0],
}
WEIGHTS = np.array([0.5, 0.2, 0.3, 0.4, 0.1, 0.2, 0.1, 0.7, 0.5, 0.6])


def _row_from(model: Sequential, uniforms: Sequence[float]) -> list[int]:
    """The row that the text's samples of the unit interval lead to."""
    left = list(uniforms)

    def draw(table: Probabilities, given: Configurations, codes: Codes) -> None:
        [line] = given
        codes[:] = np.searchsorted(table[line].cumsum(), left.pop(0), side="right")

    codes = drawn_in_order(model, 1, draw)
    [row] = Codec(SCHEMA).decode(codes, generator=np.random.default_rng(0)).to_pylist()
    return [row[name] for name in "ABCD"]


def _released(rows: Sequence[str]) -> Model:
    """A model that holds just these rows."""
    cells = np.array([[1 - int(cell) for cell in row] for row in rows], np.uint8)
    records: dict[str, Codes] = {name: cells[:, i].copy() for i, name in enumerate("ABCD")}
    return Model(SCHEMA, ReleasedRecords(MODEL.domain, records), len(rows), STATEMENT)


def _share(what: str, known: str) -> tuple[int, int]:
    """How many of the generated rows fit what is asked and known, and how many what is known."""
    model = _released(GENERATED)
    both = what if not known else f"{what}, {known}"
    below = model.rows if not known else sample_rows(model, where=known).num_rows
    return sample_rows(model, where=both).num_rows, below


def test_example_3_6_prior_sampling() -> None:
    """Samples 0.59, 0.11, 0.7, 0.07 give (1, 1, 0, 1).

    The text's step (d) says that 0.07 in [0, 0.1) gives D = 0. That is a slip: by its own
    intervals, and in the tuple that it prints, D = 1.
    """
    assert [1, 1, 0, 1] == _row_from(MODEL, [0.59, 0.11, 0.7, 0.07])
    assert (4, 10) == _share("D = 1", "")
    assert (2, 10) == _share("A = 0, C = 1", "")
    assert (1, 10) == _share("A = 1, B = 0, C = 1, D = 0", "")
    assert (2, 4) == _share("B = 0", "C = 1")
    assert (1, 2) == _share("D = 0", "A = 0, C = 1")


def test_example_3_6_of_many_rows() -> None:
    """Rows of the network come as often as its parameters say."""
    cells = cells_of(MODEL, sample_codes(MODEL, 50_000, np.random.default_rng(1)))
    assert fit_of_choices(cells, joint_given(MODEL, {})) > NEVER


def test_example_3_7_rejection_sampling() -> None:
    """Samples 0.14 and 0.87 give A = 1, B = 0, which P(D = 0 | B = 1) rejects; others are kept."""
    assert [1, 0] == _row_from(MODEL, [0.14, 0.87, 0.5, 0.5])[:2]
    assert 0.5744 / 0.74 == pytest.approx(float(ask(MODEL, "P(D = 0 | B = 1)").chances))
    rows = sample_rows(MODEL, 40_000, where="B = 1", how="rejection", seed=2)
    assert {1} == set(rows["B"].to_pylist())
    found = np.array(rows["D"].to_pylist())
    assert fit_of_choices(found, np.array([0.5744, 0.74 - 0.5744]) / 0.74) > NEVER


def test_example_3_8_likelihood_weighting() -> None:
    """For P(D = 1 | A = 0, B = 1) every tuple weighs 0.2 · 0.5; samples 0.98, 0.52 set C and D."""
    known = given(MODEL, "A = 0, B = 1").conditions.evidence
    rows = weighted_codes(MODEL, known, 1_000, np.random.default_rng(3))
    assert [0.1] * 1_000 == pytest.approx(rows.weights.tolist())
    assert ({1}, {0}) == (set(rows.codes["A"].tolist()), set(rows.codes["B"].tolist()))
    proposed = Proposal.towards(MODEL.distribution.require_network(), known).drawn
    # Where evidence leaves one code, any sample gives it.
    assert [0, 1, 0, 0] == _row_from(proposed, [0.5, 0.5, 0.98, 0.52])
    sampled = ask(MODEL, "P(D = 1 | A = 0, B = 1)", samples=100_000, seed=1)
    assert abs(float(sampled.chances) - (0.1 * 0.3 + 0.9 * 0.1)) < 6 * float(sampled.errors)
    assert pytest.approx(0.1) == sampled.evidence


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("P(C = 0)", 3.5 / 3.6),
        ("P(A = 1, B = 0, C = 0, D = 1)", 1 / 3.6),
        ("P(A = 0, B = 0, C = 1, D = 0)", 0),
        ("P(D = 0 | A = 1, C = 0)", 0.4 / 1.4),
    ],
)
def test_example_3_9_queries_from_weighted_samples(question: str, expected: float) -> None:
    """Answers are ratios of sums of weights.

    The second query is printed as (0, 0, 1, 0) where it is put, and answered for (1, 0, 0, 1). That
    is a slip: the tuple that the text's sums belong to is (1, 0, 0, 1); no sample is (0, 0, 1, 0).
    """
    codes: dict[str, Codes] = {n: 1 - np.array(cells, np.uint8) for n, cells in WEIGHTED.items()}
    asked = read_question(question, SCHEMA.columns)
    assert asked.both is not None
    rows = WeightedRows(codes, WEIGHTS * fit_of(codes, asked.given))
    estimate = estimated_chance(rows, asked.both, asked.given)
    assert pytest.approx(expected) == float(estimate.chances)
