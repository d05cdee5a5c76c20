"""The studies of streams: runs lie on theory; the printed noise is shown for what it is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from support.tiers import slow_but
from understudy.errors import UsageError
from understudy.stream.response import ESTIMATORS
from understudy_studies import find
from understudy_studies.cells import Cell, Results, Size
from understudy_studies.pan_private_error import STUDY as ERROR
from understudy_studies.pan_private_state import STUDY as STATE
from understudy_studies.printed_streams import Experiment, MadeUpStream, laws
from understudy_studies.tables import DataFolder

NOWHERE = DataFolder(Path("nowhere"))


@pytest.fixture(scope="module")
def quarter() -> dict[str, Any]:
    """Everything exact at ε = ¼."""
    return dict(STATE.measure({"epsilon": "0.25"}, NOWHERE))


def test_joint_losses_show_what_the_printed_noise_reveals(quarter: dict[str, Any]) -> None:
    """Corrected noise keeps the promise for every estimator; the printed one does for none."""
    assert all(quarter[name]["joint, corrected"] <= 0.5 + 1e-9 for name in ESTIMATORS)
    assert all(quarter[name]["joint, printed"] > 0.5 for name in ESTIMATORS)
    assert pytest.approx(1.59, abs=0.005) == quarter["bernoulli"]["joint, printed"]
    assert pytest.approx(3.44, abs=0.005) == quarter["dwork"]["joint, printed"]


def test_samples_grow_with_the_noise(quarter: dict[str, Any]) -> None:
    """Corrected noise needs more users than the printed one, and far fewer than Roth's rule."""
    for name in ("dwork", "bernoulli", "quantised"):
        assert quarter[name]["sample, printed"] < quarter[name]["sample, corrected"]
    assert 10 * quarter["dwork"]["sample, printed"] < quarter["roth"]
    assert quarter["bernoulli"]["sample, corrected"] < quarter["dwork"]["sample, corrected"]


def test_the_optimal_bit_takes_its_whole_budget(quarter: dict[str, Any]) -> None:
    """Dwork's takes half of it, the quantised one nearly all."""
    spent = {name: quarter[name]["spent"] for name in ESTIMATORS}
    assert pytest.approx(0.25) == spent["bernoulli"]
    assert 0.14 > spent["dwork"] > 0.12
    assert 0.25 > spent["quantised"] > 0.23


def test_laws_add_up() -> None:
    """The chances of all levels, under both laws."""
    assert [pytest.approx(1)] * 2 == [law.sum() for law in laws(ESTIMATORS["laplace"](Fraction(1)))]


@pytest.mark.parametrize(("kind", "density"), [("uniform", 0.63), ("zipf", 0.25)])
def test_streams_have_the_densities_of_the_thesis(kind: str, density: float) -> None:
    """At T = |U| = 10⁵."""
    assert pytest.approx(density, abs=0.01) == MadeUpStream.of(kind, users=10**5).density
    with pytest.raises(UsageError, match="choose uniform or zipf"):
        MadeUpStream.of("flat", users=10)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", slow_but({"uniform"}, ["uniform", "zipf"]))
def test_errors_lie_on_their_theory(kind: str, name: str) -> None:
    """Mean squared errors of both noises, with a sample of a tenth."""
    experiment = Experiment(MadeUpStream.of(kind, users=2000), name, Fraction(1, 2), 200)
    found = experiment.estimates(1000, np.random.default_rng(5))
    for noise, sizing in experiment.sizings.items():
        error = ((found[noise] - experiment.stream.density) ** 2).mean()
        # The mean of 1000 squares has a standard deviation of 7 % at most.
        assert pytest.approx(sizing.variance(200, experiment.stream.density, 2000), rel=0.3) == (
            error
        )


def test_misses_stay_below_their_bound() -> None:
    """The bound is loose: as many misses as seen would not be a wonder if it were the rate."""
    stream, runs = MadeUpStream.of("uniform", users=5000), 50
    for name in ("dwork", "bernoulli", "quantised"):
        experiment = Experiment(stream, name, Fraction(1), 5000)
        found = experiment.estimates(runs, np.random.default_rng(6))
        for noise, sizing in experiment.sizings.items():
            misses = int((np.abs(found[noise] - stream.density) >= 0.1).sum())
            bound = sizing.miss_chance(0.1, 5000, whole=True)
            assert binom.sf(misses - 1, runs, bound) > 1e-9


def test_runs_can_be_had_again() -> None:
    """The same seed, the same answers; another one, others."""
    experiment = Experiment(MadeUpStream.of("zipf", users=500), "bernoulli", Fraction(1, 2), 100)
    first, again, other = (
        experiment.estimates(5, np.random.default_rng(seed))["corrected"] for seed in (1, 1, 2)
    )
    assert first.tolist() == again.tolist() != other.tolist()


def test_claims_on_the_state_follow_the_numbers() -> None:
    """Parts of ε and samples are judged one by one, and the printed noise breaks the promise."""
    cells = [Cell(s, STATE.measure(s, NOWHERE), 1.0, "0") for s in STATE.settings(Size.SMOKE)]
    found = STATE.findings(Results(tuple(cells)))
    assert [*["reproduced"] * 6, "contradicted"] == [f.verdict for f in found]
    cells[0].numbers["dwork"]["spent"] = float(str(cells[0].setting["epsilon"]))
    roth = {"roth": 9 * cells[0].numbers["dwork"]["sample, printed"]}
    few = Cell(cells[0].setting, {**cells[0].numbers, **roth}, 1.0, "0")
    changed = STATE.findings(Results((few, *cells[1:])))
    assert ("contradicted", "reproduced in part") == (changed[0].verdict, changed[3].verdict)


def test_claims_on_errors_follow_the_numbers() -> None:
    """Theory, ranking, streams and bounds each have their verdict."""
    cells = [Cell(s, ERROR.measure(s, NOWHERE), 1.0, "0") for s in ERROR.settings(Size.SMOKE)]
    verdicts = [f.verdict for f in ERROR.findings(Results(tuple(cells)))]
    assert ["reproduced", "reproduced", "reproduced"] == [verdicts[0], *verdicts[3:]]
    cells[0].numbers["dwork"]["corrected"].update(bound=0.01, misses=0.9)
    cells[0].numbers["bernoulli"]["printed"].update(theory=9.0, error=90.0)
    changed = [f.verdict for f in ERROR.findings(Results(tuple(cells)))]
    assert ["contradicted"] * 5 == changed


def test_sentences_follow_the_numbers() -> None:
    """What is said of theory, of a broken bound and of a kept promise comes from the cells."""
    cells = [Cell(s, ERROR.measure(s, NOWHERE), 1.0, "0") for s in ERROR.settings(Size.SMOKE)]
    assert "No bound on a chance is below 1 here." in ERROR.sentence(Results(tuple(cells)))
    cells[0].numbers["dwork"]["corrected"].update(bound=0.01, misses=0.9)
    assert "1 bounds are broken" in ERROR.sentence(Results(tuple(cells)))
    state = [Cell(s, STATE.measure(s, NOWHERE), 1.0, "0") for s in STATE.settings(Size.SMOKE)]
    said = find("tuc1-state").sentence(Results(tuple(state)))
    assert "breaks the promise" in said
    assert "all keep it" in said
    state[0].numbers["dwork"]["joint, corrected"] = 9.0
    assert "all break it" in STATE.sentence(Results(tuple(state)))
