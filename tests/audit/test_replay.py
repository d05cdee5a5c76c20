"""Record and replay for every synthesizer, and planted bugs that must be caught."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from support.methods import BUILDERS, QUICK
from support.neighbours import SCHEMA, last_codes, neighbours_of, random_rows, source_of
from support.replay import audit, record, replay
from understudy.conditional import Conditional
from understudy.counting import CountSource, Score
from understudy.domain import Attributes
from understudy.learn.weighing import Weighing
from understudy.marginal import NoisyMarginal
from understudy.network import Family, Network
from understudy.privacy.audit import LeakFound, Recorder
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.mechanisms import DiscreteLaplace
from understudy.privacy.unit import Neighbours
from understudy.synthesizers import Independent, Learned, Nist, Random, Synthesizer

# Methods that ask something of a table whose size is private.
MEASURING = [name for name in BUILDERS if not name.endswith(("replace", "declared"))]
TABLES = {"empty": 0, "one row": 1, "two rows": 2, "many rows": 200}


@pytest.mark.parametrize("size", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("name", BUILDERS)
def test_neighbours_are_asked_the_same(name: str, size: int) -> None:
    """On every neighbour: the same questions, answers within sensitivity, the same model."""
    synthesizer = BUILDERS[name](SCHEMA)
    rows = random_rows(size)
    for _, neighbour in neighbours_of(rows, synthesizer.unit.neighbours):
        audit(synthesizer, source_of(rows), source_of(neighbour))


@pytest.mark.parametrize("name", MEASURING)
def test_two_people_are_too_many(name: str) -> None:
    """The check can fail: tables two people apart are told apart."""
    rows = random_rows(20)
    further = [*rows, last_codes(), last_codes()]
    synthesizer = BUILDERS[name](SCHEMA)
    tape, _ = record(synthesizer, source_of(rows))
    with pytest.raises(LeakFound, match="sensitivity"):
        replay(synthesizer, tape, source_of(further))


# --- planted bugs: each must make the audit fail ---------------------------------------------


def _caught(synthesizer: Synthesizer) -> str:
    rows = random_rows(30)
    for _, neighbour in neighbours_of(rows, synthesizer.unit.neighbours):
        try:
            audit(synthesizer, source_of(rows), source_of(neighbour))
        except LeakFound as leak:
            return str(leak)
    return ""


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


def test_halved_noise_is_caught() -> None:
    """Noise for half the sensitivity: the answers differ by more than it covers."""
    assert "more than the sensitivity" in _caught(
        HalvedNoise(SCHEMA, epsilon=1, neighbours=Neighbours.REPLACE)
    )


class DomainFromRows(Independent):
    """Looks which values occur before it measures, as most tools do."""

    def learn(self, curator: Curator) -> Learned:
        """Reads the rows beside the Curator's verbs."""
        curator._source.count([("colour",)])
        return super().learn(curator)


def test_a_domain_read_from_the_rows_is_caught() -> None:
    """A look at the table that no question was paid for."""
    assert "outside the Curator" in _caught(DomainFromRows(SCHEMA, epsilon=1))


class ExactSearch(Nist):
    """Searches by exact scores beside noisy ones, as the published genetic code does."""

    def _from_pairs(
        self, curator: Curator, budget: Budget, score: Score, weighing: Weighing
    ) -> Network:
        """Reads the scores beside the Curator's verbs."""
        curator._source.score([("colour", "size")], score.kernel)
        return super()._from_pairs(curator, budget, score, weighing)


def test_a_search_by_exact_scores_is_caught() -> None:
    """A structure that reads anything but noisy scores is told apart."""
    search = ExactSearch(SCHEMA, epsilon=1, delta=1e-6, structure="genetic", search=QUICK)
    assert "outside the Curator" in _caught(search)


class RowsFromSource(Random):
    """Takes the number of rows, which is private, for granted."""

    def learn(self, curator: Curator) -> Learned:
        """Reads the row count beside the Curator's verbs."""
        rows = curator._source.rows_read
        return Learned(super().learn(curator).conditionals, rows)


def test_a_free_row_count_is_caught() -> None:
    """The row count is private under add-remove, and costs."""
    assert "outside the Curator" in _caught(RowsFromSource(SCHEMA, epsilon=1))


class ForgottenCharge(Random):
    """Answers a question without paying for it."""

    def learn(self, curator: Curator) -> Learned:
        """Draws through the mechanism, but past the grant."""
        mechanism = DiscreteLaplace(Fraction(1), Fraction(1))
        tape, noise = curator._instruments.tape, curator._instruments.noise
        with tape.looking():
            exact = curator._source.count([()])[0].counts
        from understudy.privacy.events import Charge

        charge = Charge("number of rows", mechanism.event)
        tape.answer(charge, mechanism, exact, lambda: mechanism.release(exact, noise))
        return super().learn(curator)


def test_a_forgotten_charge_is_caught() -> None:
    """Everything released must stand in the statement."""
    assert "does not name" in _caught(ForgottenCharge(SCHEMA, epsilon=1))


class Unfaithful(Random):
    """Asks more of tables whose noisy answer it does not like, and remembers the first rows."""

    calls = 0

    def learn(self, curator: Curator) -> Learned:
        """Different from fit to fit."""
        Unfaithful.calls += 1
        learned = super().learn(curator)
        tilt = np.array([1.0 / Unfaithful.calls, 1 - 1.0 / Unfaithful.calls])
        sold = Conditional(Family("sold"), tilt)
        kept = tuple(sold if c.family.child == "sold" else c for c in learned.conditionals)
        return Learned(kept, learned.rows)


def test_a_model_that_depends_on_anything_else_is_caught() -> None:
    """With all answers frozen, what leaves must be the same to the last bit."""
    assert "models differ" in _caught(Unfaithful(SCHEMA, epsilon=1))


# --- the tape itself -------------------------------------------------------------------------


def _tape_of(source: CountSource) -> Recorder:
    tape, _ = record(Independent(SCHEMA, epsilon=1), source)
    return tape


def test_replay_refuses_other_questions() -> None:
    """Another method, or another budget, does not ask what was recorded."""
    tape = _tape_of(source_of(random_rows(5)))
    with pytest.raises(LeakFound, match="was asked"):
        replay(Independent(SCHEMA, epsilon=2), tape, source_of(random_rows(5)))
    with pytest.raises(LeakFound, match="was asked"):
        replay(Random(SCHEMA, epsilon=1), tape, source_of(random_rows(5)))


def test_replay_refuses_fewer_questions() -> None:
    """A run that stops early on the neighbour is told apart."""
    tape = _tape_of(source_of(random_rows(5)))
    with pytest.raises(LeakFound, match="was not asked"):
        replay(Random(SCHEMA, epsilon=1, rows=3), tape, source_of(random_rows(5)))


def test_private_exchanges_do_not_show_themselves() -> None:
    """Nothing that holds exact answers prints them."""
    source = source_of([last_codes()] * 77)
    tape = _tape_of(source)
    curator_view = repr([tape.exchanges[0], source, source.table, source.count([("size",)])])
    assert "77" not in curator_view
    assert "0x" not in curator_view
