"""Job of `schema infer`: learn what a skeleton lacks from private rows, and pay for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import OutputError, UsageError
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.output import write_or_keep
from understudy.jobs.progress import SILENT, ReadingProgress, Stopwatch
from understudy.jobs.reading import PersonRequest, ReadingRequest
from understudy.jobs.request import JobRequest
from understudy.jobs.schemas import check_absent

if TYPE_CHECKING:
    from understudy.jobs.progress import JobProgress
    from understudy.methods.discover import Inferred, Skeleton


@dataclass(frozen=True, kw_only=True)
class InferenceRequest(JobRequest):
    """Private data, a skeleton of its schema, and what learning the rest may cost.

    Attributes:
        data: the private table.
        schema: a skeleton: kinds, without all values, ranges or bins.
        output: where the whole schema goes; it must not exist yet.
        epsilon: the privacy loss allowed.
        delta: the probability allowed for a larger loss; needed for unknown values.
        neighbours: add-remove, which implies both, or replace.
        people: who has several rows.
        payer: the ledger and the name of the data in it.
        reading: how rows are read.
    """

    data: str
    schema: Path
    output: Path
    epsilon: str | None = None
    delta: str = "0"
    neighbours: str = "add-remove"
    people: PersonRequest = field(default_factory=PersonRequest)
    payer: LedgerRequest = field(default_factory=LedgerRequest)
    reading: ReadingRequest = field(default_factory=ReadingRequest)


@dataclass(frozen=True)
class InferenceResult:
    """The schema that was learned, the skeleton it completes, and how long it took.

    Attributes:
        inferred: the schema and its statement.
        skeleton: what was declared before.
        seconds: how long it took; for the owner.
        standing: what is spent on the data so far, and what is left, in sentences.
    """

    inferred: Inferred
    skeleton: Skeleton
    seconds: dict[str, float]
    standing: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Describe the result for machines."""
        return {
            "columns": self.inferred.schema.attributes,
            "fingerprint": self.inferred.schema.fingerprint,
            "statement": self.inferred.statement.document(),
            "unseen": list(self.inferred.unseen),
        }


def infer(request: InferenceRequest, *, progress: JobProgress = SILENT) -> InferenceResult:
    """Learn values, ranges and bins from private rows, and write the whole schema.

    Privacy: spends the budget of the request from its ledger; the schema may be released.
    """
    from understudy.methods.discover import Skeleton, infer_schema
    from understudy.privacy.spending.fingerprints import Sighting
    from understudy.rows.sources import dataset_name

    skeleton = Skeleton.load(request.schema)
    if request.epsilon is None:
        raise UsageError(
            "epsilon is not given; say how much privacy loss is allowed, as --epsilon 1"
        )
    access = replace(request.reading.access, persons=request.people.persons)
    _check_output(request.output, skeleton)
    name = request.payer.dataset or dataset_name(request.data, access)
    data = request.reading.opened(request.data)
    request.payer.warn_of_copies(name, Sighting(data))
    watch = Stopwatch()
    with progress.spinner("reading and counting") as show, watch.timed("infer"):
        inferred = infer_schema(
            data,
            skeleton,
            epsilon=request.epsilon,
            delta=request.delta,
            neighbours=request.neighbours,
            ledger=request.payer.opened(),
            dataset=name,
            access=replace(access, watch=ReadingProgress(show)),
        )
    text = inferred.schema.text_for(request.output)
    write_or_keep(text.encode(), request.output, what="schema")
    standing = request.payer.standing(name)
    return InferenceResult(inferred, skeleton, watch.seconds, standing)


def _check_output(output: Path, skeleton: Skeleton) -> None:
    """Refuse a place or format in which the schema could not be written once it is paid for."""
    from understudy.system.files.writing import check_writable

    if output.suffix not in (".toml", ".json"):
        raise OutputError(f"{output}: the name must end in .toml or .json")
    check_absent(output)
    skeleton.provisional.text_for(output)
    check_writable(output)
