"""The part of `evaluate` that pays: distances under differential privacy, which may be released."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.reading import PersonRequest
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from understudy.evaluation.report import Release, Subject
    from understudy.facts.unit import Unit
    from understudy.jobs.evaluation import EvaluationRequest
    from understudy.jobs.progress import JobProgress
    from understudy.privacy.statements.statement import Statement


@dataclass(frozen=True)
class ReleaseRequest(JobRequest):
    """Budget of the distances that are released, whom they protect, and who pays.

    Attributes:
        release_epsilon: the privacy loss allowed; None asks for the owner's page instead.
        delta: the probability allowed for a larger loss; 0 unless given.
        neighbours: add-remove or replace; those of the synthetic rows unless given.
        people: who has several rows.
        already_released: the synthetic rows may be released although no statement says so.
        payer: the ledger and the name of the data in it.
        markdown: a data sheet, an .md file, to write beside the page; it may be released too.
        force: overwrite a page that a budget was spent on.
    """

    release_epsilon: str | None = None
    delta: str | None = None
    neighbours: str | None = None
    people: PersonRequest = field(default_factory=PersonRequest)
    already_released: bool = False
    payer: LedgerRequest = field(default_factory=LedgerRequest)
    markdown: Path | None = None
    force: bool = False

    def unit(self, statement: Statement | None) -> Unit:
        """Return whom the distances protect: by default whom the synthetic rows do."""
        from understudy.facts.unit import Neighbours, Unit

        own = None if statement is None else statement.unit
        persons = self.people.persons
        most = persons.most if persons else None
        if own is not None and own.rows_per_person not in (None, most):
            raise UsageError(
                f"the synthetic rows promise something to a {own.label}; give --person-id and "
                f"--rows-per-person {own.rows} to promise the same here"
            )
        relation = self.neighbours or (own.neighbours if own else Neighbours.ADD_REMOVE)
        return Unit(Neighbours.parse(relation), most)


def release(request: EvaluationRequest, subject: Subject, progress: JobProgress) -> Release:
    """Compute distances under differential privacy, paid for from a ledger.

    Privacy: spends `release_epsilon` on the real rows; the distances may be released.
    """
    from understudy.privacy.spending.fingerprints import Sighting
    from understudy.rows.sources import Access, dataset_name

    paid = request.release
    _check_releasable(subject, already_released=paid.already_released)
    name = paid.payer.dataset or dataset_name(request.real, Access(table=request.table))
    paid.payer.warn_of_copies(name, Sighting(request.real))
    with progress.spinner("reading and counting"):
        return _released(request, subject, name)


def standing(request: EvaluationRequest) -> tuple[str, ...]:
    """Say what is spent on the real rows so far, and what is left."""
    from understudy.rows.sources import Access, dataset_name

    payer = request.release.payer
    known = dataset_name(request.real, Access(table=request.table))
    return payer.standing(payer.dataset or known)


def _check_releasable(subject: Subject, *, already_released: bool) -> None:
    """Refuse to publish anything about synthetic rows that promise nothing.

    Distances depend on the private rows through the synthetic ones too.
    """
    statement = subject.statement
    if already_released or (statement is not None and statement.document()["private"]):
        return
    found = "they came without a statement" if statement is None else "their statement says so"
    if subject.foreign:
        found = "the statement beside them is about another file"
    raise UsageError(
        f"{subject.synthetic}: nothing is promised about these rows ({found}), so nothing about "
        "them can be; make them with `understudy synth`, give their --model, or say "
        "--already-released if they may be released"
    )


def _released(request: EvaluationRequest, subject: Subject, dataset: str) -> Release:
    from understudy.evaluation.released.summary import Summarizer
    from understudy.evaluation.released.yardsticks import yardsticks
    from understudy.evaluation.report import Release
    from understudy.evaluation.sheets import check_columns, load
    from understudy.facts.schema import Schema
    from understudy.rows.sources import Access, open_source

    paid, schema = request.release, Schema.load(request.schema)
    given = request.spelling.file_format
    summarizer = Summarizer(
        schema,
        paid.release_epsilon or "0",
        paid.delta or "0",
        unit=paid.unit(subject.statement),
        person_id=paid.people.person_id,
    )
    if request.table is None:
        check_columns(request.real, schema, side="real", given=given)
    check_columns(request.synthetic, schema, side="synthetic")
    sheet = load(request.synthetic, schema, side="synthetic", seed=request.seed)
    held = yardsticks(schema, sheet, seed=request.seed)
    private = Access(
        ignore_extra=True, format=given, persons=paid.people.persons, table=request.table
    )
    with (
        open_source(request.synthetic, schema, Access(ignore_extra=True)) as synthetic,
        open_source(request.real, schema, private) as real,
    ):
        ledger = paid.payer.opened()
        found = summarizer.run(real, synthetic, dataset=dataset, ledger=ledger)
    return Release(found, subject, held)
