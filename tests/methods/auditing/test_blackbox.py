"""The attack without laws: what it finds, and that it finds nothing where nothing is."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from understudy.methods import Independent
from understudy.methods.auditing import SCHEMA, EventBound, audit, cases_for
from understudy.methods.auditing.blackbox import attacked
from understudy.methods.auditing.seen import Seen
from understudy.privacy.curator import Instruments
from understudy.privacy.noise.system import SystemNoise

SURE = 1 - 1e-6

Numbers = npt.NDArray[np.float64]


def _seen(cells: Numbers, other: Numbers | None = None, asked: str = "") -> Seen:
    parts = {"one": cells} | ({} if other is None else {"other": other})
    totals = {name: float(numbers.sum()) for name, numbers in parts.items()}
    return Seen(asked=asked, priced=asked, parts=parts, totals=totals, along={})


def _attack(present: list[Seen], absent: list[Seen], delta: float = 0.0) -> EventBound:
    return attacked("made up", present, absent, delta=delta, error=0.01)


def _laplace(generator: np.random.Generator, scale: float, size: int) -> Numbers:
    return np.asarray(np.rint(generator.laplace(0, scale, size)), np.float64)


def test_a_count_gives_away_nearly_what_it_costs() -> None:
    """Noise of scale one on a count that moves by one: most of ε = 1, and not more."""
    generator = np.random.default_rng(1)
    present, absent = (
        [_seen(moved + _laplace(generator, 1.0, 1)) for _ in range(6000)] for moved in (1, 0)
    )
    found = _attack(present, absent)
    assert 0.6 < found.epsilon < 1
    assert found.epsilon < found.provable


def test_a_bound_above_the_truth_is_rare() -> None:
    """At an error of a tenth fewer than one in ten of a hundred attacks exceed ε = 1/2."""
    generator = np.random.default_rng(2)
    above = 0
    for _ in range(100):
        present, absent = (
            [_seen(moved + _laplace(generator, 2.0, 2)) for _ in range(80)]
            for moved in (np.array([1, 0]), np.zeros(2))
        )
        above += attacked("", present, absent, delta=0.0, error=0.1).epsilon > 0.5
    assert above < 10


def test_noise_that_cancels_is_found_by_one_value_of_a_difference() -> None:
    """Two answers under one draw: their difference is exact, though each alone hides the row."""
    generator = np.random.default_rng(3)
    present: list[Seen] = []
    absent: list[Seen] = []
    for moved, runs in ((1, present), (0, absent)):
        for _ in range(400):
            noise = _laplace(generator, 20.0, 2)
            runs.append(_seen(noise, noise + np.array([moved, 0])))
    found = _attack(present, absent)
    assert found.epsilon > 2.5
    assert found.epsilon == pytest.approx(found.provable)
    assert "−" in found.statistic


def test_many_small_signs_are_found_by_the_classifier() -> None:
    """Ten cells that each say little say much together."""
    generator = np.random.default_rng(4)
    present, absent = (
        [_seen(generator.normal(moved, 1.0, 10)) for _ in range(600)]
        for moved in (np.tile([0.9, -0.9], 5), np.zeros(10))
    )
    found = _attack(present, absent)
    assert "a classifier of all cells" == found.statistic
    assert found.epsilon > 2


def test_a_question_that_one_table_leads_to_is_found() -> None:
    """What was asked is released too, and so is an answer that is not there."""
    here, there = ([_seen(np.zeros(1), asked=asked)] * 400 for asked in ("a", "b"))
    assert _attack(here, there).epsilon > 2.5
    longer = [_seen(np.zeros(1), np.zeros(1))] * 400
    assert _attack(longer, there).epsilon > 2.5


def test_lists_of_questions_that_never_come_again_are_no_sign() -> None:
    """Each run its own: the half that chooses would be sure, and the other knows none of them."""
    generator = np.random.default_rng(5)
    present, absent = (
        [_seen(moved + _laplace(generator, 0.5, 1), asked=f"{moved} {i}") for i in range(1000)]
        for moved in (1, 0)
    )
    assert _attack(present, absent).epsilon > 0.8


def test_delta_is_taken_off() -> None:
    """A certain sign in one run of twenty is nothing at δ = 0.1."""
    rows = [_seen(np.array([float(i // 2 % 20 == 0)])) for i in range(4000)]
    absent = [_seen(np.zeros(1))] * 4000
    assert _attack(rows, absent).epsilon > 1.5
    assert 0 == _attack(rows, absent, delta=0.1).epsilon


def test_runs_that_say_nothing_show_nothing() -> None:
    """Equal runs, and few of them."""
    runs = [_seen(np.zeros(1))] * 40
    assert (0.0, 80) == (_attack(runs, runs).epsilon, _attack(runs, runs).runs)
    few = [_seen(np.array([float(i)])) for i in range(2)]
    assert 0 == _attack(few, few).epsilon


class Same(SystemNoise):
    """The same few draws for all questions of one size."""

    def laplace(self, scale: object, size: int) -> npt.NDArray[np.int64]:
        """One draw in two is new."""
        self._turn = not getattr(self, "_turn", False)
        if self._turn:
            self._last = super().laplace(scale, size)  # type: ignore[arg-type]
        return self._last


@pytest.mark.slow
def test_shared_noise_is_found_without_any_law() -> None:
    """A person unlike the others in one column: the difference of two tables shows it exactly."""
    method = Independent(SCHEMA, epsilon=1)
    case = next(c for c in cases_for(method) if "in one column" in c.name)
    sharing = method.with_instruments(Instruments(noise=Same()))
    found = audit(sharing, [case], runs=500, confidence=SURE, processes=1)
    [box] = found.boxes
    assert box.epsilon > 1
    assert box.epsilon == pytest.approx(box.provable)
    assert "−" in box.statistic
    assert found.finding.epsilon <= 1, "the attack by laws does not see it"


def test_findings_are_told() -> None:
    """In a sentence, and for JSON without infinities."""
    found = EventBound(
        case="c",
        runs=8,
        statistic="s",
        relation="=",
        value=-math.inf,
        calls="absent",
        likely=0.5,
        unlikely=0.1,
        epsilon=1.6,
        provable=2.0,
    )
    assert "c: s = nothing shows that it is absent" == found.sentence
    assert found.document()["value"] is None
