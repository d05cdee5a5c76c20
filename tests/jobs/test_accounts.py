"""What `ledger` does, asked without a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import BudgetExceeded, UsageError
from understudy.jobs.accounts import LimitRequest, read_ledger, set_limit
from understudy.jobs.learning import LearningRequest, fit


def test_a_limit_is_kept(folder: Path, request_at_one: LearningRequest) -> None:
    """A run within it is counted, and one beyond it is refused."""
    ledger = folder / "ledger.jsonl"
    set_limit(LimitRequest(dataset="people", epsilon="1.5", ledger=ledger))
    fit(request_at_one, folder / "one.zip")
    with pytest.raises(BudgetExceeded):
        fit(request_at_one, folder / "two.zip")
    [account] = read_ledger(ledger).accounts
    assert 1 == len(account.runs)
    [document] = read_ledger(ledger, "people").document()["datasets"]
    assert (1.5, 1.0) == (document["limit"]["epsilon"], document["spent"]["epsilon"])


def test_a_limit_knows_the_one_before(folder: Path) -> None:
    """A changed rule matters only once there are runs."""
    ledger = folder / "ledger.jsonl"
    first = LimitRequest(dataset="people", epsilon="1", ledger=ledger)
    assert set_limit(first).before is None
    again = LimitRequest(dataset="people", epsilon="2", delta="1e-6", ledger=ledger)
    result = set_limit(again)
    assert result.before == first.limit
    assert not result.rule_changed


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"accounting": "zcpd"}, "did you mean 'zcdp'"),
        ({"unit": "person"}, "needs --person-id"),
        ({"neighbours": "next"}, "use row or person or image or user under"),
        ({"basic_epsilon": "0.5"}, "give a --delta"),
    ],
)
def test_a_limit_that_means_nothing_is_refused(
    folder: Path, changes: dict[str, str], words: str
) -> None:
    """The ledger is not touched."""
    ledger = folder / "ledger.jsonl"
    with pytest.raises(UsageError, match=words):
        set_limit(LimitRequest(dataset="people", epsilon="1", ledger=ledger, **changes))
    assert not ledger.exists()
