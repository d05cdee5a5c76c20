"""Job of `sample`: draw rows or images from a model, with or without conditions."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import UsageError
from understudy.jobs.output import (
    JobResult,
    check_stated_output,
    check_unpaid,
    summary,
    write_statement,
)
from understudy.jobs.progress import SILENT, Stopwatch, counted
from understudy.jobs.replication import sample_replicates
from understudy.jobs.request import JobRequest
from understudy.jobs.signing import Sealing, signer_of

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.jobs.progress import JobProgress
    from understudy.models.model import Model
    from understudy.models.sampling import ConditionedModel, Sampler
    from understudy.privacy.statements.statement import Statement


@dataclass(frozen=True, kw_only=True)
class SampleRequest(JobRequest):
    """A model, and which rows to draw from it.

    Attributes:
        model: the file or folder of the model.
        output: where the rows go; None only where a head is asked for.
        rows: how many; as many as the model was learned from unless given.
        where: conditions that all rows must meet, such as "sex = Female, age >= 30".
        how: exact, rejection or weighting; exact where the network allows it.
        sampler: how the tables of a model are drawn from; without replacement unless given.
        fill: a public or synthetic file whose missing cells are filled instead.
        seed: makes the rows repeatable.
        sign: the key that signs the statement.
        ledger: the ledger that paid for the model; it seals the rows.
        head: how many rows to show instead of writing a file.
        force: overwrite an output that a budget was spent on.
        replicates: how many stand-ins to write, each from its own draw of the tables.
    """

    model: Path
    output: Path | None = None
    rows: int | None = None
    where: str | None = None
    how: str | None = None
    sampler: str | None = None
    fill: Path | None = None
    seed: int | None = None
    sign: Path | None = None
    ledger: str | PathLike[str] | None = None
    head: int | None = None
    force: bool = False
    replicates: int | None = None

    def check_how(self) -> None:
        """Refuse a way of drawing without conditions."""
        if self.how is not None and self.where is None:
            raise UsageError(
                f"--how {self.how} says how rows under conditions are drawn, and there are none; "
                "give conditions by --where, or leave out --how"
            )
        if self.sampler is not None and (self.replicates is not None or self.fill is not None):
            other = "--replicates" if self.fill is None else "--fill"
            raise UsageError(f"--sampler and {other} do not go together; leave one of them out")
        if self.sampler == "inconsistent" and self.where is not None:
            raise UsageError(
                "--where conditions the consistent tables, and --sampler is inconsistent; leave "
                "one of them out"
            )

    def drawing(self, model: Model) -> Sampler:
        """The sampler that was asked for, else the usual one, without replacement."""
        from understudy.models.sampling import deal_codes
        from understudy.models.sampling.named import named_sampler

        return deal_codes if self.sampler is None else named_sampler(model, self.sampler)


@dataclass(frozen=True)
class SampleHead:
    """A few rows of a model, to look at.

    Attributes:
        rows: the rows.
        statement: what is promised about them.
    """

    rows: pa.Table
    statement: Statement

    @property
    def texts(self) -> list[list[str]]:
        """The cells of each column as texts; empty where a cell is missing."""
        columns = (column.to_pylist() for column in self.rows.columns)
        return [["" if cell is None else str(cell) for cell in column] for column in columns]

    def document(self) -> dict[str, Any]:
        """Return the rows and the statement for JSON."""
        names = self.rows.column_names
        cells = zip(*self.texts, strict=True)
        return {
            "method": self.statement.method,
            "rows": [dict(zip(names, row, strict=True)) for row in cells],
            "statement": self.statement.document(),
        }


def sample_head(request: SampleRequest) -> SampleHead:
    """Draw a few rows from a model to look at; no file is written.

    Privacy: post-processing of a released model; costs nothing, however often it is done.
    """
    from understudy.models.model import Model
    from understudy.models.sampling import sample_rows

    request.check_how()
    for option in ("output", "rows", "sign", "ledger", "fill", "replicates"):
        if getattr(request, option) is not None:
            raise UsageError(f"--{option} is for a file of rows, and --head prints; give one")
    model = Model.load(request.model)
    if "height" in model.decoder.facts:
        raise UsageError("images cannot be printed; write them to an .npz file with --output")
    rows = sample_rows(
        model,
        request.head,
        seed=request.seed,
        sampler=request.drawing(model),
        where=request.where,
        how=request.how,
    )
    return SampleHead(rows, model.statement)


def sample(request: SampleRequest, *, progress: JobProgress = SILENT) -> JobResult:
    """Draw rows or images from a model, and write them with a privacy statement.

    Privacy: post-processing of a released model; costs nothing, however often it is done.
    """
    from understudy.models.model import Model
    from understudy.models.sampling import given, sample_blocks
    from understudy.system.files.writing import check_apart

    sealing = Sealing(request.ledger, signer_of(request.sign))
    request.check_how()
    output = request.output
    if output is None:
        raise UsageError("output is not given; name a file by --output, or look by --head 5")
    if request.replicates is not None:
        return sample_replicates(request, output, request.replicates, sealing=sealing)
    if request.fill is not None:
        return _filled(request, request.fill, output, sealing=sealing)
    model = Model.load(request.model)
    decoder = model.decoder
    check_apart(decoder.check_output(output), request.model)
    check_stated_output(output)
    check_unpaid(output, force=request.force, drawn_from=model.statement)
    sampler = request.drawing(model)
    record = sealing.record(model.statement, path=request.model)
    wanted = model.rows if request.rows is None else request.rows
    watch = Stopwatch()
    with watch.timed("sample"):
        known = None
        if request.where is not None:
            known = given(model, request.where, how=request.how, sampler=sampler)
        blocks = sample_blocks(model, request.rows, seed=request.seed, where=known, sampler=sampler)
        rows = decoder.write(counted(blocks, wanted, progress), output)
    document = summary(model, rows) | ({} if known is None else _conditions(known))
    document = write_statement(document, output, record=record, signer=sealing.signer)
    return JobResult(
        output=output,
        headline=f"{rows:,} {decoder.noun}",
        document=document,
        remarks=() if known is None else (_how_drawn(known),),
        seconds=watch.seconds,
    )


def _filled(request: SampleRequest, gaps: Path, output: Path, *, sealing: Sealing) -> JobResult:
    """Fill a public file; what asks for new rows is refused."""
    from understudy.jobs.filling import fill_file

    if request.rows is not None or request.where is not None:
        raise UsageError(
            "--fill keeps the rows of the file, and --rows and --where ask for others; "
            "leave them out"
        )
    return fill_file(
        request.model, gaps, output, sealing=sealing, seed=request.seed, force=request.force
    )


def _conditions(known: ConditionedModel) -> dict[str, Any]:
    """Describe for machines how rows were drawn under conditions."""
    document = {
        "where": known.conditions.text,
        "how": str(known.how),
        "evidence_probability": known.chance,
        "evidence_exact": known.known is not None,
    }
    return document | ({} if known.worth is None else {"effective_draws": known.worth})


_WAYS = {
    "exact": "drawn exactly",
    "rejection": "drawn by rejection",
    "weighting": "resampled from weighted draws, which is approximate",
    "filter": "those of the released rows that fit",
}


def _how_drawn(known: ConditionedModel) -> str:
    """Describe the same for people."""
    text = _WAYS[known.how]
    if known.remark:
        text += f", because {known.remark}"
    if known.worth is not None:
        text += f"; the draws are worth {known.worth:,.0f} independent ones"
    if known.chance is None:
        return text
    about = "" if known.known is not None else "about "
    return f"{text}; a row fits with probability {about}{known.chance:.4g}"
