"""Plans: the noise is that of a real fit, the error falls with the budget, nothing is read."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np
import pytest

from support.tiers import slow_but
from understudy.errors import UsageError
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.capacity import bytes_of_pool
from understudy.facts.codec import Codec
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.workload import workload
from understudy.jobs import example
from understudy.methods import AdaptiveMarginals, Independent, Nist, PrivBayes, Random, Synthesizer
from understudy.methods.planning import MOST_COLUMNS, MOST_ROWS, Plan, plan_fit
from understudy.methods.planning.rehearsal import (
    Silence,
    chance_distance,
    read_through,
)
from understudy.methods.planning.watching import (
    CHOICES,
    ONE_WAY,
    ROWS,
    SCORES,
    TABLES,
    Stage,
    stages,
)
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Instruments
from understudy.privacy.spending.ledger import Ledger
from understudy.rows import sources
from understudy.rows.engines.memory import MemorySource
from understudy.rows.made_up import AllAlike, MadeUp, ScaledSource
from understudy.rows.table import Table
from understudy.testing import seeded

SIZES = (3, 2, 12, 5, 2)
SCHEMA = Schema.parse(
    {"columns": {f"a{i}": {"kind": "integer", "min": 1, "max": n} for i, n in enumerate(SIZES)}}
)
ROW_COUNT = 3_000

BUILDERS: dict[str, Callable[[], Synthesizer]] = {
    "nist": lambda: Nist(SCHEMA, epsilon=1, delta=1e-6),
    "nist replace": lambda: Nist(SCHEMA, epsilon=1, delta=1e-6, neighbours="replace"),
    "nist greedy": lambda: Nist(SCHEMA, epsilon=1, delta=1e-6, structure="greedy", degree=2),
    "privbayes": lambda: PrivBayes(SCHEMA, epsilon=1),
    "privbayes replace": lambda: PrivBayes(SCHEMA, epsilon=1, neighbours="replace"),
    "privbayes tree": lambda: PrivBayes(
        SCHEMA, epsilon=1, structure="tree", neighbours="add-remove"
    ),
    "adaptive": lambda: AdaptiveMarginals(SCHEMA, epsilon=1, delta=1e-6),
    "adaptive replace": lambda: AdaptiveMarginals(
        SCHEMA, epsilon=1, delta=1e-6, neighbours="replace"
    ),
    "independent": lambda: Independent(SCHEMA, epsilon=1, delta=1e-6),
    "independent pure": lambda: Independent(SCHEMA, epsilon="0.7"),
}


def _source() -> MemorySource:
    generator = np.random.default_rng(5)
    domain = Domain.of(SCHEMA)
    codes = {a: generator.integers(0, domain[a], ROW_COUNT).astype(np.uint8) for a in domain}
    return MemorySource(Table(domain, codes, ROW_COUNT))


def _planned(synthesizer: Synthesizer, rows: int = ROW_COUNT) -> Plan:
    return plan_fit(synthesizer, rows, epsilons=())


@pytest.mark.parametrize("builder", slow_but({"nist", "privbayes replace"}, BUILDERS))
def test_the_noise_is_that_of_a_real_fit(builder: str) -> None:
    """Until structure is answered, charges are those of a fit that finds the declared rows."""
    synthesizer = BUILDERS[builder]()
    plan = _planned(synthesizer)
    known = [stage for stage in plan.stages if not plan.depends_on_answers(stage)]
    planned = [event for stage in known for event in stage.events]
    # Silence makes the fit find exactly as many rows as there are.
    fit = synthesizer.with_instruments(Instruments(noise=Silence())).fit(_source(), ledger=None)
    charged = [charge.event for charge in fit.model_.statement.charges]
    assert planned == charged[: len(planned)]
    assert len(planned) >= len(SIZES)


@pytest.mark.parametrize("builder", ["privbayes replace", "independent"])
def test_the_noise_is_that_of_a_private_fit(builder: str) -> None:
    """Where nothing depends on a noisy number of rows, it is so with real noise too."""
    synthesizer = BUILDERS[builder]()
    plan = _planned(synthesizer)
    known = [stage for stage in plan.stages if not plan.depends_on_answers(stage)]
    planned = [event for stage in known for event in stage.events]
    charged = [
        charge.event for charge in synthesizer.fit(_source(), ledger=None).model_.statement.charges
    ]
    assert planned == charged[: len(planned)]


@pytest.mark.parametrize(
    ("builder", "names"),
    [
        ("nist", [ROWS, ONE_WAY, SCORES, TABLES]),
        ("nist replace", [ONE_WAY, SCORES, TABLES]),
        ("privbayes", [ROWS, ONE_WAY, CHOICES, TABLES]),
        ("privbayes replace", [ONE_WAY, CHOICES, TABLES]),
        ("independent", [ONE_WAY]),
    ],
)
def test_stages_share_the_whole_budget(builder: str, names: list[str]) -> None:
    """Shares of the stages add up to one, and the stages are the method's."""
    plan = _planned(BUILDERS[builder]())
    # Scores of further parents may follow those of pairs.
    found = [name for name, _ in groupby(stage.name for stage in plan.stages)]
    # Where no family was worth a table in the simulation, one-way tables are asked for again.
    last = [ONE_WAY if CHOICES in names and found[-1] == ONE_WAY else names[-1]]
    assert names[:-1] + last == found
    shares = [plan.share(stage) for stage in plan.stages]
    assert math.isclose(1, float(sum(shares)), rel_tol=1e-6)
    assert min(shares) > 0


def test_noise_is_in_rows() -> None:
    """One-way noise is the scale of its Laplace mechanism, times the square root of two."""
    plan = _planned(Independent(SCHEMA, epsilon=1))
    [stage] = plan.stages
    scales = [float(event.scale) for event in stage.events]  # type: ignore[union-attr]
    assert np.allclose(np.sqrt(2) * np.array(scales), stage.noise, rtol=0.01)


def test_nothing_is_opened_or_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan opens no data, and no ledger gives it a grant."""

    def refuse(*args: object, **more: object) -> Any:
        raise AssertionError("a plan reads nothing and spends nothing")

    monkeypatch.setattr(sources, "open_source", refuse)
    monkeypatch.setattr("understudy.privacy.run.open_source", refuse)
    monkeypatch.setattr(Ledger, "grant", refuse)
    monkeypatch.setattr("builtins.open", _opens_no_table(open))
    synthesizer = BUILDERS["nist"]()
    _planned(synthesizer)
    assert not hasattr(synthesizer, "model_")


def _opens_no_table(really: Callable[..., Any]) -> Callable[..., Any]:
    """Lets only compiled code and the machine's own state be opened."""

    def opened(name: object, *args: object, **more: object) -> Any:
        assert not str(name).endswith((".csv", ".parquet", ".duckdb", ".jsonl")), name
        return really(name, *args, **more)

    return opened


@pytest.mark.slow
@pytest.mark.parametrize("builder", ["nist", "privbayes", "independent"])
def test_more_budget_never_means_more_error(builder: str) -> None:
    """From 0.1 to 10 the expected error falls, but for what chance makes of simulations."""
    plan = plan_fit(BUILDERS[builder](), ROW_COUNT)
    assert [Fraction(x) for x in ("0.1", "0.3", "1", "3", "10")] == [
        outlook.epsilon for outlook in plan.outlooks
    ]
    for ways in range(3):
        expected = [o.distances[ways].expected for o in plan.outlooks]  # type: ignore[union-attr]
        assert all(later <= 1.1 * sooner for sooner, later in itertools.pairwise(expected))
        assert expected[-1] < 0.9 * expected[0]


def test_a_plan_can_be_had_again() -> None:
    """Planning twice gives the same forecast, to the last digit."""
    first, second = (_planned(BUILDERS["nist"]()) for _ in range(2))
    assert first.outlooks == second.outlooks


def test_a_band_holds_what_it_expects() -> None:
    """Low, expected and high are in this order, and within what a distance can be."""
    for band in _planned(BUILDERS["nist"]()).expected.distances:
        assert band is not None
        low, high = band.likely
        lowest, highest = band.nearly_sure
        assert 0 < lowest <= low <= band.expected <= high <= highest <= 1


@pytest.mark.slow
def test_more_rows_mean_less_error() -> None:
    """Ten times the rows, a smaller error, also where made-up rows stand for several."""
    few, many, most = (_planned(BUILDERS["nist"](), rows) for rows in (2_000, 20_000, 10**7))
    assert (1, True) == (most.rows // 10**7, most.rehearsed_rows <= 60_000)
    for ways in range(3):
        errors = [p.expected.distances[ways].expected for p in (few, many, most)]  # type: ignore[union-attr]
        assert errors == sorted(errors, reverse=True)


@pytest.mark.slow
def test_rows_that_stand_for_several_tell_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sixth of the rows, six times each, gives about the forecast that all of them do."""
    sizes = (10, 4, 12, 7, 15, 9, 3, 16)
    columns = {f"a{i}": {"kind": "integer", "min": 1, "max": n} for i, n in enumerate(sizes)}
    synthesizer = Nist(Schema.parse({"columns": columns}), epsilon=3, delta=1e-9)
    whole = _planned(synthesizer, 60_000)
    monkeypatch.setattr("understudy.methods.planning.scene._MOST_ROWS", 10_000)
    monkeypatch.setattr("understudy.methods.planning.scene._FEWEST_ROWS", 1_000)
    sixth = _planned(synthesizer, 60_000)
    assert (60_000, 10_000) == (whole.rehearsed_rows, sixth.rehearsed_rows)
    for all_rows, fewer in zip(
        whole.expected.distances[1:], sixth.expected.distances[1:], strict=True
    ):
        assert all_rows is not None
        assert fewer is not None
        assert all_rows.expected / 1.3 < fewer.expected < 1.3 * all_rows.expected


def test_chance_keeps_tables_apart() -> None:
    """What is expected of two tables from one distribution is what two such tables show."""
    generator = np.random.default_rng(1)
    share = generator.dirichlet(np.ones(40))
    pairs = generator.multinomial(5_000, share, (200, 2)) / 5_000
    apart = np.abs(pairs[:, 0] - pairs[:, 1]).sum(axis=1).mean() / 2
    assert math.isclose(apart, chance_distance(share, 5_000), rel_tol=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["adaptive", "nist", "privbayes", "independent"])
def test_the_forecast_is_near(method: str) -> None:
    """On a table whose making had no part in the populations it is within a factor of two."""
    schema = example.schema()
    table = Table.of(Codec(schema).encode(example.rows()))
    synthesizer: Synthesizer = {
        "adaptive": AdaptiveMarginals(schema, epsilon=1, delta=1e-9),
        "nist": Nist(schema, epsilon=1, delta=1e-9),
        "privbayes": PrivBayes(schema, epsilon=1),
        "independent": Independent(schema, epsilon=1, delta=1e-9),
    }[method]
    model = seeded(synthesizer, 1).fit(MemorySource(table), ledger=None).model_
    made = Table(table.domain, model.law.draw(model.rows, np.random.default_rng(1)), model.rows)
    for ways, band in enumerate(_planned(synthesizer, table.rows).expected.distances, start=1):
        assert band is not None
        measured = total_variation(table, made, workload(table.domain, ways)).mean()
        assert measured / 2 < band.expected < measured * 2


@pytest.mark.parametrize("rows", [0, -1, MOST_ROWS + 1])
def test_impossible_numbers_of_rows_are_refused(rows: int) -> None:
    """No rows, fewer, and absurdly many: the number, the rule and the way out."""
    with pytest.raises(UsageError, match=f"rows is {rows:,}; a plan is for 1 to"):
        plan_fit(BUILDERS["nist"](), rows)


def test_too_many_columns_are_refused() -> None:
    """A schema beyond what can be rehearsed is refused before anything is made up."""
    columns = {f"a{i}": {"kind": "boolean"} for i in range(MOST_COLUMNS + 1)}
    wide = Nist(Schema.parse({"columns": columns}), epsilon=1, delta=1e-6)
    with pytest.raises(UsageError, match="the schema has 201 learned columns; a plan rehearses"):
        plan_fit(wide, 1000)


def test_an_unlimited_budget_is_refused() -> None:
    """There is nothing to plan where there is no limit."""
    with pytest.raises(UsageError, match="the budget is unlimited; a plan is for a budget"):
        plan_fit(Independent(SCHEMA, epsilon=Budget.unlimited()), 1000)


@pytest.mark.parametrize("epsilon", ["0.001", "1e6"])
@pytest.mark.parametrize("delta", ["0", "1e-9"])
def test_extreme_budgets_are_planned(epsilon: str, delta: str) -> None:
    """Next to nothing and next to everything are answered, by distances that are possible."""
    kind = PrivBayes if delta == "0" else Nist
    plan = _planned(kind(SCHEMA, epsilon=epsilon, delta=delta), 500)
    bands = [band for band in plan.expected.distances if band is not None]
    assert all(0 < band.likely[0] <= band.likely[1] <= 1 for band in bands)
    assert (epsilon == "1e6") == (bands[0].expected < 0.01)


def test_tables_too_large_to_compare_are_left_out() -> None:
    """Attributes of very many codes have 1-way distances and no others."""
    wide = {"kind": "integer", "min": 0, "max": 4_999, "bins": 5_000}
    schema = Schema.parse({"columns": {"a": wide, "b": wide, "c": wide}})
    one, two, three = _planned(Independent(schema, epsilon=1), 2_000).expected.distances
    assert one is not None
    assert (None, None) == (two, three)


def test_random_rows_are_planned_for() -> None:
    """A method that asks for the number of rows alone has that one stage and no families."""
    plan = _planned(Random(SCHEMA, epsilon=1))
    assert ([ROWS], None, None) == (
        [stage.name for stage in plan.stages],
        plan.families,
        plan.one_way_noise,
    )


def test_stretched_rows_count_several_times() -> None:
    """Counts, rows and scores are those of a table that holds every row several times."""
    source = _source()
    stretched = ScaledSource(MadeUp(source.table), 3)
    sets = [("a0",), ("a1", "a2"), ("a0", "a1", "a3"), ()]
    assert 3 * source.rows_read == stretched.rows_read
    for once, thrice in zip(source.count(sets), stretched.count(sets), strict=True):
        assert np.array_equal(3 * once.counts, thrice.counts)
    total = stretched.score(sets, lambda marginal: float(marginal.counts.max()))
    assert [3.0 * m.counts.max() for m in source.count(sets)] == total.tolist()


def test_rows_that_are_alike_lie_in_one_cell() -> None:
    """All rows are in the first cell of every table."""
    source = AllAlike(Domain({"a": 2, "b": 3}), 7)
    pair, rows = source.count([("a", "b"), ()])
    assert ([[7, 0, 0], [0, 0, 0]], 7) == (pair.counts.tolist(), int(rows.counts))


def _stage(name: str, cells: tuple[int, ...] = ()) -> Stage:
    return Stage(name=name, questions=1, cells=cells, events=(), noise=(1.0,))


def test_tables_that_follow_choices_are_put_together() -> None:
    """One line for all choices and one for their tables, where each has its own."""
    notes = [_stage(ONE_WAY, (3,)), *[_stage(CHOICES), _stage(TABLES, (6,))] * 3]
    found = stages(notes)
    assert [(ONE_WAY, 1), (CHOICES, 3), (TABLES, 3)] == [(s.name, s.questions) for s in found]
    assert (6, 6, 6) == found[-1].cells


def test_rounds_of_scores_stay_apart() -> None:
    """Tables of one round are not those of the next."""
    notes = [_stage(SCORES), _stage(TABLES), _stage(SCORES), _stage(TABLES)]
    assert tuple(notes) == stages(notes)


@pytest.mark.slow
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_a_method_without_a_network_is_forecast(delta: str) -> None:
    """Rows of its model are compared, as those of networks are."""
    plan = plan_fit(AdaptiveMarginals(SCHEMA, epsilon=1, delta=delta), ROW_COUNT, epsilons=())
    assert plan.families is None
    assert 1 == sum(plan.share(stage) for stage in plan.stages)
    assert all(band is not None and 0 < band.expected < 1 for band in plan.expected.distances)


def test_questions_are_listed_without_a_large_pool() -> None:
    """What is asked first, for how much and of how many tables, rests on no estimate."""
    method = AdaptiveMarginals(SCHEMA, epsilon=1, delta=1e-6, pool_rows=5_000)
    assert method.outlined.pool_rows < method.rehearsing.pool_rows == method.pool_rows
    domain = Domain.of(SCHEMA)
    listed = read_through(method, domain, ROW_COUNT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AdaptiveMarginals, "outlined", property(lambda self: self))
        assert read_through(method, domain, ROW_COUNT) == listed


def test_a_plan_counts_the_made_up_rows_of_a_fit() -> None:
    """By hand for two booleans: two pools of 100,000 rows, and their places in three tables."""
    columns = {name: {"kind": "boolean"} for name in ("a", "b")}
    schema = Schema.parse({"columns": columns})
    method = AdaptiveMarginals(schema, epsilon=1, delta=1e-6)
    domain = Domain.of(schema)
    assert bytes_of_pool(domain, method.pool_rows, [("a", "b")]) <= method.pool_bytes(domain)
    assert method.pool_bytes(domain) > 2 * method.pool_rows * 2 * len(domain)
    assert 0 == Independent(schema, epsilon=1).pool_bytes(domain)
