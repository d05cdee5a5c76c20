"""What the papers work out by hand or prove: examples, a coin, and the entropy of noisy tables."""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.federated import Collaboration
from understudy.federated.analyst.advice import (
    ProtocolAdvice,
    epsilon_for_statistics,
    statistics_remark,
    statistics_threshold,
)
from understudy.federated.analyst.entropy_error import (
    EntropyError,
    least_epsilon,
    noise_moment,
    noise_scale,
)
from understudy.methods.structure.greedy import greedy_network
from understudy.methods.structure.pairwise import PairScores, spanning_tree
from understudy.methods.structure.scores import mutual_information
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.spending.grant import Grant
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy_studies import seven
from understudy_studies.cells import Spread
from understudy_studies.copula import FREE
from understudy_studies.corrected_information import EVEN, FOUND, OWN, corrected
from understudy_studies.least_squares_levels import error_per_user, least_squares_points
from understudy_studies.record_posterior import RecordPosterior
from understudy_studies.tables import domain_of

RECORD = Path(__file__).parents[2] / "docs" / "studies" / "tuc1-federated.json"
# Diabetes as the studies prepare it, by how many columns have how many values.
DIABETES = {2: 2, 3: 2, 4: 25, 6: 1, 8: 1, 10: 4, 11: 1, 14: 1, 16: 5, 21: 1, 25: 1, 30: 1}
DOMAINS = {
    "seven attributes": Domain(dict(seven.SIZES)),
    "diabetes": Domain(
        {f"{size} {i}": size for size, count in DIABETES.items() for i in range(count)}
    ),
}

# The table of TUC-2's examples 3.3 and 3.4: A and B are equal, D is constant.
ROWS = ("1110", "0000", "1100", "1110", "1100", "0000", "1100", "0000", "0000", "0000")


def _example() -> MemorySource:
    domain: Domain = domain_of(dict.fromkeys("ABCD", 2))
    codes = {n: np.array([int(row[i]) for row in ROWS], np.uint8) for i, n in enumerate("ABCD")}
    return MemorySource(Table(domain, codes, len(ROWS)))


def _bits(*sets: str) -> list[float]:
    """The mutual information of the last attribute of each set with the others, in bits."""
    kernel = mutual_information(len(ROWS), binary=True).kernel
    return [float(s) for s in _example().score([tuple(names) for names in sets], kernel)]


def test_the_tree_of_example_3_3_has_other_information_than_printed() -> None:
    """I(C; A) and I(C; B) are both 0.236 bits, for 0.4 and 0; I(D; B) is 0, for 0.2."""
    assert [1.0, 0.236, 0.0] == pytest.approx(_bits("AB", "AC", "AD"), abs=1e-3)
    assert [0.236, 0.0, 0.0] == pytest.approx(_bits("BC", "BD", "CD"), abs=1e-3)
    scores = {
        frozenset(p): s for p, s in zip(_pairs(), _bits(*map("".join, _pairs())), strict=True)
    }
    tree = spanning_tree(PairScores(domain_of(dict.fromkeys("ABCD", 2)), scores, 0.0), FREE)
    edges = {frozenset(edge) for edge in tree.edges}
    assert frozenset("AB") in edges
    assert frozenset("AC") in edges or frozenset("BC") in edges


def _pairs() -> list[tuple[str, str]]:
    return list(itertools.combinations("ABCD", 2))


def test_the_greedy_network_of_example_3_4_shows_that_information_does_not_add_up() -> None:
    """I(C; A, B) is I(C; A), since B says what A says: 0.236 and not the sum, 0.473."""
    both, one, other = _bits("ABC", "AC", "BC")
    assert both == pytest.approx(one)
    assert 0.473 == pytest.approx(one + other, abs=1e-3)
    unlimited = Budget.unlimited()
    curator = Curator(_example(), Unit(Neighbours.REPLACE), Grant(unlimited))
    score = mutual_information(len(ROWS), binary=True)
    network = greedy_network(curator, unlimited, score=score, table_cost=FREE, degree=2)
    order = [family.child for family in network]
    assert ["A", "B", "C", "D"] == order


def _coin_loss(tails: int, flips: int, released: int) -> float:
    """The largest logarithm of a ratio of chances of k released flips, one real flip changed."""
    worst = 0.0
    for other, heads in itertools.product((tails - 1, tails + 1), range(released + 1)):
        first, second = (
            p**heads * (1 - p) ** (released - heads) for p in (tails / flips, other / flips)
        )
        if first > 0:
            worst = math.inf if second == 0 else max(worst, math.log(first / second))
    return worst


def _coin_bound(tails: int, flips: int, released: int) -> float:
    """AAU's printed bound at its worst number of released tails; NaN where it is undefined."""
    p, step = tails / flips, 1 / flips
    if p - step <= 0 or 1 - p - step <= 0:
        return math.nan
    return max(
        r * math.log(p / (1 - p))
        - r * math.log((p - step) / (1 - p - step))
        + released * math.log((1 - p) / (1 - p - step))
        for r in range(released + 1)
    )


def test_the_coin_keeps_the_printed_bound_only_away_from_its_ends() -> None:
    """Inside, the bound holds for the flips at hand; at one tail of ten there is none at all."""
    for tails in range(2, 9):
        bound = _coin_bound(tails, 10, 3)
        assert 0 < _coin_loss(tails, 10, 3) <= bound * (1 + 1e-9) < math.inf
    # Ten flips without a tail, and with one: three released tails are possible for one alone.
    assert math.isinf(_coin_loss(1, 10, 3))
    assert math.isinf(_coin_loss(9, 10, 3))
    assert math.isnan(_coin_bound(1, 10, 3))


# --- the entropy of noisy tables ----------------------------------------------------------------


def test_moments_of_summed_noise_are_those_of_the_generating_function() -> None:
    """Second and fourth as printed; the sixth agrees with print for one and two holders alone."""
    for holders in range(1, 8):
        second, fourth = 2 * holders, 12 * (holders**2 + holders)
        assert (second, fourth) == (noise_moment(2, holders), noise_moment(4, holders))
        sixth = 120 * holders**3 + 360 * holders**2 + 240 * holders
        assert sixth == noise_moment(6, holders)
        printed = 240 * (holders**3 + 2 * holders)
        assert (printed == noise_moment(6, holders)) == (holders <= 2)
    assert 0 == noise_moment(5, 3)


def test_moments_of_shares_are_those_of_every_outcome() -> None:
    """Over all samples of four rows, with noise whose moments are known."""
    p, rows = np.array([0.2, 0.8]), 4
    error = EntropyError(p, rows, 3, 0.5)
    chances = [math.comb(rows, c) * p[0] ** c * p[1] ** (rows - c) for c in range(rows + 1)]
    own = [sum(q * (c / rows - p[0]) ** k for c, q in enumerate(chances)) for k in range(5)]
    noise = [noise_moment(k, 3) * (0.5 / rows) ** k for k in range(5)]
    for order in (2, 3, 4):
        exact = sum(math.comb(order, k) * own[k] * noise[order - k] for k in range(order + 1))
        assert exact == pytest.approx(float(error.central_moment(order)[0]))
    # Shares add up to 1, so that one cell's gain is the other's loss: the covariance is negative.
    assert -p[0] * p[1] / rows == pytest.approx(error.covariance[0, 1])


def test_bias_and_error_are_those_of_simulated_holders() -> None:
    """Theorem 3.5 within five standard errors, and far away without its term of noise."""
    p = np.array([0.35, 0.25, 0.2, 0.12, 0.08])
    error, runs = EntropyError(p, 4_000, 3, 12.0), 20_000
    generator = np.random.default_rng(29)
    counts = generator.multinomial(error.rows, p, runs).astype(float)
    counts += generator.laplace(0, error.scale, (error.holders, *counts.shape)).sum(axis=0)
    shares = counts / error.rows
    assert shares.min() > 0
    off = -(shares * np.log(shares)).sum(axis=1) - error.entropy
    # The noise moves the sum of all shares too, which the theorem counts.
    unsure = float(off.std() / math.sqrt(runs))
    assert float(off.mean()) == pytest.approx(error.bias, abs=5 * unsure)
    assert abs(float(off.mean()) + (p.size - 1) / (2 * error.rows)) > 6 * unsure
    assert float((off**2).mean()) == pytest.approx(error.squared_error, rel=0.06)
    assert error.entropy == pytest.approx(error.corrected(error.entropy + error.bias))


def test_the_least_epsilon_balances_noise_and_sample() -> None:
    """At it both biases are equal; with four times the holders it is twice as large."""
    p = np.full(8, 1 / 8)
    asked = {"rows": 10_000, "attributes": 7, "degree": 1}
    least = least_epsilon(p, holders=3, **asked)
    error = EntropyError(p, 10_000, 3, noise_scale(7, 1, least))
    assert -error.noise_bias == pytest.approx((p.size - 1) / (2 * 10_000))
    assert 2 * least == pytest.approx(least_epsilon(p, holders=12, **asked))
    assert 2 * math.comb(7, 2) == noise_scale(7, 1, 1.0)


def test_impossible_tables_are_refused() -> None:
    """Cells of no chance, no rows, and tables of one cell."""
    with pytest.raises(UsageError, match="above 0"):
        EntropyError(np.array([1.0, 0.0]), 10, 1, 1.0)
    with pytest.raises(UsageError, match="give them"):
        EntropyError(np.array([0.5, 0.5]), 0, 1, 1.0)
    with pytest.raises(UsageError, match="order is 5"):
        EntropyError(np.array([0.5, 0.5]), 10, 1, 1.0).central_moment(5)
    with pytest.raises(UsageError, match="one cell"):
        least_epsilon(np.array([1.0]), rows=10, holders=1, attributes=3, degree=1)


# --- levels for the least squared error ---------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_two_levels_beat_levels_of_least_squared_error(epsilon: float) -> None:
    """Points stand for the mean of their draws; more of them leave a density further off."""
    errors = []
    for levels in (2, 4, 8, 16):
        points = least_squares_points(epsilon, levels)
        assert points.tolist() == pytest.approx((-points[::-1]).tolist(), abs=1e-4)
        errors.append(error_per_user(epsilon, points))
    assert errors[0] == min(errors)
    # An optimal bit takes less than any of them: (1/tanh² − 1)/4 for a user.
    assert (1 / math.tanh(epsilon / 2) ** 2 - 1) / 4 < errors[0]
    # Nearer to the draws than equal steps: the squared error is least, which is not what counts.
    draws = np.random.default_rng(0).laplace(epsilon / 2, 1, 20_000)
    draws[::2] -= epsilon
    nearest, equal = (
        float((np.abs(draws[:, None] - values).min(axis=1) ** 2).mean())
        for values in (least_squares_points(epsilon, 4), np.linspace(-8, 8, 4))
    )
    assert nearest < equal


def test_impossible_levels_are_refused() -> None:
    """One level says nothing."""
    with pytest.raises(UsageError, match="two or more"):
        least_squares_points(0.5, 1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_posterior_of_a_record_moves_by_at_most_epsilon(epsilon: float) -> None:
    """Whoever knows all other rows learns a factor of e^ε at most about any two records.

    It is reached: one cell one above what the others are, another one at it.
    """
    others = np.array([[4, 0], [2, 7]])
    even = np.full((2, 2), 0.25)
    most = 0.0
    for release in np.random.default_rng(1).integers(-3, 12, (200, 2, 2)):
        found = RecordPosterior(others, release, epsilon, even)
        assert 1 == pytest.approx(float(found.chances.sum()))
        assert found.odds <= math.exp(epsilon) * (1 + 1e-12)
        most = max(most, found.odds)
    assert math.exp(epsilon) == pytest.approx(most)


def test_guesses_of_a_whole_record_become_better_with_epsilon() -> None:
    """The expected number of wrong attributes is that of the prior at ε near 0, and falls."""
    others = np.array([[4, 0], [2, 7]])
    exact = others + np.array([[0, 0], [1, 0]])
    codes = [np.array([[0, 0], [1, 1]]), np.array([[0, 1], [0, 1]])]
    even = np.full((2, 2), 0.25)
    found = [
        RecordPosterior(others, exact, epsilon, even).expected_distance(codes, (1, 0))
        for epsilon in (1e-9, 1.0, 10.0)
    ]
    assert 1 == pytest.approx(found[0])
    assert found[0] > found[1] > found[2]
    with pytest.raises(UsageError, match="adds up to 1"):
        RecordPosterior(others, exact, 1.0, np.full((2, 2), 0.5))


def test_statistics_are_advised_from_the_least_epsilon_on() -> None:
    """Below it a remark names votes, above it nothing is said; other protocols have none."""
    schema = Schema.parse({"columns": {name: {"kind": "boolean"} for name in "abcde"}})
    few = Collaboration(schema, "statistics", "0.1")
    least = epsilon_for_statistics(few, rows=3000, holders=3)
    assert least is not None
    error = EntropyError(np.full(4, 0.25), 3000, 3, noise_scale(5, 1, least))
    assert -1 / 8 == pytest.approx(error.noise_bias)
    # The noise of a cell is then half of it.
    assert 1 / 2 == pytest.approx(math.sqrt(error.noise) / 0.25)
    assert "--protocol votes may do better" in str(statistics_remark(few, rows=3000, holders=3))
    much = Collaboration(schema, "statistics", 1000)
    assert None is statistics_remark(much, rows=3000, holders=3)
    assert None is statistics_remark(Collaboration(schema, "votes", "0.1"), rows=3000, holders=3)
    gaussian = Collaboration(schema, "statistics", "0.1", delta="1e-6")
    assert None is epsilon_for_statistics(gaussian, rows=3000, holders=3)


@pytest.mark.parametrize(("form", "against"), [("as printed", 0), ("improved", 4)])
def test_the_advice_is_borne_out_by_the_record(form: str, against: int) -> None:
    """Statistics need fewer bits than votes above the advised ε, more below, or it stays open.

    The improved form leaves out tables that noise would drown, so that it is less clear there.
    """
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    found: dict[tuple[Any, ...], dict[str, Spread]] = defaultdict(dict)
    for cell in record["cells"]:
        s, bits = cell["setting"], cell["numbers"]["bits"]
        if s["form"] == form and s["protocol"] in ("statistics", "votes"):
            key = tuple(s[n] for n in ("table", "rows", "holders", "degree", "epsilon"))
            found[key][s["protocol"]] = Spread.of(bits)
    wrong = decided = 0
    for (table, rows, holders, degree, epsilon), each in found.items():
        gain = each["votes"].mean - each["statistics"].mean
        chance = math.hypot(each["votes"].error, each["statistics"].error)
        least = statistics_threshold(
            DOMAINS[table], degree=degree, rows=rows or 71_518, holders=holders
        )
        assert least is not None
        decided += abs(gain) > 2 * chance
        wrong += abs(gain) > 2 * chance and (gain > 0) != (float(epsilon) >= least)
    assert decided >= 15
    assert wrong <= against


def test_without_numbers_nothing_is_advised() -> None:
    """One column has no pairs, and too many have more tables than anybody asks for."""
    one = Domain({"a": 3})
    assert None is statistics_threshold(one, degree=1, rows=100, holders=2)
    many = Domain({f"c{i}": 2 for i in range(500)})
    assert None is statistics_threshold(many, degree=1, rows=100, holders=2)
    schema = Schema.parse({"columns": {"a": {"kind": "boolean"}}})
    advice = ProtocolAdvice.of(schema, degree=1, rows=100, holders=2)
    assert "Nothing is known" in advice.sentence
    with pytest.raises(UsageError, match="give 1 or more"):
        ProtocolAdvice.of(schema, degree=1, rows=100, holders=0)


def test_a_known_bias_is_subtracted_and_changes_little() -> None:
    """With little noise a corrected information is the one found; with much it is smaller."""
    table = np.array([[9_000.0, 11_000.0], [12_000.0, 8_000.0]])
    found, even, own = (corrected(table, 400.0, name) for name in (FOUND, EVEN, OWN))
    assert found > even > 0
    assert found > own > 0
    assert found == pytest.approx(corrected(table, 1e-6, OWN))
    # For even shares of r × c cells M holders add M·b²·rc·(r − 1)·(c − 1)/n² nats.
    bias = 3 * (400.0 / 40_000) ** 2 * 4 / math.log(2)
    assert bias == pytest.approx(found - even)
