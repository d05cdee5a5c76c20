"""Jobs of `fit` and `synth`: learn a model of private rows or images, and make new ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.images import ImageRequest
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.method import FitRequest, build, remarks
from understudy.jobs.output import (
    JobResult,
    check_stated_output,
    kept_on_failure,
    statement_file,
    summary,
    write_statement,
)
from understudy.jobs.progress import SILENT, ReadingProgress, Stopwatch, counted
from understudy.jobs.reading import ClusterReadingRequest
from understudy.jobs.request import JobRequest
from understudy.jobs.signing import signer_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from understudy.jobs.progress import JobProgress
    from understudy.methods import Synthesizer
    from understudy.models.model import Model


@dataclass(frozen=True, kw_only=True)
class LearningRequest(JobRequest):
    """Private data, a method that learns from it, and the ledger that pays.

    Attributes:
        data: a table: a file, a folder or the address of a database; or images in an .npz file.
        schema: what each column may contain; needed for tables.
        fit: the method, its budget and its options.
        payer: the ledger and the name of the data in it.
        reading: how rows are read.
        images: public facts about images.
    """

    data: str
    schema: Path | None = None
    fit: FitRequest = field(default_factory=FitRequest)
    payer: LedgerRequest = field(default_factory=LedgerRequest)
    reading: ClusterReadingRequest = field(default_factory=ClusterReadingRequest)
    images: ImageRequest = field(default_factory=ImageRequest)

    @property
    def of_images(self) -> bool:
        """Whether the data are images, which have neither columns nor a schema."""
        return self.data.endswith(".npz")

    @property
    def inputs(self) -> list[str | Path]:
        """The files that no output may replace."""
        return [self.data] if self.schema is None else [self.data, self.schema]


def fit(
    request: LearningRequest,
    output: Path,
    *,
    sign: Path | None = None,
    progress: JobProgress = SILENT,
) -> JobResult:
    """Learn a model of a private table or of images, and save it.

    Privacy: spends the budget of the request from its ledger; the model may be released.
    """
    from understudy.jobs.images import fit_images
    from understudy.models.archive import check_place
    from understudy.system.files.writing import check_apart

    signer = signer_of(sign)
    if request.of_images:
        return fit_images(request, output, signer=signer, progress=progress)
    synthesizer = _synthesizer(request)
    check_apart(output, *request.inputs)
    check_place(output)
    watch = Stopwatch()
    model = _fitted(request, synthesizer, progress, watch)
    with kept_on_failure(model, progress):
        model.save(output, signer=signer)
    return JobResult(
        output=output,
        headline="model",
        document=summary(model, model.rows),
        sentences=(model.statement.sentence,),
        remarks=tuple(remarks(request.fit, model)),
        seconds=watch.seconds,
    )


def synthesize(
    request: LearningRequest,
    output: Path,
    *,
    seed: int | None = None,
    sign: Path | None = None,
    progress: JobProgress = SILENT,
) -> JobResult:
    """Learn a model, sample from it, and write OUTPUT with OUTPUT.privacy.json beside it.

    Privacy: spends the budget of the request from its ledger; the rows may be released.
    """
    from understudy.jobs.images import synthesize_images
    from understudy.models.decoding import check_rows_output
    from understudy.system.files.writing import check_apart

    signer = signer_of(sign)
    if request.of_images:
        return synthesize_images(request, output, seed=seed, signer=signer, progress=progress)
    synthesizer = _synthesizer(request)
    check_apart(output, *request.inputs)
    check_stated_output(check_rows_output(output, synthesizer.schema))
    watch = Stopwatch()
    model = _fitted(request, synthesizer, progress, watch)
    with kept_on_failure(model, progress):
        blocks = _sampled(model, request.fit.rows, seed, progress)
        with watch.timed("sample"):
            rows = model.decoder.write(blocks, output)
        document = write_statement(
            summary(model, rows), output, record=model.statement.record, signer=signer
        )
    times = f"fit {watch.seconds['fit']:.2f} s, sample {watch.seconds['sample']:.2f} s"
    where = f"the privacy statement is in {statement_file(output)}"
    return JobResult(
        output=output,
        headline=f"{rows:,} rows × {document['columns']} columns",
        document=document,
        sentences=(document["statement"]["sentence"],),
        remarks=(*remarks(request.fit, model), where, times),
        seconds=watch.seconds,
    )


def _synthesizer(request: LearningRequest) -> Synthesizer:
    """Build the method; a request for something else is refused before anything is read."""
    from understudy.facts.schema import Schema

    if request.schema is None:
        raise UsageError(
            "schema is not given; a schema says what each column may contain: give one by --schema"
        )
    request.images.refuse_for_tables()
    return build(request.fit, Schema.load(request.schema))


def _fitted(
    request: LearningRequest, synthesizer: Synthesizer, progress: JobProgress, watch: Stopwatch
) -> Model:
    """Fit the model, paid for from the ledger; the owner sees how far reading has come."""
    from understudy.rows.sources import dataset_name

    payer, access = request.payer, request.reading.access
    name = payer.dataset or dataset_name(request.data, access)
    data = request.reading.opened(request.data)
    with progress.spinner("reading and fitting") as show, watch.timed("fit"):
        access = replace(access, watch=ReadingProgress(show))
        fitted = synthesizer.fit(data, ledger=payer.opened(), dataset=name, access=access)
    return fitted.model_


def _sampled(
    model: Model, rows: int | None, seed: int | None, progress: JobProgress
) -> Iterator[pa.Table]:
    """Sample blocks of rows, and show how many of them have been written."""
    from understudy.models.sampling import sample_blocks

    wanted = model.rows if rows is None else rows
    return counted(sample_blocks(model, wanted, seed=seed), wanted, progress)
