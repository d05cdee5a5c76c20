"""Planted faults that replay from raw rows must catch, and the tape that catches them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from support.methods import BUILDERS, EVERYDAY, QUICK
from support.neighbours import SCHEMA as CODED
from support.neighbours import last_codes, random_rows, source_of
from support.raw_neighbours import (
    PERSONS,
    REPLACED,
    ROW,
    SCHEMA,
    STRANGE,
    RawPair,
    Row,
    crowd,
    nested,
    pairs_for,
)
from support.raw_replay import Ask, Fit, leaks
from support.replay import record, replay
from support.tiers import slow_but
from support.ways_in import WAYS
from understudy.facts.codec import Codec, Encoding, names, ordinates, persons
from understudy.facts.codec.ordinates import ColumnOrdinates
from understudy.facts.domain import Attributes
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.methods import (
    AdaptiveMarginals,
    Independent,
    Learned,
    Nist,
    Random,
    Synthesizer,
)
from understudy.methods.estimation.law import Estimation
from understudy.methods.structure.rounds import ModelErrors
from understudy.methods.structure.table_cost import TableCost
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.mechanisms.additive import DiscreteLaplace
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.privacy.replay import LeakFound, Recorder
from understudy.rows.counting import Counts, CountSource, Marginal, Score
from understudy.rows.engines.memory import MemorySource

# Methods that ask something of a table whose size is private.
MEASURING = [name for name in BUILDERS if not name.endswith(("replace", "declared"))]


@pytest.mark.parametrize("name", slow_but(EVERYDAY, MEASURING))
def test_two_people_are_too_many(name: str, tmp_path: Path) -> None:
    """The check can fail: tables two people apart are told apart."""
    rows, alone = crowd(20), STRANGE["unlike all others"]
    further = RawPair("two are added", ROW, rows, (*rows, alone, alone))
    [found] = leaks(Fit(BUILDERS[name](SCHEMA)), [further], tmp_path).values()
    assert "more than the sensitivity" in found


# --- planted bugs: each must make the audit fail ---------------------------------------------


def _caught(synthesizer: Synthesizer, folder: Path) -> str:
    """What the replay on raw neighbours says first."""
    found = leaks(Fit(synthesizer), pairs_for(synthesizer.unit), folder)
    return next(iter(found.values()), "")


class HalvedNoise(Independent):
    """Calibrates to half the sensitivity of a replaced row."""

    def learn(self, curator: Curator) -> Learned:
        """As its parent, through a curator that thinks rows are added."""

        class Careless(Curator):
            def measure(
                self,
                sets: Sequence[Attributes],
                budget: Budget,
                *,
                weights: Sequence[int] | None = None,
            ) -> list[NoisyMarginal]:
                noisy = []
                for attributes, share in zip(sets, budget.split(weights or []), strict=True):
                    half = DiscreteLaplace.costing(share.amount, sensitivity=Fraction(1))
                    counts = self.release(
                        half,
                        lambda source, a=attributes: source.count([a])[0].counts,  # type: ignore[misc]
                        name=f"counts of {' × '.join(attributes)}",
                    )
                    noisy.append(NoisyMarginal(attributes, counts, half.variance))
                return noisy

            def announce(self, sets: Sequence[Attributes], weights: Sequence[int]) -> Budget:
                return self.budget

        careless = Careless(curator._source, curator.unit, curator._grant, curator._instruments)
        return super().learn(careless)


def test_halved_noise_is_caught(tmp_path: Path) -> None:
    """Noise for half the sensitivity: the answers differ by more than it covers."""
    assert "more than the sensitivity" in _caught(
        HalvedNoise(SCHEMA, epsilon=1, neighbours=Neighbours.REPLACE), tmp_path
    )


class DomainFromRows(Independent):
    """Looks which values occur before it measures, as most tools do."""

    def learn(self, curator: Curator) -> Learned:
        """Reads the rows beside the Curator's verbs."""
        curator._source.count([("colour",)])
        return super().learn(curator)


def test_a_domain_read_from_the_rows_is_caught(tmp_path: Path) -> None:
    """A look at the table that no question was paid for."""
    assert "outside the Curator" in _caught(DomainFromRows(SCHEMA, epsilon=1), tmp_path)


class ExactSearch(Nist):
    """Searches by exact scores beside noisy ones, as the published genetic code does."""

    def _from_pairs(
        self, curator: Curator, budget: Budget, score: Score, table_cost: TableCost
    ) -> Network:
        """Reads the scores beside the Curator's verbs."""
        curator._source.score([("colour", "size")], score.kernel)
        return super()._from_pairs(curator, budget, score, table_cost)


def test_a_search_by_exact_scores_is_caught(tmp_path: Path) -> None:
    """A structure that reads anything but noisy scores is told apart."""
    search = ExactSearch(SCHEMA, epsilon=1, delta=1e-6, structure="genetic", search=QUICK)
    assert "outside the Curator" in _caught(search, tmp_path)


class RowsFromSource(Random):
    """Takes the number of rows, which is private, for granted."""

    def learn(self, curator: Curator) -> Learned:
        """Reads the row count beside the Curator's verbs."""
        rows = curator._source.rows_read
        return replace(super().learn(curator), rows=rows)


def test_a_free_row_count_is_caught(tmp_path: Path) -> None:
    """The row count is private under add-remove, and costs."""
    assert "outside the Curator" in _caught(RowsFromSource(SCHEMA, epsilon=1), tmp_path)


class ForgottenCharge(Random):
    """Answers a question without paying for it."""

    def learn(self, curator: Curator) -> Learned:
        """Draws through the mechanism, but past the grant."""
        mechanism = DiscreteLaplace(Fraction(1), Fraction(1))
        tape, noise = curator._instruments.tape, curator._instruments.noise
        with tape.looking():
            exact = curator._source.count([()])[0].counts
        from understudy.privacy.accounting.events import Charge

        charge = Charge("number of rows", mechanism.event)
        tape.answer(charge, mechanism, exact, lambda: mechanism.release(exact, noise))
        return super().learn(curator)


def test_a_forgotten_charge_is_caught(tmp_path: Path) -> None:
    """The statement must list everything that was released."""
    assert "does not name" in _caught(ForgottenCharge(SCHEMA, epsilon=1), tmp_path)


class Unfaithful(Random):
    """Asks more of tables whose noisy answer it does not like, and remembers the first rows."""

    calls = 0

    def learn(self, curator: Curator) -> Learned:
        """Different from fit to fit."""
        Unfaithful.calls += 1
        learned = super().learn(curator)
        tilt = np.array([1.0 / Unfaithful.calls, 1 - 1.0 / Unfaithful.calls])
        sold = Conditional(Family("sold"), tilt)
        held = learned.distribution.require_network().conditionals
        kept = tuple(sold if c.family.child == "sold" else c for c in held)
        return Learned(BayesNet(curator.domain, kept), learned.rows)


def test_a_model_that_depends_on_anything_else_is_caught(tmp_path: Path) -> None:
    """With all answers frozen, what leaves must be the same to the last bit."""
    assert "something else leaves" in _caught(Unfaithful(SCHEMA, epsilon=1), tmp_path)


# --- faults that were made, or proposed by those who looked for some ------------------------


def _replace(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, other: Any) -> None:
    """Plant a fault; nothing else of the code changes."""
    assert hasattr(owner, name)
    monkeypatch.setattr(owner, name, other)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noise-gan replace", "noise-gan target replace"])
def test_lines_that_move_up_are_caught(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: dropped rows come last, so that all rows behind one change their lines."""
    true_lines = MemorySource.number_rows

    def moved_up(self: MemorySource, sets: Sequence[Attributes]) -> Counts:
        lines = true_lines(self, sets)
        return np.asarray(lines[np.argsort((lines < 0).any(axis=1), kind="stable")])

    _replace(monkeypatch, MemorySource, "number_rows", moved_up)
    found = leaks(Fit(BUILDERS[name](SCHEMA)), pairs_for(BUILDERS[name](SCHEMA).unit), tmp_path)
    assert "features of every row: answers differ by more than the sensitivity" in found.values()
    assert {
        "the first becomes undeclared, so dropped",
        "a dropped one becomes unlike all others",
    } <= {*found}


@pytest.mark.parametrize("most", PERSONS)
def test_nameless_rows_of_one_person_are_caught(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: all rows without a name are one person's, who may be several."""
    true_numbers = names.number_names

    def one_more(*given: Any) -> Any:
        numbers = true_numbers(*given)
        return np.where(numbers < 0, numbers.max(initial=-1) + 1, numbers)

    _replace(monkeypatch, persons, "number_names", one_more)
    method = Independent(SCHEMA, epsilon=1, person_id="who", rows_per_person=most)
    found = leaks(Fit(method), pairs_for(PERSONS[most]), tmp_path)
    assert any(" name, " in name for name in found)
    assert {"counts of colour: answers differ by more than the sensitivity"} <= {*found.values()}


@pytest.mark.parametrize("name", ["random replace", "histogram replace", "privbayes tree replace"])
def test_the_number_of_kept_rows_is_caught(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: n under replace is that of the rows kept, which one row changes by being dropped."""

    def kept(curator: Curator) -> int:
        with curator._instruments.tape.looking():
            return int(curator._source.count([()])[0].counts)

    _replace(monkeypatch, Curator, "public_rows", property(kept))
    synthesizer = BUILDERS[name](SCHEMA)
    found = leaks(Fit(synthesizer), pairs_for(synthesizer.unit), tmp_path)
    assert {"the first becomes undeclared, so dropped", "the only one becomes dropped"} <= {*found}
    assert "one changes in one column alone" not in found


@pytest.mark.slow
@pytest.mark.parametrize("structure", ["greedy", "pairwise"])
def test_a_score_that_forgets_persons_is_caught(
    structure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: scores are calibrated to a row where persons have five."""
    true_grid = Curator._grid

    def of_a_row(self: Curator, score: Score) -> Any:
        own = Unit(self.unit.neighbours)
        return true_grid(Curator(self._source, own, self._grant), score)

    _replace(monkeypatch, Curator, "_grid", of_a_row)
    method = Nist(
        SCHEMA, epsilon=200, delta=1e-6, structure=structure, person_id="who", rows_per_person=5
    )
    found = leaks(Fit(method), pairs_for(method.unit), tmp_path)
    assert "total variation" in found["a person with rows unlike all others comes"]


@pytest.mark.slow
def test_the_sensitivity_of_an_added_row_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: a replaced row moves a table by 1 in L2, and not by √2."""
    _replace(monkeypatch, Unit, "count_l2_squared", property(lambda unit: Fraction(1)))
    assert "more than the sensitivity" in _caught(
        BUILDERS["independent approximate replace"](SCHEMA), tmp_path
    )


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [50, 120])
def test_a_score_that_looks_at_itself_is_caught(
    threshold: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: scores count twice from a threshold on, which some row is the one to reach."""
    true_scores = Curator._scored

    def scaled(self: Curator, *given: Any) -> Any:
        scores = true_scores(self, *given)
        return np.where(scores > threshold, 2 * scores, scores)

    _replace(monkeypatch, Curator, "_scored", scaled)
    job = Ask(SCHEMA, ROW, (("sold", "colour"), ("size", "one")), verbs=("score",))
    found = leaks(job, nested(260), tmp_path, WAYS["arrow"])
    assert any("more than the sensitivity" in leak for leak in found.values())


# Three columns of eight values that nearly all rows have in common, so that a model of single
# columns is far off: it expects five rows where there is none, and five where there are thirty.
# The noise of a budget of 200 moves that by less than one row, whatever it is.
_TIED = Schema.parse(
    {
        "columns": {
            **{name: {"kind": "integer", "min": 0, "max": 7} for name in Row._fields[1:4]},
            **{name: {"kind": "id"} for name in (Row._fields[0], *Row._fields[4:])},
        }
    }
)


def _coded(*codes: int) -> Row:
    colour, size, weight = map(str, codes)
    return Row(colour=colour, size=size, weight=weight)


def _adaptive_leaks(folder: Path, unit: Unit, delta: float = 1e-6) -> set[str]:
    """What the replay of rounds says, on a person unlike all others who comes or takes a place.

    The place is that of a person who is where the model expects more rows than there are.
    """
    method = AdaptiveMarginals(_TIED, epsilon=200, delta=delta, neighbours=unit.neighbours)
    rows = (_coded(0, 1, 2), *(_coded(*[code] * 3) for code in range(6) for _ in range(30)))
    alone = _coded(7, 7, 7)
    after = (alone, *rows[1:]) if unit is REPLACED else (*rows, alone)
    pair = RawPair("one unlike all others", unit, rows, after)
    return set(leaks(Fit(method), [pair, pair.turned], folder).values())


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1e-6, 0])
def test_rounds_without_a_fault_are_not_accused(delta: float, tmp_path: Path) -> None:
    """The pair on which the next faults are found shows nothing else."""
    assert set() == _adaptive_leaks(tmp_path, ROW, delta)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1e-6, 0])
def test_an_understated_error_is_caught(
    delta: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: the error of a model is said to move by a third of a row."""
    true_score = ModelErrors.score

    def smaller(self: ModelErrors, unit: Unit) -> Score:
        return replace(true_score(self, unit), sensitivity=Fraction(1, 3))

    _replace(monkeypatch, ModelErrors, "score", smaller)
    [found] = _adaptive_leaks(tmp_path, ROW, delta)
    assert "L1 error" in found
    assert "more than the sensitivity" in found


@pytest.mark.slow
def test_a_replaced_row_that_counts_once_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: a replaced row is said to move an error as far as an added one."""

    def once(self: ModelErrors, unit: Unit) -> Score:
        return Score("the model's L1 error", self, Fraction(1), unit.neighbours)

    _replace(monkeypatch, ModelErrors, "score", once)
    assert any("more than the sensitivity" in leak for leak in _adaptive_leaks(tmp_path, REPLACED))


def test_a_model_scaled_to_the_true_number_of_rows_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: what the model expects has the total of the exact table, so that it moves too."""

    def scaled(self: ModelErrors, marginal: Marginal) -> float:
        expected = self.expected[marginal.attributes]
        exact = expected * (marginal.counts.sum() / expected.sum())
        return float(np.abs(marginal.counts - exact).sum())

    _replace(monkeypatch, ModelErrors, "__call__", scaled)
    assert any("more than the sensitivity" in leak for leak in _adaptive_leaks(tmp_path, ROW))


@pytest.mark.slow
def test_a_pool_of_the_exact_number_of_rows_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: the pool is made for the rows that there are, and not for those released."""
    read: list[int] = []
    true_count, true_estimate = MemorySource.count, Estimation.of

    def counted(self: MemorySource, sets: Sequence[Attributes]) -> Any:
        found = true_count(self, sets)
        read.append(int(found[0].counts.sum()))
        return found

    def for_all(marginals: Any, domain: Any, schema: Any, **options: Any) -> Estimation:
        return true_estimate(marginals, domain, schema, **{**options, "rows": read[-1]})

    _replace(monkeypatch, MemorySource, "count", counted)
    _replace(monkeypatch, Estimation, "of", for_all)
    assert _adaptive_leaks(tmp_path, ROW)


@pytest.mark.parametrize("unit", [ROW, REPLACED], ids=["row", "replaced"])
def test_a_level_read_from_the_rows_is_caught(
    unit: Unit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: a column has a level for missing cells only where some are missing."""
    true_encode, document = Codec.encode, SCHEMA.document()
    del document["columns"]["colour"]["missing"]
    complete = Schema.parse(document)

    def as_seen(self: Codec, rows: pa.Table) -> Encoding:
        own = SCHEMA if "" in rows.column("colour").to_pylist() else complete
        return true_encode(Codec(own), rows)

    _replace(monkeypatch, Codec, "encode", as_seen)
    plain, missing = crowd(20, strange=False), STRANGE["missing, with a level"]
    after = (missing, *plain[1:]) if unit is REPLACED else (*plain, missing)
    pair = RawPair("the first missing cell", unit, plain, after)
    found = leaks(Ask(SCHEMA, unit, [("colour",)], verbs=["measure"]), [pair], tmp_path)
    assert {pair.name: "counts of colour: answers differ by more than the sensitivity"} == found


def test_a_column_given_up_for_one_cell_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: where one cell is not a number, none of its column is."""
    true_reading = ordinates._read_each

    def given_up(*given: Any) -> ColumnOrdinates:
        found = true_reading(*given)
        return ColumnOrdinates(found.ordinates, found.missing, np.ones(found.ordinates.size, bool))

    _replace(monkeypatch, ordinates, "_read_each", given_up)
    plain = crowd(20, strange=False)
    pair = RawPair("the first", ROW, plain, (*plain, STRANGE["unreadable number"]))
    found = leaks(Fit(Independent(SCHEMA, epsilon=1)), [pair], tmp_path)
    assert "more than the sensitivity" in found[pair.name]


def test_a_cell_that_ends_the_run_is_caught(tmp_path: Path) -> None:
    """A refusal leaves, too: a byte that is not text ends a run, as the known limits say."""
    rows = crowd(9)
    pair = RawPair("a byte that is not text", ROW, rows, (*rows, rows[0]._replace(colour="\udcff")))
    found = leaks(Fit(Independent(SCHEMA, epsilon=1)), [pair], tmp_path)
    assert {pair.name: "something else leaves although every answer was the same"} == found


# --- the tape itself -------------------------------------------------------------------------


def _tape_of(source: CountSource) -> Recorder:
    tape, _ = record(Independent(CODED, epsilon=1), source)
    return tape


def test_replay_refuses_other_questions() -> None:
    """Another method, or another budget, does not ask what was recorded."""
    tape = _tape_of(source_of(random_rows(5)))
    with pytest.raises(LeakFound, match="was asked"):
        replay(Independent(CODED, epsilon=2), tape, source_of(random_rows(5)))
    with pytest.raises(LeakFound, match="was asked"):
        replay(Random(CODED, epsilon=1), tape, source_of(random_rows(5)))


def test_replay_refuses_fewer_questions() -> None:
    """A run that stops early on the neighbour is told apart."""
    tape = _tape_of(source_of(random_rows(5)))
    with pytest.raises(LeakFound, match="was not asked"):
        replay(Random(CODED, epsilon=1, rows=3), tape, source_of(random_rows(5)))


def test_private_exchanges_do_not_show_themselves() -> None:
    """Nothing that holds exact answers prints them."""
    source = source_of([last_codes()] * 77)
    tape = _tape_of(source)
    curator_view = repr([tape.exchanges[0], source, source.table, source.count([("size",)])])
    assert "77" not in curator_view
    assert "0x" not in curator_view
