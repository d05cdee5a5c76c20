"""Jobs of `fit` and `synth`: learn a model of private rows or images, and make new ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import DataError, UsageError
from understudy.jobs.checking import CheckRequest, check_data
from understudy.jobs.images import ImageRequest
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.method import FitRequest, build, remarks
from understudy.jobs.output import (
    JobResult,
    check_stated_output,
    check_unpaid,
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

    from understudy.jobs.checking import Owner
    from understudy.jobs.progress import JobProgress
    from understudy.methods import Synthesizer
    from understudy.models.model import Model
    from understudy.privacy.preflight import Preflight


@dataclass(frozen=True, kw_only=True)
class LearningRequest(JobRequest):
    """Private data, a method that learns from it, and the ledger that pays.

    Attributes:
        data: a table: a file, a folder or the address of a database; or images in an .npz file.
        schema: what each column may contain; of tables, learned with budget unless given.
        fit: the method, its budget and its options.
        payer: the ledger and the name of the data in it.
        reading: how rows are read.
        images: public facts about images.
        unchecked: fit without asking first whether most rows fit the schema, or whether one that
            was learned is of any use.
        force: overwrite an output that a budget was spent on.
    """

    data: str
    schema: Path | None = None
    fit: FitRequest = field(default_factory=FitRequest)
    payer: LedgerRequest = field(default_factory=LedgerRequest)
    reading: ClusterReadingRequest = field(default_factory=ClusterReadingRequest)
    images: ImageRequest = field(default_factory=ImageRequest)
    unchecked: bool = False
    force: bool = False

    @property
    def of_images(self) -> bool:
        """Whether the data are images, which have neither columns nor a schema."""
        return self.data.endswith(".npz")

    @property
    def dataset(self) -> str:
        """The name of the data in the ledger."""
        from understudy.rows.sources import dataset_name

        if self.payer.dataset is not None:
            return self.payer.dataset
        return (
            Path(self.data).stem if self.of_images else dataset_name(self.data, self.reading.access)
        )

    @property
    def caution(self) -> str:
        """Say what a large budget promises; empty where it is a usual one."""
        from understudy.privacy.budget import exact
        from understudy.privacy.statements.meaning import caution

        if self.fit.epsilon is None:
            return ""
        epsilon = exact(self.fit.epsilon, what="epsilon")
        return caution(epsilon, exact(self.fit.delta, what="delta"))

    def check_rows(self) -> None:
        """Refuse to spend a budget on a table without rows."""
        if self.fit.rows is not None and self.fit.rows < 1:
            raise UsageError(
                f"rows is {self.fit.rows}: the whole budget would be spent on a table without "
                "rows; leave --rows out, or ask for at least 1. A model that is kept by `fit` "
                "makes any number of rows later, at no cost"
            )

    @property
    def standing(self) -> tuple[str, ...]:
        """Say what is spent on the data so far, and what is left."""
        return self.payer.standing(self.dataset)

    @property
    def checked(self) -> CheckRequest:
        """The same rows and schema, for the owner's own check."""
        if self.schema is None:
            raise UsageError("schema is not given; give one by --schema")
        return CheckRequest(
            data=self.data, schema=self.schema, people=self.fit.people, reading=self.reading
        )

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
    owner: Owner | None = None,
) -> JobResult:
    """Learn a model of a private table or of images, and save it.

    Without a schema, one is learned with a part of the budget and kept beside the output.

    Privacy: spends the budget of the request from its ledger; the model may be released.
    """
    from understudy.jobs.images import fit_images
    from understudy.models.archive import check_place
    from understudy.system.files.writing import check_apart

    signer = signer_of(sign)
    request.check_rows()
    if request.of_images:
        return fit_images(request, output, signer=signer, progress=progress, owner=owner)
    check_apart(output, *request.inputs)
    check_place(output)
    check_unpaid(output, force=request.force)
    request, about_schema = _with_schema(request, output, progress, owner)
    synthesizer = _synthesizer(request)
    if not about_schema:
        _warn(request, synthesizer, progress, owner)
    watch = Stopwatch()
    preflight = _preflight(request, synthesizer, progress, owner)
    fitted = _fitted(request, synthesizer, preflight, progress=progress, watch=watch)
    model = fitted.model_
    with kept_on_failure(model, progress):
        model.save(output, signer=signer)
    return JobResult(
        output=output,
        headline="model",
        document=summary(model, model.rows),
        sentences=(model.statement.sentence,),
        remarks=(*about_schema, *_learned(request, fitted), *request.standing),
        seconds=watch.seconds,
    )


def synthesize(
    request: LearningRequest,
    output: Path,
    *,
    seed: int | None = None,
    sign: Path | None = None,
    progress: JobProgress = SILENT,
    owner: Owner | None = None,
) -> JobResult:
    """Learn a model, sample from it, and write OUTPUT with OUTPUT.privacy.json beside it.

    Without a schema, one is learned with a part of the budget and kept beside the output.

    Privacy: spends the budget of the request from its ledger; the rows may be released.
    """
    from understudy.jobs.images import synthesize_images
    from understudy.models.decoding import check_rows_output
    from understudy.system.files.suffixes import check_written
    from understudy.system.files.writing import check_apart

    signer = signer_of(sign)
    request.check_rows()
    if request.of_images:
        return synthesize_images(
            request, output, seed=seed, signer=signer, progress=progress, owner=owner
        )
    check_apart(output, *request.inputs)
    check_stated_output(check_written(output))
    check_unpaid(output, force=request.force)
    request, about_schema = _with_schema(request, output, progress, owner)
    synthesizer = _synthesizer(request)
    if not about_schema:
        _warn(request, synthesizer, progress, owner)
    check_rows_output(output, synthesizer.schema)
    watch = Stopwatch()
    preflight = _preflight(request, synthesizer, progress, owner)
    fitted = _fitted(request, synthesizer, preflight, progress=progress, watch=watch)
    model = fitted.model_
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
        remarks=(*about_schema, *_learned(request, fitted), where, times, *request.standing),
        seconds=watch.seconds,
    )


def _with_schema(
    request: LearningRequest, output: Path, progress: JobProgress, owner: Owner | None
) -> tuple[LearningRequest, tuple[str, ...]]:
    """The request with a schema, learned first where none is given, and what to say of that.

    Privacy: an owner who looks on is asked about a table without rows, and may stop.
    """
    from understudy.jobs.learned_schema import learn_first, without_rows

    if request.schema is not None:
        return request, ()
    empty = None if owner is None or request.unchecked else without_rows(request)
    if owner is not None and empty is not None and not owner.agrees(empty):
        raise DataError("nothing was learned and nothing was spent, as you asked")
    first = learn_first(request, output, progress)
    return first.request, (first.sentence,)


def _synthesizer(request: LearningRequest) -> Synthesizer:
    """Build the method; a request for something else is refused before anything is read."""
    from understudy.facts.schema import Schema

    assert request.schema is not None, "a schema was given, or learned first"
    request.images.refuse_for_tables()
    return build(request.fit, Schema.load(request.schema))


def _warn(
    request: LearningRequest, synthesizer: Synthesizer, progress: JobProgress, owner: Owner | None
) -> None:
    """Say before anything is spent that `evaluate` will advise against a release, if it will."""
    from understudy.jobs.privacy_forecast import forecast_privacy
    from understudy.privacy.preflight import Preflight

    asks = not request.unchecked and (owner is None or request.reading.cluster is not None)
    forecast = forecast_privacy(synthesizer, preflight=Preflight() if asks else None)
    if forecast.warning:
        progress.warning(forecast.warning)


def _preflight(
    request: LearningRequest,
    synthesizer: Synthesizer,
    progress: JobProgress,
    owner: Owner | None,
) -> Preflight | None:
    """Let the owner see the exact losses, or else return the question that buys noisy ones.

    Privacy: which of the two happens depends on the request and on who looks on, never on rows.
    What the owner sees goes no further; the owner may stop the run, before anything is spent.
    """
    from understudy.privacy.preflight import Preflight

    if request.unchecked:
        return None
    if owner is None or request.reading.cluster is not None:
        return Preflight()
    synthesizer.check()
    found = check_data(request.checked, progress=progress)
    if not owner.agrees(found):
        raise DataError(
            "nothing was learned and nothing was spent, as you asked; `understudy check` shows "
            "which cells do not fit the schema and how to mend them"
        )
    return None


def _fitted(
    request: LearningRequest,
    synthesizer: Synthesizer,
    preflight: Preflight | None,
    *,
    progress: JobProgress,
    watch: Stopwatch,
) -> Synthesizer:
    """Fit the model, paid for from the ledger; the owner sees how far reading has come."""
    payer, access = request.payer, request.reading.access
    data = request.reading.opened(request.data)
    with progress.spinner("reading and fitting") as show, watch.timed("fit"):
        access = replace(access, watch=ReadingProgress(show))
        return synthesizer.fit(
            data,
            ledger=payer.opened(),
            dataset=request.dataset,
            access=access,
            preflight=preflight,
        )


def _learned(request: LearningRequest, fitted: Synthesizer) -> list[str]:
    """Say how the model came about, and what a preflight found that was paid for."""
    from understudy.facts.unlisted import substitution

    fitting = "" if fitted.fitting_ is None else fitted.fitting_.sentence
    unlisted = substitution(fitted.model_.schema)
    return [*remarks(request.fit, fitted.model_), *filter(None, (fitting, unlisted))]


def _sampled(
    model: Model, rows: int | None, seed: int | None, progress: JobProgress
) -> Iterator[pa.Table]:
    """Sample blocks of rows, and show how many of them have been written."""
    from understudy.models.sampling import sample_blocks

    wanted = model.rows if rows is None else rows
    return counted(sample_blocks(model, wanted, seed=seed), wanted, progress)
