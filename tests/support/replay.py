"""Record a fit on one table and replay it on a neighbour."""

from __future__ import annotations

from understudy.methods import Synthesizer
from understudy.models.model import Model
from understudy.models.tables import table_members
from understudy.privacy.curator import Instruments
from understudy.privacy.replay import LeakFound, Recorder, Replay
from understudy.rows.counting import CountSource


def record(synthesizer: Synthesizer, source: CountSource) -> tuple[Recorder, Model]:
    """A recorded fit; what it released must be exactly what it was charged for."""
    tape = Recorder()
    fitted = synthesizer.with_instruments(Instruments(tape=tape)).fit(
        tape.guard(source), ledger=None
    )
    tape.check_paid(fitted.model_.statement.charges)
    return tape, fitted.model_


def replay(synthesizer: Synthesizer, tape: Recorder, neighbour: CountSource) -> Model:
    """The same fit on a neighbour with the released answers frozen; raises where it strays."""
    again = Replay(tape.exchanges)
    fitted = synthesizer.with_instruments(Instruments(tape=again)).fit(
        again.guard(neighbour), ledger=None
    )
    again.check_finished()
    return fitted.model_


def check_same(first: Model, second: Model) -> None:
    """With all answers equal, everything that leaves must be equal."""
    if leaving(first) != leaving(second):
        raise LeakFound("the models differ although every answer was the same")


def leaving(model: Model) -> dict[str, object]:
    """Everything that leaves with a model, in values that compare to the last bit."""
    return {
        "rows": model.rows,
        "statement": model.statement,
        "distribution": model.distribution.members(),
        "tables": table_members(model.tables),
    }


def audit(synthesizer: Synthesizer, source: CountSource, neighbour: CountSource) -> None:
    """Record on one table, replay on the other, compare what leaves."""
    tape, model = record(synthesizer, source)
    check_same(model, replay(synthesizer, tape, neighbour))
