"""Record an inference on one table and replay it on a neighbour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from understudy.facts.schema import Schema
from understudy.methods.discover import Discovery, Inferred, Skeleton
from understudy.methods.discover.discovery import Opening
from understudy.privacy.budget import Amount
from understudy.privacy.curator import Instruments
from understudy.privacy.replay import LeakFound, Recorder, Replay
from understudy.rows.counting import KeySource
from understudy.rows.sources import open_keyed
from understudy.testing import SeededNoise

Rows = Sequence[tuple[Any, ...]]


def seeded_schema(
    data: Any, skeleton: Skeleton, *, epsilon: Amount, delta: Amount = 0, seed: int = 1
) -> Inferred:
    """As `infer_schema`, with noise that is always the same.

    Once in a thousand columns a range is far too wide, by design; what is said of ranges in tests
    is said of the others.
    """
    instruments = Instruments(noise=SeededNoise(seed))
    discovery = Discovery(skeleton, epsilon, delta, instruments=instruments)
    return discovery.run(
        lambda schema, columns: open_keyed(data, schema, columns), dataset="table", ledger=None
    )


def opening(names: Sequence[str], rows: Rows, tape: Recorder | Replay | None = None) -> Opening:
    """Opens rows held in memory, behind the gate of a tape if there is one."""
    data = {name: [row[i] for row in rows] for i, name in enumerate(names)}

    @contextmanager
    def opened(schema: Schema, columns: Sequence[str]) -> Iterator[KeySource]:
        with open_keyed(data, schema, columns) as source:
            yield source if tape is None else cast("KeySource", tape.guard(source))

    return opened


def audit(discovery: Discovery, names: Sequence[str], rows: Rows, neighbour: Rows) -> None:
    """Record on one table, replay on the other, compare what leaves."""
    tape = Recorder()
    first = _run(discovery, tape, opening(names, rows, tape))
    tape.check_paid(first.statement.charges)
    again = Replay(tape.exchanges)
    second = _run(discovery, again, opening(names, neighbour, again))
    again.check_finished()
    if first != second:
        raise LeakFound("the schemas differ although every answer was the same")


def _run(discovery: Discovery, tape: Recorder | Replay, opened: Opening) -> Inferred:
    return replace(discovery, instruments=Instruments(tape=tape)).run(
        opened, dataset="table", ledger=None
    )
