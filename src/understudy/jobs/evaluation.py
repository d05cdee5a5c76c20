"""Job of `evaluate`: compare synthetic rows with real ones, on a page and for machines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import DataError, OutputError, UsageError
from understudy.jobs.network_rules import names_of
from understudy.jobs.output import (
    check_unpaid,
    statement_file,
    write_bytes,
    write_or_keep,
    write_statement,
)
from understudy.jobs.owner_rows import owner_rows
from understudy.jobs.progress import SILENT
from understudy.jobs.reading import FormatRequest
from understudy.jobs.release import ReleaseRequest, release, standing
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from understudy.evaluation import Evaluation
    from understudy.evaluation.analyses.aggregates import Aggregate
    from understudy.evaluation.disclosure.exposure import Disclosure
    from understudy.evaluation.report import Release, Subject
    from understudy.evaluation.verdict import Verdict
    from understudy.facts.schema import Schema
    from understudy.jobs.progress import JobProgress
    from understudy.system.frames import Rows


@dataclass(frozen=True)
class ComparisonRequest(JobRequest):
    """Predictions and attacks that the owner's page shows beside distances.

    Attributes:
        target: a column to predict; the schema's unless given.
        holdout: real rows that the fit has not seen.
        classifiers: a set of learners by its name, or learners by theirs, with commas.
        sensitive: a column that attackers want to infer.
        known: the columns that attackers know about everybody, with commas.
        subgroup: a column within whose groups the tables are compared too.
        detection: teach a classifier to tell real rows from synthetic ones.
        aggregates: a text file that lists aggregates to compare, one in a line.
    """

    target: str | None = None
    holdout: Path | None = None
    classifiers: str | None = None
    sensitive: str | None = None
    known: str | None = None
    subgroup: str | None = None
    detection: bool = False
    aggregates: Path | None = None

    def check(self) -> None:
        """Refuse half of what an attack needs."""
        if (self.sensitive is None) != (self.known is None):
            absent = "known" if self.known is None else "sensitive"
            raise UsageError(
                f"--{absent} is not given; attackers know some columns and infer another: "
                "give --sensitive and --known"
            )

    def questions(self, schema: Schema) -> Sequence[Aggregate]:
        """Read the aggregates that are listed, before any row is read."""
        from understudy.evaluation.analyses.aggregates import read_aggregates

        return () if self.aggregates is None else read_aggregates(self.aggregates, schema)

    @property
    def learners(self) -> str | list[str] | None:
        """A set of learners by its name, or learners by theirs; None leaves the default."""
        names = [name.strip() for name in (self.classifiers or "").split(",")]
        return names if len(names) > 1 else names[0] or None


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest(JobRequest):
    """Two tables to compare, and which of the two kinds of page to write.

    Attributes:
        real: the private table: a file, a folder, or the address of a database.
        synthetic: the synthetic table.
        schema: what each column may contain.
        output: the page, an .html file.
        compare: what the owner's page shows.
        model: the model the rows were sampled from.
        seed: makes resamples and splits repeatable.
        spelling: how the file of the real table is spelled.
        table: the table of a database that has the real rows.
        release: what a page that may be released costs, instead of the owner's page.
    """

    real: str | Path
    synthetic: Path
    schema: Path
    output: Path
    compare: ComparisonRequest = field(default_factory=ComparisonRequest)
    model: Path | None = None
    seed: int = 0
    spelling: FormatRequest = field(default_factory=FormatRequest)
    table: str | None = None
    release: ReleaseRequest = field(default_factory=ReleaseRequest)

    def check(self) -> None:
        """Refuse, before anything is read, what cannot be written and options that do not fit."""
        from understudy.system.files.writing import check_apart, check_writable

        if self.output.suffix != ".html":
            raise OutputError(f"{self.output}: the name must end in .html")
        asked = self.compare
        inputs = (self.real, self.synthetic, self.schema, asked.holdout, asked.aggregates)
        check_apart(self.output, *(p for p in (*inputs, self.model) if p is not None))
        check_writable(self.output)
        self._check_together()
        if self.release.release_epsilon is not None:
            self._check_paid_files()

    def _check_paid_files(self) -> None:
        """Refuse places where the page, the data sheet or a statement cannot be written."""
        from understudy.system.files.writing import check_apart, check_writable

        sheet = self.release.markdown
        if sheet is not None and sheet.suffix != ".md":
            raise OutputError(f"{sheet}: the name of a data sheet must end in .md")
        for output in (self.output, sheet):
            if output is None:
                continue
            check_apart(output, self.real, self.synthetic, self.schema)
            check_writable(output)
            check_writable(statement_file(output))
            check_unpaid(output, force=self.release.force)

    def _check_together(self) -> None:
        """Refuse options that belong to the other kind of page."""
        if self.release.release_epsilon is None:
            for option in self.release.given:
                raise UsageError(
                    f"{option} is for released distances; give --release-epsilon too, or leave "
                    "it out"
                )
            return
        for option in self.compare.given:
            raise UsageError(
                f"{option} is for the owner's page; a released page holds only distances; leave "
                "it out"
            )


@dataclass(frozen=True)
class OwnerEvaluation:
    """The owner's page: computed from private rows, not for release."""

    evaluation: Evaluation
    disclosure: Disclosure | None
    subject: Subject
    output: Path

    @property
    def verdict(self) -> Verdict:
        """The decision, with its lights and what follows from them."""
        return self.subject.verdict(self.evaluation)

    def document(self) -> dict[str, Any]:
        """The evaluation for machines; it is private, and says so."""
        statement = self.subject.statement
        document = self.evaluation.document()
        return (
            {"verdict": self.verdict.document()}
            | document
            | {
                "private": True,
                "notice": document["private"],
                "statement": None if statement is None else statement.document(),
                "disclosure": None if self.disclosure is None else self.disclosure.document(),
                "remarks": self.subject.remarks(self.evaluation.sides["synthetic"].read),
                "report": str(self.output),
            }
        )


@dataclass(frozen=True)
class ReleasedEvaluation:
    """The page that may be released, with its noisy distances and its bound statement.

    Attributes:
        release: the distances.
        bound: the distances and their statement for machines.
        output: the page.
        standing: what is spent on the data so far, and what is left, in sentences.
        markdown: the data sheet, where one was asked for.
    """

    release: Release
    bound: dict[str, Any]
    output: Path
    standing: tuple[str, ...] = ()
    markdown: Path | None = None

    def document(self) -> dict[str, Any]:
        """The distances and their statement for machines."""
        sheet = None if self.markdown is None else str(self.markdown)
        return self.bound | {"report": str(self.output), "markdown": sheet}


def evaluate(
    request: EvaluationRequest, *, progress: JobProgress = SILENT
) -> OwnerEvaluation | ReleasedEvaluation:
    """Compare synthetic rows with real ones, and write a page about it.

    Privacy: the owner's page is exact and must not be released; the other kind spends budget.
    """
    from understudy.evaluation.report import Subject
    from understudy.facts.schema import Schema

    request.check()
    subject = Subject.of(Path(request.real), request.synthetic, request.model)
    if request.table is not None:
        subject = replace(subject, real=request.table)
    if request.release.release_epsilon is not None:
        made = release(request, subject, progress)
        found = _write_release(made, request.output)
        if request.release.markdown is not None:
            _write_card(made, request)
        return replace(found, standing=standing(request), markdown=request.release.markdown)
    request.compare.check()
    schema = Schema.load(request.schema)
    questions = request.compare.questions(schema)
    with progress.spinner("reading"):
        real = owner_rows(
            request.real, schema, table=request.table, file_format=request.spelling.file_format
        )
    compared = _compared(request, real, questions, progress)
    attacking = request.compare.known is not None
    disclosure = _attacked(request, real, progress) if attacking else None
    _write_page(compared, disclosure, subject, request.output)
    return OwnerEvaluation(compared, disclosure, subject, request.output)


def _write_release(found: Release, output: Path) -> ReleasedEvaluation:
    write_or_keep(found.page().encode(), output, what="page")
    statement = found.summary.statement
    bound = write_statement(
        found.document(), output, record=statement.record, beside={"method": statement.method}
    )
    return ReleasedEvaluation(found, bound, output)


def _write_card(found: Release, request: EvaluationRequest) -> None:
    """Write the data sheet, bound to the same statement as the page."""
    from understudy.evaluation.report.card import dataset_card
    from understudy.facts.schema import Schema

    output = request.release.markdown
    assert output is not None
    text = dataset_card(found, Schema.load(request.schema))
    write_or_keep(text.encode(), output, what="data sheet")
    statement = found.summary.statement
    document = found.document()
    beside = {"method": statement.method}
    write_statement(document, output, record=statement.record, beside=beside)


def _compared(
    request: EvaluationRequest,
    real: Rows,
    questions: Sequence[Aggregate],
    progress: JobProgress,
) -> Evaluation:
    from understudy.evaluation import evaluate
    from understudy.facts.schema import Schema

    asked = request.compare
    with progress.spinner("reading") as show:
        found = evaluate(
            real,
            request.synthetic,
            Schema.load(request.schema),
            target=asked.target,
            holdout=asked.holdout,
            classifiers=asked.learners or "default",
            subgroup=asked.subgroup,
            detect=asked.detection,
            aggregates=questions,
            seed=request.seed,
            file_format=request.spelling.file_format,
            progress=_numbered(show),
        )
    for side in found.sides:
        _check_rows(found, side)
    return found


def _attacked(request: EvaluationRequest, real: Rows, progress: JobProgress) -> Disclosure:
    from understudy.evaluation.disclosure.disclosure import disclosure_risk
    from understudy.evaluation.report.disclosures import STAND_IN
    from understudy.facts.schema import Schema

    asked = request.compare
    with progress.spinner("attacking") as show:
        return disclosure_risk(
            real,
            {STAND_IN: request.synthetic},
            Schema.load(request.schema),
            sensitive=asked.sensitive or "",
            keys=[name.strip() for name in names_of(asked.known or "")],
            holdout=asked.holdout,
            classifiers=asked.learners or "sba",
            leaky=True,
            seed=request.seed,
            file_format=request.spelling.file_format,
            progress=_numbered(show),
        )


def _numbered(show: Callable[[str], None]) -> Callable[[int, int, str], None]:
    return lambda done, total, what: show(f"{done + 1} of {total}: {what}")


def _check_rows(found: Evaluation, side: str) -> None:
    counted = found.sides[side]
    if counted.fitting == 0:
        some = "none of its rows fits the schema" if counted.read else "it has no rows"
        raise DataError(f"the {side} data cannot be compared: {some}; look at file and schema")


def _write_page(
    found: Evaluation, disclosure: Disclosure | None, subject: Subject, output: Path
) -> None:
    from understudy.evaluation.report import evaluation_page

    write_bytes(output, evaluation_page(found, subject, disclosure=disclosure).encode())
