"""A holder: consent first, then charge, draw, store and send, in this order and no other."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.federated import ONE, PLANS, RUN, TWO, asked, holder_of, plan_of, strict_policy
from support.neighbours import random_rows, source_of
from understudy.errors import LedgerError, UsageError
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.federated import AskSomebody, Holder, Policy, ProtocolName
from understudy.federated.analyst.asking import as_numbers
from understudy.federated.holder.store import MemoryStore
from understudy.federated.messages import (
    Accepted,
    Close,
    Closed,
    Fit,
    Fitted,
    MeasureTables,
    Message,
    Propose,
    Refused,
    Tables,
    Vote,
)
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Instruments
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.engines.memory import MemorySource
from understudy.testing import SeededNoise

BEGIN = "f" * 32
HALF = MeasureTables(share="1/2", tables=(("colour",),), weights=(1,))


def _proposal(**other: Any) -> Propose:
    return Propose(terms=plan_of("votes replace laplace", **other).terms())


def _begun(holder: Holder, **other: Any) -> Holder:
    reply = asked(holder, _proposal(**other), request=BEGIN)
    assert isinstance(reply.body, Accepted), reply.body
    return holder


def _fresh(**other: Any) -> Holder:
    return holder_of(source_of(random_rows(50)), **other)


def _because(reply: Message) -> str:
    assert isinstance(reply.body, Refused), reply.body
    return reply.body.because


def _spent(holder: Holder) -> Fraction:
    return holder.account.spent.epsilon


def test_a_proposal_sets_the_whole_budget_aside() -> None:
    """Before the first answer the ledger has a grant of all that the run may cost."""
    holder = _begun(_fresh())
    assert Fraction(1) == _spent(holder)


def test_public_rows_are_told_and_private_ones_are_not() -> None:
    """Under replace n is public; under add-remove it costs."""
    told = asked(_fresh(), _proposal(), request=BEGIN).body
    private = _fresh(unit=Unit(Neighbours.ADD_REMOVE))
    kept = asked(private, _proposal(neighbours="add-remove"), request=BEGIN).body
    assert (Accepted(rows=50), Accepted(rows=None)) == (told, kept)


@pytest.mark.parametrize("body", [HALF, Close(), Fit(structure="greedy")])
def test_nothing_is_answered_before_a_proposal(body: Any) -> None:
    """Questions of a run that nobody agreed to are refused."""
    holder = _fresh()
    assert ("terms", Fraction(0)) == (_because(asked(holder, body)), _spent(holder))


def test_the_same_question_gets_the_same_answer() -> None:
    """Byte for byte, and nothing is spent on it."""
    holder = _begun(_fresh())
    request = Message(RUN, ONE, HALF).encoded()
    first, paid = holder.handle(request), holder.account.runs
    assert first == holder.handle(request)
    assert paid == holder.account.runs


def test_the_same_name_with_other_content_is_refused() -> None:
    """A replayed id cannot fetch anything else, neither an answer nor other terms."""
    holder = _begun(_fresh())
    asked(holder, HALF)
    other = MeasureTables(share="1/2", tables=(("size",),), weights=(1,))
    assert "replay" == _because(asked(holder, other))
    assert "replay" == _because(asked(holder, _proposal(epsilon=2), request=TWO))


def test_the_same_question_under_new_names_ends_at_the_budget() -> None:
    """Each answer is charged; when the run's budget is gone, asking is refused and free."""
    holder = _begun(_fresh())
    kinds = [asked(holder, HALF, request=f"{i:032x}").body.kind for i in range(4)]
    assert ["tables", "tables", "refused", "refused"] == kinds
    assert "budget" == _because(asked(holder, HALF, request=TWO))
    assert Fraction(1) == _spent(holder)


def test_new_runs_end_at_the_limit() -> None:
    """A limit of 2 has room for two runs at 1; the reason can be read."""
    holder = _fresh(limit=Budget.pure(2))
    replies = [asked(holder, _proposal(), run=f"{i:032x}", request=BEGIN) for i in range(3)]
    assert ["accepted", "accepted", "refused"] == [reply.body.kind for reply in replies]
    assert isinstance(replies[2].body, Refused)
    assert "is left of the limit" in replies[2].body.reason


def test_the_stricter_limit_holds(tmp_path: Path) -> None:
    """A holder that is started with a larger limit does not raise the one in its ledger."""
    for limit in (1, 3):
        with _fresh(folder=tmp_path, limit=Budget.pure(limit)):
            found = Ledger(tmp_path / "north.jsonl").account("rows").limit
            assert found is not None
            assert Fraction(1) == found.total.epsilon


def test_no_more_questions_than_agreed() -> None:
    """The number of questions is part of the terms, whatever they cost."""
    terms = plan_of("parameters replace laplace").terms()
    holder = _fresh()
    asked(holder, Propose(terms=terms), request=BEGIN)
    little = MeasureTables(share="1/10", tables=(("colour",),), weights=(1,))
    assert 1 == terms.questions
    assert "tables" == asked(holder, little).body.kind
    assert "terms" == _because(asked(holder, little, request=TWO))


@pytest.mark.slow
def test_an_unknown_question_spends_nothing() -> None:
    """Every refusal leaves the ledger as it was."""
    holder = _begun(_fresh())
    before = holder.account.runs
    sets, wrong = as_numbers([("colour", "size")], Domain.of(holder.schema)), np.zeros(2)
    bad: list[tuple[Any, tuple[Any, ...]]] = [
        (MeasureTables(share="1/2", tables=(("age",),), weights=(1,)), ()),
        (MeasureTables(share="1/2", tables=(("colour", "colour"),), weights=(1,)), ()),
        (MeasureTables(share="1/2", tables=(("colour",),), weights=(0,)), ()),
        (MeasureTables(share="1/2", tables=(("colour",),), weights=(1, 1)), ()),
        (MeasureTables(share="0", tables=(("colour",),), weights=(1,)), ()),
        (MeasureTables(share="2", tables=(("colour",),), weights=(1,)), ()),
        (MeasureTables(share=f"1/{10**60}", tables=(("colour",),), weights=(1,)), ()),
        (MeasureTables(share="1/2", tables=((),) * 20_001, weights=(1,) * 20_001), ()),
        (Vote(share="1/2", score="R"), (np.zeros((200_001, 1), np.int16), np.zeros(200_001))),
        (Vote(share="1/2", score="R"), ()),
        (Vote(share="1/2", score="R"), (sets, wrong)),
        (Vote(share="1/2", score="R"), (sets, np.array([1e12]))),
        (Vote(share="1/2", score="R"), (sets + 100, np.zeros(1))),
        (Vote(share="1/2", score="R"), (sets.astype(float), np.zeros(1))),
        (Vote(share="1/2", score="TVD"), (sets, np.zeros(1))),
        (Vote(share="1/2", score="F"), (sets, np.zeros(1))),
        (Fit(structure="greedy", degree=60), ()),
        (Fit(structure="tree", degree=60, plain=True), ()),
        (Tables(), ()),
    ]
    kinds = [asked(holder, body, *arrays).body.kind for body, arrays in bad]
    assert ["refused"] * len(bad) == kinds
    assert before == holder.account.runs


def test_a_fit_is_refused_whole() -> None:
    """A model that the rest of the budget does not pay for is not begun."""
    holder = _begun(_fresh())
    asked(holder, HALF)
    charges = holder.account.runs
    assert "budget" == _because(asked(holder, Fit(structure="greedy"), request=TWO))
    assert charges == holder.account.runs


def test_another_schema_is_refused() -> None:
    """The fingerprints of both are named."""
    other = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
    terms = plan_of("votes replace laplace").terms()
    reply = asked(
        _fresh(), Propose(terms=terms.model_copy(update={"schema_text": other.to_json()}))
    )
    assert isinstance(reply.body, Refused)
    assert ("terms", True) == (reply.body.because, other.fingerprint in reply.body.reason)


def test_worlds_are_never_mixed() -> None:
    """A run under add-remove gets nothing from a holder that promises under replace."""
    assert "terms" == _because(asked(_fresh(), _proposal(neighbours="add-remove")))


def test_a_policy_decides(tmp_path: Path) -> None:
    """Budget, questions and protocol beyond a policy file are refused with the reason."""
    path = tmp_path / "policy.toml"
    path.write_text('most_epsilon = "1/2"\nmost_questions = 5\nprotocols = ["statistics"]\n')
    policy = Policy.load(path)
    assert (
        Policy(
            most_epsilon=Fraction(1, 2),
            most_delta=Fraction(0),
            most_questions=5,
            protocols=frozenset({ProtocolName.STATISTICS}),
        )
        == policy
    )
    asking = {
        "protocol votes": plan_of("votes replace laplace", epsilon="1/2"),
        "epsilon = 1 ": plan_of("statistics replace laplace"),
        "delta": plan_of("statistics replace gaussian", epsilon="1/2"),
    }
    for words, plan in asking.items():
        assert words in (policy.refusal(plan.terms()) or "")
    assert None is policy.refusal(plan_of("statistics replace laplace", epsilon="1/2").terms())
    reply = asked(_fresh(policy=strict_policy()), _proposal(epsilon=2))
    assert "consent" == _because(reply)


@pytest.mark.parametrize("text", ["", "most_epsilon = 1\nmore = 2", "most_epsilon = [", "x = 1"])
def test_a_policy_that_says_something_else_is_refused(text: str, tmp_path: Path) -> None:
    """A misspelt key must not leave a door open."""
    (tmp_path / "policy.toml").write_text(text)
    with pytest.raises(UsageError, match=r"policy\.toml"):
        Policy.load(tmp_path / "policy.toml")


@pytest.mark.parametrize("says", [True, False])
def test_a_person_sees_the_terms(says: bool) -> None:
    """Protocol, columns, questions and the whole budget are shown before the first answer."""
    shown: list[str] = []

    def agrees(lines: list[str]) -> bool:
        shown.extend(lines)
        return says

    holder = _fresh(policy=AskSomebody(agrees))
    kind = asked(holder, _proposal()).body.kind
    assert ("accepted" if says else "refused") == kind
    text = "\n".join(shown)
    for words in ("votes", "colour, size, sold, one", "at most 5", "epsilon = 1", "replace"):
        assert words in text


def test_closing_states_what_was_charged() -> None:
    """A run that asked half of its budget closes at half; the charges are named."""
    holder = _begun(_fresh())
    asked(holder, HALF)
    closed = asked(holder, Close(), request=TWO).body
    assert isinstance(closed, Closed)
    assert ("1/2", "0", True) == (closed.epsilon, closed.delta, closed.private)
    assert ["counts of colour"] == [charge["question"] for charge in closed.charges]
    assert Fraction(1, 2) == _spent(holder)
    assert "terms" == _because(asked(holder, HALF, request="3" * 32))


def test_an_abandoned_run_can_be_settled(tmp_path: Path) -> None:
    """Its holder closes it at what was charged, and answers nothing more of it."""
    with _fresh(folder=tmp_path) as holder:
        asked(_begun(holder), HALF)
        assert Fraction(1) == _spent(holder)
        assert "1/2" == holder.settle(RUN).epsilon
        assert Fraction(1, 2) == _spent(holder)
        assert "terms" == _because(asked(holder, HALF, request=TWO))
        assert "tables" == asked(holder, HALF).body.kind


class _Dies(MemoryStore):
    """A store whose disk takes no answer to the first question."""

    def keep(self, run: str, name: str, data: bytes) -> None:
        if name == ONE and not hasattr(self, "died"):
            self.died = True
            raise OSError("no power")
        super().keep(run, name, data)


@pytest.mark.parametrize("name", ["votes replace laplace", "votes replace gaussian"])
def test_a_lost_answer_is_paid_for_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Charged, drawn, not stored: the next answer costs a second charge, and is another one."""
    monkeypatch.setattr("understudy.federated.holder.holder.MemoryStore", _Dies)
    holder = _fresh(limit=Budget.approximate(3, "1e-5"))
    asked(holder, Propose(terms=plan_of(name).terms()), request=BEGIN)
    whole = MeasureTables(share="1", tables=(("colour",),), weights=(1,))
    assert "fault" == _because(asked(holder, whole))
    assert Fraction(1) == _spent(holder)
    assert "tables" == asked(holder, whole).body.kind
    assert 2.0 == pytest.approx(float(_spent(holder)), rel=1e-6)
    closed = asked(holder, Close(), request=TWO).body
    assert isinstance(closed, Closed)
    assert 2.0 == pytest.approx(float(Fraction(closed.epsilon)), rel=1e-6)
    assert 2 == len(closed.charges)


def test_a_lost_answer_is_no_way_around_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the limit has no room for a second charge, the question is refused."""
    monkeypatch.setattr("understudy.federated.holder.holder.MemoryStore", _Dies)
    holder = _fresh(limit=Budget.pure("3/2"))
    _begun(holder)
    whole = MeasureTables(share="1", tables=(("colour",),), weights=(1,))
    assert ["fault", "budget"] == [_because(asked(holder, whole)) for _ in range(2)]
    assert Fraction(1) == _spent(holder)


def test_a_restarted_holder_is_the_same(tmp_path: Path) -> None:
    """Same ledger, same answers; what was left of the run can still be asked, and no more."""
    with _fresh(folder=tmp_path) as holder:
        first = asked(_begun(holder), HALF)
    with _fresh(folder=tmp_path) as again:
        assert first.encoded() == asked(again, HALF).encoded()
        assert "tables" == asked(again, HALF, request=TWO).body.kind
    with _fresh(folder=tmp_path) as third:
        assert "budget" == _because(asked(third, HALF, request="3" * 32))
        assert Fraction(1) == third.account.spent.epsilon
    lines = [json.loads(line) for line in (tmp_path / "north.jsonl").read_text().splitlines()]
    assert ["grant", "charge", "charge"] == [line["entry"] for line in lines]
    assert [ONE, TWO] == [line["request"] for line in lines if line["entry"] == "charge"]


def test_a_store_has_one_process_at_a_time(tmp_path: Path) -> None:
    """Two holders on one folder could give two answers to one question."""
    with _fresh(folder=tmp_path), pytest.raises(UsageError, match="another holder"):
        _fresh(folder=tmp_path)


def test_a_run_does_not_outlive_its_terms(tmp_path: Path) -> None:
    """Restarted under another relation, a holder answers nothing of the old run."""
    with _fresh(folder=tmp_path) as holder:
        _begun(holder)
    with _fresh(folder=tmp_path, unit=Unit(Neighbours.ADD_REMOVE)) as other:
        assert "terms" == _because(asked(other, HALF))


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("name", PLANS)
def test_hardly_any_rows_are_answered_like_many(name: str, rows: int) -> None:
    """No row, or one: ordinary noisy answers."""
    plan = plan_of(name)
    holder = holder_of(source_of(random_rows(rows)), unit=plan.unit)
    asked(holder, Propose(terms=plan.terms()), request=BEGIN)
    score = "R" if plan.neighbours is Neighbours.REPLACE else "TVD"
    sets = as_numbers([("size",), ("colour", "size")], Domain.of(holder.schema))
    questions: list[tuple[Any, tuple[Any, ...]]] = [
        (MeasureTables(share="1/4", tables=((), ("size",)), weights=(1, 1)), ()),
        (Vote(share="1/4", score=score), (sets, np.zeros(2))),  # type: ignore[arg-type]
    ]
    if plan.protocol is ProtocolName.MODEL:
        questions = [(Fit(structure="greedy"), ())]
    if plan.protocol in (ProtocolName.STATISTICS, ProtocolName.PARAMETERS):
        questions = questions[:1]
    kinds = [asked(holder, b, *a, request=f"{i:032x}").body for i, (b, a) in enumerate(questions)]
    assert not [body for body in kinds if isinstance(body, Refused)]


def _broken(monkeypatch: pytest.MonkeyPatch, fault: Exception) -> Holder:
    """A holder whose rows cannot be counted."""
    holder = _begun(_fresh())

    def broken(*_: object) -> None:
        raise fault

    monkeypatch.setattr(MemorySource, "count", broken)
    return holder


def test_a_fault_tells_the_analyst_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What went wrong inside may depend on rows; the reply is the same whatever it was."""
    holder = _broken(monkeypatch, RuntimeError("row 17 holds a secret"))
    reply = asked(holder, HALF)
    assert isinstance(reply.body, Refused)
    assert ("fault", False) == (reply.body.because, "secret" in reply.body.reason)


@pytest.mark.parametrize("wanted", [False, True])
def test_a_fault_is_logged_without_its_message(
    wanted: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It may quote a cell, and a holder's log is kept; only the owner can ask for all of it."""
    if wanted:
        monkeypatch.setenv("UNDERSTUDY_TRACEBACK", "1")
    asked(_broken(monkeypatch, KeyError("a secret of row 17")), HALF)
    assert "a fault while answering: KeyError at test_holder.py:" in caplog.text
    assert wanted is ("secret" in caplog.text)


def test_noise_that_anyone_knows_is_no_entry_for_a_ledger(tmp_path: Path) -> None:
    """A seeded holder keeps no ledger."""
    seeded = Instruments(noise=SeededNoise(1))
    with pytest.raises(UsageError, match="seeded or no noise"):
        _fresh(folder=tmp_path, instruments=seeded)


def test_a_model_comes_whole() -> None:
    """Families, a table for each, and the number of rows."""
    holder = _begun(_fresh())
    reply = asked(holder, Fit(structure="greedy", degree=1))
    assert isinstance(reply.body, Fitted)
    assert 4 == len(reply.body.families)


def test_what_a_holder_remembers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """An analyst chooses runs and candidates; answers stay the same when some are forgotten."""
    monkeypatch.setattr("understudy.federated.holder.holder._MOST_RUNS", 2)
    monkeypatch.setattr("understudy.privacy.curator._MOST_REMEMBERED", 1)
    holder = _fresh(limit=Budget.pure(100))
    sets = as_numbers([("size",), ("colour", "size")], Domain.of(holder.schema))
    for number in range(5):
        run = f"{number:032x}"
        asked(holder, _proposal(), request=BEGIN, run=run)
        reply = asked(holder, Vote(share="1/2", score="R"), sets, np.zeros(2), run=run)
        assert "chosen" == reply.body.kind
        assert holder.remembered_runs <= 2
        assert holder.remembered_scores <= len(sets)
    assert "closed" == asked(holder, Close(), request=TWO, run=f"{0:032x}").body.kind


def test_an_older_copy_of_the_store_pays_again(tmp_path: Path) -> None:
    """Answers that it lacks were released: the ledger knows the question; a new draw costs."""
    with _fresh(folder=tmp_path) as holder:
        _begun(holder)
        shutil.copytree(tmp_path / "north", tmp_path / "backup")
        asked(holder, HALF)
        assert Fraction(1) == _spent(holder)
    shutil.rmtree(tmp_path / "north")
    (tmp_path / "backup").rename(tmp_path / "north")
    with _fresh(folder=tmp_path) as older:
        assert "tables" == asked(older, HALF).body.kind
        assert Fraction(3, 2) == _spent(older)


def test_a_copy_of_the_store_is_not_used_at_the_same_time(tmp_path: Path) -> None:
    """Two holders of one store would both draw on what is left of a run before either writes."""
    with _fresh(folder=tmp_path) as holder:
        _begun(holder)
        shutil.copytree(tmp_path / "north", tmp_path / "copy" / "north")
        (tmp_path / "copy" / "north.jsonl").symlink_to(tmp_path / "north.jsonl")
        with pytest.raises(LedgerError, match="another process has this store of answers"):
            _fresh(folder=tmp_path / "copy")
        assert "tables" == asked(holder, HALF).body.kind
    with _fresh(folder=tmp_path / "copy") as copy:
        assert "tables" == asked(copy, HALF, request=TWO).body.kind
        assert "budget" == _because(asked(copy, HALF, request="3" * 32))
    assert {"copy", "north", "north.jsonl"} == {path.name for path in tmp_path.iterdir()}
