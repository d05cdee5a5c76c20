"""Attributes with many values take part in networks through coarser copies."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from support.joint import cells_of, joint_given, joint_of
from support.promised import need
from support.statistics import NEVER, fit_of_choices
from support.tiers import slow_but
from understudy.errors import SchemaError, UsageError
from understudy.facts.axes import Axes
from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.methods import Nist, PrivBayes, Random, Synthesizer
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.estimation.consistency import Estimate, made_consistent
from understudy.models.inference import most_probable, posterior
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import Sampler, deal_codes, sample_codes
from understudy.models.sampling.conditional import given
from understudy.models.strengths import strengths_of
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

COUNTRIES = {"Europe": {"West": ["fr", "be"], "North": ["se"]}, "Asia": ["jp", "cn", "in"]}


def _schema(**columns: dict[str, Any]) -> Schema:
    return Schema.parse({"columns": columns})


def _whole(values: int) -> dict[str, Any]:
    return {"kind": "integer", "min": 0, "max": values - 1, "bins": values}


def _country(**more: Any) -> dict[str, Any]:
    values = ["jp", "fr", "cn", "se", "in", "be"]
    return {"kind": "categorical", "values": values, "taxonomy": COUNTRIES, **more}


def test_neighbours_are_grouped_until_few_are_left() -> None:
    """By eights, down to at most sixty-four; the last group takes what is left."""
    domain = Domain.of(_schema(a=_whole(5000), b=_whole(64), c=_whole(65)))
    assert ("a", "a / 625", "a / 79", "a / 10") == domain.levels("a")
    assert ("b",) == domain.levels("b")
    assert ("c", "c / 9") == domain.levels("c")
    assert [0, 0, 1, 8] == domain.coarser["c / 9"].groups[[0, 7, 8, 64]].tolist()
    assert [0, 1, 9] == domain.grouping("a / 79", "a / 10")[[7, 8, 78]].tolist()


def test_missing_cells_stay_apart_on_every_level() -> None:
    """The missing level is a group of its own."""
    domain = Domain.of(_schema(a=_whole(600) | {"missing": []}))
    assert ("a", "a / 76", "a / 11") == domain.levels("a")
    for name in domain.levels("a")[1:]:
        level = domain.coarser[name]
        assert 1 == np.count_nonzero(level.groups == level.groups[600])


def test_a_taxonomy_groups_as_it_says() -> None:
    """Values of one branch at one depth are together, in whichever order they are declared."""
    domain = Domain.of(_schema(country=_country()))
    assert ("country", "country / 3", "country / 2") == domain.levels("country")
    assert [0, 1, 0, 2, 0, 1] == domain.coarser["country / 3"].groups.tolist()
    assert [0, 1, 0, 1, 0, 1] == domain.coarser["country / 2"].groups.tolist()
    assert [[0, 2, 4], [1, 3, 5]] == domain.coarser["country / 2"].members.tolist()
    assert [0, 1, 1] == domain.grouping("country / 3", "country / 2").tolist()


@pytest.mark.parametrize(
    ("taxonomy", "words"),
    [
        ({"Europe": ["fr", "be"], "Asia": ["jp", "cn", "in"]}, "'se' is in no group"),
        (COUNTRIES | {"Again": ["fr"]}, "'fr' is 2 times"),
        (COUNTRIES | {"More": ["us"]}, "groups 'us', which is not a declared value"),
        (COUNTRIES | {"More": []}, "group 'More' of taxonomy lists no values"),
        (COUNTRIES | {"More": "us"}, "group 'More' of taxonomy lists no values"),
        (COUNTRIES | {"More": {"Most": [["us"]]}}, "group 'Most' of taxonomy lists no values"),
    ],
)
def test_a_taxonomy_that_does_not_fit_is_refused(taxonomy: object, words: str) -> None:
    """By name, with the value that is wrong."""
    with pytest.raises(SchemaError, match=words):
        _schema(country=_country() | {"taxonomy": taxonomy})


def test_a_schema_keeps_its_taxonomy() -> None:
    """It is written and read again as it was."""
    schema = _schema(country=_country())
    assert schema == Schema.from_json(schema.to_json())


def test_a_column_of_a_copys_name_keeps_it() -> None:
    """The copy gives way: names in tables are unique."""
    domain = Domain.of(_schema(**{"a": _whole(600), "a / 75": _whole(3)}))
    assert ("a", "a / 10") == domain.levels("a")
    assert 3 == domain["a / 75"]


SHAPES = Domain.of(_schema(a=_whole(600), b=_whole(70), c=_whole(3), country=_country()))


def _noisy(axes: Attributes, generator: np.random.Generator) -> NoisyMarginal:
    shape = SHAPES.shape(axes)
    shares = generator.dirichlet(np.full(int(np.prod(shape)), 0.3)).reshape(shape)
    scale = 10 ** generator.uniform(-1, 1)
    counts = np.rint(5000 * shares + scale * generator.standard_normal(shape))
    return NoisyMarginal(axes, counts.astype(np.int64), scale**2)


def _random_axes(generator: np.random.Generator) -> Attributes:
    names = generator.permutation(np.array(SHAPES.attributes, object))
    chosen = names[: generator.integers(1, 4)].tolist()
    axes = tuple(str(generator.choice(np.array(SHAPES.levels(a), object))) for a in chosen)
    return axes if SHAPES.cells(axes) <= 50_000 else axes[:1]


def _disagreement(first: Estimate, second: Estimate) -> float:
    """The largest difference of a cell, over all levels that both tables know."""
    held = [{SHAPES.base(n): n for n in table.attributes} for table in (first, second)]
    both = [a for a in held[0] if a in held[1]]
    levels = [[n for n in SHAPES.levels(a) if _known(n, a, held)] for a in both]
    worst = 0.0
    for names in itertools.product(*levels):
        seen = [Axes(t.attributes).project(t.counts, names, SHAPES) for t in (first, second)]
        worst = max(worst, float(np.abs(seen[0] - seen[1]).max()))
    return worst


def _known(name: str, attribute: str, held: list[dict[str, str]]) -> bool:
    return all(SHAPES.refines(table[attribute], name) for table in held)


@pytest.mark.parametrize("count", slow_but({10}, [10, 100]))
def test_tables_of_different_levels_agree_on_every_level(count: int) -> None:
    """To 1e-9 of the total, with groups of unequal sizes; none negative, all of the total."""
    generator = np.random.default_rng(1)
    for _ in range(count):
        noisy = [
            _noisy(_random_axes(generator), generator) for _ in range(generator.integers(2, 6))
        ]
        estimates = made_consistent(noisy, 5000.0, SHAPES)
        for first, second in itertools.combinations(estimates, 2):
            assert _disagreement(first, second) <= 5e-6
        for estimate in estimates:
            assert (estimate.counts >= 0).all()
            assert 5000 == pytest.approx(float(estimate.counts.sum()), abs=5e-6)


def test_what_agrees_on_all_levels_stays_as_it_is() -> None:
    """Projections of one table come back unchanged."""
    generator = np.random.default_rng(0)
    order = ("a", "c", "country")
    joint = generator.multinomial(5000, generator.dirichlet(np.full(SHAPES.cells(order), 0.02)))
    joint = joint.reshape(SHAPES.shape(order))
    sets = [("a / 10", "c"), ("a",), ("country / 2", "a / 75"), ("c", "country / 3"), ("country",)]
    released = [NoisyMarginal(s, Axes(order).project(joint, s, SHAPES), 1.0) for s in sets]
    for estimate in made_consistent(released, 5000.0, SHAPES):
        expected = Axes(order).project(joint, estimate.attributes, SHAPES)
        assert np.abs(estimate.counts - expected).max() < 1e-6


def test_a_finer_table_is_pulled_group_by_group() -> None:
    """What a precise coarse table says is spread evenly over the codes of each group."""
    domain = Domain.of(_schema(country=_country()))
    fine = NoisyMarginal(("country",), np.array([10, 10, 10, 10, 10, 10]), 1e6)
    coarse = NoisyMarginal(("country / 2",), np.array([45, 15]), 1e-6)
    [_, below] = sorted(made_consistent([coarse, fine], 60.0, domain), key=lambda e: e.counts.size)
    assert [15, 5, 15, 5, 15, 5] == pytest.approx(below.counts.tolist(), abs=1e-3)


def _model(seed: int, constraints: list[str] | None = None) -> Model:
    """A child and a parent that are coarsened, and a child of the first, of which more is known."""
    document = {
        "columns": {"a": _whole(70), "b": _whole(3), "country": _country(), "c": _whole(2)},
        "constraints": constraints or [],
    }
    schema = Schema.parse(document)
    domain = Domain.of(schema)
    generator = np.random.default_rng(seed)
    families = [("b",), ("b", "a / 9"), ("a / 9", "b", "country / 2"), ("country / 3", "a", "c")]
    conditionals = [_conditional(axes, domain, generator) for axes in families]
    statement = (
        Random(schema, epsilon=1, rows=5).fit({n: [] for n in domain}, ledger=None).model_.statement
    )
    return Model(schema, BayesNet(domain, tuple(conditionals)), 100, statement)


def _conditional(axes: Attributes, domain: Domain, generator: np.random.Generator) -> Conditional:
    family = Family.over(axes, domain)
    weights = generator.gamma(0.5, size=domain.shape(axes)) + 1e-3
    within = None
    if axes[-1] in domain.coarser:
        groups = domain.coarser[axes[-1]].groups
        raw = generator.random(groups.size)
        within = raw / np.bincount(groups, raw)[groups]
    return Conditional.from_weights(family, weights, within=within)


@pytest.mark.parametrize("sampler", slow_but((sample_codes,), [sample_codes, deal_codes]))
def test_rows_follow_the_joint_distribution(sampler: Sampler) -> None:
    """Groups first, then codes within them: together they are the product of all conditionals."""
    model = _model(0)
    joint = joint_of(model)
    assert 1 == pytest.approx(joint.sum())
    generator = np.random.default_rng(3)
    # One row of each dealing: rows dealt together are not independent.
    draws = 20_000 if sampler is sample_codes else 1
    cells = [cells_of(model, sampler(model, draws, generator)) for _ in range(20_000 // draws)]
    assert fit_of_choices(_pooled(np.concatenate(cells)), _pooled_chances(joint)) > NEVER
    off = _pooled_chances(np.roll(joint, 1))
    assert fit_of_choices(_pooled(np.concatenate(cells)), off) < NEVER


POOLS = 60


def _pooled(cells: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Cells in few pools, by a fixed scattering, so that each is expected often."""
    return cells * 7919 % 104_729 % POOLS


def _pooled_chances(joint: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(np.bincount(_pooled(np.arange(joint.size)), joint, POOLS), np.float64)


@pytest.mark.parametrize("seed", range(8))
def test_exact_answers_see_through_copies(seed: int) -> None:
    """Posteriors and the most probable row equal enumeration of the whole joint."""
    model = _model(seed)
    generator = np.random.default_rng(seed)
    order = model.domain.attributes
    known = {a: generator.random(model.domain[a]) for a in order if generator.random() < 0.5}
    joint = joint_of(model).reshape(model.domain.shape(order))
    for attribute, weights in known.items():
        along = [n if a == attribute else 1 for a, n in model.domain.sizes.items()]
        joint = joint * weights.reshape(along)
    for target in (("a",), ("country", "c"), ("b", "country"), ()):
        found, chance = posterior(model.conditionals, target, known, model.domain)
        expected = Axes(order).project(joint, target, model.domain)
        assert chance == pytest.approx(joint.sum())
        assert np.allclose(expected / joint.sum(), found)
    row, chance = most_probable(model.conditionals, known, model.domain)
    assert chance == pytest.approx(joint.max())
    assert tuple(row[a] for a in order) == np.unravel_index(joint.argmax(), joint.shape)


@pytest.mark.parametrize("how", ["exact", "rejection", "weighting"])
def test_rows_that_fit_conditions_follow_the_joint_given_them(how: str) -> None:
    """Whichever way they are drawn, through copies of parents and children alike."""
    model = _model(4)
    known = given(model, "country in {fr, jp, se}, a < 50", how=how, sampler=sample_codes)
    rows = 4000 if how == "weighting" else 20_000
    cells = cells_of(model, known.way.take(rows, np.random.default_rng(5)))
    expected = joint_given(model, known.conditions.evidence)
    assert fit_of_choices(_pooled(cells), _pooled_chances(expected)) > NEVER
    assert fit_of_choices(_pooled(cells), _pooled_chances(joint_of(model))) < NEVER


def test_constraints_hold_for_coarsened_children() -> None:
    """No row breaks one, whichever group it was to be drawn from."""
    model = _model(1, ["if b = 1 then country in {fr, se}", "if a < 20 then country != fr"])
    codes = sample_codes(model, 20_000, np.random.default_rng(0))
    texts = np.array(_country()["values"])[codes["country"]]
    assert np.isin(texts[codes["b"] == 1], ["fr", "se"]).all()
    assert not (texts[codes["a"] < 20] == "fr").any()
    assert len(set(texts.tolist())) == 6


def test_edges_are_scored_by_the_copies_that_were_measured() -> None:
    """The distance from independence in the family's own table, exactly or nearly so."""
    model = _model(5)
    joint = joint_of(model).reshape(model.domain.shape(model.domain.attributes))
    exact, near = strengths_of(model), strengths_of(model, most_cells=0)
    assert None is exact.rows
    for family in model.network:
        for name, parent in zip(family.axes, family.parents, strict=False):
            ends = (name, family.axes[-1])
            pair = Axes(model.domain.attributes).project(joint, ends, model.domain)
            apart = np.abs(pair - np.outer(pair.sum(axis=1), pair.sum(axis=0))).sum() / 2
            assert exact.scores[parent, family.child] == pytest.approx(apart, abs=1e-9)
            assert near.scores[parent, family.child] == pytest.approx(apart, abs=0.02)


@pytest.mark.slow
def test_other_tools_get_every_code() -> None:
    """BIF has no coarser copies: probabilities are written out for the attributes themselves."""
    pgmpy = need("pgmpy.readwrite")
    model = _model(6)
    read = pgmpy.BIFReader(string="".join(model.bif_lines())).get_model()
    by_name = {table.variable: table for table in read.get_cpds()}
    whole = model.conditionals[1].whole(model.domain)
    assert np.allclose(whole.T, by_name["a"].get_values())


def test_a_model_with_copies_is_saved_whole(tmp_path: Any) -> None:
    """Families, probabilities and shares come back as they were."""
    model = _model(2)
    model.save(tmp_path / "m.zip")
    again = Model.load(tmp_path / "m.zip")
    assert model.network == again.network
    assert np.array_equal(joint_of(model), joint_of(again))


def test_shares_that_are_none_are_refused() -> None:
    """A coarsened child needs a share for every code, adding up in each group; others have none."""
    model = _model(3)
    conditional = model.conditionals[1]
    assert conditional.within is not None
    for within in (None, conditional.within[:-1], conditional.within * 0.5):
        with pytest.raises((UsageError, ValueError)):
            Conditional(conditional.family, conditional.probabilities, within).check(model.domain)
    with pytest.raises(UsageError):
        Conditional(Family("b"), np.array([0.5, 0.5, 0.0]), np.ones(3)).check(model.domain)


def _districts(rows: int) -> tuple[Schema, Table]:
    """A place of 500 on which two other columns depend, only through groups of 64 places."""
    schema = _schema(place=_whole(500), income=_whole(6), home=_whole(5))
    generator = np.random.default_rng(0)
    place = generator.integers(0, 500, rows)
    income = (place // 64 + (generator.random(rows) < 0.1)) % 6
    home = (place // 64 + income) % 5
    columns = {"place": place, "income": income, "home": home}
    codes: dict[str, Codes] = {n: held.astype(code_type(500)) for n, held in columns.items()}
    return schema, Table(Domain.of(schema), codes, rows)


METHODS: dict[str, Any] = {
    "nist": lambda s: Nist(s, epsilon=8, delta=1e-6),
    "nist capped": lambda s: Nist(s, epsilon=8, delta=1e-6, theta=2),
    "nist tree": lambda s: Nist(s, epsilon=8, delta=1e-6, structure="tree"),
    "nist greedy": lambda s: Nist(s, epsilon=8, delta=1e-6, structure="greedy"),
    "privbayes": lambda s: PrivBayes(s, epsilon=8),
    "privbayes pairwise": lambda s: PrivBayes(s, epsilon=8, structure="pairwise"),
}


@pytest.mark.parametrize("method", METHODS)
def test_every_learner_relates_a_large_attribute_through_its_groups(method: str) -> None:
    """Its coarser copies relate it to the others; without them it is independent."""
    schema, table = _districts(20_000)
    synthesizer: Synthesizer = METHODS[method](schema)
    model = synthesizer.fit(MemorySource(table), ledger=None).model_
    copies = {name for family in model.network for name in family.copies}
    assert copies & {"place / 63", "place / 8"}
    by_place = model.probability("income", given={"place": 100})
    assert by_place["1"] > 0.5
    plain = replace(table, domain=table.domain.without_hierarchies())
    blind = METHODS[method](schema).fit(MemorySource(plain), ledger=None).model_
    assert not any(family.copies for family in blind.network)
