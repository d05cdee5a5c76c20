"""The one door: pay, look, release, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from support.neighbours import DOMAIN, random_rows, source_of
from understudy.errors import BudgetExceeded, CapacityError, UsageError
from understudy.facts.domain import Attributes
from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.accounting.events import Charge, FineGaussianEvent
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.mechanisms.additive import DiscreteLaplace, FineGaussian
from understudy.privacy.replay import LeakFound, Recorder, Replay
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.pricing import GaussianRounds
from understudy.rows.counting import Marginal, Score

ROWS = random_rows(300, seed=4)


def _largest_cell(marginal: Marginal) -> float:
    """A score that one row moves by at most one."""
    return float(marginal.counts.max())


LARGEST = Score("largest cell", _largest_cell, Fraction(1), Neighbours.ADD_REMOVE)


def _curator(paid: Budget | Grant, *, relation: Neighbours = Neighbours.ADD_REMOVE) -> Curator:
    grant = paid if isinstance(paid, Grant) else Grant(paid)
    return Curator(source_of(ROWS), Unit(relation), grant)


def _itself(attributes: Attributes) -> Attributes:
    return attributes


def test_measure_without_noise_is_exact() -> None:
    """Unlimited budgets hand out the counts themselves, for studies."""
    [table] = _curator(Budget.unlimited()).measure([("sold", "colour")], Budget.unlimited())
    assert source_of(ROWS).count([("sold", "colour")])[0].counts.tolist() == table.counts.tolist()
    assert 0 == table.variance


def test_measure_spends_exactly_its_budget() -> None:
    """Whatever the weights, the shares use up the whole."""
    grant = Grant(Budget.pure(1))
    curator = _curator(grant)
    curator.measure([("size",), ("sold",), ()], Budget.pure(1), weights=[5, 3, 7])
    assert 0 == grant.remaining.amount
    with pytest.raises(BudgetExceeded):
        curator.measure([()], Budget.pure("1/1000000"))


def test_measure_charges_before_it_looks() -> None:
    """A refused question never reaches the rows."""
    tape = Recorder()
    curator = Curator(
        tape.guard(source_of(ROWS)),
        Unit(Neighbours.ADD_REMOVE),
        Grant(Budget.pure(1)),
        Instruments(tape=tape),
    )
    with pytest.raises(BudgetExceeded):
        curator.measure([()], Budget.pure(2))
    assert [] == tape.exchanges


@pytest.mark.parametrize(
    ("relation", "budget", "scale"),
    [
        (Neighbours.ADD_REMOVE, Budget.pure("1/10"), Fraction(10)),
        (Neighbours.REPLACE, Budget.pure("1/10"), Fraction(20)),
    ],
)
def test_noise_follows_the_relation(relation: Neighbours, budget: Budget, scale: Fraction) -> None:
    """A replaced row moves two cells, so it needs twice the noise."""
    curator = _curator(budget, relation=relation)
    [table] = curator.measure([("size",)], budget)
    assert DiscreteLaplace(scale, Fraction(1)).variance == pytest.approx(table.variance)


def test_the_row_count_is_public_under_replace_only() -> None:
    """Under add-remove there is no free n."""
    assert 300 == _curator(Budget.pure(1), relation=Neighbours.REPLACE).public_rows
    assert _curator(Budget.pure(1)).public_rows is None


def test_select_finds_the_best_given_enough_budget() -> None:
    """With a large ε the highest score wins."""
    candidates = [("size",), ("colour",), ("one",), ("size", "colour")]
    chosen = _curator(Budget.pure(1000)).select(candidates, LARGEST, Budget.pure(1000), of=_itself)
    assert ("one",) == chosen


@pytest.mark.parametrize("budget", [Budget.pure(1), Budget.zcdp("1/50"), Budget.unlimited()])
def test_select_spends_no_more_than_its_budget(budget: Budget) -> None:
    """One choice, one charge, within the budget."""
    grant = Grant(budget)
    _curator(grant).select([("size",), ("sold",)], LARGEST, budget, of=_itself)
    assert 1 == len(grant.charges)
    assert 0 <= grant.remaining.amount <= budget.amount / 100


def test_scores_come_with_their_variance() -> None:
    """Noisy scores lie around the exact ones as far as the variance says."""
    sets = [("size",), ("colour",), ("sold",)] * 200
    noisy, variance = _curator(Budget.zcdp(600)).score(sets, LARGEST, Budget.zcdp(600))
    exact = source_of(ROWS).score(sets, _largest_cell)
    assert variance == pytest.approx(1 / 2, rel=1e-4)
    assert np.mean((noisy - exact) ** 2) == pytest.approx(variance, rel=0.35)


def test_scores_are_refused_under_another_relation() -> None:
    """A sensitivity holds for the relation it was proved for."""
    curator = _curator(Budget.pure(1), relation=Neighbours.REPLACE)
    with pytest.raises(UsageError, match="calibrated"):
        curator.score([("size",)], LARGEST, Budget.pure(1))


def test_choices_and_scores_replay_on_neighbours() -> None:
    """One row more moves every score by no more than the declared sensitivity."""
    sets = [("size",), ("colour",), ("size", "sold")]
    tape = Recorder()
    source = tape.guard(source_of(ROWS))
    unit = Unit(Neighbours.ADD_REMOVE)
    curator = Curator(source, unit, Grant(Budget.pure(2)), Instruments(tape=tape))
    first = curator.select(sets, LARGEST, Budget.pure(1), of=_itself)
    curator.score(sets, LARGEST, Budget.pure(1))

    again = Replay(tape.exchanges)
    more = again.guard(source_of([*ROWS, ROWS[0]]))
    twin = Curator(more, unit, Grant(Budget.pure(2)), Instruments(tape=again))
    assert first == twin.select(sets, LARGEST, Budget.pure(1), of=_itself)
    twin.score(sets, LARGEST, Budget.pure(1))
    again.check_finished()


def test_an_understated_score_is_caught() -> None:
    """Counting a row twice has sensitivity two; claiming one fails the replay."""

    def doubled(marginal: Marginal) -> float:
        return float(2 * marginal.counts.sum())

    lying = Score("doubled", doubled, Fraction(1), Neighbours.ADD_REMOVE)
    tape = Recorder()
    unit = Unit(Neighbours.ADD_REMOVE)
    source = tape.guard(source_of(ROWS))
    Curator(source, unit, Grant(Budget.pure(1)), Instruments(tape=tape)).score(
        [("size",)], lying, Budget.pure(1)
    )
    again = Replay(tape.exchanges)
    neighbour = again.guard(source_of(ROWS[1:]))
    twin = Curator(neighbour, unit, Grant(Budget.pure(1)), Instruments(tape=again))
    with pytest.raises(LeakFound, match="sensitivity"):
        twin.score([("size",)], lying, Budget.pure(1))


APPROXIMATE = Budget.approximate(1, "1e-6")


def test_gaussian_rounds_draw_on_a_fine_grid() -> None:
    """Tables come in steps of 1/1024, scores on the grid that they have; both name their cells."""
    grant = Grant(APPROXIMATE, pricing=GaussianRounds())
    curator = _curator(grant)
    [table] = curator.measure([("size",)], curator.budget * Fraction(1, 2))
    assert np.array_equal(table.counts * 1024, np.rint(table.counts * 1024))
    assert (table.counts % 1).any()
    curator.score([("size",), ("sold",)], LARGEST, curator.budget * Fraction(1, 2))
    drawn = [charge.event for charge in grant.charges]
    assert all(isinstance(event, FineGaussianEvent) for event in drawn)
    assert [(1, 1024), (2, 1)] == [(vars(e)["moved"], vars(e)["finer"]) for e in drawn]
    assert 0 == grant.remaining.amount


def test_gaussian_rounds_refuse_a_choice_before_anything_is_drawn() -> None:
    """A choice is outside the curve, whatever it would cost."""
    grant = Grant(APPROXIMATE, pricing=GaussianRounds())
    curator = _curator(grant)
    with pytest.raises(UsageError, match="a choice is outside the Gaussian curve"):
        curator.select([("size",)], LARGEST, curator.budget, of=_itself)
    assert [] == grant.charges


@pytest.mark.parametrize(("moved", "caught"), [(2, False), (1, True)])
def test_an_understated_number_of_cells_is_caught(moved: int, caught: bool) -> None:
    """A replaced row moves two cells; noise on the grid for one fails the replay."""
    mechanism = FineGaussian.costing(Fraction(1, 10), sensitivity_squared=Fraction(2), moved=moved)
    tape = Recorder()
    unit, budget = Unit(Neighbours.REPLACE), Budget.approximate(5, "1e-6")

    def ask(rows: list[tuple[int, ...]], tape: Recorder | Replay) -> None:
        grant = Grant(budget, pricing=GaussianRounds())
        curator = Curator(tape.guard(source_of(rows)), unit, grant, Instruments(tape=tape))
        curator.release(mechanism, lambda source: source.count([("size",)])[0].counts, name="q")

    ask(ROWS, tape)
    other = next(row for row in ROWS if row[1] != ROWS[0][1])
    seen = pytest.raises(LeakFound, match="sensitivity") if caught else nullcontext()
    with seen:
        ask([other, *ROWS[1:]], Replay(tape.exchanges))


def test_release_takes_any_mechanism() -> None:
    """What fits no other verb goes through the same door, ledger and recorder."""
    grant = Grant(Budget.pure(1))
    mechanism = DiscreteLaplace.costing(Fraction(1), sensitivity=Fraction(1))
    answer = _curator(grant).release(
        mechanism, lambda source: source.count([()])[0].counts, name="number of rows"
    )
    assert [Charge("number of rows", mechanism.event)] == grant.charges
    assert abs(int(answer) - 300) < 100


def test_tables_beyond_memory_are_refused_before_spending() -> None:
    """The estimate uses public sizes alone, and nothing is charged."""
    from understudy.facts.domain import Domain
    from understudy.rows.engines.memory import MemorySource
    from understudy.rows.table import Table

    wide = Domain({f"a{i}": 50_000 for i in range(4)})
    codes = {name: np.zeros(1, np.uint16) for name in wide}
    grant = Grant(Budget.pure(1))
    curator = Curator(MemorySource(Table(wide, codes, 1)), Unit(Neighbours.ADD_REMOVE), grant)
    with pytest.raises(CapacityError, match="use fewer bins"):
        curator.measure([wide.attributes], Budget.pure(1))
    assert [] == grant.charges


@pytest.mark.slow
def test_a_leak_is_a_type_error(tmp_path: Path) -> None:
    """Handing exact counts to what expects released ones does not pass the type checker."""
    leak = tmp_path / "leak.py"
    leak.write_text(
        "from understudy.models.estimation.consistency import best_total\n"
        "from understudy.privacy.noisy_marginal import NoisyMarginal\n"
        "from understudy.rows.counting import Marginal\n"
        "def ok(released: NoisyMarginal) -> float:\n"
        "    return best_total([released])\n"
        "def leak(exact: Marginal) -> float:\n"
        "    return best_total([exact])\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", str(leak)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 1 == checked.returncode
    assert 1 == checked.stdout.count("error:")
    assert 'incompatible type "Marginal"; expected "NoisyMarginal"' in checked.stdout


def test_the_curator_shows_only_public_facts() -> None:
    """Its text names attributes and the unit."""
    assert f"Curator({', '.join(DOMAIN)}; row, add-remove)" == repr(_curator(Budget.pure(1)))
