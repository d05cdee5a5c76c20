"""Long runs in the ledger: a step is reported once, by one process, and resumed from once."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from understudy.errors import BudgetExceeded, LedgerError, UsageError
from understudy.privacy.accounting.events import Charge, LaplaceEvent
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.list_pricing import QuestionsThenList
from understudy.privacy.spending.steps import NO_CHECKPOINT, Told, hold_path
from understudy.privacy.spending.stores.chain import checksum

BUDGET = Budget.approximate(1, Fraction(1, 10**6))
LIST = [Charge("step", LaplaceEvent(Fraction(10), Fraction(1)))] * 10
FIRST, SECOND, THIRD = "1" * 64, "2" * 64, "3" * 64


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """An empty one."""
    return Ledger(tmp_path / "ledger.jsonl")


def _killed(ledger: Ledger, step: int = 3) -> Told:
    """A run that reported a step and was then killed."""
    with ledger.grant("rows", BUDGET, pricing=QuestionsThenList()) as grant:
        grant.commit(LIST)
        grant.charge(LIST[:step])
        ledger.tell(grant, step, FIRST)
    return Told(grant.identity, step, FIRST)


def _gone_on(
    ledger: Ledger, told: Told, drawn: int, then: Callable[[Grant], None] | None = None
) -> None:
    """A process that resumes a run and draws some steps."""
    with ledger.grant("rows", BUDGET, pricing=QuestionsThenList(), resume=told) as grant:
        grant.restore([], LIST, done=told.step)
        grant.charge(LIST[:drawn])
        if then is not None:
            then(grant)


def test_a_step_that_was_told_is_not_drawn_again(ledger: Ledger) -> None:
    """An older checkpoint is refused once a later step was reported; the latest one resumes."""
    old = _killed(ledger)
    _gone_on(ledger, old, 6, then=lambda grant: ledger.tell(grant, 9, SECOND))
    text = ledger.path.read_bytes()
    with pytest.raises(LedgerError, match=r"knows step 9 of this run.* of step 3.* continue from"):
        _gone_on(ledger, old, 7)
    assert text == ledger.path.read_bytes()
    _gone_on(ledger, Told(old.grant, 9, SECOND), 1)
    [run] = ledger.account("rows").runs
    assert (False, 9, 10) == (run["open"], run["step"], run["charges"])


def test_what_was_not_told_is_drawn_again(ledger: Ledger) -> None:
    """Killed before its next checkpoint, a run resumes from the same one as often as it takes."""
    old = _killed(ledger)
    for _ in range(3):
        _gone_on(ledger, old, 5)
    _gone_on(ledger, old, 7)
    assert ledger.account("rows").spent.epsilon <= 1


@pytest.mark.parametrize("told", [(3, SECOND), (2, FIRST), (4, FIRST)])
def test_another_checkpoint_is_refused(ledger: Ledger, told: tuple[int, str]) -> None:
    """Whichever of step and content differs."""
    old = _killed(ledger)
    with pytest.raises(LedgerError, match="older or another one"):
        _gone_on(ledger, Told(old.grant, *told), 1)


def test_a_finished_run_does_not_go_on(ledger: Ledger) -> None:
    """It is refused by name, nothing is written and nothing is held."""
    old = _killed(ledger)
    _gone_on(ledger, old, 7)
    text = ledger.path.read_bytes()
    with pytest.raises(
        LedgerError, match="is finished, and cannot continue; remove the checkpoint"
    ):
        _gone_on(ledger, old, 7)
    assert text == ledger.path.read_bytes()
    assert [ledger.path] == [*ledger.path.parent.iterdir()]


def test_a_run_without_steps_does_not_go_on(ledger: Ledger) -> None:
    """As version 0.1.0 wrote it: nobody knows which of its steps were reported."""
    with ledger.grant("rows", BUDGET, pricing=QuestionsThenList()) as grant:
        grant.commit(LIST)
    with pytest.raises(LedgerError, match=r"knows no step .*0\.1\.0.* start again without"):
        _gone_on(ledger, Told(grant.identity, 3, FIRST), 1)


@pytest.mark.parametrize("resumed", [False, True])
def test_a_run_is_held_by_one_process(ledger: Ledger, resumed: bool) -> None:
    """While it lives, another that would resume from the same checkpoint is refused at once."""

    def beside(told: Told) -> None:
        for other in (ledger, Ledger(ledger.path)):
            with pytest.raises(LedgerError, match="another process has this run"):
                _gone_on(other, told, 1)

    old = _killed(ledger)
    if resumed:
        _gone_on(ledger, old, 7, then=lambda _: beside(old))
    else:
        with ledger.grant("rows", BUDGET, pricing=QuestionsThenList()) as grant:
            grant.commit(LIST)
            ledger.tell(grant, 1, SECOND)
            beside(Told(grant.identity, 1, SECOND))
            grant.charge(LIST)
    assert [ledger.path] == [*ledger.path.parent.iterdir()]


@pytest.mark.parametrize("end", ["tell", "close"])
def test_who_was_taken_over_tells_nothing_more(ledger: Ledger, end: str) -> None:
    """Where locks do not reach, as on another machine, only the last to resume has the run."""
    old, other = _killed(ledger), Ledger(ledger.path)

    def overtaken(grant: Grant) -> None:
        hold_path(ledger.path, old.grant).unlink()
        _gone_on(other, old, 2, then=lambda taken: other.tell(taken, 5, THIRD))
        if end == "tell":
            ledger.tell(grant, 6, SECOND)

    with pytest.raises(LedgerError, match="another process has resumed this run"):
        _gone_on(ledger, old, 3 if end == "tell" else 7, then=overtaken)
    [run] = ledger.account("rows").runs
    assert (True, 5, THIRD) == (run["open"], run["step"], run["checkpoint"])
    _gone_on(ledger, Told(old.grant, 5, THIRD), 5)


def test_each_step_is_told_once(ledger: Ledger) -> None:
    """A second word about it would let an older checkpoint in."""
    with ledger.grant("rows", BUDGET, pricing=QuestionsThenList()) as grant:
        grant.commit(LIST)
        ledger.tell(grant, 4, NO_CHECKPOINT)
        for step in (3, 4):
            with pytest.raises(LedgerError, match=f"step {step} is not above it"):
                ledger.tell(grant, step, SECOND)
    assert ledger.account("rows").runs[0]["step"] == 4


def test_a_grant_is_restored_to_the_step_that_the_ledger_knows(ledger: Ledger) -> None:
    """Neither to another step, nor twice, nor without having gone on from a checkpoint."""
    old = _killed(ledger)
    with ledger.grant("rows", BUDGET, pricing=QuestionsThenList(), resume=old) as grant:
        with pytest.raises(UsageError, match="continue after step 3, not 2"):
            grant.restore([], LIST, done=2)
        grant.restore([], LIST, done=3)
        with pytest.raises(UsageError, match="restored once"):
            grant.restore([], LIST, done=3)
        with pytest.raises(BudgetExceeded, match="not announced"):
            grant.charge(LIST[:8])
    with (
        ledger.grant("rows", BUDGET, pricing=QuestionsThenList()) as fresh,
        pytest.raises(UsageError, match="after step None"),
    ):
        fresh.restore([], LIST, done=0)


def test_a_run_taken_over_in_vain_counts_whole(ledger: Ledger) -> None:
    """What stops before the grant is restored does not close it as if nothing had been drawn."""
    old = _killed(ledger)
    with (
        pytest.raises(KeyboardInterrupt),
        ledger.grant("rows", BUDGET, pricing=QuestionsThenList(), resume=old),
    ):
        raise KeyboardInterrupt
    [run] = ledger.account("rows").runs
    assert run["open"]
    assert 1 == ledger.account("rows").spent.epsilon
    _gone_on(ledger, old, 7)


def test_a_checkpoint_is_known_by_its_digest(ledger: Ledger) -> None:
    """The ledger says whose run it is, and whether that run resumes from it."""
    assert ledger.told(FIRST) is None
    old = _killed(ledger)
    assert (old.grant, True) == ledger.told(FIRST)
    assert ledger.told(SECOND) is None
    _gone_on(ledger, old, 2, then=lambda grant: ledger.tell(grant, 5, SECOND))
    assert ((old.grant, False), (old.grant, True)) == (ledger.told(FIRST), ledger.told(SECOND))
    _gone_on(ledger, Told(old.grant, 5, SECOND), 5)
    assert (old.grant, False) == ledger.told(SECOND)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("step", {"step": 0}),
        ("step", {"step": True}),
        ("step", {"step": "4"}),
        ("step", {"step": 3}),
        ("step", {"step": None}),
        ("step", {"checkpoint": "1" * 63}),
        ("step", {"checkpoint": None}),
        ("step", {"checkpoint": "g" * 64}),
        ("step", {"holder": "another"}),
        ("step", {"grant": "unknown"}),
        ("step", {"grant": []}),
        ("resume", {"holder": ""}),
        ("resume", {"holder": 5}),
        ("resume", {"holder": "\ud800" * 32}),
        ("resume", {"step": 2}),
        ("resume", {"checkpoint": SECOND}),
        ("resume", {"grant": "unknown"}),
    ],
)
def test_entries_about_steps_that_lie_are_refused(
    ledger: Ledger, kind: str, change: dict[str, Any]
) -> None:
    """With a right checksum too; as it should be the same entry is read."""
    old = _killed(ledger)
    right = {
        "step": Told(old.grant, 4, SECOND).entry("step", ""),
        "resume": old.entry("resume", "a" * 32),
    }[kind]
    text = ledger.path.read_text()
    ledger.path.write_text(text + _line(text, {**right, **change}))
    with pytest.raises(LedgerError, match="does not say what it must"):
        Ledger(ledger.path).accounts()
    ledger.path.write_text(text + _line(text, right))
    assert ["rows"] == [*Ledger(ledger.path).accounts()]


def test_nothing_is_told_of_a_run_that_is_closed(ledger: Ledger) -> None:
    """Neither a step nor a new holder follows a close."""
    old = _killed(ledger)
    _gone_on(ledger, old, 7)
    text = ledger.path.read_text()
    for entry in (Told(old.grant, 9, SECOND).entry("step", ""), old.entry("resume", "a" * 32)):
        ledger.path.write_text(text + _line(text, entry))
        with pytest.raises(LedgerError, match="does not say what it must"):
            Ledger(ledger.path).accounts()


def _line(text: str, entry: dict[str, Any]) -> str:
    """One more line of a ledger, with the checksum that belongs to it."""
    before = json.loads(text.splitlines()[-1])["check"]
    stamped = {"time": "2026-01-01T00:00:00+00:00", **entry}
    return json.dumps({**stamped, "check": checksum(before, stamped)}) + "\n"
