"""The protocols: what they ask, that sums are sums, and that they learn what is there."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from support.federated import (
    NAMES,
    NETWORK,
    PLANS,
    QUICK,
    Recording,
    Tampering,
    holders_of,
    plan_of,
)
from support.neighbours import DOMAIN, SCHEMA, random_rows, source_of
from support.networks import records_of
from support.shared import shared_file
from support.tiers import full_but, slow_but
from understudy.errors import UsageError
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.federated import (
    Analyst,
    Collaboration,
    Form,
    LocalChannel,
    learn_together,
    seeded_analyst,
    simulated,
    split,
)
from understudy.federated.analyst.asking import Sizes, propose, summed, tables
from understudy.federated.analyst.conversation import Conversation
from understudy.federated.holder.plain import learn_plain
from understudy.federated.messages import Chosen, MeasureTables, Message, Tables, Vote
from understudy.federated.protocols.statistics import subsets
from understudy.federated.protocols.structure import (
    distance_to_independence,
    information,
    table_cost_of_sums,
)
from understudy.federated.protocols.voting import elected
from understudy.methods.structure.restrict import NONE
from understudy.methods.structure.scores import mutual_information, total_variation
from understudy.models.network import Family
from understudy.privacy.accounting.events import ExponentialEvent, LaplaceEvent
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.replay import Recorder
from understudy.privacy.spending.grant import Grant
from understudy.rows.counting import Marginal
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.testing import SeededNoise

PLAIN = Form.plain()


def _chain(rows: int = 6000) -> tuple[Schema, Table]:
    """Five binary attributes, each a copy of the one before nine times out of ten."""
    names = [f"x{i}" for i in range(5)]
    schema = Schema.parse({"columns": {name: {"kind": "boolean"} for name in names}})
    generator = np.random.default_rng(5)
    codes: dict[str, Codes] = {}
    last = generator.integers(0, 2, rows).astype(np.uint8)
    for name in names:
        flips = generator.random(rows) < 0.1
        last = np.where(flips, 1 - last, last).astype(np.uint8)
        codes[name] = last
    return schema, Table(Domain.of(schema), codes, rows)


def _learn(plan: Collaboration, table: Table, *, holders: int = 3, seed: int = 1) -> Any:
    parts = split(table, "equal", holders=holders, generator=np.random.default_rng(0))
    return Analyst(simulated(parts, plan.schema, plan.unit, noise=SeededNoise(seed)), plan).learn()


def _asked(plan: Collaboration, kind: type) -> list[Any]:
    """What the first holder was asked of one kind, with its reply."""
    channel = Recording(LocalChannel(holders_of(plan.unit)))
    learn_together(channel, plan)
    found = [(Message.decoded(a), Message.decoded(b)) for a, b in channel.exchanges["north"]]
    return [(a, b) for a, b in found if isinstance(a.body, kind)]


# --- sums ---------------------------------------------------------------------------------------


def test_sums_are_exact() -> None:
    """The union's table is the integer sum of the replies, and nothing else happens to it."""
    plan = plan_of("statistics add-remove laplace")
    channel = Recording(LocalChannel(holders_of(plan.unit)))
    conversation = Conversation(channel, plan, None)
    propose(conversation)
    sets = [("colour", "size"), ("sold",)]
    sizes = Sizes(dict.fromkeys(NAMES, 200))
    held = tables(conversation, sets, Fraction(1), sizes=sizes)
    replies = [Message.decoded(channel.exchanges[name][-1][1]).arrays for name in NAMES]
    for place, total in enumerate(summed(list(held.values()))):
        parts = [arrays[place] for arrays in replies]
        assert sum(parts).tolist() == total.counts.tolist()  # type: ignore[union-attr]
        assert 3 * held["north"][place].variance == pytest.approx(total.variance)


def test_without_noise_the_sums_are_those_of_all_rows() -> None:
    """At a huge epsilon the summed tables are the counts of the union, cell by cell."""
    plan = plan_of("statistics replace laplace", epsilon=10**6)
    conversation = Conversation(LocalChannel(holders_of(plan.unit)), plan, None)
    propose(conversation)
    sets = [("colour", "size"), ("size", "sold"), ()]
    held = tables(conversation, sets, Fraction(1), sizes=Sizes(dict.fromkeys(NAMES, 200)))
    rows = [row for seed in range(3) for row in random_rows(200, seed)]
    exact = source_of(rows).count(sets)
    for total, marginal in zip(summed(list(held.values())), exact, strict=True):
        assert marginal.counts.tolist() == total.counts.tolist()


def test_negative_counts_leave_as_they_are_unless_clipped() -> None:
    """Clipping before the sum adds rows that nobody has; it is the theses' form alone."""
    for form, least in ((Form(), -1), (PLAIN, 0)):
        # Of 42 cells, known beforehand, each is negative two times out of five.
        plan = plan_of("parameters replace laplace", epsilon="1/10", form=form)
        [(_, reply)] = _asked(plan, MeasureTables)
        lowest = min(int(array.min()) for array in reply.arrays)
        assert (lowest < 0) == (least < 0)


# --- the theses' plain forms ---------------------------------------------------------------------


def test_plain_statistics_have_the_noise_of_the_theses() -> None:
    """All (k+1)-way tables, each with Laplace noise of scale 2·C(d, k+1)/ε."""
    for degree in (1, 2):
        plan = plan_of("statistics replace laplace", form=PLAIN, degree=degree)
        model = learn_together(LocalChannel(holders_of(plan.unit)), plan)
        own = [c for c in model.statement.charges if c.question.startswith("north: ")]
        subsets_of = list(itertools.combinations(DOMAIN, degree + 1))
        assert [f"north: counts of {' × '.join(s)}" for s in subsets_of] == [
            c.question for c in own
        ]
        scale = Fraction(2 * math.comb(4, degree + 1))
        assert {LaplaceEvent(scale, Fraction(2))} == {c.event for c in own}


def test_plain_votes_have_the_shares_of_the_theses() -> None:
    """d − 1 choices at ε₁/(d − 1) by mutual information, d tables at ε₂/d."""
    plan = plan_of("votes replace laplace", form=PLAIN, structure_share=Fraction(2, 5), degree=1)
    ballots, measured = _asked(plan, Vote), _asked(plan, MeasureTables)
    assert [("2/15", "MI")] * 3 == [(a.body.share, a.body.score) for a, _ in ballots]
    [(question, _)] = measured
    assert ("3/5", (1, 1, 1, 1), True) == (
        question.body.share,
        question.body.weights,
        question.body.clip,
    )


def test_plain_votes_are_choices_by_the_exponential_mechanism() -> None:
    """Half of ε goes to the votes, each of which is charged as the theses' mechanism."""
    plan = plan_of("votes replace laplace", form=PLAIN, degree=1)
    assert [(Fraction(1, 6), True)] * 3 == [
        (Fraction(a.body.share), a.body.plain) for a, _ in _asked(plan, Vote)
    ]
    model = learn_together(LocalChannel(holders_of(plan.unit)), plan)
    own = [c.event for c in model.statement.charges if c.question.startswith("north: choice")]
    assert [Fraction(1, 6)] * 3 == [_epsilon_of(event) for event in own]


def test_plain_models_are_those_of_the_theses() -> None:
    """d − 1 choices on mutual information at ε/2, d tables of scale 2d/(ε/2), nothing else."""
    plan = plan_of("model replace laplace", form=PLAIN, degree=2)
    model = learn_together(LocalChannel(holders_of(plan.unit)), plan)
    own = [c for c in model.statement.charges if c.question.startswith("north: ")]
    choices, counted = own[:3], own[3:]
    assert all(c.question.endswith("by mutual information") for c in choices)
    assert [Fraction(1, 6)] * 3 == [_epsilon_of(c.event) for c in choices]
    assert [LaplaceEvent(Fraction(16), Fraction(2))] * 4 == [c.event for c in counted]


def test_plain_models_are_clipped_and_normalised_tables() -> None:
    """A holder's conditionals are its released tables, below 0 set to 0, lines divided by sums."""
    tape = Recorder()
    source = tape.guard(source_of(random_rows(200, 3)))
    unit = Unit(Neighbours.REPLACE)
    curator = Curator(source, unit, Grant(Budget.pure("1/10")), Instruments(tape=tape))
    score = mutual_information(200, binary=False)
    learned = learn_plain(curator, score=score, degree=1, restrictions=NONE)
    conditionals = learned.distribution.require_network().conditionals
    assert min(int(table.counts.min()) for table in learned.tables) < 0
    for found, table in zip(conditionals, learned.tables, strict=True):
        joint = np.maximum(table.counts, 0).astype(float)
        sums = joint.sum(axis=-1, keepdims=True)
        even = np.full(joint.shape, 1 / joint.shape[-1])
        expected = np.divide(joint, sums, out=even, where=sums > 0)
        assert np.allclose(expected, found.probabilities)


def _epsilon_of(event: Any) -> Fraction:
    """The pure cost of a choice by the exponential mechanism."""
    assert isinstance(event, ExponentialEvent)
    return 2 * event.sensitivity / event.scale


def test_plain_votes_count_one_each() -> None:
    """Two small holders outvote a large one; weighted by rows, they do not."""
    for form, winner in ((PLAIN, 0), (Form(), -1)):
        plan = plan_of("votes replace laplace", form=form, degree=1, ballot="choices")
        holders = holders_of(plan.unit, rows=10) | {
            "west": holders_of(plan.unit, rows=500)["west"],
        }
        channel: Any = LocalChannel(holders)
        for name in NAMES:
            channel = Tampering(channel, name, _votes_for(-1 if name == "west" else 0))
        recording = Recording(channel)
        learn_together(recording, plan)
        asked = [Message.decoded(a) for a, _ in recording.exchanges["north"]]
        ballots = [m for m in asked if isinstance(m.body, Vote)]
        first, second = (m.arrays[0].tolist() for m in ballots[:2])
        placed = first[winner][-1]
        assert first[0][-1] != first[-1][-1]
        assert all(line[-1] != placed for line in second)


def test_votes_support_kindred_families() -> None:
    """Two of three who nearly agree elect one of theirs; to the letter, the first would win."""
    families = [Family("z"), Family("y", ("a", "b")), Family("y", ("a",)), Family("x", ("c",))]
    cast = [(0, 1), (1, 1), (2, 1)]
    assert (0, 1) == (
        elected(families, cast, kindred=False),
        elected(families, cast, kindred=True),
    )
    assert 3 == elected(families, [(3, 2), (0, 1)], kindred=False)


def _votes_for(place: int) -> Any:
    """Votes for the first candidate, or for the last."""

    def altered(number: int, request: bytes, reply: bytes) -> bytes:
        message = Message.decoded(reply)
        if not isinstance(message.body, Chosen):
            return reply
        candidates = range(len(Message.decoded(request).arrays[0]))
        return Message(message.run, message.request, Chosen(index=candidates[place])).encoded()

    return altered


def test_plain_conditionals_are_clipped_and_normalised() -> None:
    """Each family's own table, negative sums set to zero, every line divided by its sum."""
    plan = plan_of("parameters replace laplace", form=PLAIN)
    channel = Recording(LocalChannel(holders_of(plan.unit)))
    model = learn_together(channel, plan)
    replies = [
        Message.decoded(b)
        for name in NAMES
        for _, b in channel.exchanges[name]
        if isinstance(Message.decoded(b).body, Tables)
    ]
    joint = np.maximum(sum(reply.arrays[1] for reply in replies), 0)
    expected = joint / joint.sum(axis=1, keepdims=True)
    found = model.conditionals[1]
    assert ("size", ("colour",)) == (found.family.child, found.family.parents)
    assert np.allclose(expected, found.probabilities)


# --- where they go beyond them ------------------------------------------------------------------


def test_families_are_sized_for_the_noise_of_all_holders() -> None:
    """Four holders make a cell twice as dear as one, and the largest table half as large."""
    plan = Collaboration(SCHEMA, "votes", 1)
    one, four = (
        table_cost_of_sums(plan, plan.spendable, rows=10_000, holders=holders) for holders in (1, 4)
    )
    assert (2.0, 2.0) == pytest.approx(
        (four.price / one.price, one.most_cells / four.most_cells), rel=0.01
    )


def test_tables_that_noise_would_drown_are_not_asked_for() -> None:
    """Sized for few rows, pairs are left out; each attribute still has a table of its own."""
    plan = plan_of("statistics replace laplace")
    few, _ = subsets(plan, plan.spendable, rows=20, holders=3)
    many, _ = subsets(plan, plan.spendable, rows=10**6, holders=3)
    assert {("colour",), ("size",), ("sold",), ("one",)} <= set(few)
    assert (10, True) == (len(many), len(few) < 10)


@pytest.mark.parametrize("protocol", ["statistics", "votes", "model"])
@pytest.mark.parametrize("form", [Form(), PLAIN], ids=["improved", "plain"])
@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_a_chain_is_found(protocol: str, form: Form, delta: Any, neighbours: str) -> None:
    """With enough budget each protocol learns the chain, and how strong its links are."""
    schema, table = _chain()
    plan = Collaboration(schema, protocol, 20, delta, neighbours, form=form, degree=1)
    model = _learn(plan, table)
    links = {frozenset(edge) for edge in model.network.edges}
    assert {frozenset({f"x{i}", f"x{i + 1}"}) for i in range(4)} == links
    assert 0.9 == pytest.approx(model.probability("x1", given={"x0": True})[True], abs=0.03)
    assert 6000 == pytest.approx(model.rows, rel=0.02)
    assert not model.statement.private


def test_the_union_is_made_of_the_holders_rows() -> None:
    """Under replace each holder's model makes as many rows as it has; all of them are there."""
    schema, table = _chain(600)
    plan = Collaboration(schema, "model", 20, gathering="union")
    model = _learn(plan, table)
    records = records_of(model)
    assert ({600}, 600) == ({codes.size for codes in records.codes.values()}, model.rows)


_FIELDS = [field.name for field in fields(Form)]
SWITCHES = [
    Form(**dict(zip(_FIELDS, on, strict=True)))
    for on in itertools.product([True, False], repeat=len(_FIELDS))
]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["statistics", "votes", "model", "parameters"])
@pytest.mark.parametrize("delta", full_but({"1e-6"}, [0, "1e-6"]))
def test_every_switch_goes_with_every_other(protocol: str, delta: Any) -> None:
    """All forms between plain and improved end in a whole model, coarser copies or not."""
    for form, epsilon in itertools.product(SWITCHES, (1, 1000)):
        given: dict[str, Any] = {"network": NETWORK} if protocol == "parameters" else {}
        plan = Collaboration(SCHEMA, protocol, epsilon, delta, form=form, **given)
        analyst = Analyst(LocalChannel(holders_of(plan.unit, rows=100)), plan)
        assert 300 == analyst.learn().rows
        assert [] == analyst.report.findings


def test_coarser_copies_take_part() -> None:
    """A column of many values is related through groups of them, in votes as in local models."""
    coded = {"kind": "categorical", "values": list(range(300)), "ordered": True}
    schema = Schema.parse({"columns": {"code": coded, "yes": {"kind": "boolean"}}})
    assert 300 == Domain.of(schema)["code"]
    code = np.random.default_rng(0).integers(0, 300, 6000).astype(np.uint16)
    table = Table(Domain.of(schema), {"code": code, "yes": (code >= 150).astype(np.uint8)}, 6000)
    for protocol in ("votes", "model"):
        plan = Collaboration(schema, protocol, 1, "1e-6", "add-remove")
        model = _learn(plan, table)
        assert (("code", "yes"),) == model.network.edges
        assert protocol == "model" or model.network.families[-1].copies
        assert model.probability("yes", given={"code": 10})[True] < 0.35


def test_scores_of_released_tables_are_those_of_engines() -> None:
    """On whole numbers, the kernels and the scores of sums agree."""
    joint = np.random.default_rng(3).integers(0, 50, (4, 5))
    marginal = Marginal(("a", "b"), joint)
    rows = int(joint.sum())
    assert total_variation().kernel(marginal) == pytest.approx(
        distance_to_independence(joint.astype(float))
    )
    exact = mutual_information(rows, binary=False).kernel(marginal)
    assert exact == pytest.approx(information(joint.astype(float)))
    assert (0.0, 0.0) == (distance_to_independence(np.zeros((2, 2))), information(np.zeros((2, 2))))


# --- what is promised ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", slow_but(QUICK, PLANS))
def test_the_union_is_promised_what_each_holder_is(name: str) -> None:
    """A row has one holder: the statement names the largest loss, not the sum."""
    plan = plan_of(name)
    analyst = Analyst(LocalChannel(holders_of(plan.unit)), plan)
    statement = analyst.learn().statement
    assert (plan.budget.amount, plan.budget.delta) == (
        statement.bound.epsilon,
        statement.bound.delta,
    )
    assert "pays the sum" in statement.bound.accounting
    assert plan.unit == statement.unit
    holders = Counter(charge.question.split(":")[0] for charge in statement.charges)
    assert set(NAMES) == set(holders)
    assert all(promise.confirmed for promise in analyst.promises.values())


@pytest.mark.parametrize("learner", ["greedy", "tree", "genetic"])
def test_any_learner_finds_the_chain_in_the_summed_tables(learner: str) -> None:
    """Five attributes, each a copy of the one before: the best network of one parent is the chain.

    Nothing more is asked of holders for it, so that all learners are charged the same.
    """
    schema, table = _chain()
    plan = Collaboration(schema, "statistics", 20, degree=1, learner=learner)
    network = _learn(plan, table).network
    edges = {frozenset((p, f.child)) for f in network for p in f.parents}
    assert {frozenset((f"x{i}", f"x{i + 1}")) for i in range(4)} == edges


def test_shares_of_votes_are_those_asked_for() -> None:
    """Of ε = 1 one-way tables cost 0.3 and votes 0.2, at every holder."""
    plan = plan_of(
        "votes replace laplace", structure_share=Fraction(1, 5), one_way_share=Fraction(3, 10)
    )
    measured = [asked.body.share for asked, _ in _asked(plan, MeasureTables)]
    voted = [asked.body.share for asked, _ in _asked(plan, Vote)]
    assert Fraction(3, 10) == Fraction(measured[0])
    assert Fraction(1, 5) == sum(map(Fraction, voted))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"protocol": "gossip"}, "statistics or votes"),
        ({"neighbours": "some"}, "add-remove"),
        ({"epsilon": 0}, "epsilon is 0"),
        ({"network": NETWORK}, "learns its network"),
        ({"protocol": "parameters"}, "needs a network"),
        ({"score": "TVD"}, "no sensitivity"),
        ({"least": 0}, "one holder"),
        ({"deadline": 0}, "deadline"),
        ({"degree": -1}, "degree"),
        ({"ballot": "hands"}, "ballot"),
        ({"structure_share": Fraction(1)}, "between 0 and 1"),
        ({"rows_per_person": 2}, "add-remove"),
    ],
)
def test_plans_that_cannot_work_are_refused(other: dict[str, Any], words: str) -> None:
    """Before anybody is asked."""
    with pytest.raises(UsageError, match=words):
        plan_of("votes replace laplace", **other)


def test_persons_with_several_rows_are_protected() -> None:
    """Under add-remove the unit may be a person; the noise is that of all of a person's rows."""
    plan = plan_of("votes add-remove laplace", rows_per_person=3)
    assert 3 == plan.unit.count_l1
    table = source_of(random_rows(100)).table
    held = MemorySource(Table(table.domain, table.codes, table.rows_read, 3))
    model = learn_together(simulated({"a": held}, SCHEMA, plan.unit), plan)
    assert "person with at most 3 rows" in model.statement.sentence


# --- reach --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_fifty_holders_on_adult_take_seconds() -> None:
    """50 holders × 14 rounds of votes in one process, within a generous multiple of the target."""
    import time

    shared_file("benchmark", "adult_train_coded.parquet")
    from benchmarks.real_tables import adult

    schema, table = adult()
    parts = split(table, "equal", holders=50, generator=np.random.default_rng(0))
    plan = Collaboration(schema, "votes", 1, degree=1)
    channel = simulated(parts, schema, Unit(Neighbours.REPLACE))
    started = time.process_time()
    analyst = Analyst(channel, plan)
    analyst.learn()
    assert 18 == analyst.report.questions
    assert time.process_time() - started < 60


@pytest.mark.parametrize("protocol", ["statistics", "votes", "model"])
def test_seeded_runs_are_the_same_every_time(protocol: str) -> None:
    """One seed gives one model, another seed another, and all of them say NOT PRIVATE."""
    schema, table = _chain(900)
    plan = Collaboration(schema, protocol, 1)
    parts = split(table, "equal", generator=np.random.default_rng(0))
    one, same, other = (seeded_analyst(parts, plan, seed).learn() for seed in (1, 1, 2))
    chances = [[c.probabilities.tolist() for c in m.conditionals] for m in (one, same, other)]
    assert chances[0] == chances[1] != chances[2]
    assert "NOT PRIVATE" in one.statement.sentence


@pytest.mark.parametrize(("epsilon", "advised"), [("0.01", True), ("50", False)])
def test_advice_comes_before_tables_are_asked_for(epsilon: str, advised: bool) -> None:
    """Holders have agreed and spent nothing when the analyst hears that votes may do better."""
    schema, table = _chain(600)
    plan = Collaboration(schema, "statistics", epsilon)
    parts = split(table, "equal", holders=3, generator=np.random.default_rng(0))
    channel = Recording(simulated(parts, schema, plan.unit, noise=SeededNoise(1)))
    said: list[str] = []

    def hear(text: str) -> None:
        said.append(text)
        assert all(1 == len(exchanges) for exchanges in channel.exchanges.values())

    Analyst(channel, plan, say=hear).learn()
    assert advised == bool(said)
    assert all("--protocol votes may do better" in text for text in said)
