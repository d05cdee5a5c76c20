"""Faults: holders that die, lie, are silent or late; messages repeated; analysts killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.federated import (
    NAMES,
    PLANS,
    QUICK,
    Recording,
    Tampering,
    asked,
    holder_of,
    holders_of,
    plan_of,
)
from support.neighbours import random_rows, source_of
from support.tiers import slow_but
from understudy.errors import DataError, HolderError, UsageError
from understudy.facts.schema import Schema
from understudy.federated import Analyst, Collaboration, Holder, LocalChannel, learn_together
from understudy.federated.analyst.asking import Sizes, propose, tables
from understudy.federated.analyst.conversation import Conversation
from understudy.federated.holder.store import FolderStore
from understudy.federated.messages import MeasureTables, Message, Refused, Tables
from understudy.models.model import Model
from understudy.privacy.spending.ledger import Ledger

FAST = ["statistics replace laplace", "votes replace laplace", "model replace laplace"]


class Killed(BaseException):
    """As by a signal."""


class Silent(LocalChannel):
    """Carries nothing to or from one holder from some question on."""

    def __init__(
        self, holders: Mapping[str, Holder], victim: str, *, after: int, heard: bool, lasts: int
    ) -> None:
        super().__init__(holders)
        self.victim, self.heard, self.count = victim, heard, 0
        self.lost = range(after, after + lasts)

    def ask(self, requests: Mapping[str, bytes], *, deadline: float) -> Mapping[str, bytes]:
        """The replies, without the victim's; it may have heard the question all the same."""
        lost = self.victim in requests and self.count in self.lost
        self.count += self.victim in requests
        if lost and not self.heard:
            requests = {name: r for name, r in requests.items() if name != self.victim}
        replies = dict(super().ask(requests, deadline=deadline))
        if lost:
            replies.pop(self.victim, None)
        return replies


def _same(first: Model, second: Model) -> bool:
    pairs = zip(first.conditionals, second.conditionals, strict=True)
    return first.rows == second.rows and all(
        a.family == b.family and np.array_equal(a.probabilities, b.probabilities) for a, b in pairs
    )


def _spent(holder: Holder) -> Fraction:
    return holder.account.spent.epsilon


@pytest.mark.parametrize("heard", [False, True], ids=["before its answer", "after its answer"])
@pytest.mark.parametrize("name", FAST)
def test_an_answer_that_was_lost_once_is_fetched(name: str, heard: bool) -> None:
    """A reply lost on the way is asked for again: the stored one comes, and costs nothing."""
    plan = plan_of(name)
    holders = holders_of(plan.unit)
    channel = Silent(holders, "south", after=1, heard=heard, lasts=1)
    model = learn_together(channel, plan)
    assert {Fraction(1)} == {_spent(holder) for holder in holders.values()}
    assert 600 == model.rows


def test_a_dead_holder_stops_a_run_that_needs_all() -> None:
    """The message names who is missing, at which question, and the way out."""
    plan = plan_of("votes replace laplace")
    channel = Silent(holders_of(plan.unit), "south", after=2, heard=False, lasts=99)
    with pytest.raises(HolderError, match=r"2 of 3 holders .* south did not answer.*resume"):
        learn_together(channel, plan)


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("after", [0, 1])
def test_fewer_holders_where_they_are_enough(name: str, after: int) -> None:
    """The silent one is left out of every sum, and named; the model is of the others' rows."""
    plan = plan_of(name, least=2)
    analyst = Analyst(
        Silent(holders_of(plan.unit), "west", after=after, heard=True, lasts=99), plan
    )
    model = analyst.learn()
    assert 400 == model.rows
    assert {"west"} == set(analyst.report.absent)
    assert ["north", "south"] == list(analyst.promises)
    assert not [c for c in model.statement.charges if c.question.startswith("west")]


def test_who_is_silent_at_the_end_costs_the_whole() -> None:
    """Without a closing the promise is what was agreed, and the model is there all the same."""
    plan = plan_of("parameters replace laplace")
    channel = Silent(holders_of(plan.unit), "west", after=2, heard=False, lasts=99)
    analyst = Analyst(channel, plan)
    analyst.learn()
    west = analyst.promises["west"]
    assert (Fraction(1), False) == (west.bound.epsilon, west.confirmed)


def test_a_late_answer_is_no_answer() -> None:
    """A holder that needs longer than the deadline is absent."""
    plan = plan_of("votes replace laplace", deadline=1e-9)
    with pytest.raises(HolderError, match="0 of 3"):
        learn_together(LocalChannel(holders_of(plan.unit)), plan)


def test_a_restarted_holder_goes_on(tmp_path: Path) -> None:
    """Same folder, same ledger: a run that a restart interrupted ends, and nobody pays twice."""
    plan = plan_of("votes replace laplace")
    holders = holders_of(plan.unit, folder=tmp_path)

    class Restarting(LocalChannel):
        asked = 0

        def ask(self, requests: Mapping[str, bytes], *, deadline: float) -> Mapping[str, bytes]:
            replies = dict(super().ask(requests, deadline=deadline))
            Restarting.asked += 1
            if Restarting.asked == 3:
                self._holders["south"].close()
                again = source_of(random_rows(200, 1))
                self._holders["south"] = holder_of(
                    again, unit=plan.unit, folder=tmp_path, name="south"
                )
                del replies["south"]
            return replies

    learn_together(Restarting(holders), plan)
    account = Ledger(tmp_path / "south.jsonl").account("rows")
    assert (Fraction(1), 1) == (account.spent.epsilon, len(account.runs))


@pytest.mark.parametrize("name", ["votes replace laplace", "votes add-remove gaussian"])
def test_a_holder_that_dies_during_its_answer_pays_twice(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dead between charge and store: restarted, it pays for this answer again, and says so."""
    plan = plan_of(name)
    holders = holders_of(plan.unit, folder=tmp_path)
    keep, kept = FolderStore.keep, []

    def dying(store: FolderStore, run: str, question: str, data: bytes) -> None:
        if store.folder.name == "south" and question != "proposal":
            kept.append(question)
            if len(kept) == 3:
                raise Killed
        keep(store, run, question, data)

    class Mortal(LocalChannel):
        def ask(self, requests: Mapping[str, bytes], *, deadline: float) -> Mapping[str, bytes]:
            try:
                return super().ask(requests, deadline=deadline)
            except Killed:
                self._holders["south"].close()
                rows = source_of(random_rows(200, 1))
                self._holders["south"] = holder_of(
                    rows, unit=plan.unit, folder=tmp_path, name="south"
                )
                return {}

    monkeypatch.setattr(FolderStore, "keep", dying)
    analyst = Analyst(Mortal(holders), plan)
    model = analyst.learn()
    south = Ledger(tmp_path / "south.jsonl").account("rows")
    assert (2, False) == (len(south.runs), any(run["open"] for run in south.runs))
    assert 1 < south.spent.epsilon == analyst.promises["south"].bound.epsilon
    assert Fraction(1) == analyst.promises["north"].bound.epsilon
    assert south.spent.epsilon == model.statement.bound.epsilon
    _check_ledgers(tmp_path, model)


@pytest.mark.slow
def test_a_holder_killed_by_the_system_pays_twice(tmp_path: Path) -> None:
    """A real process, killed between charge and store: the charge is on the disk, no answer is."""
    script = f"""
import os, signal
from pathlib import Path
from support.federated import RUN, ONE, asked, holder_of, plan_of
from support.neighbours import random_rows, source_of
from understudy.federated.messages import MeasureTables, Propose
from understudy.federated.holder.store import FolderStore
keep = FolderStore.keep
def dying(store, run, name, data):
    if name == ONE:
        os.kill(os.getpid(), signal.SIGKILL)
    keep(store, run, name, data)
FolderStore.keep = dying
holder = holder_of(source_of(random_rows(50)), folder=Path({str(tmp_path)!r}))
asked(holder, Propose(terms=plan_of("votes replace laplace").terms()), request="f" * 32)
asked(holder, MeasureTables(share="1/2", tables=(("colour",),), weights=(1,)))
"""
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    ran = subprocess.run([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": paths})
    assert -signal.SIGKILL == ran.returncode
    ledger = Ledger(tmp_path / "north.jsonl")
    assert [1] == [run["charges"] for run in ledger.account("rows").runs]
    with holder_of(source_of(random_rows(50)), folder=tmp_path) as again:
        question = MeasureTables(share="1/2", tables=(("colour",),), weights=(1,))
        assert "tables" == asked(again, question).body.kind
    assert [1, 1] == [run["charges"] for run in ledger.account("rows").runs]
    assert Fraction(3, 2) == ledger.account("rows").spent.epsilon


def test_a_holder_with_another_schema_is_named() -> None:
    """It refuses, and the analyst reads why."""
    plan = plan_of("votes replace laplace")
    other = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
    holders = holders_of(plan.unit)
    holders["west"].schema = other
    with pytest.raises(HolderError, match="west refused: the schema"):
        learn_together(LocalChannel(holders), plan)


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("name", slow_but(QUICK, PLANS))
def test_a_holder_with_hardly_any_rows_takes_part(name: str, rows: int) -> None:
    """No row or one: the run ends well, and nothing is out of order."""
    plan = plan_of(name)
    holders = holders_of(plan.unit) | {
        "west": holder_of(source_of(random_rows(rows)), unit=plan.unit, name="west")
    }
    analyst = Analyst(LocalChannel(holders), plan)
    model = analyst.learn()
    assert [] == analyst.report.findings
    # Noise on three numbers of rows has a scale of 7.5 each; another holder would be 200 rows.
    assert 250 < model.rows < 550


# --- holders that lie --------------------------------------------------------------------------


def _tables(change: Any) -> Any:
    """Alters the counts of every reply that holds tables."""

    def altered(number: int, request: bytes, reply: bytes) -> bytes:
        message = Message.decoded(reply)
        if not isinstance(message.body, Tables):
            return reply
        arrays = tuple(change(array) for array in message.arrays)
        return Message(message.run, message.request, message.body, arrays).encoded()

    return altered


@pytest.mark.parametrize(
    "change",
    [
        lambda array: np.full_like(array, 2**62),
        lambda array: np.full_like(array, -(2**63)),
    ],
    ids=["huge", "negative"],
)
@pytest.mark.parametrize("name", ["statistics replace laplace", "votes add-remove gaussian"])
def test_impossible_counts_are_bounded_and_reported(name: str, change: Any) -> None:
    """Counts that 200 rows and the noise cannot reach are cut to what they can, by name."""
    plan = plan_of(name, most_rows=1000)
    channel = Tampering(LocalChannel(holders_of(plan.unit)), "south", _tables(change))
    analyst = Analyst(channel, plan)
    model = analyst.learn()
    assert any("'south'" in finding and "cut" in finding for finding in analyst.report.findings)
    assert 0 <= model.rows < 10**5


def test_bounded_counts_are_those_that_rows_can_have() -> None:
    """A cell of 2⁶² from a holder of 200 rows counts as 200 and the widest noise."""
    plan = plan_of("parameters replace laplace")
    change = _tables(lambda array: np.full_like(array, 2**62))
    conversation = Conversation(
        Tampering(LocalChannel(holders_of(plan.unit)), "south", change), plan, None
    )
    propose(conversation)
    held = tables(conversation, [("sold",)], Fraction(1), sizes=Sizes(dict.fromkeys(NAMES, 200)))
    [south] = held["south"]
    widest = 200 + 60 * south.variance**0.5 + 2
    assert 200 <= south.counts.min() == south.counts.max() <= widest


GARBAGE = {
    "no message": lambda n, request, reply: b"garbage",
    "its own question": lambda n, request, reply: request,
    "nothing": lambda n, request, reply: b"",
    "other shapes": _tables(lambda array: array[..., :0]),
    "other types": _tables(lambda array: array.astype(float)),
    "fewer arrays": lambda n, request, reply: _bare(reply),
}


def _bare(reply: bytes) -> bytes:
    message = Message.decoded(reply)
    return Message(message.run, message.request, message.body).encoded()


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_is_no_answer(what: str) -> None:
    """It is told from an answer, and its sender is named and left out."""
    plan = plan_of("statistics replace laplace", least=2)
    channel = Tampering(LocalChannel(holders_of(plan.unit)), "south", GARBAGE[what])
    analyst = Analyst(channel, plan)
    assert 400 == analyst.learn().rows
    assert "cannot be" in analyst.report.absent["south"]


def test_a_broken_model_is_no_answer() -> None:
    """Impossible probabilities and families that do not fit are left out by name."""

    def altered(number: int, request: bytes, reply: bytes) -> bytes:
        message = Message.decoded(reply)
        arrays = tuple(array + 0.5 for array in message.arrays)
        return Message(message.run, message.request, message.body, arrays).encoded()

    plan = plan_of("model replace laplace", least=2)
    analyst = Analyst(Tampering(LocalChannel(holders_of(plan.unit)), "south", altered), plan)
    assert 400 == analyst.learn().rows
    assert {"south"} == set(analyst.report.absent)


def test_a_replayed_reply_is_no_answer() -> None:
    """An old reply of the same holder does not answer a new question."""
    kept: list[bytes] = []

    def again(number: int, request: bytes, reply: bytes) -> bytes:
        kept.append(reply)
        return kept[0]

    plan = plan_of("votes replace laplace", least=2)
    analyst = Analyst(Tampering(LocalChannel(holders_of(plan.unit)), "west", again), plan)
    analyst.learn()
    assert "another question" in analyst.report.absent["west"]


def test_a_refusal_is_not_asked_again() -> None:
    """A holder that says no has said no; its reason is passed on."""
    numbers = []

    def refuse(number: int, request: bytes, reply: bytes) -> bytes:
        numbers.append(number)
        message = Message.decoded(reply)
        body = Refused(because="consent", reason="not on a Sunday")
        return Message(message.run, message.request, body).encoded()

    plan = plan_of("votes replace laplace", attempts=5)
    channel = Tampering(LocalChannel(holders_of(plan.unit)), "west", refuse)
    with pytest.raises(HolderError, match="not on a Sunday"):
        learn_together(channel, plan)
    assert [0] == numbers


# --- analysts that are killed ------------------------------------------------------------------


class Killing(LocalChannel):
    """Kills the analyst at one question, before it is sent or after all have answered."""

    def __init__(self, holders: Mapping[str, Holder], at: int, *, answered: bool) -> None:
        super().__init__(holders)
        self.left, self.answered = at, answered

    def ask(self, requests: Mapping[str, bytes], *, deadline: float) -> Mapping[str, bytes]:
        """The replies, unless this is the question."""
        self.left -= 1
        if self.left < 0 and self.answered:
            super().ask(requests, deadline=deadline)
        if self.left < 0:
            raise Killed
        return super().ask(requests, deadline=deadline)


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize("at", slow_but({0, 3, 6}, range(7)))
def test_a_killed_analyst_goes_on(at: int, answered: bool, tmp_path: Path) -> None:
    """Wherever it was killed: resumed, the run ends, and every holder has spent its budget once."""
    plan = plan_of("votes replace laplace")
    holders, journal = holders_of(plan.unit, folder=tmp_path), tmp_path / "journal"
    with pytest.raises(Killed):
        learn_together(Killing(holders, at, answered=answered), plan, journal)
    channel = Recording(LocalChannel(holders))
    model = learn_together(channel, plan, journal)
    assert {Fraction(1)} == {_spent(holder) for holder in holders.values()}
    assert {1} == {len(holder.account.runs) for holder in holders.values()}
    assert 7 - at == len(channel.exchanges["north"])
    _check_ledgers(tmp_path, model)


def test_a_finished_run_can_be_read_again(tmp_path: Path) -> None:
    """From its journal alone: nobody is asked, and the model is the same."""
    plan = plan_of("statistics replace gaussian")
    first = learn_together(LocalChannel(holders_of(plan.unit)), plan, tmp_path / "journal")

    class Nobody(LocalChannel):
        def ask(self, requests: Mapping[str, bytes], *, deadline: float) -> Mapping[str, bytes]:
            raise AssertionError("somebody was asked")

    again = learn_together(Nobody(holders_of(plan.unit)), plan, tmp_path / "journal")
    assert _same(first, again)


def test_who_was_left_out_stays_out(tmp_path: Path) -> None:
    """A resumed run continues without a holder that was dropped, even if it is back."""
    plan = plan_of("votes replace laplace", least=2)
    holders, journal = holders_of(plan.unit), tmp_path / "journal"

    class Both(Silent):
        def ask(self, requests: Mapping[str, bytes], *, deadline: float) -> Mapping[str, bytes]:
            if self.count > 3 and "west" not in requests:
                raise Killed
            return super().ask(requests, deadline=deadline)

    with pytest.raises(Killed):
        learn_together(Both(holders, "west", after=2, heard=True, lasts=99), plan, journal)
    analyst = Analyst(LocalChannel(holders), plan, journal)
    assert 400 == analyst.learn().rows
    assert {"west"} == set(analyst.report.absent)


def test_a_journal_cut_short_loses_its_last_record_alone(tmp_path: Path) -> None:
    """A torn record is as if it had never been written."""
    plan, journal = plan_of("parameters replace laplace"), tmp_path / "journal"
    holders = holders_of(plan.unit)
    learn_together(LocalChannel(holders), plan, journal)
    journal.write_bytes(journal.read_bytes()[:-5])
    learn_together(LocalChannel(holders), plan, journal)
    assert {Fraction(1)} == {_spent(holder) for holder in holders.values()}


def test_a_journal_of_another_run_is_refused(tmp_path: Path) -> None:
    """Another plan, or other holders, is another run."""
    plan, journal = plan_of("parameters replace laplace"), tmp_path / "journal"
    holders = holders_of(plan.unit)
    learn_together(LocalChannel(holders), plan, journal)
    with pytest.raises(UsageError, match="another run"):
        learn_together(LocalChannel(holders), plan_of("votes replace laplace"), journal)
    with pytest.raises(UsageError, match="another run"):
        learn_together(LocalChannel({"north": holders["north"]}), plan, journal)
    (tmp_path / "letter").write_text("Dear holder")
    with pytest.raises(DataError, match="not a journal"):
        learn_together(LocalChannel(holders), plan, tmp_path / "letter")


# --- ledgers -----------------------------------------------------------------------------------


def _check_ledgers(folder: Path, model: Model) -> None:
    """Every holder's ledger names exactly the answers that the model's statement names."""
    for name in NAMES:
        lines = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        written = [line["question"] for line in lines if line["entry"] == "charge"]
        stated = [c.question for c in model.statement.charges]
        assert sorted(f"{name}: {question}" for question in written) == sorted(
            question for question in stated if question.startswith(f"{name}: ")
        )


@pytest.mark.parametrize("name", slow_but(QUICK, PLANS))
def test_ledgers_say_what_left(name: str, tmp_path: Path) -> None:
    """In every protocol and world: charges in the ledger, in the statement and in replies agree."""
    plan: Collaboration = plan_of(name)
    channel = Recording(LocalChannel(holders_of(plan.unit, folder=tmp_path)))
    model = learn_together(channel, plan)
    _check_ledgers(tmp_path, model)
    for holder in NAMES:
        account = Ledger(tmp_path / f"{holder}.jsonl").account("rows")
        assert plan.budget.amount == account.spent.epsilon
        assert plan.budget.delta == account.spent.delta
        answers = [
            reply
            for request, reply in channel.exchanges[holder]
            if Message.decoded(request).body.kind not in ("propose", "close")
        ]
        assert plan.questions >= len(answers)
