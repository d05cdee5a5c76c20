"""`understudy study`: the experiments of the papers, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli import options
from understudy.cli.console import messages, print_json, results, steps
from understudy.errors import UsageError


def study(
    name: Annotated[str | None, typer.Argument(help="The study; --list says which.")] = None,
    wants_list: Annotated[
        bool, typer.Option("--list", help="Say which studies there are.")
    ] = False,
    smoke: Annotated[
        bool, typer.Option("--smoke", help="A few seconds on made-up rows: whether it runs.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="About a minute.")] = False,
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for NAME.json and NAME.svg.")
    ] = Path("studies"),
    data: Annotated[
        Path | None,
        typer.Option("--data", help="The public tables; else $UNDERSTUDY_SHARED, else ../shared."),
    ] = None,
    processes: Annotated[
        int, typer.Option("--processes", min=1, help="How many settings run at a time.")
    ] = 2,
    page: Annotated[
        Path | None,
        typer.Option("--page", help="Run nothing; write a finished study's page, a .md file."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Run an experiment of a paper again, and compare what it says with what comes out.

    Every finished setting is kept at once; the same command goes on where it was stopped.
    """
    if wants_list:
        _list(as_json=as_json)
        return
    if name is None:
        raise UsageError("no study is named; name one, or see --list")
    if page is not None:
        _write_page(name, folder, page)
        return
    _run(name, _size(smoke=smoke, quick=quick), folder, data, processes, as_json=as_json)


def _list(*, as_json: bool) -> None:
    from understudy.studies import STUDIES, find

    found = {name: find(name) for name in STUDIES}
    if as_json:
        about = [{"name": n, "title": s.title, "source": s.source} for n, s in found.items()]
        print_json({"studies": about})
        return
    for name, study in found.items():
        results().print(f"{name:<18} {study.title} ({study.source})")


def _size(*, smoke: bool, quick: bool) -> str:
    if smoke and quick:
        raise UsageError("--smoke and --quick are two sizes; choose one, or none for all")
    return "smoke" if smoke else "quick" if quick else "full"


def _run(
    name: str, size: str, folder: Path, data: Path | None, processes: int, *, as_json: bool
) -> None:
    from understudy.studies.cells import Size
    from understudy.studies.record import Record
    from understudy.studies.running import run
    from understudy.studies.tables import Shelf

    with steps("measuring") as watch:
        document = run(
            name, Size(size), folder, shelf=Shelf.found(data), processes=processes, watch=watch
        )
    if as_json:
        print_json(document)
        return
    record = Record(name, Size(size), folder)
    results().print(document["sentence"])
    messages().print(
        f"{len(document['cells'])} settings in {record.path}, chart in {record.picture}"
    )


def _write_page(name: str, folder: Path, page: Path) -> None:
    from understudy.studies import find
    from understudy.studies.page import write_page

    find(name)
    if page.suffix != ".md":
        raise UsageError(f"{page}: a page ends in .md; name it so")
    write_page(name, folder / f"{name}.json", page)
    messages().print(f"the page is {page}, its chart and numbers are beside it")
