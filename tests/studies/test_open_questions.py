"""Studies of what the papers leave to others: sketches, scores, and two methods on one test."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from understudy_studies import (
    averaged_trees,
    find,
    power_of_both,
    private_networks,
    score_and_degree,
    sketches,
    streamed_networks,
)
from understudy_studies.cells import Cell, Results, Size, Spread
from understudy_studies.guessed_records import guess, guesses
from understudy_studies.power_of_both import GUESSES, METHODS, QUESTIONS
from understudy_studies.sketched_density import STATES, flajolet_martin, hashed, sampled
from understudy_studies.sketched_tables import (
    TableRelease,
    averaged,
    cell_error,
    count_sketch,
    entropy_error,
    fourier,
    whole,
)


def _asked(epsilon: float, *, ways: int = 2) -> TableRelease:
    rows = np.random.default_rng(3).random((500, 4)) < [0.2, 0.4, 0.6, 0.8]
    return TableRelease(rows.astype(float), ways, epsilon, holders=2)


@pytest.mark.parametrize("way", [whole, averaged, fourier])
@pytest.mark.parametrize("ways", [1, 2, 3])
def test_without_noise_all_tables_come_back(way: Any, ways: int) -> None:
    """With a budget beyond measure every way gives the exact counts."""
    asked = _asked(1e12, ways=ways)
    assert np.allclose(asked.exact, way(asked, np.random.default_rng(1)), atol=1e-4)


def test_averaged_tables_agree() -> None:
    """Two tables with a common attribute have the same counts of it, and all the same total."""
    asked = _asked(1.0)
    found = averaged(asked, np.random.default_rng(1))
    firsts: dict[int, list[Any]] = {}
    for names, table in zip(asked.sets, found, strict=True):
        square = table.reshape(2, 2)
        for name, axis in zip(names, (1, 0), strict=True):
            firsts.setdefault(name, []).append(square.sum(axis=axis))
    for counts in firsts.values():
        assert np.allclose(counts[0], counts)
    assert np.allclose(500, found.sum(axis=1))


def test_a_sketch_has_the_noise_of_all_its_lines() -> None:
    """As many counters as cells, and one line: what is added is noise and collisions alone."""
    asked = _asked(1e12)
    found = count_sketch(asked, np.random.default_rng(2), lines=1, part=1000.0)
    assert np.allclose(asked.exact, found, atol=1e-3)
    noisy = _asked(0.5)
    errors = [
        np.mean(
            [
                cell_error(
                    count_sketch(noisy, np.random.default_rng(s), lines=n, part=1000.0), noisy.exact
                )
                for s in range(40)
            ]
        )
        for n in (1, 3)
    ]
    # The median of three lines of three times the noise: far from as good as one line.
    assert errors[1] > 1.3 * errors[0]


def test_errors_are_zero_for_the_same_tables() -> None:
    """Both measures compare tables with themselves at 0, and others above it."""
    exact = _asked(1.0).exact
    assert (0.0, 0.0) == (cell_error(exact, exact), entropy_error(exact, exact))
    assert entropy_error(np.full_like(exact, 125.0), exact) > 0


@pytest.mark.parametrize(
    ("state", "bits"), [(sampled, 10_000), (hashed, 2**16), (flajolet_martin, 2**16)]
)
def test_states_are_about_right_without_noise(state: Any, bits: int) -> None:
    """With ε = 30 a thousand of ten thousand users are found to a tenth."""
    found = [state(10_000, 1_000, bits, 30.0, np.random.default_rng(s)) for s in range(20)]
    assert 1_000 == pytest.approx(float(np.mean(found)), rel=0.1)


def test_findings_on_users_follow_the_numbers() -> None:
    """The sketch is said to be nearer where it is, and at no other number of users."""
    setting: dict[str, Any] = {"kind": "users", "bits": 64, "epsilon": "1", "runs": 1, "seed": 0}
    numbers = [
        {name: {"error": e} for name, e in zip(STATES, errors, strict=True)}
        for errors in ((0.5, 0.4, 0.1), (0.1, 0.2, 0.3))
    ]
    cells = [
        Cell({**setting, "seen": seen}, each, 0.0, "0")
        for seen, each in zip((10, 20), numbers, strict=True)
    ]
    both = sketches.STUDY.findings(Results(tuple(cells)))[0]
    assert "not comparable" == both.verdict
    assert "leaves it to further work" in both.reason
    assert both.measured.startswith("nearer with 10 users seen; ")
    last = sketches.STUDY.findings(Results(tuple(cells[1:])))[0]
    assert last.measured.startswith("never nearer; ")


@pytest.mark.slow
def test_chances_of_edges_add_up_to_parents() -> None:
    """All edges together are as likely as there are parents on average; none leads to itself."""
    chances = np.array(private_networks.edge_chances(Fraction(5)))
    parents = private_networks.expected(lambda f: float(len(f.parents)), Fraction(5))
    assert parents == pytest.approx(float(chances.sum()))
    assert 0 == np.diag(chances).sum()


@pytest.mark.parametrize("name", QUESTIONS)
def test_rows_of_both_questions(name: str) -> None:
    """Dependent columns are rejected on the real rows, and independent ones are not as a rule."""
    asked = QUESTIONS[name]
    tables = [
        asked.drawn(2_000, np.random.default_rng(5), dependent) for dependent in (True, False)
    ]
    first, second = asked.pair
    found = [asked.test(t.codes[first], t.codes[second]) for t in tables]
    assert found[0] < 1e-6
    assert found[1] > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_with_much_budget_the_dependence_is_found(method: str) -> None:
    """At ε = 50 calibrated power of Spearman's test is 1 for both methods."""
    setting: dict[str, Any] = {"table": "square", "method": method, "epsilon": "50", "runs": 30}
    found = find("aau-comparison").measure({**setting, "rows": 1_000, "seed": 4}, None)  # type: ignore[arg-type]
    assert 1.0 == found["calibrated"]["share"]


def test_ties_and_overlapping_bands_have_no_winner() -> None:
    """A method has more power where its band lies above the other's, and nowhere else."""
    shares = {"0.1": (0.05, 0.06), "1": (0.1, 0.9), "10": (1.0, 1.0)}
    cells = [
        Cell(
            {"table": "square", "method": method, "epsilon": epsilon},
            {"calibrated": {"share": share, "low": share - 0.03, "high": share + 0.03}},
            0.0,
            "0",
        )
        for epsilon, both in shares.items()
        for method, share in zip(METHODS, both, strict=True)
    ]
    said = power_of_both.more_power(Results(tuple(cells)))
    assert "privbayes at ε = 1; alike within chance at ε = 0.1, 10" == said


@pytest.mark.parametrize(
    ("own", "other", "verdict"),
    [
        ((0.1, 0.1), (0.2, 0.2), "reproduced"),
        ((0.1, 0.19), (0.2, 0.2), "reproduced in part"),
        ((0.19, 0.19), (0.2, 0.2), "not comparable"),
        ((0.1, 0.3), (0.2, 0.2), "reproduced in part"),
        ((0.3, 0.21), (0.2, 0.2), "contradicted"),
    ],
)
def test_distances_are_told_apart_beyond_the_scatter_of_fits(
    own: tuple[float, float], other: tuple[float, float], verdict: str
) -> None:
    """Two standard errors of three fits, each with a deviation of 0.02, are 0.033 together."""
    found = {
        name: {e: Spread(mean, 0.02, 3) for e, mean in zip(("0.1", "1"), means, strict=True)}
        for name, means in (("own", own), ("other", other))
    }
    assert verdict == score_and_degree.compared("claim", found, "own", larger=False).verdict


def test_scores_are_compared_where_they_fit() -> None:
    """F is tried on two-valued columns alone, and only R has a price of cells."""
    plan = score_and_degree.STUDY.settings(Size.FULL)
    assert {"copula"} == {s["table"] for s in plan if s["score"] == "F"}
    assert {"R"} == {s["score"] for s in plan if s["rule"] == "price of cells"}
    keys = [tuple(s[k] for k in ("table", "epsilon", "score", "rule")) for s in plan]
    assert len(set(keys)) == len(keys) == 4 * (10 + 7 + 7)
    assert [*range(len(plan))] == [each["seed"] for each in plan]


def test_information_of_pairs_by_hand() -> None:
    """A copy of a fair coin shares one bit, independent ones none, and no rows say nothing."""
    assert 1.0 == pytest.approx(averaged_trees.information(np.diag([5.0, 5.0])))
    assert 0.0 == pytest.approx(averaged_trees.information(np.outer([1.0, 3.0], [2.0, 2.0])))
    assert 0.0 == averaged_trees.information(np.zeros((2, 3)))


def test_no_random_tree_has_more_information_than_the_best() -> None:
    """Of 200 trees that join each attribute to a random one before it, in a random order."""
    random = np.random.default_rng(1)
    tables = averaged_trees.noisy_tables(0.0, random)
    scores = {frozenset(pair): averaged_trees.information(t) for pair, t in tables.items()}
    best = sum(scores[frozenset(edge)] for edge in averaged_trees.best_tree(tables))
    names = list({name for pair in tables for name in pair})
    for _ in range(200):
        order = random.permutation(names)
        pairs = [(order[random.integers(place)], order[place]) for place in range(1, len(order))]
        assert sum(scores[frozenset(map(str, pair))] for pair in pairs) <= best + 1e-12


def test_chances_of_a_tree_are_a_distribution() -> None:
    """Whatever the noise, the 192 rows have probability 1 together."""
    tables = averaged_trees.noisy_tables(500.0, np.random.default_rng(2))
    chances = averaged_trees.row_chances(averaged_trees.best_tree(tables), tables)
    assert 192 == chances.size
    assert 1.0 == pytest.approx(chances.sum())
    assert chances.min() > 0


def test_averaged_trees_need_fewer_bits_where_noise_is_large() -> None:
    """At a small ε in nearly every one of ten runs, and never fewer than the entropy."""
    runs = [averaged_trees.bits_beyond_entropy(0.1, np.random.default_rng(s)) for s in range(10)]
    assert 8 <= sum(run[averaged_trees.SEVERAL] < run[averaged_trees.ONE] for run in runs)
    assert min(bits for run in runs for bits in run.values()) > 0


def test_all_ways_of_counting_streams_agree_without_noise() -> None:
    """With a budget beyond measure each finds the same tree, well below independent columns."""
    found = streamed_networks.bits_beyond_by_stream(1e6, np.random.default_rng(4))
    alone = streamed_networks.columns_beyond()
    assert alone == pytest.approx(1.841, abs=1e-3)
    assert [pytest.approx(found[streamed_networks.KEPT], abs=0.01)] * 3 == [*found.values()]
    assert max(found.values()) < 0.5 * alone


def test_counters_of_streams_have_eight_times_the_variance() -> None:
    """Noise twice, each for half of ε; bits of users and cells are unbiased, and far noisier."""
    random = np.random.default_rng(6)
    exact = averaged_trees.exact_tables(20_000, random)
    noise = {
        name: np.concatenate(
            [
                (found[pair] - exact[pair]).ravel()
                for found in (way(exact, 1.0, random) for _ in range(60))
                for pair in exact
            ]
        )
        for name, way in streamed_networks.WAYS.items()
    }
    kept, counters, bits = (noise[name].std() for name in streamed_networks.WAYS)
    # A cell of kept rows has Laplace noise of scale 2·21/ε; 5,600 draws and more.
    assert 42 * 2**0.5 == pytest.approx(kept, rel=0.15)
    assert 8**0.5 == pytest.approx(counters / kept, rel=0.2)
    assert bits > 20 * counters
    for draws in noise.values():
        assert 7 > abs(draws.mean()) / (draws.std() / draws.size**0.5)


def test_the_finding_on_streams_follows_the_numbers() -> None:
    """The budgets at which counters beat independent columns are named; none contradicts."""
    for error, verdict, said in ((1.8, "reproduced", "at ε = 1"), (1.9, "contradicted", "no ε")):
        numbers = {name: {"error": error} for name in streamed_networks.WAYS}
        setting: dict[str, Any] = {"kind": "streams", "epsilon": "1", "runs": 1, "seed": 0}
        results = Results((Cell(setting, numbers, 0.0, "0"),))
        [found] = sketches.STUDY.findings(results)
        assert verdict == found.verdict
        assert found.measured.endswith(said)
        assert 3 == len(sketches.STUDY.summary(results).lines)


def test_guesses_of_a_record_follow_its_table() -> None:
    """At a tiny ε what was believed before, at a huge one the truth; odds within the promise."""
    before, after = ("chance before", "wrong before"), ("chance after", "wrong after")
    little = guess(1e-6, 500, np.random.default_rng(3))
    assert [little[n] for n in before] == pytest.approx([little[n] for n in after], rel=1e-3)
    much = guess(50.0, 500, np.random.default_rng(3))
    assert (1.0, 0.0) == pytest.approx(tuple(much[n] for n in after), abs=1e-6)
    found = guesses(1.0, rows=200, runs=20, seed=1)
    assert 1 < found["odds"]["most"] <= math.exp(1) * (1 + 1e-9)


def test_claims_on_guesses_follow_the_numbers() -> None:
    """Odds beyond the promise contradict; cells of guesses are not tested for power."""
    study = find("aau-comparison")
    setting = {"table": "copula", "method": GUESSES, "epsilon": "1"}
    for odds, verdict in ((2.7, "reproduced"), (2.8, "contradicted")):
        names = ("chance before", "chance after", "wrong before", "wrong after", "odds")
        numbers = {name: {"mean": 0.5, "error": 0.0, "most": odds} for name in names}
        results = Results((Cell(setting, numbers, 1.0, "0"),))
        assert [verdict] == [str(found.verdict) for found in study.findings(results)]
        assert not study.summary(results).lines
        assert ["a whole record guessed"] == [p.title for p in study.panels(results)]
