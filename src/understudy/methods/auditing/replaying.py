"""A few runs on each case, recorded and replayed on the neighbour: exact, and without any chance.

What an attack finds only with many runs, an answer that moves by more than its sensitivity or a
question that one table alone leads to, shows here at once. Replay takes the noise for granted.
"""

from __future__ import annotations

from understudy.methods import Synthesizer
from understudy.methods.auditing.attack import same_model
from understudy.methods.auditing.tables import Pair
from understudy.models.model import Model
from understudy.privacy.replay import LeakFound, Recorder, Replay
from understudy.rows.counting import CountSource


def leak_between(synthesizer: Synthesizer, pair: Pair) -> str | None:
    """Find what a run does on one table that its claim does not cover on the other, if anything."""
    for one, other in ((pair.present, pair.absent), (pair.absent, pair.present)):
        try:
            _compare(synthesizer, one, other)
        except LeakFound as leak:
            return str(leak)
    return None


def _compare(synthesizer: Synthesizer, one: CountSource, other: CountSource) -> None:
    """Record on one table, replay on the other, compare what leaves."""
    tape = Recorder()
    recorded: Model = synthesizer.with_tape(tape).fit(tape.guard(one), ledger=None).model_
    tape.check_paid(recorded.statement.charges)
    again = Replay(tape.exchanges)
    replayed: Model = synthesizer.with_tape(again).fit(again.guard(other), ledger=None).model_
    again.check_finished()
    if not same_model(recorded, replayed):
        raise LeakFound("the models differ although every answer was the same")
