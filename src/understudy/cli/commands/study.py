"""`understudy study`: run the experiments of the papers again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.console import TerminalProgress, messages, print_json, results
from understudy.cli.options.groups import grouped
from understudy.cli.options.output import AsJson
from understudy.cli.options.panels import DATA, METHOD, OUTPUT
from understudy.errors import UsageError
from understudy.jobs.request import JobRequest
from understudy.jobs.studies import StudyRequest


@dataclass(frozen=True)
class StudyOptions(JobRequest):
    """Options about a study, how much of it to run, and where its files are."""

    name: Annotated[
        str | None, typer.Argument(help="The name of the study; --list shows all names.")
    ] = None
    wants_list: Annotated[
        bool, typer.Option("--list", rich_help_panel=OUTPUT, help="List the studies.")
    ] = False
    smoke: Annotated[
        bool,
        typer.Option(
            "--smoke",
            rich_help_panel=METHOD,
            help="Run a few seconds on made-up rows, to see whether the study works.",
        ),
    ] = False
    quick: Annotated[
        bool, typer.Option("--quick", rich_help_panel=METHOD, help="Run about a minute.")
    ] = False
    folder: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            rich_help_panel=OUTPUT,
            help="Write NAME.json and NAME.svg to this folder.",
        ),
    ] = Path("studies")
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FOLDER",
            rich_help_panel=DATA,
            help="Read the public tables from this folder. The default is $UNDERSTUDY_SHARED, else "
            "../shared.",
        ),
    ] = None
    processes: Annotated[
        int,
        typer.Option(
            "--processes",
            min=1,
            metavar="NUMBER",
            rich_help_panel=METHOD,
            help="Run this many settings at the same time.",
        ),
    ] = 2
    most: Annotated[
        int | None,
        typer.Option(
            "--most",
            min=0,
            metavar="NUMBER",
            rich_help_panel=METHOD,
            help="Measure at most this many of the missing settings; the record and its page say "
            "which are left.",
        ),
    ] = None
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Run nothing; write the page of a finished study to this .md file.",
        ),
    ] = None

    @property
    def size(self) -> str:
        """Return how much of the study is to be run."""
        if self.smoke and self.quick:
            raise UsageError("--smoke and --quick are two sizes; choose one, or none for all")
        return "smoke" if self.smoke else "quick" if self.quick else "full"

    def request(self, name: str) -> StudyRequest:
        """Make the request for a study of this name."""
        return StudyRequest(
            name=name,
            size=self.size,
            folder=self.folder,
            data=self.data,
            processes=self.processes,
            most=self.most,
        )


@grouped
def study(*, asked: StudyOptions, as_json: AsJson = False) -> None:
    """Run an experiment of a paper again, and compare its results with the printed ones.

    Every finished setting is kept at once; the same command continues where it was stopped.
    """
    if asked.wants_list:
        _show_list(as_json=as_json)
    elif asked.name is None:
        raise UsageError("no study is named; name one, or see --list")
    elif asked.page is not None:
        _write_page(asked.name, asked.folder, asked.page)
    else:
        _run(asked.request(asked.name), as_json=as_json)


def _show_list(*, as_json: bool) -> None:
    from understudy.jobs.studies import available_studies

    found = available_studies()
    if as_json:
        print_json({"studies": found})
        return
    for study in found:
        results().print(f"{study['name']:<18} {study['title']} ({study['source']})")


def _run(request: StudyRequest, *, as_json: bool) -> None:
    from understudy.jobs.studies import run_study

    result = run_study(request, progress=TerminalProgress())
    if as_json:
        print_json(result.document)
        return
    results().print(result.document["sentence"])
    messages().print(
        f"{len(result.document['cells'])} settings in {result.record}, chart in {result.picture}"
    )


def _write_page(name: str, folder: Path, page: Path) -> None:
    from understudy.jobs.studies import write_study_page

    write_study_page(name, folder, page)
    messages().print(f"the page is {page}; its chart and numbers are beside it")
