"""Record and replay: does a run ask the same of neighbouring tables, and within its sensitivities?

A run is recorded on one table: every question, exact answer and release. Replayed on a neighbour,
it gets the recorded releases back, while the exact answers are computed afresh and compared with
the recorded ones, as whole vectors in the mechanism's own norm. A run that is private as claimed
cannot do anything else on the neighbour than it did before; one that reads rows elsewhere, asks
for something unpaid, or understates a sensitivity is caught.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeVar

from understudy.errors import UnderstudyError
from understudy.facts.domain import Attributes, Domain
from understudy.privacy.accounting.events import Charge
from understudy.privacy.mechanisms.mechanism import Mechanism
from understudy.rows.counting import (
    Counts,
    CountSource,
    HasKeys,
    KeyCounts,
    Marginal,
    NumbersRows,
    ScoreKernel,
    Scores,
    fitting_rows,
)

E = TypeVar("E")
R = TypeVar("R")


class LeakFound(UnderstudyError):
    """A run did something on neighbouring tables that its claim does not cover."""


@dataclass(frozen=True, repr=False)
class Exchange:
    """One question with its exact answer and its release. Private."""

    charge: Charge
    exact: Any
    released: Any

    def __repr__(self) -> str:
        return f"Exchange({self.charge.question}; answers private)"


class _Gate:
    """Open only while the Curator looks."""

    def __init__(self) -> None:
        self._open = False

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Rows may be read inside."""
        self._open = True
        try:
            yield
        finally:
            self._open = False

    def guard(self, source: CountSource) -> CountSource:
        """The source, refusing every read at any other time."""
        return _Guarded(source, self)

    def check(self) -> None:
        """Refuse a read that no question was paid for."""
        if not self._open:
            raise LeakFound("the run read rows outside the Curator; ask through its verbs")


@dataclass(frozen=True)
class _Guarded:
    """A source that answers only while the gate is open."""

    _source: CountSource
    _gate: _Gate

    @property
    def domain(self) -> Domain:
        return self._source.domain

    @property
    def rows_read(self) -> int:
        self._gate.check()
        return self._source.rows_read

    @property
    def rows_per_person(self) -> int | None:
        return self._source.rows_per_person

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        self._gate.check()
        return self._source.count(sets)

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        self._gate.check()
        return self._source.score(sets, kernel)

    def number_rows(self, sets: Sequence[Attributes]) -> Counts:
        self._gate.check()
        assert isinstance(self._source, NumbersRows)
        return self._source.number_rows(sets)

    def count_misfits(self) -> int:
        self._gate.check()
        return int(fitting_rows(self._source)[1])

    def keys(self, column: str) -> KeyCounts:
        self._gate.check()
        return self._keyed.keys(column)

    @property
    def _keyed(self) -> HasKeys:
        if not isinstance(self._source, HasKeys):
            raise LeakFound("the run asked for keys of rows that have none to give")
        return self._source


@dataclass
class Recorder(_Gate):
    """A tape that draws answers and remembers them."""

    exchanges: list[Exchange] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def answer(
        self, charge: Charge, mechanism: Mechanism[E, R], exact: E, draw: Callable[[], R]
    ) -> R:
        """Draw afresh, and remember the answer."""
        released = draw()
        self.exchanges.append(Exchange(charge, deepcopy(exact), deepcopy(released)))
        return released

    def check_paid(self, charges: Sequence[Charge]) -> None:
        """Refuse a run whose charges are not exactly its releases, in order."""
        if [exchange.charge for exchange in self.exchanges] != list(charges):
            raise LeakFound("the run released answers that its statement does not name")


class Replay(_Gate):
    """A tape that returns recorded releases and checks what the neighbour would have answered."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        super().__init__()
        self._left = list(exchanges)

    def answer(
        self, charge: Charge, mechanism: Mechanism[E, R], exact: E, draw: Callable[[], R]
    ) -> R:
        """The recorded release, if the question and the exact answer allow it."""
        del draw
        if not self._left:
            raise LeakFound(f"the neighbour was asked more: {charge.question}")
        recorded = self._left.pop(0)
        if recorded.charge != charge:
            raise LeakFound(
                f"the neighbour was asked {charge.question}, not {recorded.charge.question}"
            )
        if not _alike(exact, recorded.exact) or not mechanism.covers(exact - recorded.exact):
            raise LeakFound(f"{charge.question}: answers differ by more than the sensitivity")
        released: R = recorded.released
        return released

    def check_finished(self) -> None:
        """Refuse a run that asked the neighbour less."""
        if self._left:
            raise LeakFound(f"the neighbour was not asked {self._left[0].charge.question}")


def _alike(here: Any, there: Any) -> bool:
    """Whether two exact answers are of one type and, if they are tables, of one shape."""
    return type(here) is type(there) and getattr(here, "shape", ()) == getattr(there, "shape", ())
