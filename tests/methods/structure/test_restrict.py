"""Restrictions: what every learner keeps, and contradictions found by name."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.learners import LEARNERS, random_pairs, restrictions_on
from support.tiers import examples
from understudy.errors import UsageError
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.protection import Protection
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.pairwise import noisy_pair_scores, priced_network
from understudy.methods.structure.required import least_tables, required_family
from understudy.methods.structure.restrict import Restrictions
from understudy.methods.structure.scores import total_variation
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.spending.grant import Grant
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

DOMAIN = Domain({"age": 5, "sex": 2, "income": 3, "job": 4})
LARGE = Domain.of(
    Schema.parse(
        {
            "columns": {
                "place": {"kind": "integer", "min": 0, "max": 199, "bins": 200},
                "shop": {"kind": "integer", "min": 0, "max": 99, "bins": 100},
                "sex": {"kind": "boolean"},
            }
        }
    )
)


def _edges(network: Network) -> set[tuple[str, str]]:
    return {(parent, family.child) for family in network for parent in family.parents}


def check_kept(network: Network, restrictions: Restrictions, degree: int) -> None:
    """Whether a network keeps to all of its restrictions, counted edge by edge."""
    edges = _edges(network)
    held = restrictions.protection
    assert edges.isdisjoint(restrictions.forbidden)
    assert set(restrictions.required) <= edges
    assert network.degree <= degree
    tiers = {name: place for place, tier in enumerate(restrictions.tiers) for name in tier}
    last = len(restrictions.tiers)
    for parent, child in edges:
        assert parent not in held.protected
        assert child != held.target
        assert child not in held.protected or parent in held.kept[child]
        assert parent == held.target or tiers.get(parent, last) <= tiers.get(child, last)
        assert restrictions.predictors is None or parent in restrictions.predictors[child]
    if held.target is not None:
        assert held.target == network.order[0]
        assert all((held.target, n) in edges for n, of in held.kept.items() if of == (held.target,))


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=examples(60))
@given(data=st.data())
def test_every_learner_keeps_them(name: str, data: st.DataObject) -> None:
    """Whatever is wished for together, no network breaks it, and none is left unfinished."""
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=2, max_size=6))
    domain = Domain({f"a{i}": size for i, size in enumerate(sizes)})
    degree = 1 if name == "tree" else data.draw(st.integers(0, 4))
    restrictions = data.draw(restrictions_on(domain, degree))
    table_cost = data.draw(st.sampled_from([TableCost(0.0, 2**31), TableCost(0.05, 40)]))
    network = LEARNERS[name](
        domain, data.draw(st.integers(0, 99)), table_cost, degree, restrictions
    )
    assert set(domain) == set(network.order)
    check_kept(network, restrictions, degree)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_keeps_them_with_coarser_copies(name: str) -> None:
    """An attribute is forbidden, required and protected under all names that it has."""
    wished = Restrictions(
        required=(("place", "shop"),), protection=Protection("place", {"sex": None})
    )
    network = LEARNERS[name](LARGE, 1, TableCost(0.0, 500), 2, wished)
    assert {("place", "shop"), ("place", "sex")} == _edges(network)
    cells = [LARGE.cells(family.axes) for family in network if family.parents]
    assert max(cells) <= 500


def test_nothing_wished_for_changes_nothing() -> None:
    """Restrictions that allow everything are as if there were none."""
    pairs = random_pairs(DOMAIN, 3)
    everything = {child: tuple(p for p in DOMAIN if p != child) for child in DOMAIN}
    plain = priced_network(pairs, TableCost(0.0, 100), degree=3)
    for wished in (Restrictions(predictors=everything), Restrictions(tiers=(tuple(DOMAIN),))):
        assert plain == priced_network(pairs, TableCost(0.0, 100), degree=3, restrictions=wished)


def test_pairs_that_can_be_no_edge_are_not_asked_about() -> None:
    """Of a protected attribute nothing is scored but its dependence on the target."""
    grant = Grant(Budget.zcdp(1))
    codes: dict[str, Codes] = {name: np.zeros(9, np.uint8) for name in DOMAIN}
    source = MemorySource(Table(DOMAIN, codes, 9))
    curator = Curator(source, Unit(Neighbours.ADD_REMOVE), grant)
    wished = Restrictions(protection=Protection("income", {"sex": None}))
    pairs = noisy_pair_scores(
        curator, Budget.zcdp(1), total_variation(), most_cells=10**6, restrictions=wished
    )
    with_sex = [pair for pair in pairs.scores if "sex" in pair]
    assert [{"sex", "income"}] == with_sex
    assert 4 == len(pairs.scores)


def test_required_tables_are_as_fine_as_they_fit() -> None:
    """The largest parent is coarsened first; what cannot fit is kept at its coarsest."""
    wished = Restrictions(required=(("place", "sex"), ("shop", "sex")))

    def axes(most: int) -> tuple[str, ...]:
        return required_family("sex", wished, LARGE, most_cells=most).axes

    assert ("place", "shop", "sex") == axes(40_000)
    assert ("place / 25", "shop", "sex") == axes(39_999)
    assert ("place / 25", "shop / 13", "sex") == axes(4_999) == axes(1)
    assert [axes(1)] == least_tables(wished, LARGE)


CONTRADICTIONS: dict[str, tuple[Restrictions, str]] = {
    "unknown edge": (Restrictions(required=(("agee", "job"),)), "agee:job: .* is unknown"),
    "unknown forbidden": (Restrictions(forbidden=(("x", "job"),)), "forbidden .* unknown"),
    "unknown tier": (Restrictions(tiers=(("age", "x"),)), "the tiers: attribute 'x' is unknown"),
    "unknown target": (Restrictions(protection=Protection("x")), "the target: attribute 'x'"),
    "unknown protected": (
        Restrictions(protection=Protection("age", {"x": None})),
        "protected 'x': attribute 'x' is unknown",
    ),
    "unknown kept": (
        Restrictions(protection=Protection("age", {"sex": ("x",)})),
        "protected 'sex': attribute 'x' is unknown",
    ),
    "unknown quasi-identifier": (
        Restrictions(protection=Protection("age", {}, ("x",))),
        "the quasi-identifiers: attribute 'x'",
    ),
    "predictors left out": (Restrictions(predictors={"age": ()}), "'sex' has no line"),
    "twice in tiers": (Restrictions(tiers=(("age",), ("age",))), "'age' is named twice"),
    "late target": (
        Restrictions(tiers=(("age",), ("sex",)), protection=Protection("sex")),
        "target 'sex' comes first",
    ),
    "protected target": (
        Restrictions(protection=Protection("age", {"age": None})),
        "target 'age' is protected; protect another",
    ),
    "nothing to depend on": (
        Restrictions(protection=Protection(None, {"age": None})),
        "protected 'age': nothing says what it may depend on",
    ),
    "protected parent": (
        Restrictions(required=(("sex", "job"),), protection=Protection("age", {"sex": None})),
        "required edge sex:job: 'sex' is protected and cannot be a parent",
    ),
    "depends on protected": (
        Restrictions(protection=Protection("age", {"sex": ("job",), "job": None})),
        "'sex' may depend on 'job', which is protected itself",
    ),
    "protected quasi-identifier": (
        Restrictions(protection=Protection("age", {"sex": None}, ("sex",))),
        "quasi-identifier 'sex' is protected",
    ),
    "other parent of protected": (
        Restrictions(required=(("job", "sex"),), protection=Protection("age", {"sex": None})),
        "required edge job:sex: protected 'sex' depends on age alone",
    ),
    "parent of target": (
        Restrictions(required=(("job", "age"),), protection=Protection("age")),
        "required edge job:age: target 'age' comes first",
    ),
    "own parent": (Restrictions(required=(("age", "age"),)), "no attribute is its own parent"),
    "cycle": (
        Restrictions(required=(("age", "sex"), ("sex", "job"), ("job", "age"))),
        "the required edges have a cycle: .* age, job, sex",
    ),
    "against tiers": (
        Restrictions(required=(("age", "sex"),), tiers=(("sex",), ("age",))),
        "required edge age:sex: 'age' is in a later tier",
    ),
    "against an unnamed tier": (
        Restrictions(required=(("age", "sex"),), tiers=(("sex",),)),
        "required edge age:sex: 'age' is in a later tier",
    ),
    "forbidden": (
        Restrictions(required=(("age", "sex"),), forbidden=(("age", "sex"),)),
        "required edge age:sex: it is forbidden",
    ),
    "against predictors": (
        Restrictions(required=(("age", "sex"),), predictors=dict.fromkeys(DOMAIN, ())),
        "required edge age:sex: the predictors do not allow it",
    ),
    "protection against predictors": (
        Restrictions(
            predictors=dict.fromkeys(DOMAIN, ()), protection=Protection("age", {"sex": None})
        ),
        "required edge age:sex: the predictors do not allow it",
    ),
    "more than the degree": (
        Restrictions(required=(("age", "job"), ("sex", "job"), ("income", "job"))),
        "'job': age, sex, income are required as parents and the degree is 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_are_found_by_name(name: str) -> None:
    """The message names what contradicts what."""
    wished, words = CONTRADICTIONS[name]
    with pytest.raises(UsageError, match=words):
        wished.check(DOMAIN, degree=2)


def test_all_findings_come_at_once() -> None:
    """A person corrects them in one go."""
    wished = Restrictions(required=(("x", "age"), ("sex", "sex")), tiers=(("job",), ("job",)))
    with pytest.raises(UsageError) as caught:
        wished.check(DOMAIN, degree=None)
    lines = str(caught.value).splitlines()
    assert all(any(word in line for line in lines) for word in ("'x'", "sex:sex", "'job'"))


def test_constraints_must_not_tie_what_is_protected() -> None:
    """Rows keep constraints, so that one would bring back what was withheld."""
    columns = {name: {"kind": "boolean"} for name in DOMAIN}
    protection = Protection("income", {"sex": None})

    def check(constraint: str) -> None:
        schema = Schema.parse({"constraints": [constraint], "columns": columns})
        Restrictions(protection=protection).check(
            Domain.of(schema), degree=None, constraints=schema.constraints
        )

    check("if income = yes then sex = no")
    check("if age = yes then job = no")
    with pytest.raises(UsageError, match="ties protected 'sex' to age; drop the constraint"):
        check("if age = yes then sex = no")


def test_given_networks_are_held_against_them() -> None:
    """A network that someone wrote down has all that is required and nothing forbidden."""
    network = Network((Family("age"), Family("sex", ("age",)), Family("income"), Family("job")))
    assert network == Restrictions(required=(("age", "sex"),)).check_obeyed(network)
    with pytest.raises(UsageError, match="has the edge age:sex: it is forbidden"):
        Restrictions(forbidden=(("age", "sex"),)).check_obeyed(network)
    with pytest.raises(UsageError, match="lacks the required edge age:job"):
        Restrictions(required=(("age", "job"),)).check_obeyed(network)


@given(st.permutations(list(DOMAIN)), st.integers(0, 4))
def test_tiers_are_an_order(order: list[str], cut: int) -> None:
    """Of two attributes in different tiers the later one is not a parent; the rest comes last."""
    wished = Restrictions(tiers=(tuple(order[:cut]),))
    for first, second in itertools.combinations(order, 2):
        same = order.index(second) < cut or order.index(first) >= cut
        assert wished.allows(first, second)
        assert same == wished.allows(second, first)
