"""Job of `study`: run the experiments of the papers again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import UsageError
from understudy.jobs.progress import SILENT, JobProgress
from understudy.jobs.request import JobRequest


@dataclass(frozen=True, kw_only=True)
class StudyRequest(JobRequest):
    """A study by its name, how much of it to run, and where its files are.

    Attributes:
        name: the name of the study.
        size: full, quick (about a minute) or smoke (a few seconds on made-up rows).
        folder: where NAME.json and NAME.svg go.
        data: the folder of the public tables.
        processes: how many settings run at the same time.
        most: measure at most this number of the missing settings; the record lists what is left.
    """

    name: str
    size: str = "full"
    folder: Path = Path("studies")
    data: Path | None = None
    processes: int = 2
    most: int | None = None


@dataclass(frozen=True)
class StudyResult:
    """The record of a study, and the files that hold it."""

    document: dict[str, Any]
    record: Path
    picture: Path


def available_studies() -> list[dict[str, str]]:
    """The name, title and source of every study."""
    from understudy_studies import STUDIES, find

    found = {name: find(name) for name in STUDIES}
    return [{"name": n, "title": s.title, "source": s.source} for n, s in found.items()]


def run_study(request: StudyRequest, *, progress: JobProgress = SILENT) -> StudyResult:
    """Run a study; settings that were finished before are not run again."""
    from understudy_studies.cells import Size
    from understudy_studies.record import StudyFolder
    from understudy_studies.running import run
    from understudy_studies.tables import DataFolder

    size = Size(request.size)
    with progress.bar("measuring") as update:
        document = run(
            request.name,
            size,
            request.folder,
            shelf=DataFolder.found(request.data),
            processes=request.processes,
            most=request.most,
            watch=update,
        )
    record = StudyFolder(request.name, size, request.folder)
    return StudyResult(document, record.path, record.picture)


def write_study_page(name: str, folder: Path, page: Path) -> None:
    """Write the page of a finished study, its chart and numbers beside it."""
    from understudy_studies import find
    from understudy_studies.page import write_page

    find(name)
    if page.suffix != ".md":
        raise UsageError(f"{page}: a page must end in .md; rename it")
    write_page(name, folder / f"{name}.json", page)
