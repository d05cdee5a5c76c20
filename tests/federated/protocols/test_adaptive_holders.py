"""Tables chosen in rounds among holders: what is asked, what is refused, and what is learned."""

from __future__ import annotations

import inspect
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from support.federated import asked, holder_of, plan_of
from support.neighbours import random_rows, source_of
from understudy.errors import UsageError
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.protection import Protection
from understudy.facts.schema import Schema
from understudy.facts.workload import workload
from understudy.federated import (
    Collaboration,
    Form,
    Holder,
    Policy,
    ProtocolName,
    seeded_analyst,
    split,
)
from understudy.federated.messages import Accepted, MeasureGroups, Message, Propose, Refused
from understudy.federated.protocols.adaptive import learn_adaptive
from understudy.methods import AdaptiveMarginals
from understudy.methods.structure.restrict import Restrictions
from understudy.models.model import Model
from understudy.models.network import Network
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.testing import seeded

BEGIN = "f" * 32
WORLD: dict[str, Any] = {"epsilon": 4, "delta": "1e-6", "neighbours": "add-remove"}
COLOURS, SIZES = np.array([0, 1, 1], np.int16), np.array([0, 0, 1, 1, 2, 2, 0], np.int16)
GROUPS = MeasureGroups(
    share="1/4", grouped=("colour", "size"), tables=(("colour", "size"),), weights=(1,)
)


def _begun(**other: Any) -> Holder:
    """A holder that agreed to a run."""
    holder = holder_of(source_of(random_rows(50)), **other)
    terms = plan_of("adaptive replace laplace").terms()
    assert isinstance(asked(holder, Propose(terms=terms), request=BEGIN).body, Accepted)
    return holder


def _chain(rows: int = 20_000) -> tuple[Schema, Table]:
    """Six attributes of five codes, each a noisy copy of the one before, and a holder's number."""
    sizes = {f"x{place}": 5 for place in range(6)} | {"place": 3}
    columns = {name: {"kind": "integer", "min": 0, "max": s - 1} for name, s in sizes.items()}
    schema, generator = Schema.parse({"columns": columns}), np.random.default_rng(5)
    codes: dict[str, Codes] = {"place": generator.integers(0, 3, rows).astype(np.uint8)}
    last = generator.integers(0, 5, rows)
    for place in range(6):
        fresh = generator.random(rows) < 0.3
        last = np.where(fresh, generator.integers(0, 5, rows), last)
        codes[f"x{place}"] = last.astype(np.uint8)
    codes["x5"] = ((codes["x5"] + codes["place"]) % 5).astype(np.uint8)
    return schema, Table(Domain.of(schema), codes, rows)


def _distance(table: Table, model: Model) -> float:
    codes = model.law.draw(table.rows, np.random.default_rng(0))
    made = Table(table.domain, dict(codes), table.rows)
    return float(total_variation(table, made, workload(table.domain, 3)).mean())


def _together(schema: Schema, table: Table, how: str = "equal", **other: Any) -> Model:
    """What three holders learn together, always the same."""
    parts = split(table, how, holders=3, target="place", generator=np.random.default_rng(0))
    settings: dict[str, Any] = {"protocol": "adaptive", **WORLD, **other}
    plan = Collaboration(schema, **settings)
    return seeded_analyst(parts, plan, 3).learn()


def _alone(schema: Schema, table: Table) -> Model:
    method = seeded(AdaptiveMarginals(schema, **WORLD), 3)
    return method.fit(MemorySource(table), ledger=None).model_


# --- what holders answer ------------------------------------------------------------------------


def test_a_table_in_groups_is_answered_and_charged() -> None:
    """The reply has a cell for each combination of groups, and the ledger names the table."""
    holder = _begun()
    reply = asked(holder, GROUPS, COLOURS, SIZES)
    assert [(2, 3)] == [array.shape for array in reply.arrays]
    [run] = holder.account.runs
    assert Fraction(1) == run["cost"].spent.epsilon


BAD: list[tuple[MeasureGroups, tuple[Any, ...]]] = [
    (GROUPS, ()),
    (GROUPS, (COLOURS,)),
    (GROUPS, (SIZES, COLOURS)),
    (GROUPS, (COLOURS, SIZES.astype(np.int64))),
    (GROUPS, (COLOURS, SIZES - 1)),
    (GROUPS, (COLOURS, 2 * SIZES)),
    (GROUPS.model_copy(update={"grouped": ("colour", "colour")}), (COLOURS, COLOURS)),
    (GROUPS.model_copy(update={"grouped": ("colour", "age")}), (COLOURS, SIZES)),
    (GROUPS.model_copy(update={"tables": (("colour", "age"),)}), (COLOURS, SIZES)),
    (GROUPS.model_copy(update={"tables": (("size", "size"),)}), (COLOURS, SIZES)),
    (GROUPS.model_copy(update={"weights": (0,)}), (COLOURS, SIZES)),
    (GROUPS.model_copy(update={"weights": (1, 1)}), (COLOURS, SIZES)),
    (GROUPS.model_copy(update={"share": "2"}), (COLOURS, SIZES)),
]


@pytest.mark.parametrize(("body", "arrays"), BAD)
def test_a_question_that_is_not_sound_spends_nothing(
    body: MeasureGroups, arrays: tuple[Any, ...]
) -> None:
    """Damaged groups, unknown names, wrong weights and shares are refused and free."""
    holder = _begun()
    before = holder.account.runs
    assert isinstance(asked(holder, body, *arrays).body, Refused)
    assert before == holder.account.runs


def test_more_than_was_agreed_is_refused() -> None:
    """The run's budget ends what an analyst can ask for in groups, and a policy what may begin."""
    holder = _begun()
    kinds = [
        asked(holder, GROUPS, COLOURS, SIZES, request=f"{number:032x}").body.kind
        for number in range(5)
    ]
    assert ["tables"] * 4 + ["refused"] == kinds
    strict = Policy(most_epsilon=Fraction(1), protocols=frozenset({ProtocolName.VOTES}))
    other = holder_of(source_of(random_rows(50)), policy=strict)
    terms = plan_of("adaptive replace laplace").terms()
    assert "consent" == _because(asked(other, Propose(terms=terms), request=BEGIN))


def test_what_restrictions_forbid_is_not_counted_in_groups() -> None:
    """A table of a protected column and another is refused, in groups as well."""
    rules = Restrictions(protection=Protection("sold", {"size": None}))
    holder = holder_of(source_of(random_rows(50)))
    terms = plan_of("adaptive replace laplace", restrictions=rules).terms()
    asked(holder, Propose(terms=terms), request=BEGIN)
    assert "request" == _because(asked(holder, GROUPS, COLOURS, SIZES))


def _because(reply: Message) -> str:
    assert isinstance(reply.body, Refused), reply.body
    return reply.body.because


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"degree": 2}, "degree"),
        ({"score": "R"}, "score"),
        ({"ballot": "scores"}, "ballot"),
        ({"structure_share": Fraction(1, 2)}, "structure share"),
        ({"form": Form.plain()}, "theses"),
        ({"restrictions": Restrictions(tiers=(("colour",), ("size",)))}, "tiers"),
    ],
)
def test_what_is_about_networks_is_refused(other: dict[str, Any], words: str) -> None:
    """Before anybody is asked."""
    with pytest.raises(UsageError, match=words):
        plan_of("adaptive replace laplace", **other)


# --- what is learned ----------------------------------------------------------------------------


@pytest.mark.slow
def test_three_holders_come_near_to_one() -> None:
    """The distance is at most 1.5 times that of a central fit, and far from independent columns."""
    schema, table = _chain()
    together, alone = _together(schema, table), _alone(schema, table)
    assert "log-linear" == together.distribution.kind
    assert _distance(table, together) <= 1.5 * _distance(table, alone)
    independent = _together(schema, table, protocol="parameters", network=_no_edges(table))
    assert _distance(table, together) <= _distance(table, independent) / 5


@pytest.mark.slow
def test_what_differs_only_between_holders_is_learned() -> None:
    """Sums of tables do not depend on who holds which rows."""
    schema, table = _chain()
    model = _together(schema, table, "class")
    codes = model.law.draw(table.rows, np.random.default_rng(0))
    made = Table(table.domain, dict(codes), table.rows)
    pair = [("x5", "place")]
    assert float(total_variation(table, made, pair).mean()) < 0.03


@pytest.mark.slow
def test_the_statement_names_tables_in_groups() -> None:
    """Every answer is there, and the model keeps only tables of the schema's own names."""
    schema, table = _chain()
    model = _together(schema, table)
    questions = [charge.question for charge in model.statement.charges]
    assert any(" groups × " in question for question in questions)
    assert {name for held in model.tables for name in held.attributes} <= set(table.domain.names)


def _no_edges(table: Table) -> Network:
    return Network.without_edges(table.domain.attributes)


def test_learning_among_holders_reads_as_its_stages() -> None:
    """It has one line for each stage of the central method, and those of holders that left."""
    lines = inspect.getsource(learn_adaptive).splitlines()
    assert len(lines) <= 15
