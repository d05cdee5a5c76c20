"""The exam that every mechanism sits: what it charges is what its own law gives away.

A mechanism that is added to `privacy/mechanisms` and is not among the candidates fails the exam.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import json
import math
import pkgutil
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import understudy
from support.source import nodes_of
from support.statistics import NEVER, fit_of_choices
from understudy.errors import UsageError
from understudy.facts.unit import Neighbours, Unit
from understudy.privacy import mechanisms
from understudy.privacy.accounting.composition import tightest
from understudy.privacy.accounting.costs import approximate_cost
from understudy.privacy.accounting.events import Charge, ExactEvent
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.additive import (
    DiscreteGaussian,
    DiscreteLaplace,
    ExactAnswer,
    FineGaussian,
)
from understudy.privacy.mechanisms.histogram import DROPPED, SmoothedHistogram
from understudy.privacy.mechanisms.keys import GaussianKeyRelease, KeyRelease
from understudy.privacy.mechanisms.sampled import (
    UNIT,
    LineGaussian,
    SampledGaussian,
    Schedule,
    ratio_for,
)
from understudy.privacy.mechanisms.selection import ExactChoice, Exponential, PermuteAndFlip
from understudy.privacy.noise.system import SystemNoise
from understudy.rows.counting import KeyCounts
from understudy.system.arrays import Integers
from understudy.testing import SeededNoise

Law = Mapping[Hashable, float]

ONE, TWO = Fraction(1), Fraction(2)
# Against draws with half the noise: of all laws below, permute-and-flip is the hardest to tell. The
# chi-square is noncentral by n·Σ(p − q)²/q, so that 1,110 draws reject it at 10⁻⁹ but once in ten
# million runs. A true law is rejected once in a thousand million runs.
DRAWS = 2000


@dataclass(frozen=True)
class Candidate:
    """A mechanism, and what is needed to examine it.

    Attributes:
        mechanism: who sits the exam.
        dearer: one that differs in the fields that set the noise alone, and costs more.
        exact: an answer.
        neighbour: an answer as far from it as the sensitivity allows.
        stranger: one that is further.
        law: the chance of everything that may be seen of an answer, in closed form.
        seen: what is seen of a release.
        bad: calls with parameters that must be refused.
        delta: at which the cost is stated; 0 for a pure one.
    """

    mechanism: Any
    dearer: Any
    exact: Any
    neighbour: Any
    stranger: Any
    law: Callable[[Any, Any], Law]
    seen: Callable[[Any, Any], Hashable]
    bad: tuple[Callable[[], object], ...]
    delta: Fraction = Fraction(0)


# --- what may be seen, in closed form ------------------------------------------------------------


def _cells(*values: int) -> Integers:
    return np.array(values, np.int64)


REACH = 60


def _shifted(mechanism: DiscreteLaplace | DiscreteGaussian, exact: Integers) -> Law:
    [centre] = exact.tolist()
    return {centre + z: mechanism.probability(z) for z in range(-REACH, REACH + 1)}


# Parts of a unit in which noise on a fine grid is counted.
PARTS = 4


def _in_parts(mechanism: FineGaussian, exact: Integers) -> Law:
    """The exact chances of all steps, added up by parts of a unit."""
    reach = 10 * math.ceil(math.sqrt(mechanism.sigma_squared)) * mechanism.finer
    steps = np.arange(-reach, reach + 1)
    weights = np.exp(-(steps**2) / (2 * float(mechanism.in_steps.sigma_squared)))
    parts = (steps + exact[0] * mechanism.finer) * PARTS // mechanism.finer
    chances = np.bincount(parts - parts[0], weights / weights.sum())
    return dict(enumerate(chances.tolist(), start=int(parts[0])))


def _part(_: object, released: Any) -> int:
    return math.floor(float(released[0]) * PARTS)


def _chosen(mechanism: PermuteAndFlip | Exponential, exact: Integers) -> Law:
    return dict(enumerate(mechanism.probabilities(exact).tolist()))


def _drawn(mechanism: SmoothedHistogram, exact: Integers) -> Law:
    lines = [(a, b) for a in range(2) for b in range(3)]
    chances = mechanism.chances(exact, np.array(lines, np.int64))
    return dict(zip(lines, map(float, chances), strict=True))


def _of_key(mechanism: KeyRelease, exact: KeyCounts) -> Law:
    """Nothing, or a noisy count, of the one key that there may be."""
    [count] = exact.counts.values() or [0]
    noise = DiscreteLaplace(mechanism.scale, mechanism.sensitivity)
    last = mechanism.threshold + 200
    seen: Law = {n: noise.probability(n - count) for n in range(mechanism.threshold, last)}
    return {None: 1 - mechanism.chance(count), **seen} if count else {None: 1.0}


def _of_gaussian_key(mechanism: GaussianKeyRelease, exact: KeyCounts) -> Law:
    """Nothing, or a noisy count, of the one key that there may be."""
    [count] = exact.counts.values() or [0]
    noise = DiscreteGaussian(mechanism.sigma_squared, mechanism.sensitivity_squared)
    last = mechanism.threshold + 200
    seen: Law = {n: noise.probability(n - count) for n in range(mechanism.threshold, last)}
    return {None: 1 - mechanism.chance(count), **seen} if count else {None: 1.0}


# Places at which the noisy sum of one row of length 1 is cut, in units of a contribution.
EDGES = np.array([-0.5, 0.0, 0.5, 1.0, 1.5, 2.0])


def _binned(centres: Mapping[float, float], deviation: float) -> Law:
    """The chances of all bins for normal noise about centres, each of which has its chance."""
    below = sum(share * norm.cdf((EDGES - c) / deviation) for c, share in centres.items())
    chances = np.diff(np.array([0.0, *np.asarray(below), 1.0]))
    return dict(enumerate(chances.tolist()))


def _bin(mechanism: SampledGaussian | LineGaussian, released: Integers) -> int:
    return int(np.searchsorted(EDGES, mechanism.in_units(released).ravel()[0]))


def _sampled(mechanism: SampledGaussian, exact: Rows) -> Law:
    rate = float(mechanism.rate)
    centres = {0.0: 1 - rate, 1.0: rate} if exact.rows else {0.0: 1.0}
    return _binned(centres, mechanism.deviation)


def _line(mechanism: LineGaussian, exact: Integers) -> Law:
    return _binned({float(exact[0, 0]) / UNIT: 1.0}, mechanism.deviation)


@dataclass(frozen=True)
class Rows:
    """Rows that contribute one unit each, in a single cell."""

    rows: int

    def total(self, rows: Integers) -> Integers:
        """The sum of some of them."""
        return _cells(UNIT * rows.size)

    def __sub__(self, other: Rows) -> Integers:
        return _cells(UNIT * (self.rows - other.rows))


def _integer(_: object, released: Integers) -> int:
    return int(released.reshape(-1)[0])


def _first_line(_: object, released: Integers) -> tuple[int, ...]:
    return tuple(released[0].tolist())


def _key(_: object, released: Any) -> int | None:
    return released.counts.get("a") if released.counts else None


def _exactly(mechanism: ExactAnswer, exact: Integers) -> Law:
    return {_integer(None, mechanism.release(exact, SystemNoise())): 1.0}


# --- who sits it -----------------------------------------------------------------------------

ROW = Unit(Neighbours.ADD_REMOVE)
LINES = np.array([[0, 0], [0, 0], [1, 2], [DROPPED, DROPPED]], np.int64)
OTHER_LINES = np.array([[1, 1], *LINES[1:].tolist()], np.int64)
FAR_LINES = np.array([[1, 1], [1, 1], *LINES[2:].tolist()], np.int64)


def _histogram(epsilon: int) -> SmoothedHistogram:
    return SmoothedHistogram.costing(Budget.pure(epsilon), cells=(2, 3), table_rows=4, draws=1)


def _keys(epsilon: Fraction) -> KeyRelease:
    return KeyRelease.costing(epsilon, Fraction(1, 1000), ROW)


def _gaussian_keys(rho: Fraction) -> GaussianKeyRelease:
    return GaussianKeyRelease.costing(rho, Fraction(1, 2000), ROW)


CANDIDATES = [
    Candidate(
        DiscreteLaplace(TWO, ONE),
        DiscreteLaplace(ONE, ONE),
        *(_cells(7), _cells(8), _cells(9)),
        *(_shifted, _integer),
        (
            lambda: DiscreteLaplace.costing(Fraction(0), sensitivity=ONE),
            lambda: DiscreteLaplace.costing(Fraction(1, 10**20), sensitivity=ONE),
        ),
    ),
    Candidate(
        DiscreteGaussian(Fraction(9), Fraction(4)),
        DiscreteGaussian(Fraction(9, 4), Fraction(4)),
        *(_cells(7), _cells(9), _cells(10)),
        *(_shifted, _integer),
        (
            lambda: DiscreteGaussian.costing(Fraction(-1), sensitivity_squared=ONE),
            lambda: DiscreteGaussian.costing(Fraction(1, 10**40), sensitivity_squared=ONE),
        ),
        delta=Fraction(1, 10**5),
    ),
    Candidate(
        FineGaussian(Fraction(9), Fraction(4), 1, 512),
        FineGaussian(Fraction(9, 4), Fraction(4), 1, 512),
        *(_cells(7), _cells(9), _cells(10)),
        *(_in_parts, _part),
        (
            lambda: FineGaussian.costing(Fraction(0), sensitivity_squared=ONE, moved=1),
            lambda: FineGaussian.costing(Fraction(1, 10**20), sensitivity_squared=ONE, moved=1),
            lambda: FineGaussian(Fraction(9), Fraction(4), 1, 511).event,
            lambda: FineGaussian(Fraction(9), Fraction(4), 2, 512).event,
        ),
        delta=Fraction(1, 10**5),
    ),
    Candidate(
        PermuteAndFlip(TWO, ONE),
        PermuteAndFlip(ONE, ONE),
        *(_cells(0, 3, 5), _cells(1, 2, 4), _cells(2, 3, 5)),
        *(_chosen, _integer),
        (
            lambda: PermuteAndFlip.costing(Fraction(0), sensitivity=ONE),
            lambda: PermuteAndFlip.costing(Fraction(1, 10**20), sensitivity=ONE),
        ),
    ),
    Candidate(
        Exponential(TWO, ONE),
        Exponential(ONE, ONE),
        *(_cells(0, 3, 5), _cells(1, 2, 4), _cells(2, 3, 5)),
        *(_chosen, _integer),
        (
            lambda: Exponential.costing(Fraction(-1), sensitivity=ONE),
            lambda: Exponential.costing(Fraction(1, 10**20), sensitivity=ONE),
        ),
    ),
    Candidate(
        _histogram(1),
        _histogram(3),
        *(LINES, OTHER_LINES, FAR_LINES),
        *(_drawn, _first_line),
        (
            lambda: SmoothedHistogram(
                epsilon=ONE, smoothing=Fraction(1, 100), cells=(2, 3), table_rows=4, draws=1
            ),
            lambda: SmoothedHistogram.costing(Budget.zcdp(1), cells=(2, 3), table_rows=4, draws=1),
        ),
    ),
    Candidate(
        _keys(Fraction(1, 2)),
        _keys(ONE),
        *(KeyCounts({"a": 12}), KeyCounts({"a": 11}), KeyCounts({"a": 10})),
        *(_of_key, _key),
        (
            lambda: KeyRelease(
                scale=TWO, sensitivity=ONE, new_rows=1, threshold=3, delta=Fraction(1, 1000)
            ),
            lambda: KeyRelease(
                scale=TWO, sensitivity=ONE, new_rows=1, threshold=100, delta=Fraction(0)
            ),
            lambda: _keys(Fraction(0)),
        ),
        delta=Fraction(1, 1000),
    ),
    Candidate(
        _gaussian_keys(Fraction(1, 8)),
        _gaussian_keys(Fraction(1, 2)),
        *(KeyCounts({"a": 14}), KeyCounts({"a": 13}), KeyCounts({"a": 12})),
        *(_of_gaussian_key, _key),
        (
            lambda: GaussianKeyRelease(
                sigma_squared=TWO,
                sensitivity_squared=ONE,
                new_rows=1,
                threshold=3,
                delta=Fraction(1, 1000),
            ),
            lambda: GaussianKeyRelease(
                sigma_squared=TWO,
                sensitivity_squared=ONE,
                new_rows=1,
                threshold=100,
                delta=Fraction(0),
            ),
            lambda: _gaussian_keys(Fraction(0)),
            lambda: _gaussian_keys(Fraction(1, 10**40)),
        ),
        delta=Fraction(1, 1000),
    ),
    Candidate(
        SampledGaussian.of_ratio(ONE, rate=Fraction(1, 2), cells=1),
        SampledGaussian.of_ratio(Fraction(1, 2), rate=Fraction(1, 2), cells=1),
        *(Rows(1), Rows(0), Rows(3)),
        *(_sampled, _bin),
        (
            lambda: ratio_for(Schedule(1, ONE, 1), Budget.pure(1)),
            lambda: ratio_for(Schedule(1, ONE, 1), Budget.approximate("1e-7", "1e-6")),
        ),
        delta=Fraction(1, 100),
    ),
    Candidate(
        LineGaussian.of_ratio(ONE, cells=2),
        LineGaussian.of_ratio(Fraction(1, 2), cells=2),
        np.array([[UNIT], [0]], np.int64),
        np.array([[-UNIT], [0]], np.int64),
        np.array([[UNIT], [1]], np.int64) - np.array([[1], [0]], np.int64),
        *(_line, _bin),
        (lambda: ratio_for(Schedule(1, ONE, 2), Budget.zcdp(1)),),
        delta=Fraction(1, 100),
    ),
]
# They promise nothing: no privacy, for studies on public data.
WITHOUT_PRIVACY = [
    Candidate(ExactAnswer(), None, _cells(7), _cells(8), None, _exactly, _integer, ()),
    Candidate(ExactChoice(), None, _cells(1, 9, 9), _cells(2, 1, 1), None, _exactly, _integer, ()),
]


def _names(candidate: Candidate) -> str:
    return type(candidate.mechanism).__name__


private = pytest.mark.parametrize("candidate", CANDIDATES, ids=_names)
every = pytest.mark.parametrize("candidate", [*CANDIDATES, *WITHOUT_PRIVACY], ids=_names)


def _is_mechanism(kind: type) -> bool:
    parts = ("event", "release", "covers")
    return all(hasattr(kind, part) for part in parts) and not getattr(kind, "_is_protocol", False)


def test_every_mechanism_sits_the_exam() -> None:
    """Whatever has an event, releases and says what it covers is among the candidates."""
    found = set()
    for module in pkgutil.iter_modules(mechanisms.__path__, f"{mechanisms.__name__}."):
        members = inspect.getmembers(importlib.import_module(module.name), inspect.isclass)
        found |= {kind for name, kind in members if _is_mechanism(kind) and name[0] != "_"}
    assert found == {type(c.mechanism) for c in (*CANDIDATES, *WITHOUT_PRIVACY)}


def test_mechanisms_are_in_their_room_alone() -> None:
    """No other module of the package has a class that releases and says what it covers."""
    [home], [room] = understudy.__path__, mechanisms.__path__
    releasing = [p for p in Path(home).rglob("*.py") if "def covers" in p.read_text("utf-8")]
    assert len(releasing) > 1
    for path in releasing:
        classes = [node for node in nodes_of(path) if isinstance(node, ast.ClassDef)]
        methods = [{getattr(part, "name", "") for part in c.body} for c in classes]
        made = any({"release", "covers"} <= names for names in methods)
        assert not made or path.parent == Path(room), path


# --- the exam --------------------------------------------------------------------------------


def _stated(candidate: Candidate, mechanism: Any) -> float:
    """The ε that accounting finds for one use: in closed form where there is one."""
    if found := approximate_cost(mechanism.event):
        assert candidate.delta == found[1]
        return float(found[0])
    bound = tightest([mechanism.event], delta=candidate.delta, announced=True)
    assert bound.epsilon is not None
    return float(bound.epsilon)


@private
def test_the_cost_is_that_of_the_fields(candidate: Candidate) -> None:
    """The event has no field of its own: less noise by the mechanism's fields costs more."""
    assert candidate.mechanism.event != candidate.dearer.event
    assert 0 < _stated(candidate, candidate.mechanism) < _stated(candidate, candidate.dearer)


@private
def test_no_outcome_gives_away_more_than_the_cost(candidate: Candidate) -> None:
    """Over everything that may be seen, Σ max(0, P − e^ε·Q) is at most δ, in both directions."""
    epsilon, delta = _stated(candidate, candidate.mechanism), float(candidate.delta)
    assert _excess(candidate, epsilon) <= delta + 1e-9


@private
def test_half_the_cost_would_not_do(candidate: Candidate) -> None:
    """The exam can fail: the same outcomes give away more than half of what is charged."""
    epsilon, delta = _stated(candidate, candidate.mechanism), float(candidate.delta)
    assert _excess(candidate, epsilon / 2) > delta + 1e-9


def _excess(candidate: Candidate, epsilon: float) -> float:
    """The δ at which the mechanism tells the answers apart by ε, in the worse direction."""
    laws = [candidate.law(candidate.mechanism, e) for e in (candidate.exact, candidate.neighbour)]

    def one_way(p: Law, q: Law) -> float:
        return sum(max(0.0, p[o] - math.exp(epsilon) * q.get(o, 0.0)) for o in p)

    return max(one_way(*laws), one_way(*reversed(laws)))


@every
def test_the_closed_form_adds_up(candidate: Candidate) -> None:
    """All that may be seen has a chance of one together."""
    assert 1 == pytest.approx(sum(candidate.law(candidate.mechanism, candidate.exact).values()))


@private
def test_draws_follow_the_closed_form(candidate: Candidate) -> None:
    """Releases come as often as the closed form says, and not as with half the noise."""
    law = candidate.law(candidate.mechanism, candidate.exact)
    assert _fit(candidate, candidate.mechanism, law) > NEVER
    assert _fit(candidate, candidate.dearer, law) < NEVER


def _fit(candidate: Candidate, drawing: Any, law: Law) -> float:
    """The p-value of draws of a mechanism under a law; what the law does not know is one more."""
    noise, places = SystemNoise(), {outcome: place for place, outcome in enumerate(law)}
    released = (drawing.release(candidate.exact, noise) for _ in range(DRAWS))
    seen = Counter(places.get(candidate.seen(drawing, r), len(law)) for r in released)
    chances = np.array([*law.values(), max(0.0, 1 - sum(law.values()))])
    return fit_of_choices(np.array([*seen.elements()], np.int64), chances)


@pytest.mark.parametrize("candidate", CANDIDATES[:2], ids=_names)
def test_the_variance_is_that_of_the_closed_form(candidate: Candidate) -> None:
    """Σ z²·P(z), for mechanisms that add noise to an answer."""
    law = candidate.law(candidate.mechanism, _cells(0))
    expected = sum(int(str(z)) ** 2 * chance for z, chance in law.items())
    assert expected == pytest.approx(candidate.mechanism.variance)


@every
def test_covers_is_true_of_neighbours_and_of_nobody_else(candidate: Candidate) -> None:
    """A difference at the sensitivity is covered, and one just beyond it is not."""
    mechanism, exact = candidate.mechanism, candidate.exact
    assert mechanism.covers(exact - exact)
    assert mechanism.covers(exact - candidate.neighbour)
    assert mechanism.covers(candidate.neighbour - exact)
    if candidate.stranger is not None:
        assert not mechanism.covers(exact - candidate.stranger)
        assert not mechanism.covers(candidate.stranger - exact)


@every
def test_integers_come_in_and_go_out(candidate: Candidate) -> None:
    """A release is of whole numbers, or whole steps of a grid; the exact answer stays as it is."""
    before = copy.deepcopy(candidate.exact)
    released = candidate.mechanism.release(candidate.exact, SystemNoise())
    if isinstance(candidate.mechanism, FineGaussian):
        assert np.all((released * candidate.mechanism.finer) % 1 == 0)
    elif isinstance(released, np.ndarray):
        assert np.int64 == released.dtype
    else:
        assert all(type(count) is int for count in released.counts.values())
    assert np.all(_plain(before) == _plain(candidate.exact))


def _plain(exact: Any) -> Any:
    return exact if isinstance(exact, np.ndarray) else repr(vars(exact))


@every
def test_the_testing_twin_repeats(candidate: Candidate) -> None:
    """With a seed a release comes again; that is what makes a run repeatable, and not private."""
    first, second = (
        [candidate.mechanism.release(candidate.exact, noise) for _ in range(20)]
        for noise in (SeededNoise(3), SeededNoise(3))
    )
    assert repr(first) == repr(second)


@every
def test_the_event_comes_back_from_the_ledger(candidate: Candidate) -> None:
    """Written as JSON, its fractions are exact and the cost is the same."""
    charge = Charge("a question", candidate.mechanism.event)
    again = Charge.parse(json.loads(json.dumps(charge.document())))
    assert charge == again
    assert type(charge.event) is type(again.event)


@every
def test_only_what_is_not_private_has_no_cost(candidate: Candidate) -> None:
    """Mechanisms for studies say so in their event, and no bound is stated for them."""
    exact = isinstance(candidate.mechanism.event, ExactEvent)
    assert exact == (candidate in WITHOUT_PRIVACY)
    bound = tightest([candidate.mechanism.event], delta=Fraction(1, 100), announced=True)
    assert exact == (bound.epsilon is None)


@private
def test_bad_parameters_are_refused(candidate: Candidate) -> None:
    """Too little budget, too much noise, or a threshold that does not keep its promise."""
    assert candidate.bad
    for attempt in candidate.bad:
        with pytest.raises(UsageError, match=";"):
            attempt()
