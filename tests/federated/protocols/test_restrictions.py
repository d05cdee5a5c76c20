"""Restrictions among holders: every network obeys them, and nobody answers beyond them."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.federated import NAMES, ONE, RUN, Recording, Tampering, asked
from support.tiers import in_turns
from understudy.errors import HolderError, UsageError
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.protection import Protection
from understudy.facts.schema import Schema
from understudy.federated import (
    Analyst,
    AskSomebody,
    Collaboration,
    Form,
    LocalChannel,
    Policy,
    Terms,
    seeded_analyst,
    simulated,
)
from understudy.federated.analyst.asking import as_numbers
from understudy.federated.messages import (
    Accepted,
    Fit,
    Fitted,
    MeasureTables,
    Message,
    Propose,
    Rate,
    Refused,
    Vote,
)
from understudy.federated.protocols.statistics import subsets
from understudy.federated.simulation import AgreeToAll
from understudy.federated.terms import Limits
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.models.model import Model
from understudy.models.network import Network
from understudy.rows.table import Table

SIZES = {"age": 4, "sex": 2, "ill": 3, "income": 3, "job": 3}
SCHEMA = Schema.parse(
    {"columns": {n: {"kind": "integer", "min": 0, "max": s - 1} for n, s in SIZES.items()}}
)
DOMAIN = Domain.of(SCHEMA)

PROTECTED = Protection("income", {"ill": None})
RULES = {
    "required": Restrictions(required=(("job", "age"), ("sex", "age"))),
    "forbidden": Restrictions(forbidden=tuple((a, "job") for a in SIZES if a != "job")),
    "tiers": Restrictions(tiers=(("job",), ("ill", "sex"))),
    "predictors": Restrictions(
        predictors={name: ("income",) if name != "income" else () for name in SIZES}
    ),
    "protected": Restrictions(protection=PROTECTED),
    "protected, of two": Restrictions(protection=Protection(None, {"ill": ("age", "sex")})),
    "protected, of none": Restrictions(protection=Protection(None, {"ill": (), "job": ()})),
    "all": Restrictions(
        required=(("income", "job"),),
        forbidden=(("age", "sex"),),
        tiers=(("income",), ("job",)),
        protection=PROTECTED,
    ),
}
PLANS: dict[str, dict[str, Any]] = {
    "statistics": {"protocol": "statistics"},
    "statistics, degree 2": {"protocol": "statistics", "degree": 2},
    "votes": {"protocol": "votes"},
    "votes by scores": {"protocol": "votes", "delta": "1e-6", "neighbours": "add-remove"},
    "model": {"protocol": "model"},
    "model, pairs": {"protocol": "model", "delta": "1e-6", "neighbours": "add-remove"},
    "statistics as printed": {"protocol": "statistics", "form": Form.plain()},
    "votes as printed": {"protocol": "votes", "form": Form.plain(), "degree": 2},
    "model as printed": {"protocol": "model", "form": Form.plain(), "degree": 2},
}


def _plan(name: str, restrictions: Restrictions, epsilon: str = "20") -> Collaboration:
    settings = dict(PLANS[name])
    if "degree" not in settings and restrictions.most_required > 1:
        settings["degree"] = 2
    return Collaboration(
        SCHEMA, epsilon=epsilon, restrictions=restrictions, deadline=60.0, **settings
    )


@cache
def _tables(rows: int = 900) -> dict[str, Table]:
    """Three holders' rows, in which everything depends on age, illness most of all."""
    generator = np.random.default_rng(4)
    age = generator.integers(0, 4, (3, rows))
    held: dict[str, Table] = {}
    for name, of in zip(NAMES, age, strict=True):
        codes: dict[str, Codes] = {}
        for attribute, size in SIZES.items():
            fresh = generator.integers(0, size, rows)
            copied = of % size if attribute != "age" else of
            drawn = np.where(generator.random(rows) < 0.8, copied, fresh)
            codes[attribute] = drawn.astype(np.uint8)
        held[name] = Table(DOMAIN, codes, rows)
    return held


def _network(model: Model) -> Network:
    return Network(tuple(table.family for table in model.conditionals))


# Every plan meets every rule, and each of them much noise and little in turn.
PAIRED = [(name, rules) for name in PLANS for rules in RULES]
NOW = [pair for pair in PAIRED if pair[0] in [*PLANS][::5]]


@pytest.mark.parametrize(("pair", "epsilon"), in_turns(NOW, PAIRED, ["20", "0.01"]))
def test_every_network_obeys(pair: tuple[str, str], epsilon: str) -> None:
    """By every protocol and in either form, whether there is much noise or little."""
    name, rules = pair
    plan = _plan(name, RULES[rules], epsilon)
    model = seeded_analyst(_tables(), plan, 5).learn()
    assert RULES[rules].check_obeyed(_network(model)) == _network(model)
    assert set(SIZES) == {family.child for family in _network(model)}


@pytest.mark.parametrize("name", PLANS)
def test_without_restrictions_the_same_rows_break_them(name: str) -> None:
    """Obeying is not an accident: without a restriction illness depends on age."""
    model = seeded_analyst(_tables(), _plan(name, NONE), 5).learn()
    with pytest.raises(UsageError, match="the given network"):
        RULES["protected"].check_obeyed(_network(model))


@pytest.mark.parametrize("name", PLANS)
def test_nothing_is_asked_about_protected_attributes_beside_others(name: str) -> None:
    """No table, vote or score of illness with anything but the target reaches any holder."""
    plan = _plan(name, RULES["protected"])
    channel = Recording(LocalChannel(_holders(plan)))
    model = Analyst(channel, plan).learn()
    sets = [set(names) for names in _asked_about(channel)]
    assert not [names for names in sets if "ill" in names and not names <= {"ill", "income"}]
    assert "Withheld: ill depends on income alone" in model.statement.sentence
    assert PROTECTED.settled == model.protection


def _holders(plan: Collaboration) -> dict[str, Any]:
    return dict(simulated(_tables(), SCHEMA, plan.unit)._holders)


def _asked_about(channel: Recording) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for request, _ in channel.exchanges[NAMES[0]]:
        message = Message.decoded(request)
        match message.body:
            case MeasureTables():
                found += message.body.tables
            case Vote() | Rate():
                names = DOMAIN.names
                found += [tuple(names[i] for i in line if i >= 0) for line in message.arrays[0]]
    return [tuple(DOMAIN.base(name) for name in names) for names in found]


# --- refused before anything is asked ---------------------------------------------------------

CONTRADICTIONS = {
    "unknown": (Restrictions(required=(("age", "nobody"),)), "unknown"),
    "both": (Restrictions((("age", "sex"),), (("age", "sex"),)), "forbidden"),
    "a cycle": (Restrictions(required=(("age", "sex"), ("sex", "age"))), "cycle"),
    "order": (Restrictions((("age", "sex"),), tiers=(("sex",), ("age",))), "later tier"),
    "a protected parent": (
        Restrictions((("ill", "age"),), protection=PROTECTED),
        "cannot be a parent",
    ),
    "no target": (Restrictions(protection=Protection(None, {"ill": None})), "target"),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
@pytest.mark.parametrize("protocol", ["statistics", "votes", "model"])
def test_contradictions_are_refused_by_the_plan(protocol: str, what: str) -> None:
    """There is no plan, so that nobody can be asked."""
    restrictions, said = CONTRADICTIONS[what]
    with pytest.raises(UsageError, match=said):
        Collaboration(SCHEMA, protocol, 1, restrictions=restrictions)


def test_degrees_leave_room_for_what_is_required() -> None:
    """A degree that was given must suffice; one that was not grows with what is required."""
    with pytest.raises(UsageError, match="the degree is 1"):
        Collaboration(SCHEMA, "votes", 1, degree=1, restrictions=RULES["required"])
    assert 2 == Collaboration(SCHEMA, "statistics", 1, restrictions=RULES["required"]).subset_degree


def test_given_networks_are_held_against_restrictions() -> None:
    """A network for its parameters that breaks them is refused, one that keeps them is not."""
    good = Network.from_parents({**_alone("income", "sex", "job"), "ill": INCOME, "age": INCOME})
    bad = Network.from_parents({**_alone("age", "income", "sex", "job"), "ill": ("age",)})
    plan = Collaboration(SCHEMA, "parameters", 1, network=good, restrictions=RULES["protected"])
    assert _network(seeded_analyst(_tables(90), plan, 1).learn()) == good
    with pytest.raises(UsageError, match="protected 'ill' depends on income alone"):
        Collaboration(SCHEMA, "parameters", 1, network=bad, restrictions=RULES["protected"])


INCOME = ("income",)


def _alone(*names: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys(names, ())


def test_a_union_of_models_withholds_nothing() -> None:
    """Rows put together tell their holders apart, so that protection is refused there."""
    with pytest.raises(UsageError, match="gather one network"):
        Collaboration(SCHEMA, "model", 1, gathering="union", restrictions=RULES["protected"])
    free = Collaboration(SCHEMA, "model", 1, gathering="union", restrictions=RULES["tiers"])
    assert "union" == free.gathering


def test_plans_with_other_restrictions_have_other_journals() -> None:
    """A run is not taken up under other restrictions; without any, old journals still fit."""
    plain, ruled = _plan("votes", NONE), _plan("votes", RULES["tiers"])
    assert plain.fingerprint != ruled.fingerprint
    assert ruled.fingerprint == _plan("votes", RULES["tiers"]).fingerprint


# --- which tables statistics need -------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("rules", RULES)
def test_tables_asked_for_are_those_of_possible_families(degree: int, rules: str) -> None:
    """Every one may be a family, and every possible family is within one of them."""
    restrictions = RULES[rules]
    if restrictions.most_required > degree:
        return
    form = Form.plain()
    plan = Collaboration(
        SCHEMA, "statistics", 1, degree=degree, form=form, restrictions=restrictions
    )
    asked_for, _ = subsets(plan, plan.spendable, rows=900, holders=3)
    assert all(restrictions.may_be_family(names) for names in asked_for)
    for count in range(1, degree + 2):
        for names in itertools.combinations(SIZES, count):
            held = any(set(names) <= set(table) for table in asked_for)
            assert held or not restrictions.may_be_family(names)


# --- what travels, and what holders make of it ------------------------------------------------


@pytest.mark.parametrize("rules", RULES)
def test_restrictions_travel_whole(rules: str) -> None:
    """What a holder reads is what the analyst meant, protection written out."""
    terms = _plan("votes", RULES[rules]).terms()
    read = Message.decoded(Message(RUN, ONE, Propose(terms=terms)).encoded()).body
    assert isinstance(read, Propose)
    found, meant = read.terms.restrictions, RULES[rules]
    assert meant.protection.settled == found.protection
    assert (meant.edges, meant.forbidden, meant.tiers) == (
        found.edges,
        found.forbidden,
        found.tiers,
    )
    assert (meant.predictors or {}) == (found.predictors or {})


def test_terms_without_restrictions_travel_as_before() -> None:
    """No field is sent that an older holder would not know."""
    assert "limits" not in _plan("votes", NONE).terms().model_dump_json()
    assert "limits" in _plan("votes", RULES["tiers"]).terms().model_dump_json()


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"surprise": 1},
        {"required": [["age"]]},
        {"required": [["age", "sex"]] * 10_001},
        {"tiers": ["age"]},
        {"protected": {"ill": "income"}},
        {"target": "x" * 2000},
    ],
)
def test_malformed_restrictions_are_refused_unspent(change: dict[str, Any]) -> None:
    """Other versions, other shapes and too much of it end as no message at all."""
    encoded = Message(RUN, ONE, Propose(terms=_plan("votes", RULES["all"]).terms())).encoded()
    header = json.loads(encoded[9:])
    header["body"]["terms"]["limits"] |= change
    text = json.dumps(header).encode()
    holder = next(iter(_holders(_plan("votes", NONE)).values()))
    reply = Message.decoded(holder.handle(encoded[:5] + len(text).to_bytes(4, "little") + text))
    assert isinstance(reply.body, Refused)
    assert "message" == reply.body.because
    assert 0 == holder.account.spent.epsilon


def _agreed(
    restrictions: Restrictions, epsilon: str = "1", /, **policy: Any
) -> tuple[Any, Message]:
    plan = _plan("votes", restrictions, epsilon)
    terms = plan.terms()
    holder = next(iter(_holders(plan).values()))
    holder._policy = Policy(most_epsilon=Fraction(1), **policy) if policy else AgreeToAll()
    return holder, asked(holder, Propose(terms=terms), request="f" * 32)


def test_contradictions_are_refused_by_holders_unspent() -> None:
    """An analyst that sends what its own plan would refuse gets the reason and nothing else."""
    terms = _plan("votes", NONE, "1").terms()
    for what, (restrictions, _) in CONTRADICTIONS.items():
        if what == "no target":
            # Written out, it depends on nothing, which is no contradiction.
            continue
        bad = terms.model_copy(update={"limits": Limits.of(restrictions)})
        holder = next(iter(_holders(_plan("votes", NONE)).values()))
        reply = asked(holder, Propose(terms=bad), request="f" * 32)
        assert isinstance(reply.body, Refused)
        assert "terms" == reply.body.because
        assert 0 == holder.account.spent.epsilon


PAIRS = {"with the target": ("ill", "income"), "with another": ("ill", "age")}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("kind", ["measure", "vote", "rate"])
def test_a_holder_answers_nothing_beyond_what_was_agreed(kind: str, pair: str) -> None:
    """Tables, votes and scores that protection withholds are refused, and cost nothing."""
    holder, accepted = _agreed(RULES["protected"])
    assert isinstance(accepted.body, Accepted)
    numbers = as_numbers([PAIRS[pair]], DOMAIN)
    reply = {
        "measure": lambda: asked(
            holder, MeasureTables(share="1/2", tables=(PAIRS[pair],), weights=(1,))
        ),
        "vote": lambda: asked(holder, Vote(share="1/2", score="R"), numbers, np.zeros(1)),
        "rate": lambda: asked(holder, Rate(share="1/2", score="R"), numbers),
    }[kind]()
    [run] = holder.account.runs
    if pair == "with the target":
        assert not isinstance(reply.body, Refused)
        assert run["charges"] > 0
        return
    assert isinstance(reply.body, Refused)
    assert ("request", True) == (reply.body.because, "agreed on" in reply.body.reason)
    assert 0 == run["charges"]


def test_a_local_model_keeps_to_what_was_agreed() -> None:
    """Its restrictions are those of the run: a question has no say in them."""
    holder, _ = _agreed(RULES["protected"], "20")
    reply = asked(holder, Fit(structure="greedy", degree=2))
    assert isinstance(reply.body, Fitted)
    [family] = [axes for axes in reply.body.families if axes[-1] == "ill"]
    assert ("income", "ill") == tuple(family)
    assert all("ill" not in axes[:-1] for axes in reply.body.families)


def test_policies_insist_on_protection() -> None:
    """A run must protect what the policy names, and let it depend on the target alone."""
    strict = {"protect": frozenset({"ill"})}
    assert isinstance(_agreed(RULES["protected"], **strict)[1].body, Accepted)
    assert isinstance(_agreed(RULES["protected, of none"], **strict)[1].body, Accepted)
    for rules, said in (("tiers", "must be protected here"), ("protected, of two", "age, sex")):
        holder, reply = _agreed(RULES[rules], **strict)
        assert isinstance(reply.body, Refused)
        assert ("consent", True) == (reply.body.because, said in reply.body.reason)
        assert 0 == holder.account.spent.epsilon


def test_policies_are_read_with_what_they_protect(tmp_path: Path) -> None:
    """A list of names; anything else is refused."""
    path = tmp_path / "policy.toml"
    path.write_text('most_epsilon = 1\nprotect = ["ill"]\n')
    assert frozenset({"ill"}) == Policy.load(path).protect
    path.write_text('most_epsilon = 1\nprotect = "ill"\n')
    with pytest.raises(UsageError, match="a list of attributes"):
        Policy.load(path)


def test_people_are_shown_the_restrictions() -> None:
    """Who is asked for consent sees edges, order and what is withheld."""
    shown: list[str] = []

    def declines(lines: list[str]) -> bool:
        shown.extend(lines)
        return False

    terms: Terms = _plan("votes", RULES["all"]).terms()
    assert AskSomebody(declines).refusal(terms) is not None
    assert "required edges: income:job" in shown
    assert "forbidden edges: age:sex" in shown
    assert "order: income | job" in shown
    assert any(line.startswith("Withheld: ill depends on income alone") for line in shown)


def test_a_model_that_breaks_the_agreement_is_garbage_by_name() -> None:
    """The analyst says which holder sent it, and takes nothing of it."""
    plan = _plan("model", RULES["protected"])
    free = simulated({"south": _tables()["south"]}, SCHEMA, plan.unit)

    def other_model(number: int, request: bytes, reply: bytes) -> bytes:
        if number == 0:
            return reply
        asked_for = Message.decoded(request)
        terms = _plan("model", NONE).terms()
        free.ask({"south": Message(asked_for.run, ONE, Propose(terms=terms)).encoded()}, deadline=9)
        return free.ask({"south": request}, deadline=9)["south"]

    channel = Tampering(simulated(_tables(), SCHEMA, plan.unit), "south", other_model)
    with pytest.raises(HolderError, match="south answered what cannot be: its network breaks"):
        Analyst(channel, plan).learn()


def test_who_sends_nothing_is_named() -> None:
    """A holder that stays silent is in the error, or in the report, by name."""
    plan = _plan("votes", NONE)
    silent = Tampering(simulated(_tables(90), SCHEMA, plan.unit), "west", lambda *_: None)
    with pytest.raises(HolderError, match="west did not answer"):
        Analyst(silent, plan).learn()
    fewer = Collaboration(SCHEMA, "votes", 1, least=2, attempts=1)
    silent = Tampering(simulated(_tables(90), SCHEMA, plan.unit), "west", lambda *_: None)
    analyst = Analyst(silent, fewer)
    analyst.learn()
    assert {"west": "did not answer"} == analyst.report.absent
    assert ["holder 'west' did not answer; it is left out"] == analyst.report.findings
