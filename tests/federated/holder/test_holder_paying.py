"""Which grant pays for a holder's question: small facts about the ledger's side of runs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from understudy.facts.unit import Neighbours, Unit
from understudy.federated.holder.paying import RunGrants, limit_spending
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.budget import Budget
from understudy.privacy.spending.limits import Spent
from understudy.privacy.spending.scratch import ScratchLedger

ROWS = Adjacency.of(Unit(Neighbours.ADD_REMOVE), None)


def _grants(store: str) -> RunGrants:
    return RunGrants(ScratchLedger(), "patients", ROWS, schema="s", store=store)


def test_identities_are_those_of_a_proposal_and_a_store() -> None:
    """The same parts name the same grant, and nobody with another store can name it."""
    one = _grants("north")
    assert one.identity("run", b"request") == one.identity("run", b"request")
    assert one.identity("run") != one.identity("other")
    assert one.identity("run") != _grants("south").identity("run")
    assert not one.is_open(one.identity("run"))


@pytest.mark.parametrize(("first", "second"), [("1", "2"), ("2", "1")])
def test_the_stricter_of_two_limits_stays(first: str, second: str) -> None:
    """A larger limit never takes the place of a smaller one."""
    ledger = ScratchLedger()
    for amount in (first, second):
        limit_spending(ledger, "patients", Budget.pure(Fraction(amount)), ROWS)
    limit = ledger.account("patients").limit
    assert limit is not None
    assert Spent(Fraction(1), Fraction(0)) == limit.total
