"""Every method is audited with real noise, and planted bugs are found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from support.deadly import Deadly
from support.methods import BUILDERS, EVERYDAY
from support.tiers import full_but
from understudy.errors import UsageError, WorkerLost
from understudy.facts.domain import Attributes
from understudy.facts.unit import Neighbours
from understudy.methods import (
    AdaptiveMarginals,
    Histogram,
    Independent,
    Learned,
    Nist,
    PrivBayes,
    Random,
    Synthesizer,
)
from understudy.methods.auditing import (
    PERSON,
    SCHEMA,
    Audit,
    audit,
    cases_for,
    evidence,
    fits_in,
    neighbours_for,
    run_on,
    schema_for,
)
from understudy.methods.auditing.attack import log_likelihood
from understudy.methods.budget_plan import Shares
from understudy.methods.estimation.parameters import one_way_tables
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, ExactAnswer
from understudy.privacy.mechanisms.histogram import SmoothedHistogram
from understudy.privacy.mechanisms.selection import Exponential, PermuteAndFlip
from understudy.privacy.noise.system import SystemNoise
from understudy.privacy.spending.grant import Grant
from understudy.system.arrays import Integers

# So sure that a method without fault is accused once in a million tests.
SURE = 1 - 1e-6


def alone(method: Synthesizer, *, runs: int, confidence: float = 0.99) -> Audit:
    """An audit on the first pair of tables and no other."""
    first = cases_for(method)[:1]
    return audit(method, first, runs=runs, confidence=confidence, processes=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", full_but((*EVERYDAY, "dpgan"), BUILDERS))
def test_no_method_is_refuted(name: str) -> None:
    """Every method in every setting: attacks find nothing, noise is as claimed, replay agrees."""
    # Training takes long, and so does a pool of rows.
    runs = 6 if "gan" in name else 10 if "adaptive" in name else 60
    schema = schema_for(AdaptiveMarginals.abilities) if "adaptive" in name else SCHEMA
    found = audit(BUILDERS[name](schema), runs=runs, confidence=SURE, processes=1)
    assert [] == found.reasons
    assert runs == found.runs


@pytest.mark.slow
@pytest.mark.parametrize("delta", full_but({"1e-6"}, ["1e-6", "0"]))
def test_rounds_of_errors_are_not_refuted(delta: str) -> None:
    """With budget for rounds: noisy errors and choices are attacked, too."""
    schema = schema_for(AdaptiveMarginals.abilities)
    method = AdaptiveMarginals(schema, epsilon=60, delta=delta)
    found = audit(method, runs=8, confidence=SURE, processes=1)
    assert [] == found.reasons


@pytest.mark.slow
@pytest.mark.parametrize("most", full_but({3}, [1, 3]))
@pytest.mark.parametrize("kind", [Random, Independent, PrivBayes, Nist, AdaptiveMarginals])
def test_no_method_is_refuted_for_persons(kind: type[Synthesizer], most: int) -> None:
    """Whole persons: more rows than are kept, rows without a name, a name in two spellings."""
    delta = 1e-6 if kind in (Nist, AdaptiveMarginals) else 0
    schema = schema_for(kind.abilities)
    method = kind(schema, epsilon=1, delta=delta, person_id=PERSON, rows_per_person=most)
    # A pool of rows takes long.
    runs = 10 if kind is AdaptiveMarginals else 40
    assert [] == audit(method, runs=runs, confidence=SURE, processes=1).reasons


@pytest.mark.slow
def test_the_attack_has_teeth() -> None:
    """On a mechanism without slack, more than a third of ε is found, and not more than all."""
    found = alone(Histogram(SCHEMA, epsilon=3, rows=1), runs=1600, confidence=SURE)
    assert 1 < found.finding.epsilon <= 3
    assert 3 < found.provable


# --- planted bugs: each must be found -----------------------------------------------------------


class HalvedNoise(SystemNoise):
    """Draws at half the scale it was asked for."""

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """Too little noise."""
        return super().laplace(scale / 2, size)


@pytest.mark.slow
def test_halved_noise_is_found() -> None:
    """The charge says ε = 3/2, the draws say 3."""
    halved = Random(SCHEMA, epsilon="3/2").with_instruments(Instruments(noise=HalvedNoise()))
    assert alone(halved, runs=1200).finding.epsilon > 1.5


class ObservedDomain(Independent):
    """Measures the values that occur and no others, as most tools do."""

    def learn(self, curator: Curator) -> Learned:
        """Cells without rows get no noise, and values without rows no chance."""
        conditionals = []
        for (attribute,) in one_way_tables(curator.domain):
            [noisy] = curator.measure([(attribute,)], curator.budget * Fraction(1, 2))
            seen = curator._source.count([(attribute,)])[0].counts > 0
            weights = np.where(seen, np.maximum(noisy.counts, 1), 0).astype(float)
            conditionals.append(Conditional.from_weights(Family(attribute), weights))
        return Learned(BayesNet(curator.domain, tuple(conditionals)), 10)


@pytest.mark.slow
def test_a_domain_read_from_the_rows_is_found() -> None:
    """A value that only one person has shows in the model, whatever the answers were."""
    found = alone(ObservedDomain(SCHEMA, epsilon=1), runs=200, confidence=SURE)
    assert found.exceeds_claim
    assert found.finding.epsilon == pytest.approx(found.provable)


class ObservedCells(Random):
    """Asks only about cells that are not empty: the question itself reveals them."""

    def learn(self, curator: Curator) -> Learned:
        """A release whose length depends on the rows."""
        mechanism = DiscreteLaplace.costing(curator.budget.amount, sensitivity=Fraction(1))

        def occupied(source: object) -> Integers:
            del source
            counts = curator._source.count([("first",)])[0].counts
            return np.asarray(counts[counts > 0])

        curator.release(mechanism, occupied, name="counts of what occurs")
        return Random(self.schema, epsilon=1, rows=1).learn(curator)


def test_an_answer_of_another_length_is_found() -> None:
    """How many cells were released is released too."""
    found = alone(ObservedCells(SCHEMA, epsilon=1), runs=200, confidence=SURE)
    assert found.exceeds_claim


class UnpaidChoices(PrivBayes):
    """Forgets to charge for the structure, and chooses at a generous budget."""

    def _structure(self, curator: Curator, shares: Shares, size: float) -> tuple[Network, Budget]:
        generous = Budget.pure(40)
        aside = Curator(curator._source, curator.unit, Grant(generous), curator._instruments)
        unpaid = Shares(shares.size, shares.one_way, generous, shares.tables)
        network, _ = super()._structure(aside, unpaid, size)
        return network, shares.tables


@pytest.mark.slow
def test_a_forgotten_cost_of_selection_is_found() -> None:
    """The choice of parents, drawn at ε = 40 and charged to nobody, gives the person away."""
    method = UnpaidChoices(SCHEMA, epsilon=1, theta=0.01, neighbours="replace")
    found = alone(method, runs=640)
    assert Fraction(8, 10) >= (found.claim.epsilon or 0)
    assert found.exceeds_claim


class TooLittleSmoothing(Histogram):
    """Smooths an eighth of what it should."""

    def learn(self, curator: Curator) -> Learned:
        """The mechanism's own check is passed by, as a bug in it would be."""
        mechanism = SmoothedHistogram.costing(curator.budget, cells=(4,), table_rows=1, draws=1)
        object.__setattr__(mechanism, "smoothing", mechanism.smoothing / 8)
        curator.release(mechanism, lambda s: _cells(s, [("first", "second")]), name="a row")
        return Random(self.schema, epsilon=1, rows=1).learn(curator)


def _cells(source: object, sets: Sequence[Attributes]) -> Integers:
    numbered: Integers = source.number_rows(sets)  # type: ignore[attr-defined]
    return numbered


@pytest.mark.slow
def test_too_little_smoothing_is_found() -> None:
    """An eighth of the smoothing that ε = 1 requires."""
    assert alone(TooLittleSmoothing(SCHEMA, epsilon=1), runs=1000).exceeds_claim


# --- the parts -----------------------------------------------------------------------------------


class Fickle(Random):
    """Leaves something in its model that no answer and no row decides."""

    def learn(self, curator: Curator) -> Learned:
        """Different from fit to fit, on either table."""
        rows = int(np.random.default_rng().integers(9))
        return replace(super().learn(curator), rows=rows)


@pytest.mark.slow
def test_chance_of_another_kind_is_no_evidence() -> None:
    """A model that differs from itself on the same table says nothing about the tables."""
    found = alone(Fickle(SCHEMA, epsilon=1), runs=400, confidence=SURE)
    assert not found.exceeds_claim


def test_evidence_is_that_of_the_answers() -> None:
    """A count of 21 rows, released as such, speaks for the person by just what its noise costs."""
    method = Random(SCHEMA, epsilon=1)
    pair = neighbours_for(method)
    for table in (pair.present, pair.absent):
        run = run_on(method, table)
        [answer] = run.answers
        expected = 1.0 if int(answer.released) >= 21 else -1.0
        assert expected == pytest.approx(evidence(method, run, pair))


@pytest.mark.parametrize("relation", Neighbours)
def test_the_tables_are_neighbours(relation: Neighbours) -> None:
    """One row is added, or one is replaced; no other row has its values."""
    pair = neighbours_for(Random(SCHEMA, epsilon=1, neighbours=relation))
    [with_one], [without] = pair.present.count([("first",)]), pair.absent.count([("first",)])
    moved = with_one.counts - without.counts
    expected = [0, 1] if relation is Neighbours.ADD_REMOVE else [-1, 1]
    assert expected == moved.tolist()
    assert 0 == without.counts[1]
    assert pair.present.rows_read - pair.absent.rows_read == sum(expected)


def test_likelihoods_follow_the_closed_forms() -> None:
    """Differences between two exact answers are those of the mechanisms' own chances."""
    one, two = Fraction(1), Fraction(2)
    for mechanism in (DiscreteLaplace(two, one), DiscreteGaussian(two, one)):
        found = _difference(mechanism, [5], [6], [8])
        expected = math.log(mechanism.probability(3) / mechanism.probability(2))
        assert found == pytest.approx(expected)
    for choice in (PermuteAndFlip(two, one), Exponential(two, one)):
        first, second = (choice.probabilities(np.array(s)) for s in ([0, 3], [1, 2]))
        assert _difference(choice, [0, 3], [1, 2], 1) == pytest.approx(
            math.log(first[1] / second[1])
        )
    assert math.inf == _difference(ExactAnswer(), [4], [5], [4])


def _difference(
    mechanism: object, first: list[int], second: list[int], released: int | list[int]
) -> float:
    answer = np.array(released, np.int64)
    own, other = (
        log_likelihood(mechanism, np.array(exact, np.int64), answer)  # type: ignore[arg-type]
        for exact in (first, second)
    )
    return own - other


def test_a_mechanism_without_a_closed_form_tells_nothing() -> None:
    """The attacker makes no guess about laws it does not know."""

    class Unheard:
        """Something of one's own."""

    assert 0.0 == _difference(Unheard(), [1], [2], 1)


@pytest.mark.slow
def test_processes_do_the_same_work() -> None:
    """As many runs, counted as they are done, in processes of their own."""
    told: list[int] = []
    method: Synthesizer = Histogram(SCHEMA, epsilon=1, rows=1)
    found = audit(method, runs=301, processes=2, watch=told.append)
    assert 300 == found.runs
    assert fits_in(method, 301) == sum(told) == 300 + sum(box.runs for box in found.boxes[1:])
    assert len(told) > 1


@pytest.mark.slow
def test_a_process_that_dies_is_a_fault() -> None:
    """Nothing is said of the method, and the error says what to do."""
    with pytest.raises(WorkerLost, match="fewer --processes"):
        audit(Deadly(SCHEMA, epsilon=1), runs=100, processes=2)


def test_the_document_holds_the_whole_curve() -> None:
    """Claim, bound, what could have been shown, the attack, and both errors point by point."""
    document = alone(Random(SCHEMA, epsilon="1/2"), runs=40).document()
    assert ("random", "add-remove", 0.5, "1/2", 0.0, 40) == tuple(
        document[name]
        for name in ("method", "neighbours", "epsilon", "epsilon_exact", "delta", "runs")
    )
    errors = document["trade_off"]
    assert len(errors["false_positive"]) == len(errors["false_negative"]) > 2
    assert (0, 1) == (errors["false_positive"][0], errors["false_positive"][-1])


def test_without_privacy_there_is_nothing_to_audit() -> None:
    """A fit that claims nothing is refused."""
    with pytest.raises(UsageError, match="claims nothing"):
        audit(Independent(SCHEMA, epsilon=Budget.unlimited()), runs=8, processes=1)
