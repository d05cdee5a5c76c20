"""What `stream` does, asked without a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.progress import RecordedProgress
from understudy.errors import BudgetExceeded, UsageError
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.stream_design import StreamRequest
from understudy.jobs.stream_events import EventRequest
from understudy.jobs.stream_planning import StreamPlanRequest, plan_stream
from understudy.jobs.streams import DensityRequest, announce_intrusion, density


def _request(folder: Path, **more: Any) -> DensityRequest:
    ids = folder / "ids.txt"
    ids.write_text("".join(f"{number}\n" for number in range(500)))
    return DensityRequest(
        source=EventRequest(str(ids)),
        terms=StreamRequest(epsilon="2", universe=1000),
        payer=LedgerRequest(ledger=folder / "ledger.jsonl"),
        **more,
    )


def test_a_stream_is_counted(folder: Path) -> None:
    """One answer at the end, within eight standard errors, and the cost is in the ledger."""
    progress = RecordedProgress()
    asked = _request(folder)
    [answer] = density(asked, progress=progress)
    document = answer.document()
    assert abs(document["density"] - 0.5) < 8 * document["standard_error"]
    assert progress.shown[0].startswith("optimal Bernoulli over 1,000 of 1,000 users")
    assert answer.sentence.startswith("density ")
    assert 4.0 == float(asked.payer.opened().account("ids").spent.epsilon)


def test_a_state_outlives_a_run(folder: Path) -> None:
    """It takes events in without an answer, and gives the declared one later, and no more."""
    state = folder / "visits.state"
    assert [] == list(density(_request(folder, state=state, no_answer=True)))
    assert 1 == len(list(density(_request(folder, state=state))))
    with pytest.raises(BudgetExceeded, match="have been given"):
        list(density(_request(folder, state=state)))


def test_an_intrusion_begins_an_epoch(folder: Path) -> None:
    """The new state is paid for."""
    state = folder / "visits.state"
    list(density(_request(folder, state=state, no_answer=True)))
    payer = LedgerRequest(ledger=folder / "ledger.jsonl")
    epoch = announce_intrusion(state, users=None, payer=payer)
    assert 2 == epoch.number
    assert 4.0 == float(payer.opened().account("visits").spent.epsilon)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        (StreamRequest(universe=5), "epsilon has no default"),
        (StreamRequest(epsilon="1"), "say in one way who could appear"),
        (StreamRequest(epsilon="1", universe=5, vertices=5), "say in one way who could appear"),
    ],
)
def test_terms_that_mean_nothing_are_refused(
    folder: Path, terms: StreamRequest, words: str
) -> None:
    """Nothing is read or paid for."""
    ids = folder / "ids.txt"
    ids.write_text("1\n")
    with pytest.raises(UsageError, match=words):
        list(density(DensityRequest(source=EventRequest(str(ids)), terms=terms)))
    assert not (folder / "ledger.jsonl").exists()


def test_a_stream_is_planned(folder: Path) -> None:
    """More users in the sample give a smaller error."""
    few, many = (
        plan_stream(StreamPlanRequest(epsilon="1", sample=sample)) for sample in (1_000, 100_000)
    )
    assert few["standard_error"] > many["standard_error"]
    with pytest.raises(UsageError, match="declare at least 1"):
        plan_stream(StreamPlanRequest(epsilon="1", answers=0))
