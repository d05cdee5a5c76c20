"""Shares, projections and conditionals from released tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods.estimation.allocation import least_error_weights
from understudy.models.estimation.conditionals import conditionals
from understudy.models.estimation.consistency import best_total, onto_simplex
from understudy.models.network import Family, Network
from understudy.privacy.budget import Measure
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.rows.counting import Counts

counts = st.lists(st.integers(-50, 200), min_size=1, max_size=12).map(np.array)


@given(counts, st.floats(0.5, 1000))
def test_projection_lands_on_the_simplex(cells: Counts, total: float) -> None:
    """Not negative, and adding up to the total."""
    table = onto_simplex(cells, total)
    assert (table >= 0).all()
    assert table.sum() == pytest.approx(total)


@given(counts, st.floats(0.5, 1000), st.integers(0, 2**32 - 1))
def test_projection_is_the_nearest_point(cells: Counts, total: float, seed: int) -> None:
    """No other point of the simplex is closer."""
    table = onto_simplex(cells, total)
    others = np.random.default_rng(seed).dirichlet(np.ones(cells.size), 50) * total
    nearest = np.linalg.norm(table - cells)
    assert (np.linalg.norm(others - cells, axis=1) >= nearest - 1e-7).all()


def test_projection_keeps_what_is_possible() -> None:
    """A table that is already right stays as it is; one for no rows is empty."""
    assert [3.0, 0.0, 7.0] == onto_simplex(np.array([3, 0, 7]), 10).tolist()
    assert [0.0, 0.0] == onto_simplex(np.array([3, 4]), -2).tolist()


def test_the_total_weighs_tables_by_their_precision() -> None:
    """A table of four cells says four times less about the total than one of one cell."""
    small = NoisyMarginal((), np.array(100), 1.0)
    large = NoisyMarginal(("a",), np.array([30, 30, 30, 20]), 1.0)
    assert best_total([small, large]) == pytest.approx((100 + 110 / 4) / (1 + 1 / 4))


def test_exact_totals_win() -> None:
    """Tables without noise decide alone."""
    exact = NoisyMarginal((), np.array(100), 0.0)
    assert best_total([exact, NoisyMarginal((), np.array(7), 1.0)]) == 100


@pytest.mark.parametrize(
    ("measure", "cost_power"), [(Measure.PURE, 1), (Measure.ZCDP, 2)], ids=["epsilon", "rho"]
)
def test_shares_make_the_expected_error_least(measure: Measure, cost_power: int) -> None:
    """A numerical optimiser finds nothing better than the closed form."""
    cells = [2, 5, 16, 42, 400]

    def error(log_shares: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        shares = np.exp(log_shares) / np.exp(log_shares).sum()
        return float((np.array(cells) * shares ** (-1 / cost_power)).sum())

    weights = np.array(least_error_weights(cells, measure), float)
    ours = error(np.log(weights))
    best = minimize(
        error, np.zeros(len(cells)), method="Nelder-Mead", options={"maxiter": 5000}
    ).fun
    assert ours <= best * (1 + 1e-6)
    assert ours < error(np.zeros(len(cells))) * 0.99


PAIR = Domain({"child": 2, "parent": 3})


def test_conditionals_come_from_the_joint() -> None:
    """P(child | parents) is the joint over its parents' sum, in the family's order of axes."""
    joint = NoisyMarginal(("child", "parent"), np.array([[10, 0, 0], [30, 20, 0]]), 1.0)
    network = Network((Family("parent"), Family("child", ("parent",))))
    table = conditionals(network, [joint], total=60, domain=PAIR)[1].probabilities
    assert table[0].tolist() == pytest.approx([0.25, 0.75])
    assert table[1].tolist() == pytest.approx([0.0, 1.0])


def test_parents_never_seen_give_the_child_its_own_distribution() -> None:
    """The fallback is defined, and not a division by zero."""
    joint = NoisyMarginal(("child", "parent"), np.array([[10, 0, 0], [30, 20, 0]]), 1.0)
    network = Network((Family("parent"), Family("child", ("parent",))))
    assert [1 / 6, 5 / 6] == pytest.approx(
        conditionals(network, [joint], total=60, domain=PAIR)[1].probabilities[2].tolist()
    )


def test_cells_that_constraints_forbid_are_emptied() -> None:
    """Noise in them moves nothing: the conditional is as if it had not been drawn."""
    columns = {"child": {"kind": "boolean"}, "parent": {"kind": "integer", "min": 0, "max": 2}}
    ruled = Schema.parse({"constraints": ["if parent = 1 then child = yes"], "columns": columns})
    network = Network((Family("parent"), Family("child", ("parent",))))

    def learned(cell: int) -> list[list[float]]:
        joint = NoisyMarginal(("child", "parent"), np.array([[10, cell, 5], [30, 20, 5]]), 1.0)
        [_, table] = conditionals(
            network, [joint], total=70, domain=PAIR, constraints=ruled.constraints
        )
        return [list(line) for line in table.probabilities]

    assert [[0.25, 0.75], [0.0, 1.0], [0.5, 0.5]] == [pytest.approx(line) for line in learned(0)]
    assert learned(0) == learned(9) == learned(-9)


def test_no_rows_give_uniform_conditionals() -> None:
    """With nothing known, every value is as likely as the next."""
    nothing = NoisyMarginal(("a",), np.array([-5, -3, -9]), 1.0)
    [alone] = conditionals(
        Network.without_edges(["a"]), [nothing], total=0.0, domain=Domain({"a": 3})
    )
    assert [1 / 3] * 3 == alone.probabilities.tolist()
