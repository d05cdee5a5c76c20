"""`understudy ledger show`: every run, their totals, and what remains of a limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli.console import print_json, results, table_of
from understudy.cli.options.output import AsJson
from understudy.cli.options.privacy import LedgerFile
from understudy.system.amounts import at_most_text

if TYPE_CHECKING:
    from rich.table import Table

    from understudy.privacy.spending.accounts import Account, Total
    from understudy.privacy.spending.limits import Limit


def show(
    dataset: Annotated[
        str | None,
        typer.Argument(help="The name of a dataset in the ledger. The default is all of them."),
    ] = None,
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """Show every run, what runs add up to for whom, and what remains of a limit."""
    from understudy.jobs.accounts import read_ledger

    found = read_ledger(ledger, dataset)
    if as_json:
        print_json(found.document())
        return
    if not found.accounts:
        results().print(f"{found.place} is empty: nothing was spent, no limit is set")
    for account in found.accounts:
        _show(account)


def _show(account: Account) -> None:
    console = results()
    console.print(account.dataset, style="bold")
    for total in account.totals:
        _show_total(total, account.limit)
    if account.limit is None:
        console.print("no limit is set")
    else:
        console.print(f"limit {account.limit}; left: {account.remaining}")
    if account.runs:
        console.print(_runs(account))


def _show_total(total: Total, limit: Limit | None) -> None:
    console = results()
    converted = f", {total.implied} of other neighbours converted" if total.implied else ""
    console.print(
        f"{total.adjacency}: spent {total.spent} (basic composition of "
        f"{_counted(total.own + total.implied)}{converted})"
    )
    enough = total.would_have_sufficed
    if enough is not None:
        counts = limit is not None and limit.concentrated and limit.adjacency == total.adjacency
        how = (
            f"the limit counts them in zCDP, where {enough} would have sufficed"
            if counts
            else f"a limit that is set before the first run can count in zCDP: {enough} for the "
            "same runs"
        )
        console.print(f"  {how}", style="dim")
    if total.silent:
        console.print(f"  not included: {_counted(total.silent)}, silent about these neighbours")


def _counted(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"


def _runs(account: Account) -> Table:
    runs = table_of(["when", "method", "epsilon", "delta", "protects", "answers", ""])
    for head in runs.columns:
        # A time or a number that is cut says something else.
        head.no_wrap = head.header not in ("protects", "")
    for run in account.runs:
        runs.add_row(*_run_cells(run))
    return runs


def _run_cells(run: Mapping[str, Any]) -> Iterator[str]:
    cost = run["cost"]
    yield str(run["time"])[:16].replace("T", " ")
    yield str(run.get("method", ""))
    yield at_most_text(cost.spent.epsilon)
    yield at_most_text(cost.spent.delta)
    yield str(cost.adjacency)
    yield str(run["charges"])
    yield "never closed: counted whole" if run["open"] else ""
