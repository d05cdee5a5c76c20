"""Job of `schema init --epsilon`: learn the kinds of a file's columns, and pay for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.progress import SILENT, ReadingProgress
from understudy.jobs.reading import STANDARD_INPUT, PersonRequest
from understudy.jobs.request import JobRequest
from understudy.jobs.schemas import SkeletonRequest, check_absent, draft_of, draft_text

if TYPE_CHECKING:
    from understudy.facts.formats import Draft, DraftColumn
    from understudy.jobs.progress import JobProgress
    from understudy.methods.discover import LearnedKinds
    from understudy.rows.sources import Access


@dataclass(frozen=True)
class KindRequest(JobRequest):
    """The budget for learning the kinds of columns, whom it protects, and who pays.

    Attributes:
        epsilon: the privacy loss allowed; None learns nothing.
        delta: the probability allowed for a larger loss; with one, many columns cost less.
        neighbours: add-remove, which implies both, or replace.
        people: who has several rows.
        payer: the ledger and the name of the data in it.
    """

    epsilon: str | None = None
    delta: str = "0"
    neighbours: str = "add-remove"
    people: PersonRequest = field(default_factory=PersonRequest)
    payer: LedgerRequest = field(default_factory=LedgerRequest)

    def check_unused(self) -> None:
        """Refuse options of a paid job where nothing is paid for."""
        own, plain = asdict(self), asdict(KindRequest())
        if own != plain:
            raise UsageError(
                "epsilon is not given; the other options about privacy are for learning kinds "
                "with budget, as --epsilon 0.1 --delta 1e-6"
            )


def learn_kinds(
    asked: SkeletonRequest,
    request: KindRequest,
    *,
    output: Path | None = None,
    book: Draft | None = None,
    progress: JobProgress = SILENT,
) -> LearnedKinds:
    """Learn the kinds of a file's columns, and write the skeleton where a place is given.

    Columns that a code book describes are not asked about.

    Privacy: spends the budget of the request from its ledger; the skeleton may be released.
    """
    from understudy.jobs.output import write_or_keep
    from understudy.rows.sources import Access

    if request.epsilon is None:
        raise UsageError("epsilon is not given; learning kinds has a cost, as --epsilon 0.1")
    if output is not None:
        _check_place(output)
    access = Access(persons=request.people.persons, ignore_extra=True)
    learned = kinds_from(asked, request, access=access, book=book, progress=progress)
    if output is not None:
        write_or_keep(draft_text(learned.draft, output).encode(), output, what="skeleton")
    return learned


def standing_after(asked: SkeletonRequest, request: KindRequest) -> tuple[str, ...]:
    """Say what is spent on the data so far, and what is left."""
    from understudy.rows.sources import Access, dataset_name

    named = request.payer.dataset or dataset_name(asked.data, Access(table=asked.table))
    return request.payer.standing(named)


def kinds_from(
    asked: SkeletonRequest,
    request: KindRequest,
    *,
    access: Access,
    progress: JobProgress,
    book: Draft | None = None,
) -> LearnedKinds:
    """Learn the kinds that a file does not declare itself.

    Privacy: spends the budget of the request from its ledger; the skeleton may be released.
    """
    from understudy.methods.discover import infer_kinds
    from understudy.rows.sources import dataset_name

    header, data = draft_of(check_file(asked)).draft, asked.data
    access = replace(access, format=header.format)
    known = {} if book is None else {n: c for n, c in book.columns.items() if c.kind}
    with progress.spinner("reading and counting") as show:
        learned = infer_kinds(
            data,
            list(header.columns),
            epsilon=request.epsilon or "0",
            delta=request.delta,
            neighbours=request.neighbours,
            declared={
                **declared_kinds(data, header.columns),
                **{name: column for name, column in known.items() if name in header.columns},
            },
            ledger=request.payer.opened(),
            dataset=request.payer.dataset or dataset_name(data, access),
            access=replace(access, watch=ReadingProgress(show)),
        )
    return replace(learned, draft=replace(learned.draft, format=header.format))


def check_file(asked: SkeletonRequest) -> SkeletonRequest:
    """Refuse data whose kinds cannot be learned: databases, pipes, and what first rows propose."""
    from understudy.rows.engines.databases.connections import is_database

    if is_database(asked.data) or asked.data == STANDARD_INPUT:
        raise UsageError(f"data {asked.data!r}: kinds and schemas are learned only from files")
    if asked.look or asked.types:
        option = "--look" if asked.look else "--types"
        raise UsageError(f"{option} proposes what is not paid for; leave it out, or --epsilon")
    return asked


def declared_kinds(data: str, columns: Mapping[str, DraftColumn]) -> dict[str, DraftColumn]:
    """The columns whose kind the file or lake itself declares; a CSV file declares none."""
    from understudy.rows.reading import is_parquet
    from understudy.rows.reading.lakes import is_lake

    return dict(columns) if is_lake(data) or is_parquet(Path(data)) else {}


def _check_place(output: Path) -> None:
    """Refuse a place in which the skeleton could not be written once it is paid for."""
    from understudy.system.files.writing import check_writable

    check_absent(output)
    check_writable(output)
