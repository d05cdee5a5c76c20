"""Record and replay of each holder's side of each protocol; planted bugs must be caught."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.federated import PLANS, QUICK, Recording, holder_of, plan_of
from support.neighbours import neighbours_of, random_rows, source_of
from support.tiers import in_turns, slow_but
from understudy.facts.protection import Protection
from understudy.federated import Collaboration, Form, LocalChannel, learn_together
from understudy.federated.holder.answering import RequestReader
from understudy.federated.messages import Closed, Message, Tables
from understudy.methods.structure.restrict import Restrictions
from understudy.privacy.accounting.events import Charge
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.replay import LeakFound, Recorder, Replay
from understudy.rows.counting import CountSource, Marginal
from understudy.rows.grouping import GroupedSource

FORMS = {"improved": Form(), "plain": Form.plain()}
# Tables that are chosen in rounds have no plain form.
CASES = [(n, f) for n in PLANS for f in FORMS if f == "improved" or not n.startswith("adaptive")]
Rows = list[tuple[int, ...]]


def _recorded(plan: Collaboration, rows: Rows) -> tuple[Recorder, list[tuple[bytes, bytes]]]:
    """One run of three holders, of which the first is on tape; what it heard and said."""
    tape = Recorder()
    holders = {
        "north": holder_of(
            tape.guard(source_of(rows)), unit=plan.unit, instruments=Instruments(tape=tape)
        ),
        "south": holder_of(source_of(random_rows(80, 1)), unit=plan.unit),
        "west": holder_of(source_of(random_rows(40, 2)), unit=plan.unit),
    }
    channel = Recording(LocalChannel(holders))
    learn_together(channel, plan)
    exchanges = channel.exchanges["north"]
    tape.check_paid(_charged(exchanges[-1][1]))
    return tape, exchanges


def _charged(last: bytes) -> list[Charge]:
    """What the holder's closing says it was charged for."""
    closed = Message.decoded(last).body
    assert isinstance(closed, Closed)
    return [Charge.parse(dict(charge)) for charge in closed.charges]


def _replayed(
    plan: Collaboration,
    tape: Recorder,
    exchanges: list[tuple[bytes, bytes]],
    neighbour: CountSource,
) -> None:
    """The same questions to a holder of neighbouring rows: every byte that leaves is the same."""
    again = Replay(tape.exchanges)
    instruments = Instruments(tape=again)
    holder = holder_of(again.guard(neighbour), unit=plan.unit, instruments=instruments)
    for request, reply in exchanges:
        if holder.handle(request) != reply:
            raise LeakFound("another reply left the holder of the neighbouring rows")
    again.check_finished()


def _audit(plan: Collaboration, rows: Rows) -> None:
    tape, exchanges = _recorded(plan, rows)
    for _, neighbour in neighbours_of(rows, plan.unit.neighbours):
        _replayed(plan, tape, exchanges, source_of(neighbour))


NOW = CASES[1:32:7]


@pytest.mark.parametrize(("name", "form"), slow_but(NOW, CASES))
def test_a_holder_of_neighbouring_rows_says_the_same(name: str, form: str) -> None:
    """Same questions charged, answers within sensitivity, and every reply the same to the byte."""
    _audit(plan_of(name, form=FORMS[form]), random_rows(60))


@pytest.mark.parametrize(("case", "rows"), in_turns(NOW, CASES, [0, 1]))
def test_a_holder_of_a_row_or_none_says_the_same(case: tuple[str, str], rows: int) -> None:
    """Also where there is nothing to count, or one row is all there is."""
    name, form = case
    _audit(plan_of(name, form=FORMS[form]), random_rows(rows))


@pytest.mark.parametrize("ballot", ["choices", "scores"])
def test_both_ballots_are_audited(ballot: str) -> None:
    """Choices under zCDP and scores under pure privacy, which no plan takes by itself."""
    name = "votes replace gaussian" if ballot == "choices" else "votes replace laplace"
    _audit(plan_of(name, ballot=ballot), random_rows(40))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PLANS if name not in QUICK])
def test_tables_in_groups_are_audited(name: str) -> None:
    """With a budget that buys every question of the rounds, replies are the same to the byte."""
    plan = plan_of(name, epsilon=200)
    tape, exchanges = _recorded(plan, random_rows(60))
    kinds = [Message.decoded(request).body.kind for request, _ in exchanges]
    assert "measure groups" in kinds
    for _, neighbour in neighbours_of(random_rows(60), plan.unit.neighbours):
        _replayed(plan, tape, exchanges, source_of(neighbour))


@pytest.mark.slow
def test_groups_that_understate_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that falls into two cells of a table in groups moves it by more than was paid for."""
    count = GroupedSource.count

    def twice(source: GroupedSource, sets: Any) -> list[Marginal]:
        return [Marginal(m.attributes, 2 * m.counts) for m in count(source, sets)]

    monkeypatch.setattr(GroupedSource, "count", twice)
    plan = plan_of("adaptive add-remove gaussian", epsilon=200)
    with pytest.raises(LeakFound):
        _audit(plan, random_rows(60))


@pytest.mark.parametrize("name", slow_but(QUICK, [n for n in PLANS if "parameters" not in n]))
def test_restricted_runs_are_audited(name: str) -> None:
    """What a holder refuses or leaves out under restrictions does not depend on its rows."""
    protection = Protection("colour", {"sold": None})
    rules = Restrictions(forbidden=(("one", "size"),), protection=protection)
    _audit(plan_of(name, restrictions=rules), random_rows(40))


# --- planted bugs: each must make the audit fail ---------------------------------------------


def _leak(rows: int = 60) -> str:
    try:
        _audit(plan_of("votes add-remove laplace"), random_rows(rows))
    except (LeakFound, AssertionError, UnboundLocalError) as found:
        return str(found)
    return ""


def test_an_exact_number_of_rows_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A holder that reveals a private number of rows is caught."""
    free = property(lambda curator: curator._source.count([()])[0].counts.item())
    monkeypatch.setattr(Curator, "public_rows", free)
    with pytest.raises(LeakFound, match="outside the Curator"):
        _audit(plan_of("votes add-remove laplace"), random_rows(60))


def test_a_table_past_the_curator_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A holder that counts by itself and adds no noise: its question fails, and so the run."""
    from understudy.federated.holder import answering

    def bare(curator: Curator, *, asked: Any, sets: Any) -> Any:
        counts = [np.asarray(m.counts) for m in curator._source.count(sets)]
        return Tables(), tuple(counts)

    monkeypatch.setattr(answering, "_measured", bare)
    assert "outside the Curator" in _first_fault(monkeypatch)


def test_a_reply_with_anything_else_in_it_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A holder whose replies depend on its rows beside the answers."""
    prepare = RequestReader.prepare
    calls = iter(range(10**6))

    def chatty(desk: RequestReader, message: Message, restrictions: Restrictions) -> Any:
        answer = prepare(desk, message, restrictions)

        def told(curator: Curator) -> Any:
            body, arrays = answer(curator)
            return body, tuple(a + next(calls) if a.dtype == np.int64 else a for a in arrays)

        return told

    monkeypatch.setattr(RequestReader, "prepare", chatty)
    assert "another reply" in _leak()


def _first_fault(monkeypatch: pytest.MonkeyPatch) -> str:
    """What a holder's own log would say of the first fault."""
    from understudy.federated.holder import refusals as module

    faults: list[str] = []
    monkeypatch.setenv("UNDERSTUDY_TRACEBACK", "1")
    monkeypatch.setattr(module._LOG, "error", lambda *_, exc_info: faults.append(str(exc_info)))
    from understudy.errors import HolderError

    with pytest.raises(HolderError):
        _audit(plan_of("votes add-remove laplace"), random_rows(60))
    return faults[0]


def test_a_holder_keeps_no_rows_in_sight() -> None:
    """Its repr says nothing of them."""
    assert "Holder('north'; row, replace; rows private)" == repr(holder_of(source_of([])))
