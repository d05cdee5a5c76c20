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
from understudy.jobs.progress import SILENT
from understudy.jobs.reading import FormatRequest
from understudy.jobs.release import ReleaseRequest, release, standing
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from understudy.evaluation import Evaluation
    from understudy.evaluation.disclosure.exposure import Disclosure
    from understudy.evaluation.report import Release, Subject
    from understudy.jobs.progress import JobProgress


@dataclass(frozen=True)
class ComparisonRequest(JobRequest):
    """Predictions and attacks that the owner's page shows beside distances.

    Attributes:
        target: a column to predict; the schema's unless given.
        holdout: real rows that the fit has not seen.
        classifiers: a set of learners by its name, or learners by theirs, with commas.
        sensitive: a column that attackers want to infer.
        known: the columns that attackers know about everybody, with commas.
    """

    target: str | None = None
    holdout: Path | None = None
    classifiers: str | None = None
    sensitive: str | None = None
    known: str | None = None

    def check(self) -> None:
        """Refuse half of what an attack needs."""
        if (self.sensitive is None) != (self.known is None):
            absent = "known" if self.known is None else "sensitive"
            raise UsageError(
                f"--{absent} is not given; attackers know some columns and infer another: "
                "give --sensitive and --known"
            )

    @property
    def learners(self) -> str | list[str] | None:
        """A set of learners by its name, or learners by theirs; None leaves the default."""
        names = [name.strip() for name in (self.classifiers or "").split(",")]
        return names if len(names) > 1 else names[0] or None


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest(JobRequest):
    """Two tables to compare, and which of the two kinds of page to write.

    Attributes:
        real: the private table.
        synthetic: the synthetic table.
        schema: what each column may contain.
        output: the page, an .html file.
        compare: what the owner's page shows.
        model: the model the rows were sampled from.
        seed: makes resamples and splits repeatable.
        spelling: how the file of the real table is spelled.
        release: what a page that may be released costs, instead of the owner's page.
    """

    real: Path
    synthetic: Path
    schema: Path
    output: Path
    compare: ComparisonRequest = field(default_factory=ComparisonRequest)
    model: Path | None = None
    seed: int = 0
    spelling: FormatRequest = field(default_factory=FormatRequest)
    release: ReleaseRequest = field(default_factory=ReleaseRequest)

    def check(self) -> None:
        """Refuse, before anything is read, what cannot be written and options that do not fit."""
        from understudy.system.files.writing import check_apart, check_writable

        if self.output.suffix != ".html":
            raise OutputError(f"{self.output}: the name must end in .html")
        inputs = (self.real, self.synthetic, self.schema, self.compare.holdout, self.model)
        check_apart(self.output, *(path for path in inputs if path is not None))
        check_writable(self.output)
        self._check_together()
        if self.release.release_epsilon is not None:
            check_writable(statement_file(self.output))
            check_unpaid(self.output, force=self.release.force)

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
                f"{option} is for the owner's page; a released page holds distances alone; leave "
                "it out"
            )


@dataclass(frozen=True)
class OwnerEvaluation:
    """The owner's page: computed from private rows, not for release.

    Attributes:
        evaluation: the comparison.
        disclosure: the attacks, where some were asked for.
        subject: the files that are compared.
        output: the page.
        losses: for each column, what the schema does not hold of its real cells, in sentences.
    """

    evaluation: Evaluation
    disclosure: Disclosure | None
    subject: Subject
    output: Path
    losses: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The evaluation for machines; it is private, and says so."""
        statement = self.subject.statement
        document = self.evaluation.document()
        return document | {
            "private": True,
            "notice": document["private"],
            "statement": None if statement is None else statement.document(),
            "disclosure": None if self.disclosure is None else self.disclosure.document(),
            "remarks": self.subject.remarks(self.evaluation.sides["synthetic"].read),
            "losses": list(self.losses),
            "report": str(self.output),
        }


@dataclass(frozen=True)
class ReleasedEvaluation:
    """The page that may be released, with its noisy distances and its bound statement.

    Attributes:
        release: the distances.
        bound: the distances and their statement for machines.
        output: the page.
        standing: what is spent on the data so far, and what is left, in sentences.
    """

    release: Release
    bound: dict[str, Any]
    output: Path
    standing: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The distances and their statement for machines."""
        return self.bound | {"report": str(self.output)}


def evaluate(
    request: EvaluationRequest, *, progress: JobProgress = SILENT
) -> OwnerEvaluation | ReleasedEvaluation:
    """Compare synthetic rows with real ones, and write a page about it.

    Privacy: the owner's page is exact and must not be released; the other kind spends budget.
    """
    from understudy.evaluation.report import Subject

    request.check()
    subject = Subject.of(request.real, request.synthetic, request.model)
    if request.release.release_epsilon is not None:
        found = _write_release(release(request, subject, progress), request.output)
        return replace(found, standing=standing(request))
    request.compare.check()
    compared = _compared(request, progress)
    disclosure = None if request.compare.known is None else _attacked(request, progress)
    _write_page(compared, disclosure, subject, request.output)
    losses = _losses(request)
    return OwnerEvaluation(compared, disclosure, subject, request.output, losses)


def _losses(request: EvaluationRequest) -> tuple[str, ...]:
    """Say what the schema loses of real cells, which no comparison of coded rows can see.

    Privacy: exact, and for the owner's eyes alone.
    """
    from understudy.facts.schema import Schema
    from understudy.rows.checking import check, findings
    from understudy.rows.sources import Access

    access = Access(format=request.spelling.file_format, ignore_extra=True)
    found = check(request.real, Schema.load(request.schema), access=access)
    shown = (each for each in findings(found) if each.undeclared + each.clipped + each.lost)
    return tuple(
        f"column {column.name!r}: {_percent(column.undeclared, found.rows)} of the real cells are "
        f"not listed, {_percent(column.clipped, found.rows)} are beyond the bounds, and "
        f"{_percent(column.lost, found.rows)} of the rows are lost by it"
        for column in shown
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.3g} %"


def _write_release(found: Release, output: Path) -> ReleasedEvaluation:
    write_or_keep(found.page().encode(), output, what="page")
    statement = found.summary.statement
    bound = write_statement(
        found.document(), output, record=statement.record, beside={"method": statement.method}
    )
    return ReleasedEvaluation(found, bound, output)


def _compared(request: EvaluationRequest, progress: JobProgress) -> Evaluation:
    from understudy.evaluation import evaluate
    from understudy.facts.schema import Schema

    asked = request.compare
    with progress.spinner("reading") as show:
        found = evaluate(
            request.real,
            request.synthetic,
            Schema.load(request.schema),
            target=asked.target,
            holdout=asked.holdout,
            classifiers=asked.learners or "default",
            seed=request.seed,
            file_format=request.spelling.file_format,
            progress=_numbered(show),
        )
    for side in found.sides:
        _check_rows(found, side)
    return found


def _attacked(request: EvaluationRequest, progress: JobProgress) -> Disclosure:
    from understudy.evaluation.disclosure.disclosure import disclosure_risk
    from understudy.evaluation.report.disclosures import STAND_IN
    from understudy.facts.schema import Schema

    asked = request.compare
    with progress.spinner("attacking") as show:
        return disclosure_risk(
            request.real,
            {STAND_IN: request.synthetic},
            Schema.load(request.schema),
            sensitive=asked.sensitive or "",
            keys=[name.strip() for name in names_of(asked.known or "")],
            holdout=asked.holdout,
            classifiers=asked.learners or "sba",
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
