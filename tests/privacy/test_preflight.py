"""The preflight: its noise law, its threshold, its cost, and when it refuses."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from support.statistics import NEVER, fit_of_integers
from understudy.errors import BudgetExceeded, DataError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.methods import Histogram, Independent, Nist, PrivBayes, Random, Synthesizer
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.accounting.events import Charge, GaussianEvent, LaplaceEvent
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.mechanisms.additive import DiscreteLaplace
from understudy.privacy.noise.system import SystemNoise
from understudy.privacy.preflight import QUESTION, FittingRows, Preflight, tail, threshold
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.limits import Limit, Spent
from understudy.privacy.spending.list_pricing import QuestionsThenList
from understudy.privacy.spending.pricing import Adaptive, BasicSums, GaussianRounds, Pricing
from understudy.rows.made_up import MadeUp
from understudy.system.arrays import Integers

SCHEMA = Schema.parse(
    {"columns": {"x": {"kind": "integer", "min": 0, "max": 3}, "y": {"kind": "boolean"}}}
)
ROW, REPLACED = Unit(Neighbours.ADD_REMOVE), Unit(Neighbours.REPLACE)
GOOD = {"x": ["1", "2", "3", "0"] * 4000, "y": ["yes", "no"] * 8000}
BAD = {"x": ["$1"] * 4000, "y": ["yes", "no"] * 2000}


def _brute_tail(scale: float, weight: int, least: int) -> float:
    """P(weight·Z − Z′ ≥ least), summed over all noise that matters."""
    reach = math.ceil(60 * scale) + 5
    values = np.arange(-reach, reach + 1)
    chances = math.tanh(0.5 / scale) * np.exp(-np.abs(values) / scale)
    beyond = np.cumsum(chances[::-1])[::-1]
    needed = np.clip(least - weight * values, -reach, reach)
    return float((chances * beyond[needed + reach]).sum())


@pytest.mark.parametrize("scale", ["1/3", "1", "5", "50"])
@pytest.mark.parametrize("weight", [1, 4, 9])
@pytest.mark.parametrize("least", [1, 2, 17, 500])
def test_the_tail_is_that_of_the_noise(scale: str, weight: int, least: int) -> None:
    """The closed form is the sum over all noise, and never below it."""
    expected = _brute_tail(float(Fraction(scale)), weight, least)
    actual = tail(Fraction(scale), weight=weight, least=least)
    assert expected * (1 - 1e-9) - 1e-15 <= actual <= expected * (1 + 1e-8) + 1e-15


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(50), Fraction(100)])
def test_one_false_alarm_in_a_thousand_at_most(scale: Fraction) -> None:
    """Where nine of ten rows fit, noise refuses less than one run in 1,000; hardly fewer."""
    doubt = threshold(scale, weight=9, chance=Preflight.false_alarms)
    assert _brute_tail(float(scale), 9, doubt) <= 1 / 1000
    assert doubt == 1 or _brute_tail(float(scale), 9, doubt - 1) > (1 - 1e-8) / 1000


class _Told(SystemNoise):
    """Noise that was fixed beforehand: what comes, and not how, is looked at."""

    def __init__(self, draws: list[int]) -> None:
        self._draws = draws

    def laplace(self, scale: Fraction, size: int) -> Integers:
        assert len(self._draws) == size
        return np.array(self._draws, np.int64)


def _asked(fitting: int, others: int, draws: list[int], unit: Unit = ROW) -> FittingRows | None:
    rows = pa.table({"x": ["1"] * fitting + ["$"] * others, "y": ["yes"] * (fitting + others)})
    source = MadeUp.of_rows(rows, Codec(SCHEMA))
    curator = Curator(source, unit, Grant(Budget.pure(1)), Instruments(noise=_Told(draws)))
    return Preflight().ask(curator, Budget.pure(1))


def test_noise_alone_decides_at_nine_of_ten() -> None:
    """Where nine of ten rows fit, noise at the threshold refuses, and one less does not."""
    doubt = threshold(Fraction(50), weight=9, chance=Preflight.false_alarms)
    with pytest.raises(DataError, match=r"only epsilon = 0\.02 was spent"):
        _asked(900, 100, [-doubt, 0])
    found = _asked(900, 100, [1 - doubt, 0])
    assert found is not None
    assert "the noise hides whether 9 of 10 rows fit" in found.sentence


def test_rows_that_fit_are_said_to_fit() -> None:
    """Where the noise leaves no doubt, the count is shown."""
    found = _asked(4000, 0, [3, -2])
    assert found == FittingRows(4003, -2, clear=True, epsilon=Fraction(1, 50))
    assert "about 4,001 of 4,001 rows fit the schema" in found.sentence


@pytest.mark.slow
def test_both_numbers_have_the_noise_that_was_charged() -> None:
    """Draws of whole preflights fit the law of the charge, and are rejected 30 % off."""
    source = MadeUp.of_rows(pa.table({"x": ["1"] * 500, "y": ["yes"] * 500}), Codec(SCHEMA))
    preflight, drawn = Preflight(share=Fraction(1, 2)), []
    for _ in range(3000):
        curator = Curator(source, ROW, Grant(Budget.pure(1)), Instruments())
        found = preflight.ask(curator, Budget.pure(1))
        assert found is not None
        drawn += [found.fitting - 500, found.others]
    noise, law = np.array(drawn), preflight.mechanism(Budget.pure(1), ROW)
    assert fit_of_integers(noise, law.probability) > NEVER
    for off in (Fraction(7, 10), Fraction(13, 10)):
        wrong = DiscreteLaplace(law.scale * off, law.sensitivity)
        assert fit_of_integers(noise, wrong.probability) < NEVER


def test_nothing_is_bought_that_cannot_answer() -> None:
    """Where the number of rows is public and too small for any clear answer, nothing is asked."""
    assert _asked(100, 200, [], REPLACED) is None


# --- the exact ratio on a small case ---------------------------------------------------------


def _chances(fitting: int, others: int, unit: Unit, kept: int) -> dict[tuple[object, ...], float]:
    """The law of a whole run: the pair, the decision, and a count of rows if the run continues."""
    first = Preflight(share=Fraction(1, 3)).mechanism(Budget.pure(2), unit)
    second = DiscreteLaplace.costing(Fraction(4, 3), sensitivity=unit.count_l1)
    doubt = threshold(first.scale, weight=9, chance=Preflight.false_alarms)
    law: dict[tuple[object, ...], float] = {}
    for a, b in product(range(-8, 16), repeat=2):
        chance = first.probability(a - fitting) * first.probability(b - others)
        if 9 * b - a >= doubt:
            law[a, b] = chance
            continue
        for count in range(-8, 16):
            law[a, b, count] = chance * second.probability(count - kept)
    return law


@pytest.mark.parametrize(
    ("unit", "one", "other"),
    [
        (ROW, (4, 1, 4), (4, 2, 4)),
        (ROW, (4, 1, 4), (5, 1, 5)),
        (REPLACED, (4, 1, 4), (3, 2, 3)),
        (Unit(Neighbours.ADD_REMOVE, 3), (4, 1, 4), (5, 3, 5)),
    ],
    ids=["a misfit is added", "a fitting row is added", "a row becomes a misfit", "a person"],
)
def test_the_whole_run_keeps_its_epsilon(
    unit: Unit, one: tuple[int, int, int], other: tuple[int, int, int]
) -> None:
    """Refused or not, no result is over e^ε times likelier on a neighbour; some are e^ε₁ times."""
    here = _chances(*one[:2], unit, one[2])
    there = _chances(*other[:2], unit, other[2])
    ratios = [here[result] / there[result] for result in here]
    largest = max(max(ratios), 1 / min(ratios))
    assert largest <= math.exp(2) * (1 + 1e-9)
    assert largest >= math.exp(2 / 3) * (1 - 1e-9)


# --- what it costs ---------------------------------------------------------------------------


METHODS: dict[str, Synthesizer] = {
    "pure": PrivBayes(SCHEMA, epsilon=1),
    "pure replace": PrivBayes(SCHEMA, epsilon=1, neighbours="replace"),
    "gaussian": Nist(SCHEMA, epsilon=1, delta="1e-6"),
    "independent": Independent(SCHEMA, epsilon=1, delta="1e-6"),
    "zcdp": Nist(SCHEMA, epsilon=1, delta="1e-6", structure="greedy"),
    "histogram": Histogram(SCHEMA, epsilon=1, rows=5),
}


@pytest.mark.parametrize("name", METHODS)
def test_the_budget_adds_up(name: str, tmp_path: Path) -> None:
    """The whole run costs its budget exactly, and its first charge is the preflight's."""
    book = Ledger(tmp_path / "ledger.jsonl")
    fitted = METHODS[name].fit(GOOD, ledger=book, dataset="rows", preflight=Preflight())
    statement = fitted.model_.statement
    budget = fitted.budget
    assert (budget.amount, budget.delta) == (statement.bound.epsilon, statement.bound.delta)
    sensitivity = fitted.unit.count_l1
    assert Charge(QUESTION, LaplaceEvent(50 * sensitivity, sensitivity)) == statement.charges[0]
    assert Spent(budget.amount, budget.delta) == book.account("rows").spent


@pytest.mark.parametrize("name", METHODS)
def test_a_refused_run_costs_its_share_alone(name: str, tmp_path: Path) -> None:
    """The grant of a run that is refused is closed at a fiftieth of ε, without δ."""
    book = Ledger(tmp_path / "ledger.jsonl")
    with pytest.raises(DataError, match="`understudy check` shows the owner"):
        METHODS[name].fit(BAD, ledger=book, dataset="rows", preflight=Preflight())
    [run] = book.account("rows").runs
    assert Spent(Fraction(1, 50), Fraction(0)) == run["cost"].spent
    assert not run["open"]
    assert 1 == run["charges"]


def test_a_budget_of_nothing_buys_nothing() -> None:
    """A method that reads nothing is not preceded by a question."""
    fitted = Random(SCHEMA, epsilon=1, rows=5).fit(BAD, ledger=None, preflight=Preflight())
    assert fitted.fitting_ is None
    assert () == fitted.model_.statement.charges


PRICINGS: dict[str, Pricing] = {
    "adaptive": Adaptive(),
    "gaussian rounds": GaussianRounds(),
    "basic sums": BasicSums(),
    "questions then list": QuestionsThenList(),
}
FIRST = Charge("first", LaplaceEvent(Fraction(50), Fraction(1)))


@pytest.mark.parametrize("name", PRICINGS)
def test_every_pricing_counts_against_the_rest(name: str) -> None:
    """After a first question a grant spends what is left of ε, with all of δ."""
    pricing, budget = PRICINGS[name], Budget.approximate(1, "1e-6")
    grant = Grant(budget, pricing=pricing)
    grant.charge_first([FIRST])
    rest = Budget.approximate(Fraction(49, 50), "1e-6")
    assert pricing.counted(rest) == grant.spendable == grant.remaining
    assert (Fraction(1, 50), Fraction(0)) == (grant.bound().epsilon, grant.bound().delta)


def test_a_first_question_comes_first() -> None:
    """A charge before it, another kind of noise, and more than the budget are refused."""
    grant = Grant(Budget.pure(1))
    grant.charge([FIRST])
    with pytest.raises(UsageError, match="before every other charge"):
        grant.charge_first([FIRST])
    with pytest.raises(UsageError, match="cannot be paid for in pure"):
        Grant(Budget.approximate(1, "1e-6")).charge_first(
            [Charge("first", GaussianEvent(Fraction(1), Fraction(1)))]
        )
    with pytest.raises(BudgetExceeded):
        Grant(Budget.pure("1/100")).charge_first([FIRST])


def test_a_limit_in_zcdp_counts_both_parts(tmp_path: Path) -> None:
    """What a run with a preflight has cost in ρ holds the question's ε²/2 and the rest."""
    book = Ledger(tmp_path / "ledger.jsonl")
    limit = Limit.zcdp(Spent(Fraction(2), Fraction(1, 10**5)), Adjacency())
    book.set_limit("rows", limit)
    Nist(SCHEMA, epsilon=1, delta="1e-6").fit(
        GOOD, ledger=book, dataset="rows", preflight=Preflight()
    )
    [run] = book.account("rows").runs
    spent = run["cost"].concentrated
    grant = Grant(Budget.approximate(1, "1e-6"), pricing=GaussianRounds())
    grant.charge_first([FIRST])
    assert spent is not None
    assert grant.reserve is not None
    assert Fraction(1, 5000) < spent.rho <= grant.reserve.rho


@pytest.mark.parametrize(
    "given", [{"share": Fraction(0)}, {"share": Fraction(1)}, {"least": Fraction(4, 7)}]
)
def test_settings_that_mean_nothing_are_refused(given: dict[str, Fraction]) -> None:
    """A share is a part, and the least share of rows is 1 − 1/b."""
    with pytest.raises(UsageError):
        Preflight(**given)
