"""The part of `understudy evaluate` that pays: distances which may leave."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.cli.console import spinner
from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.codec.persons import Persons
    from understudy.privacy.ledger import Ledger
    from understudy.privacy.statement import Statement
    from understudy.privacy.unit import Unit
    from understudy.report import Release, Subject


@dataclass(frozen=True)
class Request:
    """What the command line asks to be released."""

    real: Path
    synthetic: Path
    schema: Path
    epsilon: str
    delta: str
    neighbours: str | None
    persons: Persons | None
    encoding: str
    seed: int

    def unit(self, statement: Statement | None) -> Unit:
        """Whom the promise protects: whom the synthetic rows' does, unless told otherwise."""
        from understudy.privacy.unit import Neighbours, Unit

        own = None if statement is None else statement.unit
        most = self.persons.most if self.persons else None
        if own is not None and own.rows_per_person not in (None, most):
            raise UsageError(
                f"the synthetic rows promise something to a {own.label}; give --person-id and "
                f"--rows-per-person {own.rows} to promise the same here"
            )
        relation = self.neighbours or (own.neighbours if own else Neighbours.ADD_REMOVE)
        try:
            return Unit(Neighbours(relation), most)
        except ValueError:
            choices = " or ".join(Neighbours)
            raise UsageError(f"neighbours is {self.neighbours!r}; use {choices}") from None


def check_releasable(subject: Subject, *, already_released: bool) -> None:
    """Refuse to speak in public about synthetic rows of which nothing is promised.

    Distances depend on the private rows through the synthetic ones too.
    """
    statement = subject.statement
    if already_released or (statement is not None and statement.document()["private"]):
        return
    found = "no statement came with them" if statement is None else "their statement says so"
    if subject.foreign:
        found = "the statement beside them speaks of another file"
    raise UsageError(
        f"{subject.synthetic}: nothing is promised about these rows ({found}), so nothing about "
        "them can be; make them with `understudy synth`, give their --model, or say "
        "--already-released if they may leave"
    )


def released(request: Request, subject: Subject, *, dataset: str, ledger: Ledger) -> Release:
    """Distances under differential privacy, paid for from a ledger."""
    from understudy.evaluate.sheets import check_columns, load
    from understudy.evaluate.summary import Summarizer
    from understudy.evaluate.yardsticks import yardsticks
    from understudy.report import Release
    from understudy.schema import Schema
    from understudy.sources import Access, open_source

    schema = Schema.load(request.schema)
    unit = request.unit(subject.statement)
    named = request.persons.column if request.persons else None
    summarizer = Summarizer(schema, request.epsilon, request.delta, unit, named)
    check_columns(request.real, schema, side="real", encoding=request.encoding)
    check_columns(request.synthetic, schema, side="synthetic")
    with spinner("reading and counting"):
        sheet = load(request.synthetic, schema, side="synthetic", seed=request.seed)
        held = yardsticks(schema, sheet, seed=request.seed)
        private = Access(True, request.encoding, persons=request.persons)
        with (
            open_source(request.synthetic, schema, Access(ignore_extra=True)) as synthetic,
            open_source(request.real, schema, private) as real,
        ):
            summary = summarizer.run(real, synthetic, dataset=dataset, ledger=ledger)
    return Release(summary, subject, held)
